//! Work in the background of a session: commands and subagents that continue after their turn.

use super::document::CodeLine;
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
    /// Its output can be shown while it is written.
    pub has_output: bool,
    /// The user asked the agent to stop it, and it has not ended yet.
    pub is_stopping: bool,
}

/// The end of the output of a background task so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TaskOutput {
    pub lines: Vec<CodeLine>,
    /// There is earlier output, which is not in `lines`.
    pub is_cut: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum TaskKind {
    Command,
    Subagent,
    /// A command whose lines begin turns.
    Monitor,
    /// Anything else that the agent runs.
    #[default]
    Other,
}

/// A turn that the agent will begin by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ScheduledTurn {
    pub id: String,
    /// The tool call that planned it; `null` if only a list of the agent contained it.
    pub item_id: Option<ItemId>,
    pub kind: ScheduleKind,
    /// When a job runs, in the agent's words, such as “Every minute”. Empty for a wake-up.
    pub times: String,
    /// What the agent will be asked, in one line. Empty until the agent lists its jobs.
    pub prompt: String,
    /// In milliseconds since the epoch; `null` if the agent did not report it.
    pub next_at: Option<u64>,
    pub repeats: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ScheduleKind {
    /// It runs at times of the day, once or repeatedly.
    Job,
    /// The agent chose when to continue.
    WakeUp,
}
