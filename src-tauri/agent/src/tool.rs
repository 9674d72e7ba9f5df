//! Tools: what a call does, and its input as a type.

use crate::api::{Question, Todo, TodoState};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// What a tool does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// Starts a command in the background. Each line that it prints begins a turn.
    Monitor,
    /// Plans turns at times of the day.
    ScheduleJob,
    ListJobs,
    CancelJob,
    /// Plans one turn after some time.
    WakeUp,
    /// A message of another session that the agent holds back.
    Message,
    /// A tool of an MCP server.
    Server,
    #[default]
    Other,
}

impl ToolKind {
    /// Whether the tool changes a file.
    pub fn changes_files(self) -> bool {
        matches!(self, Self::Edit | Self::MultiEdit | Self::Write | Self::EditNotebook)
    }
}

/// One replacement of an editing tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replacement<'a> {
    pub old: &'a str,
    pub new: &'a str,
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
        /// `code` or `markdown`.
        cell_type: Option<&'a str>,
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
    Monitor {
        command: Option<&'a str>,
        description: Option<&'a str>,
    },
    ScheduleJob {
        prompt: Option<&'a str>,
    },
    ListJobs,
    CancelJob {
        id: Option<&'a str>,
    },
    /// `stops`: no further turn is planned.
    WakeUp {
        prompt: Option<&'a str>,
        reason: Option<&'a str>,
        stops: bool,
    },
    /// Two names that the tool's own name consists of, if it does.
    Server {
        server_and_tool: Option<(&'a str, &'a str)>,
    },
    Other,
}

/// The input of a call as the agent sent it: read as [`ToolInput`], shown and stored whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawInput(Value);

impl RawInput {
    /// For the driver, which reads it as [`ToolInput`]. Nothing else reads a field of it.
    pub fn value(&self) -> &Value {
        &self.0
    }

    /// There is no input yet: the call is still being written.
    pub fn is_absent(&self) -> bool {
        self.0.is_null()
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
