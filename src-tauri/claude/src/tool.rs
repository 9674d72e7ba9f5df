//! The agent's tools: their names, and their inputs as types.
//!
//! A field that is missing or has another type is absent, and the call is still shown. Beyond this crate an input is
//! matched as [`ToolInput`], shown or stored whole, and never read by the name of a field.

use crate::api::{Question, QuestionOption, Todo, TodoState};
use deskbell_agent::tool::{CellEdit, RawInput, Replacement, TaskInput, TaskStatus, ToolInput, ToolKind};
use deskbell_agent::{ReadTool, ServerToolNames, ToolCall};
use serde_json::Value;

/// The longest preview of an answer that is shown, in characters.
const MOST_PREVIEW: usize = 16_000;

/// Reads the inputs of Claude Code's tools.
#[derive(Debug)]
struct ClaudeTools;

impl ReadTool for ClaudeTools {
    fn read<'a>(&self, tool: &'a str, _: ToolKind, input: &'a RawInput) -> ToolInput<'a> {
        read_value(tool, input.value())
    }

    fn subject<'a>(&self, input: &'a RawInput) -> Option<&'a str> {
        ["command", "file_path", "notebook_path", "url"].into_iter().find_map(|key| text(input.value(), key))
    }
}

/// A call of this tool.
pub fn call(name: String, input: RawInput) -> ToolCall {
    let kind = kind(&name);
    let mut call = ToolCall::new(name, kind, input, &ClaudeTools);
    call.server_tool = server_tool(&call.name, None, None);
    call.needs_request_by_default = needs_request_in_default_mode(&call.name);
    if kind.changes_files() {
        call.allowing_rules = &CHANGES_FILES;
    }
    call
}

/// What a tool does, by its name.
pub fn kind(tool: &str) -> ToolKind {
    match tool {
        "Bash" | "PowerShell" => ToolKind::Command,
        "Edit" => ToolKind::Edit,
        "MultiEdit" => ToolKind::MultiEdit,
        "Write" => ToolKind::Write,
        "NotebookEdit" => ToolKind::EditNotebook,
        "Read" => ToolKind::Read,
        "Grep" => ToolKind::Search,
        "Glob" => ToolKind::FindFiles,
        "LS" => ToolKind::ListFolder,
        // The latter of each run on the server of the API.
        "WebFetch" | "web_fetch" => ToolKind::Fetch,
        "WebSearch" | "web_search" => ToolKind::SearchWeb,
        // Listed as `Task`, called `Agent` (2.1.329).
        "Agent" | "Task" => ToolKind::Subagent,
        "TodoWrite" => ToolKind::TodoList,
        "TaskCreate" => ToolKind::CreateTask,
        "TaskUpdate" => ToolKind::UpdateTask,
        "TaskList" => ToolKind::ListTasks,
        "TaskGet" => ToolKind::GetTask,
        "AskUserQuestion" => ToolKind::Questions,
        "ExitPlanMode" => ToolKind::Plan,
        "Monitor" => ToolKind::Monitor,
        "CronCreate" => ToolKind::ScheduleJob,
        "CronList" => ToolKind::ListJobs,
        "CronDelete" => ToolKind::CancelJob,
        "ScheduleWakeup" => ToolKind::WakeUp,
        tool if tool.starts_with("mcp__") => ToolKind::Server,
        _ => ToolKind::Other,
    }
}

/// Whether a call that the mode alone allowed is known to need a request. Which reasons other tools are reported with,
/// such as `PowerShell`, was not measured.
fn needs_request_in_default_mode(tool: &str) -> bool {
    matches!(tool, "Bash" | "WebFetch") || CHANGES_FILES.contains(&tool)
}

/// The tools of [`ToolKind::changes_files`], as rules name them.
const CHANGES_FILES: [&str; 4] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];

/// The server and the name of a server's tool: `mcp__tracker__create_issue` is `create_issue` of `tracker`.
fn mcp_tool(tool: &str) -> Option<(&str, &str)> {
    tool.strip_prefix("mcp__")?
        .split_once("__")
        .filter(|(server, name)| !server.is_empty() && !name.is_empty())
}

/// The names of a server's tool; `None` if this is none. `server` and `title` are the names that the agent gives in
/// addition: the server counts only if the tool's own name is that of a tool of it.
pub fn server_tool(name: &str, server: Option<&str>, title: Option<&str>) -> Option<ServerToolNames> {
    let (server, tool) =
        server.and_then(|server| Some((server, tool_of(name, server)?))).or_else(|| mcp_tool(name))?;
    Some(ServerToolNames {
        server: server.to_owned(),
        tool: tool.to_owned(),
        title: title.map(str::to_owned),
    })
}

