//! The Deskbell engine: agent processes, their protocol and the transcript, without a window and without Tauri.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make and read files of their own"))]

pub mod attachment;
pub mod bell;
pub mod board;
pub mod changes;
pub mod disk;
pub mod doctor;
pub mod export;
pub mod files;
#[cfg(any(test, fuzzing))]
pub mod fuzzed;
pub mod git;
pub mod history;
pub mod host;
pub mod launch;
pub mod ledger;
pub mod locate;
pub mod log_files;
pub mod login_shell;
pub mod node;
pub mod options;
pub mod owner;
pub mod patch;
pub mod permission;
pub mod probe;
pub mod process;
pub mod projects;
pub mod prompt;
pub mod readiness;
pub mod recorder;
pub mod replay;
pub mod rewind;
pub mod search;
mod server_tool;
pub mod session;
pub mod settings;
pub mod store;
pub mod stored;
pub mod title;
pub mod transcript;
pub mod trust;
pub mod usage;
pub mod user_command;

pub use deskbell_acp as acp;
pub use deskbell_agent as agent;
pub use deskbell_api as api;
pub(crate) use deskbell_claude as claude;
pub use deskbell_claude::wire;
pub use deskbell_document as document;

#[cfg(test)]
mod bindings;
#[cfg(test)]
mod chance;
#[cfg(test)]
mod stages;
