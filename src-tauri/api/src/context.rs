//! The context window: its parts in tokens, as the agent reports them.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The agent's last report of its context window, and the state of the last request for one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ContextUsage {
    /// The agent has not answered the last request yet.
    pub is_pending: bool,
    /// `null` until the agent reported one for this conversation.
    pub report: Option<ContextReport>,
    /// Why the last request has no answer, as a text to show.
    pub problem: Option<String>,
}

/// A breakdown of the context window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ContextReport {
    /// When it was requested.
    pub requested_at: u64,
    pub model: Option<String>,
    /// Tokens in use.
    pub total_tokens: u64,
    /// Size of the context window in tokens.
    pub window_tokens: u64,
    /// The conversation is compacted automatically at this number of tokens; `null` if it is not.
    pub compacts_at_tokens: Option<u64>,
    /// In the agent's order.
    pub categories: Vec<ContextCategory>,
}

/// A part of the context window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ContextCategory {
    /// The agent's name: “System tools”.
    pub name: String,
    pub tokens: u64,
    pub kind: ContextKind,
}

/// What the tokens of a category are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ContextKind {
    /// In the context.
    Used,
    /// Kept free for the compaction of the conversation.
    Reserved,
    Free,
    /// Not in the context: loaded when the agent needs it.
    Deferred,
}
