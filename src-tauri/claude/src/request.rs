//! Permission requests: what they ask for, and the rules that an answer can add.
//!
//! What is shown to the user is read from the text of the input, never from its parsed value or from the agent's own
//! description.

use crate::api::PermissionMode;
use crate::tool;
use deskbell_agent::json as text_of;
use deskbell_agent::tool::{ToolInput, ToolKind};
use deskbell_agent::{Grant, ToolRequest};
use serde_json::{Value, json};

/// What a permission request of Claude Code asks for.
pub trait ReadRequest {
    fn kind(&self) -> ToolKind;
    /// The input as a type: for its questions, its plan and its diff.
    fn typed(&self) -> ToolInput<'_>;
    /// The raw text of the command, content or address. `None` if the field is not a text, and for a tool whose whole
    /// input is shown.
    fn action(&self) -> Option<String>;
    /// Every path in the input.
    fn paths(&self) -> Vec<String>;
    /// Whether the input contains more than its action and, for an edit, its diff.
    fn has_more(&self) -> bool;
    /// Whether the command alone says what would happen. Any other field, such as running unsandboxed, would too.
    fn is_only_a_command(&self) -> bool;
    /// Whether the file and the diff alone say what would happen.
    fn is_only_an_edit(&self) -> bool;
    /// The instruction about a fetched page, if address and instruction alone say what would happen.
    fn fetch_prompt(&self) -> Option<&str>;
    /// The input with the user's answers to its questions. Everything else stays as it was written.
    fn with_answers(&self, answers: &std::collections::BTreeMap<String, String>) -> String;
    /// The suggestions for “always allow”, each with its place. Suggestions of an unknown kind are left out.
    fn suggested_rules(&self) -> impl Iterator<Item = (usize, SuggestedRule<'_>)>;
}

impl ReadRequest for ToolRequest {
    fn kind(&self) -> ToolKind {
        tool::kind(&self.tool_name)
    }

    fn typed(&self) -> ToolInput<'_> {
        tool::read_value(&self.tool_name, self.input.value())
    }

    fn action(&self) -> Option<String> {
        text_of::string_field(self.input.text(), action_field(self.kind())?)
    }

    fn paths(&self) -> Vec<String> {
        let text = self.input.text();
        let fields = ["file_path", "notebook_path", "path"].into_iter();
        fields.filter_map(|field| text_of::string_field(text, field)).collect()
    }

    fn has_more(&self) -> bool {
        let shown: &[&str] = match self.kind() {
            ToolKind::Command => &["command", "description"],
            ToolKind::Edit => &["file_path", "old_string", "new_string"],
            ToolKind::Write => &["file_path", "content"],
            kind => return action_field(kind).is_some_and(|field| !has_only(self, &[field])),
        };
        !has_only(self, shown) || !text_of::duplicate_keys(self.input.text()).is_empty()
    }

    fn is_only_a_command(&self) -> bool {
        has_only(self, &["command", "description", "timeout"])
    }

    fn is_only_an_edit(&self) -> bool {
        has_only(self, &["file_path", "content", "old_string", "new_string"])
    }

    fn fetch_prompt(&self) -> Option<&str> {
        let prompt = text(self.input.value(), "prompt").unwrap_or("");
        has_only(self, &["url", "prompt"]).then_some(prompt)
    }

    fn with_answers(&self, answers: &std::collections::BTreeMap<String, String>) -> String {
        text_of::with_field(self.input.text(), "answers", &json!(answers).to_string())
    }

    fn suggested_rules(&self) -> impl Iterator<Item = (usize, SuggestedRule<'_>)> {
        self.suggestions
            .iter()
            .enumerate()
            .filter_map(|(place, raw)| Some((place, SuggestedRule::read(raw)?)))
    }
}

fn has_only(request: &ToolRequest, fields: &[&str]) -> bool {
    let input = request.input.value().as_object();
    input.is_some_and(|input| input.keys().all(|field| fields.contains(&field.as_str())))
}

/// The field of the input that contains the action. For any other tool the whole input is shown.
fn action_field(kind: ToolKind) -> Option<&'static str> {
    Some(match kind {
        ToolKind::Command => "command",
        ToolKind::Edit | ToolKind::Write | ToolKind::MultiEdit | ToolKind::Read => "file_path",
        ToolKind::EditNotebook => "notebook_path",
        ToolKind::Fetch => "url",
        ToolKind::SearchWeb => "query",
        _ => return None,
    })
}

/// A suggestion of the agent: what it would allow, and where that would be saved.
#[derive(Clone, Debug, PartialEq)]
pub struct SuggestedRule<'a> {
    pub allows: Allows,
    pub destination: Destination<'a>,
    /// As the agent sent it.
    pub raw: &'a Value,
}

/// What a suggestion allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allows {
    /// Calls that match these rules.
    Rules(Vec<String>),
    /// Work in these folders.
    Folders(Vec<String>),
    /// A mode that still asks for some permissions. One that asks for none is not offered as an answer.
    Mode(PermissionMode),
}

/// The place where a suggestion would be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination<'a> {
    Session,
    /// `.claude/settings.local.json`
    Local,
    /// `.claude/settings.json`
    Project,
    User,
    Other(&'a str),
}

