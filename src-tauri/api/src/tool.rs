//! Tool calls and their details.

use super::diff::Diff;
use super::document::{Block, CodeLine};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The agent's name of the tool: `Bash`, `Edit`, `mcp__server__tool`.
    pub tool: String,
    pub icon: ToolIcon,
    /// “Ran”, “Edited”; depends on the state: “Wants to run”, “Running”, “Did not run”.
    pub verb: String,
    /// `cargo test`, `src/lib.rs`: one line.
    pub subject: String,
    pub state: ToolState,
    /// How it ended, if worth mentioning: “exit code 1”, “denied”.
    pub note: Option<String>,
    /// It runs, or ran, in the background: it continues after its turn.
    pub in_background: bool,
    /// If the user changed the input: the beginning of the agent's input. All other fields describe what ran.
    pub original_input: Option<String>,
    pub duration_ms: Option<u64>,
    /// How many images it returned. A window asks for them when they are shown.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[ts(as = "Option<u32>", optional)]
    pub n_images: u32,
    pub detail: ToolDetail,
}

/// The fields of a `ToolCall` that can change while its input stays the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CallProgress {
    pub verb: String,
    pub subject: String,
    pub state: ToolState,
    pub note: Option<String>,
    pub in_background: bool,
    pub original_input: Option<String>,
    pub duration_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "is_zero")]
    #[ts(as = "Option<u32>", optional)]
    pub n_images: u32,
    /// The output in its detail; `null` if that has none.
    pub output: Option<Output>,
}

impl ToolCall {
    /// The call without its input.
    pub fn progress(&self) -> CallProgress {
        // Without `..`: a new field has to be in one of the two parts.
        let Self {
            tool: _,
            icon: _,
            verb,
            subject,
            state,
            note,
            in_background,
            original_input,
            duration_ms,
            n_images,
            detail,
        } = self;
        CallProgress {
            verb: verb.clone(),
            subject: subject.clone(),
            state: *state,
            note: note.clone(),
            in_background: *in_background,
            original_input: original_input.clone(),
            duration_ms: *duration_ms,
            n_images: *n_images,
            output: detail.output().cloned(),
        }
    }

    pub fn apply(&mut self, progress: CallProgress) {
        let CallProgress {
            verb,
            subject,
            state,
            note,
            in_background,
            original_input,
            duration_ms,
            n_images,
            output,
        } = progress;
        if let (Some(known), Some(output)) = (self.detail.output_mut(), output) {
            *known = output;
        }
        (self.verb, self.subject, self.state, self.note) = (verb, subject, state, note);
        (self.in_background, self.original_input) = (in_background, original_input);
        (self.duration_ms, self.n_images) = (duration_ms, n_images);
    }
}

// The form that serde calls.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(number: &u32) -> bool {
    *number == 0
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
    /// Its input is still being streamed, or it waits for an earlier call.
    Preparing,
    Running,
    /// A permission request for it is open.
    Waiting,
    /// It continues in the background: its turn does not wait for it.
    Background,
    Succeeded,
    Failed,
    /// The user, a rule or a hook denied it: it did not run.
    Denied,
    /// Cut off before it ran.
    NotRun,
    /// Cut off while it ran, by an interrupt, a stop or a crash.
    Interrupted,
}

/// The expandable detail of a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ToolDetail {
    Command {
        command: String,
        /// The end of the output.
        output: Output,
    },
    Edit(Diff),
    /// Text with its language, if known.
    Text {
        language: Option<String>,
        /// The beginning of the output.
        output: Output,
    },
    Todos {
        todos: Vec<Todo>,
    },
    /// A change of one cell of a notebook.
    Notebook {
        /// In words: “Replaced code cell a1b2”.
        cell: String,
        /// The source of the cell: the difference if its earlier source is known, otherwise the new source as added
        /// lines. Empty for a deleted cell whose source is not known.
        diff: Diff,
    },
    /// The agent's questions to the user, with the answers once there are any.
    Questions {
        questions: Vec<AnsweredQuestion>,
    },
    /// A plan that the agent proposed.
    Plan {
        blocks: Vec<Block>,
    },
    /// Formatted JSON, for tools without a better view.
    Json {
        input: String,
        /// The beginning of the output.
        output: Output,
    },
}

impl ToolDetail {
    pub fn output(&self) -> Option<&Output> {
        match self {
            Self::Command { output, .. } | Self::Json { output, .. } | Self::Text { output, .. } => {
                Some(output)
            }
            Self::Edit(_)
            | Self::Todos { .. }
            | Self::Notebook { .. }
            | Self::Questions { .. }
            | Self::Plan { .. } => None,
        }
    }

    pub fn output_mut(&mut self) -> Option<&mut Output> {
        match self {
            Self::Command { output, .. } | Self::Json { output, .. } | Self::Text { output, .. } => {
                Some(output)
            }
            Self::Edit(_)
            | Self::Todos { .. }
            | Self::Notebook { .. }
            | Self::Questions { .. }
            | Self::Plan { .. } => None,
        }
    }
}

/// A question of the agent, and the user's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AnsweredQuestion {
    pub text: String,
    pub header: String,
    pub options: Vec<AnsweredOption>,
    /// The user's own words, besides or instead of an option.
    pub own_words: Option<String>,
    /// There is an answer to it.
    pub is_answered: bool,
}

/// An option of a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AnsweredOption {
    pub label: String,
    pub description: String,
    pub is_chosen: bool,
}

/// A part of a tool's output. The engine has the complete output.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Total number of lines. A very long line counts, and is sent, as several.
    pub total: u32,
    /// Number of the first of `lines`, counted from 0.
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
