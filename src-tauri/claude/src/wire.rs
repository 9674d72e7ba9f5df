//! The agent's stream-json protocol. No other crate knows the format of Claude Code's messages.
//!
//! Reading is tolerant: an unknown kind of message is kept as `Unknown`, a line that is not a message as `Unreadable`;
//! neither ends the session. Writing is strict: one malformed line on its stdin ends the CLI (2.1.329), so every line
//! to the agent is built here.

mod control;
mod dialog;
mod head;
mod hook;
pub(crate) mod init;
pub mod kept;
mod message;
mod outbound;
pub(crate) mod peer;
mod read;
mod result;
mod schedule;
mod server_tools;
mod stream;
mod task;

pub(crate) use dialog::{DIALOG, answer as dialog_answer};
pub(crate) use message::SYNTHETIC;
pub use outbound::line;
pub use read::parse;
pub(crate) use read::read_line;
pub(crate) use server_tools::server_result;
