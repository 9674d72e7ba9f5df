//! A message of the model while it is being written.

use crate::usage::TokenCounts;

/// A message that is being written.
pub struct MessageDraft {
    pub id: String,
    pub request_id: String,
    pub model: String,
    pub usage: TokenCounts,
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
