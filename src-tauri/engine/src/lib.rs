//! The Deskbell engine: agent processes, their protocol and the transcript, without a window and without Tauri.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make and read files of their own"))]

pub mod attachment;
pub mod disk;
pub mod doctor;
pub mod files;
#[cfg(any(test, fuzzing))]
pub mod fuzzed;
pub mod git;
pub mod history;
pub mod host;
pub mod launch;
pub mod locate;
pub mod owner;
pub mod patch;
pub mod permission;
pub mod process;
pub mod projects;
pub mod prompt;
pub mod recorder;
pub mod replay;
pub mod server;
pub mod session;
pub mod store;
pub mod stored;
pub mod title;
pub mod transcript;
pub mod trust;
pub mod wire;

pub use deskbell_api as api;
pub use deskbell_document as document;

#[cfg(test)]
mod bindings;
#[cfg(test)]
mod chance;
