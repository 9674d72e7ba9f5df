//! Tool calls as the core shows them: what a call does, with an input that says it.
//!
//! The protocol gives a call a kind, an input of any form and diffs. The core gets a call that is read by its kind. A
//! call whose kind does not fit its input is shown with its own name and its whole input.

use crate::event::{AcpDiff, AcpPlace, CallInput, CallKind, CallStatus, Exit, PlanEntry, PlanStatus};
use deskbell_agent::tool::{RawInput, Replacement, ToolInput, ToolKind};
use deskbell_agent::{AskedCall, FileChange, ReadTool, Rejection, ToolCall, ToolResult};
use deskbell_api::{Todo, TodoState};
use serde_json::{Map, Value, json};

/// The field of an input with what the agent itself sent, where the call is shown in another form.
const RAW: &str = "rawInput";

/// A call as the core knows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    pub name: String,
    pub kind: ToolKind,
    /// Of a command: `command`. Of a read: `path`. Of a change of a file: `path`, and `old` and `new` or
    /// `content`.
    pub input: Value,
}

/// Reads the inputs of [`Shown`] calls.
#[derive(Debug)]
struct ShownInputs;

fn text<'a>(input: &'a RawInput, field: &str) -> Option<&'a str> {
    input.value().get(field)?.as_str()
}

impl ReadTool for ShownInputs {
    fn read<'a>(&self, _: &'a str, kind: ToolKind, input: &'a RawInput) -> ToolInput<'a> {
        let path = || text(input, "path");
        match kind {
            ToolKind::Command => ToolInput::Command { command: text(input, "command") },
            ToolKind::Edit => {
                let change = text(input, "old").zip(text(input, "new"));
                ToolInput::Edit { path: path(), change: change.map(|(old, new)| Replacement { old, new }) }
            }
            ToolKind::Write => ToolInput::Write { path: path(), content: text(input, "content") },
            ToolKind::Read => ToolInput::Read { path: path() },
            ToolKind::TodoList => ToolInput::TodoList { todos: todos(input.value()) },
            _ => ToolInput::Other,
        }
    }

    fn subject<'a>(&self, input: &'a RawInput) -> Option<&'a str> {
        text(input, "command").or_else(|| text(input, "path"))
    }
}

fn todos(input: &Value) -> Option<Vec<Todo>> {
    let todo = |entry: &Value| {
        let state = match entry.get("status")?.as_str()? {
            "pending" => TodoState::Pending,
            "in_progress" => TodoState::InProgress,
            _ => TodoState::Completed,
        };
        Some(Todo { text: entry.get("content")?.as_str()?.to_owned(), state })
    };
    input.get("todos")?.as_array()?.iter().map(todo).collect()
}

impl Shown {
    /// The call for the core.
    pub fn call(&self) -> ToolCall {
        ToolCall::new(self.name.clone(), self.kind, RawInput::from(self.input.clone()), &ShownInputs)
    }

    /// The call as a permission request asks for it. All of it is in the input, which is shown next to it.
    pub fn asked(&self) -> AskedCall {
        let field = |name: &str| self.input.get(name).and_then(Value::as_str).map(str::to_owned);
        let path = field("path").filter(|_| self.kind.changes_files());
        let has_more = self.input.get(RAW).is_some();
        let change = |path: &String| {
            let new = field("new").or_else(|| field("content")).unwrap_or_default();
            FileChange { path: path.clone(), old: field("old").unwrap_or_default(), new }
        };
        match self.kind {
            ToolKind::Command => AskedCall {
                kind: self.kind,
                action: field("command"),
                has_more,
                is_only_action: !has_more,
                ..AskedCall::default()
            },
            ToolKind::Edit | ToolKind::Write => AskedCall {
                kind: self.kind,
                change: path.as_ref().map(change),
                paths: path.iter().cloned().collect(),
                action: path,
                has_more,
                is_only_action: !has_more,
                ..AskedCall::default()
            },
            _ => AskedCall::default(),
        }
    }
}

/// What is known of a call.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallFacts<'a> {
    pub title: Option<&'a str>,
    pub tool: Option<&'a str>,
    pub kind: Option<CallKind>,
    pub input: Option<&'a CallInput>,
    pub places: &'a [AcpPlace],
    pub diffs: &'a [AcpDiff],
}

