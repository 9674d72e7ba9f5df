//! A message of the model while it is being written.

use crate::usage::Usage;

/// A message that is being written.
pub struct Message {
    pub id: String,
    pub request_id: String,
    pub model: String,
    pub usage: Usage,
    pub blocks: usize,
    /// The open block: its kind, and its text so far.
    pub block: Option<(Kind, String)>,
}

/// The kind of a block.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Thinking,
    Text,
    ToolUse,
}
