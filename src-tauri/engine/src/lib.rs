//! Deskbell without a window: it owns the agents' processes, their protocol and the conversation, and knows
//! nothing of Tauri.

pub mod api;
pub mod attachment;
pub mod doctor;
pub mod document;
pub mod files;
#[cfg(any(test, fuzzing))]
pub mod fuzzed;
pub mod history;
pub mod launch;
pub mod locate;
pub mod owner;
pub mod patch;
pub mod permission;
pub mod process;
pub mod recorder;
pub mod replay;
pub mod session;
pub mod store;
pub mod transcript;
pub mod trust;
pub mod wire;

#[cfg(test)]
mod bindings;
