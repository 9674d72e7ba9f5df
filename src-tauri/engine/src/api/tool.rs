//! A tool at work, and what opens below it.

use super::diff::Diff;
use super::document::CodeLine;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A tool at work.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The agent's name of the tool: `Bash`, `Edit`, `mcp__server__tool`.
    pub tool: String,
    pub icon: ToolIcon,
    /// “Ran”, “Edited”, “Read”; in the present while it runs: “Running”.
    pub verb: String,
    /// `cargo test`, `src/lib.rs`: one line.
    pub subject: String,
    pub state: ToolState,
    /// How it ended, if that is worth a word: “exit code 1”, “denied”.
    pub note: Option<String>,
    pub duration_ms: Option<u64>,
    pub detail: ToolDetail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ToolIcon {
    Command,
    Edit,
    Read,
    Search,
    Web,
    Agent,
    Todo,
    Question,
    Plan,
    Mcp,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ToolState {
    /// Its input is still being written.
    Preparing,
    Running,
    Waiting,
    Succeeded,
    Failed,
    Denied,
    /// Cut off by an interrupt, a stop or a crash.
    Interrupted,
}

/// What opens below a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ToolDetail {
    Command {
        command: String,
        /// Its end.
        output: Output,
    },
    Edit(Diff),
    /// Text with its language, if known.
    Text {
        language: Option<String>,
        /// Its beginning.
        output: Output,
    },
    Todos {
        todos: Vec<Todo>,
    },
    /// Tidy JSON: anything we know no better view for.
    Json {
        input: String,
        /// Its beginning.
        output: Output,
    },
}

/// A part of what a tool put out. The engine has the whole of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// How many lines there are; a very long one counts, and comes, as several.
    pub total: u32,
    /// The number of the first of `lines`, counted from 0.
    pub first: u32,
    pub lines: Vec<CodeLine>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Todo {
    pub text: String,
    /// `pending`, `inProgress`, `completed`.
    pub state: TodoState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum TodoState {
    Pending,
    InProgress,
    Completed,
}
