//! Tasks: the agent's reports on commands and subagents that it runs.

use crate::api::TaskKind;
use serde_json::Value;

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

/// Reads an entry of the list of tasks, or the beginning of a task or its progress; `None` without an id.
pub(super) fn read_task(value: &Value) -> Option<Task> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let usage = |key: &str| value.get("usage")?.get(key)?.as_u64();
    Some(Task {
        id: text("task_id")?.to_owned(),
        tool_use_id: text("tool_use_id").map(str::to_owned),
        kind: text("task_type").map(|kind| match kind {
            "local_bash" => TaskKind::Command,
            "local_agent" => TaskKind::Subagent,
            _ => TaskKind::Other,
        }),
        description: text("description").unwrap_or_default().to_owned(),
        tokens: usage("total_tokens"),
        n_tool_uses: usage("tool_uses"),
    })
}
