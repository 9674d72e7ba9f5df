//! The lines between Deskbell and an agent, to look at while the session runs.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The last lines of a session, without secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RawLines {
    pub lines: Vec<RawLine>,
    /// The `after` of the next question.
    pub last: u64,
    /// There are more lines than fit in one answer.
    pub has_more: bool,
    /// How many lines since the session was opened were of a kind that Deskbell does not know.
    pub n_unknown: u64,
    /// How many lines since the session was opened were no messages.
    pub n_unreadable: u64,
    /// How many lines between `after` and `last` are no longer kept.
    pub n_dropped: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RawLine {
    /// From 1, in the order of the lines. Streamed text that is held back, because it may be a part of a secret, has the
    /// number of the line that ends it.
    pub nr: u64,
    /// Milliseconds since the epoch.
    pub at: u64,
    pub direction: RawDirection,
    pub kind: RawKind,
    pub text: String,
    /// How many bytes at the end of the line were not kept.
    pub n_cut: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum RawDirection {
    /// The arguments of a new process.
    Start,
    ToAgent,
    FromAgent,
    /// What the agent wrote to stderr.
    Stderr,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum RawKind {
    #[default]
    Known,
    /// A message of a kind that Deskbell does not know.
    Unknown,
    /// No message.
    Unreadable,
}
