//! Permission requests: what they ask for, and the rules that an answer can add.
//!
//! What is shown to the user is read from the text of the input, never from its parsed value or from the agent's own
//! description.

use crate::api::PermissionMode;
use crate::{rules, tool};
use deskbell_agent::json as text_of;
use deskbell_agent::tool::{ToolInput, ToolKind};
use deskbell_agent::{
    AnswerOption, AskedCall, FileChange, Grant, OptionKind, OptionScope, SavedIn, ToolRequest,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Reads what a request asks for and what it offers, from its tool and its input, and from its suggestions.
pub fn read(request: ToolRequest, suggestions: Vec<Value>) -> ToolRequest {
    let (server, title) = (request.mcp_server.as_deref(), request.display_name.as_deref());
    ToolRequest {
        server_tool: tool::server_tool(&request.tool_name, server, title),
        asked: asked(&request),
        options: suggestions.into_iter().enumerate().map(|(place, raw)| option(place, raw)).collect(),
        ..request
    }
}

fn asked(request: &ToolRequest) -> AskedCall {
    let kind = tool::kind(&request.tool_name);
    let text = request.input.text();
    let mut asked = AskedCall {
        kind,
        action: action_field(kind).and_then(|field| text_of::string_field(text, field)),
        paths: {
            let fields = ["file_path", "notebook_path", "path"].into_iter();
            fields.filter_map(|field| text_of::string_field(text, field)).collect()
        },
        has_more: has_more(request, kind),
        is_only_action: match kind {
            ToolKind::Command => has_only(request, &["command", "description", "timeout"]),
            kind if kind.changes_files() => {
                has_only(request, &["file_path", "content", "old_string", "new_string"])
            }
            _ => false,
        },
        fetch_prompt: fetch_prompt(request),
        ..AskedCall::default()
    };
    let change = |path: &str, old: &str, new: &str| FileChange {
        path: path.to_owned(),
        old: old.to_owned(),
        new: new.to_owned(),
    };
    match tool::read_value(&request.tool_name, request.input.value()) {
        ToolInput::Edit { path: Some(path), change: Some(edit) } => {
            asked.change = Some(change(path, edit.old, edit.new));
        }
        ToolInput::Write { path: Some(path), content: Some(content) } => {
            asked.change = Some(change(path, "", content));
        }
        ToolInput::Questions { questions } => asked.questions = questions,
        // Without a plan file the input is empty (2.1.329).
        ToolInput::Plan { plan } => {
            asked.plan = plan.unwrap_or_default().to_owned();
            let file = request.input.value().get("planFilePath");
            asked.plan_file = file.and_then(Value::as_str).map(str::to_owned);
        }
        _ => {}
    }
    asked
}

fn has_more(request: &ToolRequest, kind: ToolKind) -> bool {
    let shown: &[&str] = match kind {
        ToolKind::Command => &["command", "description"],
        ToolKind::Edit => &["file_path", "old_string", "new_string"],
        ToolKind::Write => &["file_path", "content"],
        kind => return action_field(kind).is_some_and(|field| !has_only(request, &[field])),
    };
    !has_only(request, shown) || !text_of::duplicate_keys(request.input.text()).is_empty()
}

fn fetch_prompt(request: &ToolRequest) -> Option<String> {
    let prompt = text(request.input.value(), "prompt").unwrap_or("");
    has_only(request, &["url", "prompt"]).then(|| prompt.to_owned())
}

/// The input with the user's answers to its questions. Everything else stays as it was written.
pub(crate) fn with_answers(input: &str, answers: &BTreeMap<String, String>) -> String {
    text_of::with_field(input, "answers", &json!(answers).to_string())
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

/// A suggestion for “always allow” as an option: its id is its place.
fn option(place: usize, raw: Value) -> AnswerOption {
    let scope = scope(&raw);
    AnswerOption {
        id: format!("s{place}"),
        kind: if scope.is_some() { OptionKind::AllowAlways } else { OptionKind::Unknown },
        name: None,
        scope: scope.unwrap_or_default(),
        session_rules: rules::given(&kept_and_in_force(&raw)),
        folder_rules: rules_kept_locally(&raw),
        raw,
    }
}

/// What a suggestion would allow, and where that would be saved. `None` if it is of an unknown kind, and for a mode
/// that asks for no permission.
fn scope(raw: &Value) -> Option<OptionScope> {
    let saved = || match text(raw, "destination").unwrap_or("session") {
        "session" => SavedIn::Session,
        "localSettings" => SavedIn::FolderLocal { file: ".claude/settings.local.json".to_owned() },
        "projectSettings" => SavedIn::Folder { file: ".claude/settings.json".to_owned() },
        "userSettings" => SavedIn::User,
        other => SavedIn::Other(other.to_owned()),
    };
    Some(match text(raw, "type")? {
        "addRules" if text(raw, "behavior") == Some("allow") => {
            let rules = raw.get("rules")?.as_array()?.iter();
            let rules = rules.map(|rule| rule_text(rule).unwrap_or_else(|| "?".to_owned())).collect();
            OptionScope::Rules { rules, saved: saved() }
        }
        "addDirectories" => {
            let folders = raw.get("directories")?.as_array()?.iter();
            let folders = folders.filter_map(Value::as_str).map(str::to_owned).collect();
            OptionScope::Folders { folders, saved: saved() }
        }
        "setMode" => OptionScope::Mode { mode: text(raw, "mode")?.parse().ok()?, saved: saved() },
        _ => return None,
    })
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
        Grant::Option(option) => kept_and_in_force(&option.raw),
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
    let given = raw.get("rules").and_then(Value::as_array).into_iter().flatten();
    given.filter_map(rules::written).collect()
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggested(raw: Value) -> Vec<String> {
        let options = read(ToolRequest::default(), vec![raw]).options.into_iter();
        let offered = options.filter(|option| option.kind != OptionKind::Unknown);
        offered.map(|option| format!("{:?}", option.scope)).collect()
    }

    #[test]
    fn only_what_is_understood_is_offered() {
        let rules = json!([{"toolName": "Bash", "ruleContent": "ls"}, {"toolName": "Edit"}, {}]);
        let allow =
            json!({"type": "addRules", "rules": rules, "behavior": "allow", "destination": "userSettings"});
        assert_eq!(suggested(allow), [r#"Rules { rules: ["Bash(ls)", "Edit", "?"], saved: User }"#]);
        let folders = json!({"type": "addDirectories", "directories": ["/a", 7], "destination": "elsewhere"});
        assert_eq!(suggested(folders), [r#"Folders { folders: ["/a"], saved: Other("elsewhere") }"#]);
        assert_eq!(
            suggested(json!({"type": "setMode", "mode": "plan"})),
            ["Mode { mode: Plan, saved: Session }"]
        );
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
        let request = |tool: &str, input: Value| {
            let request =
                ToolRequest { tool_name: tool.into(), input: input.into(), ..ToolRequest::default() };
            read(request, Vec::new()).asked
        };
        let command = request("Bash", json!({"command": "ls", "description": "harmless"}));
        assert!(!command.has_more && command.is_only_action);
        let unsandboxed = request("Bash", json!({"command": "ls", "dangerouslyDisableSandbox": true}));
        assert!(unsandboxed.has_more && !unsandboxed.is_only_action);
        let fetch = request("WebFetch", json!({"url": "https://example.org", "prompt": "Read it"}));
        assert_eq!((fetch.fetch_prompt.as_deref(), fetch.has_more), (Some("Read it"), true));
        assert!(!request("Unheard", json!({"a": 1})).has_more, "all of it is shown");
    }
}
