//! Tasks: the agent's reports on commands and subagents that it runs.

use crate::api::TaskKind;

/// A task as the agent describes it. A field that a report does not contain is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Task {
    pub id: String,
    /// The tool call that started it.
    pub tool_use_id: Option<String>,
    /// `None` if the report does not contain it.
    pub kind: Option<TaskKind>,
    pub description: String,
    /// Tokens that a subagent used so far.
    pub tokens: Option<u64>,
    pub n_tool_uses: Option<u64>,
}