impl<'a> SuggestedRule<'a> {
    fn read(raw: &'a Value) -> Option<Self> {
        let allows = match text(raw, "type")? {
            "addRules" if text(raw, "behavior") == Some("allow") => {
                let rules = raw.get("rules")?.as_array()?.iter();
                Allows::Rules(rules.map(|rule| rule_text(rule).unwrap_or_else(|| "?".to_owned())).collect())
            }
            "addDirectories" => {
                let folders = raw.get("directories")?.as_array()?.iter();
                Allows::Folders(folders.filter_map(Value::as_str).map(str::to_owned).collect())
            }
            "setMode" => Allows::Mode(text(raw, "mode")?.parse().ok()?),
            _ => return None,
        };
        let destination = match text(raw, "destination").unwrap_or("session") {
            "session" => Destination::Session,
            "localSettings" => Destination::Local,
            "projectSettings" => Destination::Project,
            "userSettings" => Destination::User,
            other => Destination::Other(other),
        };
        Some(Self { allows, destination, raw })
    }
}

/// `Bash(touch b.txt)`, or the tool alone.
fn rule_text(rule: &Value) -> Option<String> {
    let tool = text(rule, "toolName");
    Some(match text(rule, "ruleContent") {
        Some(content) => format!("{}({content})", tool.unwrap_or("?")),
        None => tool?.to_owned(),
    })
}

/// The permissions that are updated with an answer.
pub(crate) fn permissions(grant: &Grant) -> Vec<Value> {
    match grant {
        Grant::Suggestion(raw) => kept_and_in_force(raw),
        Grant::AcceptEdits => vec![accept_edits()],
    }
}

/// What is sent with an answer that chooses this suggestion. A rule that is saved in a file takes effect at once only
/// in an agent that reads that file. A restricted agent does not, and 2.1.197 never does. So the same rule is also given
/// for the session.
fn kept_and_in_force(suggestion: &Value) -> Vec<Value> {
    let mut rules = vec![suggestion.clone()];
    if text(suggestion, "type") == Some("addRules") && text(suggestion, "destination") != Some("session") {
        let mut for_session = suggestion.clone();
        for_session["destination"] = json!("session");
        rules.push(for_session);
    }
    rules
}

/// What is sent with an answer after which the agent edits without asking.
fn accept_edits() -> Value {
    json!({"type": "setMode", "mode": PermissionMode::AcceptEdits.name(), "destination": "session"})
}

/// The rules that the agent writes to `.claude/settings.local.json` if this suggestion is chosen.
pub fn rules_kept_locally(raw: &Value) -> Vec<String> {
    let is = |key: &str, value: &str| text(raw, key) == Some(value);
    if !is("type", "addRules") || !is("behavior", "allow") || !is("destination", "localSettings") {
        return Vec::new();
    }
    let rules = raw.get("rules").and_then(Value::as_array).into_iter().flatten();
    rules.filter_map(written).collect()
}

/// A rule as it is saved. Brackets and backslashes in its content are escaped with a backslash.
fn written(rule: &Value) -> Option<String> {
    let tool = text(rule, "toolName")?;
    Some(match text(rule, "ruleContent") {
        Some(content) => {
            let content = content.replace('\\', r"\\").replace('(', r"\(").replace(')', r"\)");
            format!("{tool}({content})")
        }
        None => tool.to_owned(),
    })
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggested(raw: Value) -> Vec<String> {
        let request = ToolRequest { suggestions: vec![raw], ..ToolRequest::default() };
        let suggestions = request.suggested_rules();
        suggestions.map(|(_, rule)| format!("{:?} {:?}", rule.allows, rule.destination)).collect()
    }

    #[test]
    fn only_what_is_understood_is_offered() {
        let rules = json!([{"toolName": "Bash", "ruleContent": "ls"}, {"toolName": "Edit"}, {}]);
        let allow =
            json!({"type": "addRules", "rules": rules, "behavior": "allow", "destination": "userSettings"});
        assert_eq!(suggested(allow), [r#"Rules(["Bash(ls)", "Edit", "?"]) User"#]);
        let folders = json!({"type": "addDirectories", "directories": ["/a", 7], "destination": "elsewhere"});
        assert_eq!(suggested(folders), [r#"Folders(["/a"]) Other("elsewhere")"#]);
        assert_eq!(suggested(json!({"type": "setMode", "mode": "plan"})), ["Mode(Plan) Session"]);
        for unknown in [
            json!({"type": "addRules", "rules": [], "behavior": "deny"}),
            json!({"type": "setMode", "mode": "bypassPermissions"}),
            json!({"type": "setMode"}),
            json!({"type": "more"}),
            json!("text"),
            Value::Null,
        ] {
            assert_eq!(suggested(unknown.clone()), [""; 0], "{unknown}");
        }
    }

    #[test]
    fn a_field_that_is_not_shown_is_more() {
        let request = |tool: &str, input: Value| ToolRequest {
            tool_name: tool.into(),
            input: input.into(),
            ..ToolRequest::default()
        };
        let command = request("Bash", json!({"command": "ls", "description": "harmless"}));
        assert!(!command.has_more() && command.is_only_a_command());
        let unsandboxed = request("Bash", json!({"command": "ls", "dangerouslyDisableSandbox": true}));
        assert!(unsandboxed.has_more() && !unsandboxed.is_only_a_command());
        let fetch = request("WebFetch", json!({"url": "https://example.org", "prompt": "Read it"}));
        assert_eq!((fetch.fetch_prompt(), fetch.has_more()), (Some("Read it"), true));
        assert!(!request("Unheard", json!({"a": 1})).has_more(), "all of it is shown");
    }
}
