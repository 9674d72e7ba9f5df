//! Work in the background of a session: commands and subagents that continue after their turn.

use super::id::ItemId;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A command or a subagent that runs in the background.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct BackgroundTask {
    /// The agent's id of the task, for `stopTask`.
    pub id: String,
    /// The tool call that started it; `null` if the agent did not report it.
    pub item_id: Option<ItemId>,
    pub kind: TaskKind,
    /// One line, in the agent's words. Empty if the agent gave none.
    pub description: String,
    /// When Deskbell first heard of it, in milliseconds since the epoch.
    pub started_at: u64,
    /// Tokens that a subagent used so far; `null` if the agent did not report any.
    pub tokens: Option<u64>,
    /// Number of tool calls of a subagent so far.
    pub n_tool_uses: Option<u64>,
    /// What a subagent does now, in one line.
    pub activity: Option<String>,
    /// The user asked the agent to stop it, and it has not ended yet.
    pub is_stopping: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum TaskKind {
    Command,
    Subagent,
    /// Anything else that the agent runs, such as a monitor.
    #[default]
    Other,
}