/// What a call does, with its input.
pub fn shown(facts: CallFacts<'_>) -> Shown {
    let raw = facts.input.and_then(|input| input.json.as_ref());
    let command = facts.input.and_then(|input| input.command.as_deref());
    let named = |usual: &str| facts.tool.filter(|name| !name.is_empty()).unwrap_or(usual).to_owned();
    if let (Some(CallKind::Execute), Some(command)) = (facts.kind, command) {
        let input = with_raw(json!({ "command": command }), raw);
        return Shown { name: named("command"), kind: ToolKind::Command, input };
    }
    if let [AcpDiff { path, old, new }] = facts.diffs {
        let (kind, input) = match old {
            Some(old) => (ToolKind::Edit, json!({"path": path, "old": old, "new": new})),
            None => (ToolKind::Write, json!({"path": path, "content": new})),
        };
        return Shown { name: named("edit"), kind, input: with_raw(input, raw) };
    }
    // Only the agent's own place: which field of an input is the path differs between agents.
    if let (Some(CallKind::Read), [AcpPlace { path, .. }], []) = (facts.kind, facts.places, facts.diffs) {
        return Shown {
            name: named("read"),
            kind: ToolKind::Read,
            input: with_raw(json!({ "path": path }), raw),
        };
    }
    let name = facts.tool.or(facts.title).filter(|name| !name.is_empty()).unwrap_or("tool");
    let mut input = match (raw, command) {
        (Some(Value::Object(fields)), _) => fields.clone(),
        (Some(Value::Null) | None, Some(command)) => Map::from_iter([("command".to_owned(), command.into())]),
        (Some(Value::Null) | None, None) => Map::new(),
        (Some(raw), _) => Map::from_iter([("input".to_owned(), raw.clone())]),
    };
    if !facts.diffs.is_empty() {
        let change = |diff: &AcpDiff| json!({"path": diff.path, "before": diff.old, "after": diff.new});
        input.insert("changes".to_owned(), facts.diffs.iter().map(change).collect());
    }
    Shown { name: name.to_owned(), kind: ToolKind::Other, input: input.into() }
}

/// The input with what the agent sent, unless the input says all of it.
fn with_raw(mut input: Value, raw: Option<&Value>) -> Value {
    let says = |fields: &Map<String, Value>| {
        let ours: Vec<&Value> = input.as_object().into_iter().flatten().map(|(_, value)| value).collect();
        fields.values().all(|value| ours.contains(&value))
    };
    match raw {
        None | Some(Value::Null) => {}
        Some(Value::Object(fields)) if says(fields) => {}
        Some(raw) => input[RAW] = raw.clone(),
    }
    input
}

/// A plan as the core's to-do list.
pub fn plan(entries: &[PlanEntry]) -> Shown {
    let entry = |entry: &PlanEntry| {
        let status = match entry.status {
            PlanStatus::Pending => "pending",
            PlanStatus::Running => "in_progress",
            PlanStatus::Done => "completed",
        };
        json!({"content": entry.text, "status": status})
    };
    let input = json!({"todos": entries.iter().map(entry).collect::<Vec<_>>()});
    Shown { name: "plan".to_owned(), kind: ToolKind::TodoList, input }
}

