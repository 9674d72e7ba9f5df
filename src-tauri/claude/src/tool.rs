//! The agent's tools: their names, and their inputs as types.
//!
//! A field that is missing or has another type is absent, and the call is still shown. Beyond this crate an input is
//! matched as [`ToolInput`], shown or stored whole, and never read by the name of a field.

use crate::api::{Question, QuestionOption, Todo, TodoState};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// What a tool does, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolKind {
    Command,
    Edit,
    MultiEdit,
    Write,
    EditNotebook,
    Read,
    /// Searches the contents of files.
    Search,
    /// Searches the names of files.
    FindFiles,
    ListFolder,
    Fetch,
    SearchWeb,
    Subagent,
    /// Replaces the whole to-do list.
    TodoList,
    CreateTask,
    UpdateTask,
    ListTasks,
    GetTask,
    /// Asks the user questions.
    Questions,
    /// Proposes a plan to the user.
    Plan,
    /// A tool of an MCP server.
    Server,
    Other,
}

impl ToolKind {
    pub fn of(tool: &str) -> Self {
        match tool {
            "Bash" | "PowerShell" => Self::Command,
            "Edit" => Self::Edit,
            "MultiEdit" => Self::MultiEdit,
            "Write" => Self::Write,
            "NotebookEdit" => Self::EditNotebook,
            "Read" => Self::Read,
            "Grep" => Self::Search,
            "Glob" => Self::FindFiles,
            "LS" => Self::ListFolder,
            "WebFetch" => Self::Fetch,
            "WebSearch" => Self::SearchWeb,
            // Listed as `Task`, called `Agent` (2.1.329).
            "Agent" | "Task" => Self::Subagent,
            "TodoWrite" => Self::TodoList,
            "TaskCreate" => Self::CreateTask,
            "TaskUpdate" => Self::UpdateTask,
            "TaskList" => Self::ListTasks,
            "TaskGet" => Self::GetTask,
            "AskUserQuestion" => Self::Questions,
            "ExitPlanMode" => Self::Plan,
            tool if tool.starts_with("mcp__") => Self::Server,
            _ => Self::Other,
        }
    }

    /// Whether the tool changes a file.
    pub fn changes_files(self) -> bool {
        matches!(self, Self::Edit | Self::MultiEdit | Self::Write | Self::EditNotebook)
    }
}

/// Whether a call that the mode alone allowed is known to need a request. Which reasons other tools are reported with,
/// such as `PowerShell`, was not measured.
pub fn needs_request_in_default_mode(tool: &str) -> bool {
    matches!(tool, "Bash" | "WebFetch") || CHANGES_FILES.contains(&tool)
}

/// The tools of [`ToolKind::changes_files`], as rules name them.
pub(crate) const CHANGES_FILES: [&str; 4] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];

/// The server and the name of a server's tool: `mcp__tracker__create_issue` is `create_issue` of `tracker`.
pub fn mcp_tool(tool: &str) -> Option<(&str, &str)> {
    tool.strip_prefix("mcp__")?
        .split_once("__")
        .filter(|(server, name)| !server.is_empty() && !name.is_empty())
}

/// One replacement of an editing tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replacement<'a> {
    pub old: &'a str,
    pub new: &'a str,
}

impl<'a> Replacement<'a> {
    fn read(edit: &'a Value) -> Option<Self> {
        Some(Self { old: text(edit, "old_string")?, new: text(edit, "new_string")? })
    }
}

/// What an edit of a notebook does with its cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellEdit {
    Replace,
    Insert,
    Delete,
}

/// A change of one task of the agent's task list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskInput<'a> {
    pub id: Option<String>,
    pub subject: Option<&'a str>,
    pub status: Option<TaskStatus<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskStatus<'a> {
    State(TodoState),
    Deleted,
    /// A status that is not known. Its task counts as pending.
    Other(&'a str),
}

impl<'a> TaskStatus<'a> {
    fn of(status: &'a str) -> Self {
        match status {
            "completed" => Self::State(TodoState::Completed),
            "in_progress" => Self::State(TodoState::InProgress),
            "pending" => Self::State(TodoState::Pending),
            "deleted" => Self::Deleted,
            other => Self::Other(other),
        }
    }
}

