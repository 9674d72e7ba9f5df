//! The agent's stream-json: the only place that knows how Claude Code's messages look on the wire.
//!
//! Reading is tolerant: a kind we do not know is kept as `Unknown`, a line that is not a message as `Unreadable`;
//! neither ends anything. Writing is strict: one malformed line on its stdin ends the CLI (2.1.329), so every line
//! that goes there is made here.

mod control;
mod head;
mod inbound;
pub mod json;
mod message;
mod outbound;
mod read;
mod stream;

pub use control::{CanUseTool, ControlRequest};
pub use inbound::*;
pub use json::Input;
pub use message::*;
pub use outbound::*;
pub use read::parse;
pub use stream::{Stream, StreamEvent};
