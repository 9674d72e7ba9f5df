//! A tool call, and the rules that allow calls for the rest of a session.

use serde_json::{Value, json};

use crate::catalogue;
use crate::environment::cwd;

/// A tool call.
#[derive(Clone, Debug)]
pub struct PlayedCall {
    pub id: String,
    pub name: String,
    pub input: Value,
    /// Whether it waits for the host's answer.
    pub waiting: bool,
}

/// A rule that allows calls for the rest of the session.
#[derive(Clone, Debug)]
pub struct AllowRule {
    tool: String,
    content: Option<String>,
    /// Given on the command line, not in this session.
    pub is_flag: bool,
}

/// In the notation of settings: `Bash(touch *)`.
impl std::fmt::Display for AllowRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.content {
            Some(content) => write!(f, "{}({content})", self.tool),
            None => f.write_str(&self.tool),
        }
    }
}

impl PlayedCall {
    /// Its entry in `permission_denials`.
    pub fn denial(&self) -> Value {
        json!({"tool_name": self.name, "tool_use_id": self.id, "tool_input": self.input})
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.input.get(key).and_then(Value::as_str)
    }

    pub fn description(&self) -> Option<String> {
        let path = self.text("file_path").map(|path| {
            let inside = path.strip_prefix(&cwd()).map(|rest| rest.trim_start_matches(['/', '\\']));
            inside.unwrap_or(path).to_owned()
        });
        path.or_else(|| self.text("description").map(str::to_owned))
    }

    /// The options that the host can offer in addition to once and never.
    pub fn suggestions(&self) -> Value {
        let accept_edits = json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"});
        if catalogue::EDIT_TOOLS.contains(&self.name.as_str()) {
            return json!([accept_edits]);
        }
        let mut rule = json!({"toolName": self.name});
        if let Some(command) = self.text("command") {
            rule["ruleContent"] = command.into();
        }
        let add_rule =
            json!({"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings"});
        if self.name == "Bash" {
            let add_folder =
                json!({"type": "addDirectories", "directories": [cwd()], "destination": "session"});
            json!([add_rule, add_folder, accept_edits])
        } else {
            json!([add_rule])
        }
    }
}

impl AllowRule {
    pub fn from_wire(rule: &Value) -> Option<Self> {
        let tool = rule.get("toolName")?.as_str()?.to_owned();
        let content = rule.get("ruleContent").and_then(Value::as_str).map(str::to_owned);
        Some(Self { tool, content, is_flag: false })
    }

    /// `Bash(touch *)`, or just `Bash`, as `--allowedTools` has it.
    pub fn from_flag(text: &str) -> Self {
        match text.split_once('(') {
            Some((tool, content)) => {
                let content = content.trim_end_matches(')').to_owned();
                Self { tool: tool.to_owned(), content: Some(content), is_flag: true }
            }
            None => Self { tool: text.to_owned(), content: None, is_flag: true },
        }
    }

    pub fn covers(&self, call: &PlayedCall) -> bool {
        let covers_command = |content: &String| {
            let command = call.text("command").or_else(|| call.text("file_path")).unwrap_or_default();
            match content.strip_suffix('*') {
                Some(start) => command.starts_with(start.trim_end_matches(':')),
                None => command == content,
            }
        };
        self.tool == call.name && self.content.as_ref().is_none_or(covers_command)
    }
}