/// The input of a tool call.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolInput<'a> {
    Command {
        command: Option<&'a str>,
    },
    Edit {
        path: Option<&'a str>,
        change: Option<Replacement<'a>>,
    },
    /// Several changes of one file. `None` if one of them is not a change.
    MultiEdit {
        path: Option<&'a str>,
        changes: Option<Vec<Replacement<'a>>>,
    },
    Write {
        path: Option<&'a str>,
        content: Option<&'a str>,
    },
    EditNotebook {
        path: Option<&'a str>,
        cell: Option<&'a str>,
        edit: CellEdit,
        source: Option<&'a str>,
    },
    Read {
        path: Option<&'a str>,
    },
    Search {
        pattern: Option<&'a str>,
    },
    FindFiles {
        pattern: Option<&'a str>,
    },
    ListFolder {
        path: Option<&'a str>,
    },
    Fetch {
        url: Option<&'a str>,
    },
    SearchWeb {
        query: Option<&'a str>,
    },
    Subagent {
        description: Option<&'a str>,
    },
    /// The whole list; `None` if one of its entries has no text.
    TodoList {
        todos: Option<Vec<Todo>>,
    },
    CreateTask(TaskInput<'a>),
    UpdateTask(TaskInput<'a>),
    GetTask(TaskInput<'a>),
    ListTasks,
    /// `None` if there is no list of questions; their texts may be empty.
    Questions {
        questions: Option<Vec<Question>>,
    },
    Plan {
        plan: Option<&'a str>,
    },
    /// Two names that the tool's own name consists of, if it does.
    Server {
        server_and_tool: Option<(&'a str, &'a str)>,
    },
    Other,
}

impl<'a> ToolInput<'a> {
    /// Reads the input of a call of this tool. The cost is that of the fields that are read.
    pub fn read(tool: &'a str, input: &'a Value) -> Self {
        let text = |key: &str| text(input, key);
        match ToolKind::of(tool) {
            ToolKind::Command => Self::Command { command: text("command") },
            ToolKind::Edit => Self::Edit { path: text("file_path"), change: Replacement::read(input) },
            ToolKind::MultiEdit => {
                let changes = input.get("edits").and_then(Value::as_array);
                let changes = changes.and_then(|edits| edits.iter().map(Replacement::read).collect());
                Self::MultiEdit { path: text("file_path"), changes }
            }
            ToolKind::Write => Self::Write { path: text("file_path"), content: text("content") },
            ToolKind::EditNotebook => Self::EditNotebook {
                path: text("notebook_path"),
                cell: text("cell_id"),
                edit: match text("edit_mode") {
                    Some("insert") => CellEdit::Insert,
                    Some("delete") => CellEdit::Delete,
                    _ => CellEdit::Replace,
                },
                source: text("new_source"),
            },
            ToolKind::Read => Self::Read { path: text("file_path") },
            ToolKind::Search => Self::Search { pattern: text("pattern") },
            ToolKind::FindFiles => Self::FindFiles { pattern: text("pattern") },
            ToolKind::ListFolder => Self::ListFolder { path: text("path") },
            ToolKind::Fetch => Self::Fetch { url: text("url") },
            ToolKind::SearchWeb => Self::SearchWeb { query: text("query") },
            ToolKind::Subagent => Self::Subagent { description: text("description") },
            ToolKind::TodoList => Self::TodoList { todos: todos(input) },
            ToolKind::CreateTask => Self::CreateTask(task(input)),
            ToolKind::UpdateTask => Self::UpdateTask(task(input)),
            ToolKind::GetTask => Self::GetTask(task(input)),
            ToolKind::ListTasks => Self::ListTasks,
            ToolKind::Questions => Self::Questions { questions: questions(input) },
            ToolKind::Plan => Self::Plan { plan: text("plan") },
            ToolKind::Server => Self::Server { server_and_tool: mcp_tool(tool) },
            ToolKind::Other => Self::Other,
        }
    }
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

fn todos(input: &Value) -> Option<Vec<Todo>> {
    let todo = |todo: &Value| {
        let state = match text(todo, "status").map(TaskStatus::of) {
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
        status: text(input, "status").map(TaskStatus::of),
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

fn questions(input: &Value) -> Option<Vec<Question>> {
    let string = |value: &Value, key: &str| text(value, key).unwrap_or("").to_owned();
    let option = |option: &Value| QuestionOption {
        label: string(option, "label"),
        description: string(option, "description"),
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

/// The input of a call as the agent sent it: read as [`ToolInput`], shown and stored whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawInput(Value);

impl RawInput {
    /// Reads it as the input of a call of this tool.
    pub fn read<'a>(&'a self, tool: &'a str) -> ToolInput<'a> {
        ToolInput::read(tool, &self.0)
    }

    /// There is no input yet: the call is still being written.
    pub fn is_absent(&self) -> bool {
        self.0.is_null()
    }

    /// What the call acts on, whatever its tool: its command, file or address.
    pub fn subject(&self) -> Option<&str> {
        ["command", "file_path", "notebook_path", "url"].into_iter().find_map(|key| text(&self.0, key))
    }

    /// Indented JSON.
    pub fn pretty(&self) -> String {
        serde_json::to_string_pretty(&self.0).unwrap_or_default()
    }

    /// One `name: value` line per field if every value is a single line; otherwise indented JSON.
    pub fn lines(&self) -> String {
        let line = |(name, value): (&String, &Value)| match value {
            Value::String(text) if !text.contains('\n') => Some(format!("{name}: {text}")),
            Value::Number(_) | Value::Bool(_) => Some(format!("{name}: {value}")),
            _ => None,
        };
        let lines: Option<Vec<String>> =
            self.0.as_object().and_then(|fields| fields.iter().map(line).collect());
        lines.map_or_else(|| self.pretty(), |lines| lines.join("\n"))
    }

    /// Cuts each text to its beginning of at most this many bytes, and marks it.
    pub fn cut(&mut self, bytes: usize) {
        cut(&mut self.0, bytes);
    }
}

fn cut(value: &mut Value, bytes: usize) {
    match value {
        Value::String(text) if text.len() > bytes => {
            text.truncate(text.floor_char_boundary(bytes));
            text.push_str(" … (cut)");
        }
        Value::Array(values) => values.iter_mut().for_each(|value| cut(value, bytes)),
        Value::Object(fields) => fields.values_mut().for_each(|value| cut(value, bytes)),
        _ => {}
    }
}

/// On one line.
impl fmt::Display for RawInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Value> for RawInput {
    fn from(value: Value) -> Self {
        Self(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A call of a tool that a field of another type makes plain, and not a failure.
    #[test]
    fn a_field_of_another_type_is_absent() {
        for wrong in [json!(null), json!(7), json!([]), json!({"a": 1})] {
            let input = json!({"command": wrong, "file_path": wrong, "old_string": wrong, "new_string": "b",
                "edits": wrong, "content": wrong, "url": wrong, "todos": wrong, "questions": wrong, "plan": wrong});
            assert_eq!(ToolInput::read("Bash", &input), ToolInput::Command { command: None });
            assert_eq!(ToolInput::read("Edit", &input), ToolInput::Edit { path: None, change: None });
            assert_eq!(ToolInput::read("Write", &input), ToolInput::Write { path: None, content: None });
            assert_eq!(ToolInput::read("WebFetch", &input), ToolInput::Fetch { url: None });
            assert_eq!(ToolInput::read("ExitPlanMode", &input), ToolInput::Plan { plan: None });
            let list = matches!(&wrong, Value::Array(_));
            assert_eq!(
                ToolInput::read("TodoWrite", &input),
                ToolInput::TodoList { todos: list.then(Vec::new) }
            );
            let questions = ToolInput::Questions { questions: list.then(Vec::new) };
            assert_eq!(ToolInput::read("AskUserQuestion", &input), questions);
            let edits = ToolInput::MultiEdit { path: None, changes: list.then(Vec::new) };
            assert_eq!(ToolInput::read("MultiEdit", &input), edits);
        }
        for no_object in [json!(null), json!("text"), json!([1])] {
            assert_eq!(ToolInput::read("Bash", &no_object), ToolInput::Command { command: None });
        }
    }

    #[test]
    fn a_tool_that_is_not_known_is_other() {
        assert_eq!(ToolInput::read("Unheard", &json!({"command": "rm"})), ToolInput::Other);
        let server = ToolInput::Server { server_and_tool: Some(("tracker", "create_issue")) };
        assert_eq!(ToolInput::read("mcp__tracker__create_issue", &json!({})), server);
        assert_eq!(ToolInput::read("mcp__", &json!({})), ToolInput::Server { server_and_tool: None });
    }

    #[test]
    fn an_edit_of_several_places_is_whole_or_absent() {
        let edits = |edits: Value| json!({"file_path": "a", "edits": edits});
        let good = edits(json!([{"old_string": "a", "new_string": "b"}]));
        let changes = Some(vec![Replacement { old: "a", new: "b" }]);
        assert_eq!(ToolInput::read("MultiEdit", &good), ToolInput::MultiEdit { path: Some("a"), changes });
        let bad = edits(json!([{"old_string": "a", "new_string": "b"}, {"old_string": "a"}]));
        assert_eq!(
            ToolInput::read("MultiEdit", &bad),
            ToolInput::MultiEdit { path: Some("a"), changes: None }
        );
    }

    #[test]
    fn the_names_of_rules_are_the_kinds_that_change_files() {
        assert!(CHANGES_FILES.iter().all(|tool| ToolKind::of(tool).changes_files()));
        assert!(!ToolKind::of("Bash").changes_files());
    }

    #[test]
    fn simple_inputs_are_a_line_for_each_field() {
        let lines = |input: Value| RawInput::from(input).lines();
        assert_eq!(
            lines(json!({"pattern": "a: b", "-n": true, "head_limit": 5})),
            "pattern: a: b\n-n: true\nhead_limit: 5"
        );
        assert_eq!(lines(json!({"pattern": "a\nb"})), "{\n  \"pattern\": \"a\\nb\"\n}");
        assert_eq!(lines(json!({"domains": ["a"]})), "{\n  \"domains\": [\n    \"a\"\n  ]\n}");
    }
}
