//! Tasks: the agent's reports on commands and subagents that it runs.

use crate::api::TaskKind;
use deskbell_agent::Task;
use serde_json::Value;

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