/// The name of the tool, if its full name is that of a tool of this server. In a full name the agent writes `_` for any
/// other character of the server's name.
fn tool_of<'a>(name: &'a str, server: &str) -> Option<&'a str> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let prefix: String = server.chars().map(plain).collect();
    let tool = name.strip_prefix("mcp__")?.strip_prefix(&prefix)?.strip_prefix("__")?;
    (!prefix.is_empty() && !tool.is_empty()).then_some(tool)
}

fn replacement(edit: &Value) -> Option<Replacement<'_>> {
    Some(Replacement { old: text(edit, "old_string")?, new: text(edit, "new_string")? })
}

fn status(status: &str) -> TaskStatus<'_> {
    match status {
        "completed" => TaskStatus::State(TodoState::Completed),
        "in_progress" => TaskStatus::State(TodoState::InProgress),
        "pending" => TaskStatus::State(TodoState::Pending),
        "deleted" => TaskStatus::Deleted,
        other => TaskStatus::Other(other),
    }
}

/// Reads the input of a call of this tool. The cost is that of the fields that are read.
pub fn read_value<'a>(tool: &'a str, input: &'a Value) -> ToolInput<'a> {
    let text = |key: &str| text(input, key);
    match kind(tool) {
        ToolKind::Command => ToolInput::Command { command: text("command") },
        ToolKind::Edit => ToolInput::Edit { path: text("file_path"), change: replacement(input) },
        ToolKind::MultiEdit => {
            let changes = input.get("edits").and_then(Value::as_array);
            let changes = changes.and_then(|edits| edits.iter().map(replacement).collect());
            ToolInput::MultiEdit { path: text("file_path"), changes }
        }
        ToolKind::Write => ToolInput::Write { path: text("file_path"), content: text("content") },
        ToolKind::EditNotebook => ToolInput::EditNotebook {
            path: text("notebook_path"),
            cell: text("cell_id"),
            edit: match text("edit_mode") {
                Some("insert") => CellEdit::Insert,
                Some("delete") => CellEdit::Delete,
                _ => CellEdit::Replace,
            },
            cell_type: text("cell_type"),
            source: text("new_source"),
        },
        ToolKind::Read => ToolInput::Read { path: text("file_path") },
        ToolKind::Search => ToolInput::Search { pattern: text("pattern") },
        ToolKind::FindFiles => ToolInput::FindFiles { pattern: text("pattern") },
        ToolKind::ListFolder => ToolInput::ListFolder { path: text("path") },
        ToolKind::Fetch => ToolInput::Fetch { url: text("url") },
        ToolKind::SearchWeb => ToolInput::SearchWeb { query: text("query") },
        ToolKind::Subagent => ToolInput::Subagent { description: text("description") },
        ToolKind::TodoList => ToolInput::TodoList { todos: todos(input) },
        ToolKind::CreateTask => ToolInput::CreateTask(task(input)),
        ToolKind::UpdateTask => ToolInput::UpdateTask(task(input)),
        ToolKind::GetTask => ToolInput::GetTask(task(input)),
        ToolKind::ListTasks => ToolInput::ListTasks,
        ToolKind::Questions => ToolInput::Questions { questions: questions(input) },
        ToolKind::Plan => ToolInput::Plan { plan: text("plan") },
        ToolKind::Monitor => {
            ToolInput::Monitor { command: text("command"), description: text("description") }
        }
        ToolKind::ScheduleJob => ToolInput::ScheduleJob { prompt: text("prompt") },
        ToolKind::ListJobs => ToolInput::ListJobs,
        ToolKind::CancelJob => ToolInput::CancelJob { id: text("id") },
        ToolKind::WakeUp => ToolInput::WakeUp {
            prompt: text("prompt"),
            reason: text("reason"),
            stops: input.get("stop").and_then(Value::as_bool).unwrap_or(false),
        },
        ToolKind::Server => ToolInput::Server { server_and_tool: mcp_tool(tool) },
        ToolKind::Message | ToolKind::Other => ToolInput::Other,
    }
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

fn todos(input: &Value) -> Option<Vec<Todo>> {
    let todo = |todo: &Value| {
        let state = match text(todo, "status").map(status) {
            Some(TaskStatus::State(state)) => state,
            _ => TodoState::Pending,
        };
        Some(Todo { text: text(todo, "content")?.to_owned(), state })
    };
    input.get("todos")?.as_array()?.iter().map(todo).collect()
}

fn task(input: &Value) -> TaskInput<'_> {
    TaskInput {
        id: input.get("taskId").and_then(id_text),
        subject: text(input, "subject"),
        status: text(input, "status").map(status),
    }
}

/// The id of a task, which is a string or a number.
pub(crate) fn id_text(id: &Value) -> Option<String> {
    match id {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    }
}

