//! The agent's stream-json protocol. No other crate knows the format of Claude Code's messages.
//!
//! Reading is tolerant: an unknown kind of message is kept as `Unknown`, a line that is not a message as `Unreadable`;
//! neither ends the session. Writing is strict: one malformed line on its stdin ends the CLI (2.1.329), so every line
//! to the agent is built here.

mod control;
mod head;
mod inbound;
pub mod json;
pub mod kept;
mod message;
mod outbound;
mod read;
mod stream;
mod task;

pub use control::{CanUseTool, ControlRequest};
pub use inbound::*;
pub use json::Input;
pub use message::*;
pub use outbound::*;
pub use read::parse;
pub use stream::{Stream, StreamEvent};
pub use task::Task;