/// The end of a call, with a text if it has no output of its own. The exit of its command counts more than what the agent
/// says: some report a command that failed as done, and others as a call that failed.
pub fn ended(status: CallStatus, exit: Option<Exit>) -> ToolResult {
    let has_failed = exit.as_ref().is_some_and(Exit::is_failure);
    let failed = ToolResult { is_error: true, ..ToolResult::default() };
    match status {
        CallStatus::Failed if exit.is_none() => failed,
        CallStatus::Unreported if exit.is_none() => {
            ToolResult { text: "The agent did not report how this ended.".to_owned(), ..failed }
        }
        CallStatus::Denied => ToolResult { is_denied: true, ..failed },
        CallStatus::NotRun => ToolResult { rejection: Some(Rejection::BeforeItRan), ..failed },
        CallStatus::Cancelled => ToolResult { rejection: Some(Rejection::Unknown), ..failed },
        CallStatus::Failed => ToolResult { has_run: true, exit, ..failed },
        _ => ToolResult { is_error: has_failed, has_run: has_failed, exit, ..ToolResult::default() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::CommandFrom;

    fn input(json: Value, command: Option<&str>) -> CallInput {
        let command_from = if command.is_some() { CommandFrom::Input } else { CommandFrom::None };
        CallInput { json: Some(json), command: command.map(str::to_owned), command_from }
    }

    fn command(json: Value, command: &str) -> Shown {
        let input = input(json, Some(command));
        shown(CallFacts {
            title: Some("Harmless"),
            kind: Some(CallKind::Execute),
            input: Some(&input),
            ..CallFacts::default()
        })
    }

    fn call(name: &str, kind: ToolKind, input: Value) -> Shown {
        Shown { name: name.to_owned(), kind, input }
    }

    #[test]
    fn a_read_names_its_file_if_the_agent_says_which() {
        let input = input(json!({"file_path": "/p/a", "limit": 3}), None);
        let place = [AcpPlace { path: "/p/a".to_owned(), line: None }];
        let facts = CallFacts {
            tool: Some("Read"),
            kind: Some(CallKind::Read),
            input: Some(&input),
            ..CallFacts::default()
        };
        let named = shown(CallFacts { places: &place, ..facts });
        assert_eq!((named.name.as_str(), named.kind), ("Read", ToolKind::Read));
        assert_eq!(named.input, json!({"path": "/p/a", "rawInput": {"file_path": "/p/a", "limit": 3}}));
        let two = [place[0].clone(), place[0].clone()];
        for places in [&[][..], &two[..]] {
            assert_eq!(shown(CallFacts { places, ..facts }).kind, ToolKind::Other);
        }
    }

    #[test]
    fn a_command_is_what_would_run_and_anything_else_in_its_input_stays() {
        assert_eq!(
            command(json!({"command": "ls"}), "ls"),
            call("command", ToolKind::Command, json!({"command": "ls"}))
        );
        let more = json!({"command": "ls", "sandbox": false});
        assert_eq!(command(more.clone(), "ls").input, json!({"command": "ls", "rawInput": more}));
        let words = json!({"command": ["ls", "-l"]});
        assert_eq!(command(words.clone(), "ls -l").input, json!({"command": "ls -l", "rawInput": words}));
    }

    #[test]
    fn a_change_of_one_file_is_shown_as_one_and_several_are_all_in_the_input() {
        let diff = |old: Option<&str>| AcpDiff {
            path: "/a".to_owned(),
            old: old.map(str::to_owned),
            new: "new".to_owned(),
        };
        let of = |diffs: &[AcpDiff]| {
            shown(CallFacts {
                tool: Some("patch"),
                kind: Some(CallKind::Edit),
                diffs,
                ..CallFacts::default()
            })
        };
        let edit = json!({"path": "/a", "old": "old", "new": "new"});
        assert_eq!(of(&[diff(Some("old"))]), call("patch", ToolKind::Edit, edit));
        assert_eq!(
            of(&[diff(None)]),
            call("patch", ToolKind::Write, json!({"path": "/a", "content": "new"}))
        );
        let both = of(&[diff(None), diff(Some("old"))]);
        assert_eq!(both.name, "patch");
        assert_eq!(both.input["changes"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn the_exit_of_a_command_says_whether_it_failed() {
        let exit = |code| Some(Exit { code: Some(code), signal: None });
        let ends = |status, exit| {
            let ToolResult { is_error, has_run, exit, rejection, .. } = ended(status, exit);
            (is_error, has_run, exit.and_then(|exit| exit.code), rejection.is_some())
        };
        assert_eq!(ends(CallStatus::Done, exit(0)), (false, false, Some(0), false));
        assert_eq!(ends(CallStatus::Done, exit(2)), (true, true, Some(2), false));
        assert_eq!(ends(CallStatus::Failed, exit(2)), (true, true, Some(2), false));
        assert_eq!(ends(CallStatus::Failed, None), (true, false, None, false));
        assert_eq!(ends(CallStatus::Unreported, exit(0)), (false, false, Some(0), false));
        assert_eq!(ends(CallStatus::Unreported, exit(1)), (true, true, Some(1), false));
        assert_eq!(ends(CallStatus::Cancelled, exit(130)), (true, false, None, true));
        assert!(ended(CallStatus::Denied, exit(1)).is_denied);
    }

    #[test]
    fn a_call_without_a_kind_keeps_its_name_and_its_whole_input() {
        let input = input(json!([1, 2]), None);
        let facts = CallFacts { title: Some("Odd"), input: Some(&input), ..CallFacts::default() };
        assert_eq!(shown(facts), call("Odd", ToolKind::Other, json!({"input": [1, 2]})));
        assert_eq!(shown(CallFacts::default()), call("tool", ToolKind::Other, json!({})));
        // A kind without a command is no command.
        let facts = CallFacts { kind: Some(CallKind::Execute), tool: Some("shell"), ..CallFacts::default() };
        assert_eq!(shown(facts), call("shell", ToolKind::Other, json!({})));
    }

    #[test]
    fn a_request_says_all_that_its_input_says() {
        let only = command(json!({"command": "ls"}), "ls").asked();
        assert_eq!((only.action.as_deref(), only.is_only_action, only.has_more), (Some("ls"), true, false));
        let more = command(json!({"command": "ls", "sandbox": false}), "ls").asked();
        assert_eq!((more.action.as_deref(), more.is_only_action, more.has_more), (Some("ls"), false, true));
        let diff = [AcpDiff { path: "/a".to_owned(), old: Some("old".to_owned()), new: "new".to_owned() }];
        let edit =
            shown(CallFacts { kind: Some(CallKind::Edit), diffs: &diff, ..CallFacts::default() }).asked();
        let change = FileChange { path: "/a".to_owned(), old: "old".to_owned(), new: "new".to_owned() };
        assert_eq!(
            (edit.kind, edit.change, edit.paths),
            (ToolKind::Edit, Some(change), vec!["/a".to_owned()])
        );
        assert_eq!(shown(CallFacts::default()).asked(), AskedCall::default());
    }

    #[test]
    fn the_core_reads_what_is_shown() {
        let edit = call("e", ToolKind::Edit, json!({"path": "/a", "old": "o", "new": "n"})).call();
        let change = Some(Replacement { old: "o", new: "n" });
        assert_eq!(edit.typed(), ToolInput::Edit { path: Some("/a"), change });
        assert_eq!(edit.subject(), Some("/a"));
        let entry =
            PlanEntry { text: "Look".to_owned(), status: PlanStatus::Running, priority: String::new() };
        let todo = Todo { text: "Look".to_owned(), state: TodoState::InProgress };
        assert_eq!(plan(&[entry]).call().typed(), ToolInput::TodoList { todos: Some(vec![todo]) });
    }
}