/// The beginning of a preview, with a mark if it is cut.
fn beginning(preview: &str) -> String {
    match preview.char_indices().nth(MOST_PREVIEW) {
        Some((end, _)) => format!("{}\n… cut after {MOST_PREVIEW} characters", &preview[..end]),
        None => preview.to_owned(),
    }
}

fn questions(input: &Value) -> Option<Vec<Question>> {
    let string = |value: &Value, key: &str| text(value, key).unwrap_or("").to_owned();
    let option = |option: &Value| QuestionOption {
        label: string(option, "label"),
        description: string(option, "description"),
        preview: text(option, "preview").filter(|preview| !preview.trim().is_empty()).map(beginning),
    };
    let question = |question: &Value| Question {
        text: string(question, "question"),
        header: string(question, "header"),
        options: {
            let options = question.get("options").and_then(Value::as_array);
            options.into_iter().flatten().map(option).collect()
        },
        multi_select: question.get("multiSelect").and_then(Value::as_bool).unwrap_or(false),
    };
    Some(input.get("questions")?.as_array()?.iter().map(question).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_preview_of_an_option_is_text_and_bounded() {
        let option = |preview: Value| json!({"label": "A", "description": "", "preview": preview});
        let long = "é".repeat(MOST_PREVIEW + 1);
        let options = [json!("┌─┐\n│a│"), json!(" \n"), json!(7), json!(long)].map(option);
        let input = json!({"questions": [{"question": "Which?", "options": options}]});
        let ToolInput::Questions { questions: Some(questions) } = read_value("AskUserQuestion", &input)
        else {
            panic!("no questions");
        };
        let previews: Vec<_> = questions[0].options.iter().map(|option| option.preview.as_deref()).collect();
        let cut = format!("{}\n… cut after 16000 characters", "é".repeat(MOST_PREVIEW));
        assert_eq!(previews, [Some("┌─┐\n│a│"), None, None, Some(cut.as_str())]);
    }

    /// A call of a tool that a field of another type makes plain, and not a failure.
    #[test]
    fn a_field_of_another_type_is_absent() {
        for wrong in [json!(null), json!(7), json!([]), json!({"a": 1})] {
            let input = json!({"command": wrong, "file_path": wrong, "old_string": wrong, "new_string": "b",
                "edits": wrong, "content": wrong, "url": wrong, "todos": wrong, "questions": wrong, "plan": wrong});
            assert_eq!(read_value("Bash", &input), ToolInput::Command { command: None });
            assert_eq!(read_value("Edit", &input), ToolInput::Edit { path: None, change: None });
            assert_eq!(read_value("Write", &input), ToolInput::Write { path: None, content: None });
            assert_eq!(read_value("WebFetch", &input), ToolInput::Fetch { url: None });
            assert_eq!(read_value("ExitPlanMode", &input), ToolInput::Plan { plan: None });
            let list = matches!(&wrong, Value::Array(_));
            assert_eq!(read_value("TodoWrite", &input), ToolInput::TodoList { todos: list.then(Vec::new) });
            let questions = ToolInput::Questions { questions: list.then(Vec::new) };
            assert_eq!(read_value("AskUserQuestion", &input), questions);
            let edits = ToolInput::MultiEdit { path: None, changes: list.then(Vec::new) };
            assert_eq!(read_value("MultiEdit", &input), edits);
        }
        for no_object in [json!(null), json!("text"), json!([1])] {
            assert_eq!(read_value("Bash", &no_object), ToolInput::Command { command: None });
        }
    }

    #[test]
    fn a_tool_that_is_not_known_is_other() {
        assert_eq!(read_value("Unheard", &json!({"command": "rm"})), ToolInput::Other);
        let server = ToolInput::Server { server_and_tool: Some(("tracker", "create_issue")) };
        assert_eq!(read_value("mcp__tracker__create_issue", &json!({})), server);
        assert_eq!(read_value("mcp__", &json!({})), ToolInput::Server { server_and_tool: None });
    }

    #[test]
    fn an_edit_of_several_places_is_whole_or_absent() {
        let edits = |edits: Value| json!({"file_path": "a", "edits": edits});
        let good = edits(json!([{"old_string": "a", "new_string": "b"}]));
        let changes = Some(vec![Replacement { old: "a", new: "b" }]);
        assert_eq!(read_value("MultiEdit", &good), ToolInput::MultiEdit { path: Some("a"), changes });
        let bad = edits(json!([{"old_string": "a", "new_string": "b"}, {"old_string": "a"}]));
        assert_eq!(read_value("MultiEdit", &bad), ToolInput::MultiEdit { path: Some("a"), changes: None });
    }

    #[test]
    fn the_names_of_rules_are_the_kinds_that_change_files() {
        assert!(CHANGES_FILES.iter().all(|tool| kind(tool).changes_files()));
        assert!(!kind("Bash").changes_files());
    }
}
