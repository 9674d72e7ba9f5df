//! Cost and tokens of sessions as sums by session, day, model and project.

use super::id::SessionId;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// One sum. A column that it is summed over is `null`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UsageRow {
    /// `2026-11-22`, in UTC; `null` also for what was spent on an unknown day.
    pub day: Option<String>,
    /// Absolute path of the project's folder.
    pub project: Option<String>,
    pub session_id: Option<SessionId>,
    /// The title of the session; `null` also if it has none.
    pub title: Option<String>,
    /// As the agent names it; empty if it reported only a sum.
    pub model: Option<String>,
    /// Turns, each counted once for every model that it used.
    pub turns: u64,
    /// In US dollars, as an exact decimal number: `0.010312`.
    pub cost: String,
    /// Without cached tokens.
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
}

/// The usage page: the sums of one project, or of all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UsageView {
    pub total: UsageRow,
    /// The last days with costs, oldest first: at most 366. What has no day is not in it.
    pub days: Vec<UsageRow>,
    /// The most expensive first, as in the following lists.
    pub models: Vec<UsageRow>,
    /// At most 200.
    pub projects: Vec<UsageRow>,
    /// At most 200.
    pub sessions: Vec<UsageRow>,
    /// Number of all sessions that cost something.
    pub n_sessions: u64,
    /// Number of files of sessions that could not be read. Their costs are missing.
    pub n_unreadable: u64,
}
