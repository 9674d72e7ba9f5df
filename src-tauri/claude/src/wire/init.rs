//! `system/init`: what the agent reports of itself.

use crate::configuration;
use deskbell_agent::Init;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Tools that the agent offers its model only if it can ask.
pub(crate) const ASKING: [&str; 2] = ["AskUserQuestion", "ExitPlanMode"];

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct InitLine {
    session_id: String,
    model: Option<String>,
    /// `none`, or the place of the API key, such as a variable.
    #[serde(rename = "apiKeySource")]
    api_key_source: Option<String>,
    #[serde(rename = "permissionMode")]
    permission_mode: Option<String>,
    claude_code_version: Option<String>,
    /// Absent on versions without this field: treat them as old.
    capabilities: Option<Vec<Value>>,
    terminal_slash_commands: Vec<String>,
    tools: Vec<String>,
    plugins: Option<Value>,
    /// Folders where the agent keeps its own notes.
    memory_paths: Map<String, Value>,
}

impl From<InitLine> for Init {
    fn from(line: InitLine) -> Self {
        let is_asking = |tool: &String| ASKING.contains(&tool.as_str());
        let folders = line.memory_paths.values().filter_map(Value::as_str);
        Self {
            cannot_ask: !line.tools.is_empty() && !line.tools.iter().any(is_asking),
            own_folders: folders.map(str::to_owned).collect(),
            has_api_key: line.api_key_source.is_some_and(|source| !source.is_empty() && source != "none"),
            // 2.1.329 reports which prompts joined a turn, and when; 2.1.197 does not.
            reports_prompts: line.capabilities.iter().flatten().any(|one| one == "msg_lifecycle_v1"),
            session_id: line.session_id,
            model: line.model,
            permission_mode: line.permission_mode,
            version: line.claude_code_version,
            terminal_commands: line.terminal_slash_commands,
            plugins: line.plugins.as_ref().and_then(configuration::plugins),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_agent_that_lists_no_asking_tool_cannot_ask() {
        let init = |fields: Value| Init::from(InitLine::deserialize(fields).unwrap());
        assert!(init(json!({"tools": ["Write"]})).cannot_ask);
        assert!(!init(json!({"tools": ["Write", "AskUserQuestion"]})).cannot_ask);
        assert!(!init(json!({})).cannot_ask, "it does not say");
        let key = |source: &str| init(json!({ "apiKeySource": source })).has_api_key;
        assert_eq!([key("none"), key(""), key("ANTHROPIC_API_KEY")], [false, false, true]);
        let new =
            init(json!({"capabilities": [7, "msg_lifecycle_v1"], "memory_paths": {"auto": "/a", "b": 1}}));
        assert!(new.reports_prompts && new.own_folders == ["/a"]);
    }
}
