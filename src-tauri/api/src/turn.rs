//! Turn ends and process exits.

use super::id::PromptId;
use super::session::{Status, Tokens};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The result of a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TurnEnd {
    pub outcome: Outcome,
    /// One line to show: “Done”, “Interrupted”, “The API answered 529: overloaded”.
    pub words: String,
    /// The prompts that it answered; empty if no prompt caused it.
    pub prompt_ids: Vec<PromptId>,
    pub duration_ms: u64,
    pub output_tokens: u64,
    /// Cost of this turn only; `null` if unknown. The session's cost is the sum over its turns.
    pub cost_usd: Option<f64>,
    /// Tokens of this turn only, over all models and subagents; `null` if unknown.
    #[serde(default)]
    pub tokens: Option<Tokens>,
    #[serde(default)]
    pub timing: TurnTiming,
}

impl TurnEnd {
    /// The status of a session whose last turn ended like this. `None` if it keeps its status: a command that is not
    /// available needs no attention.
    pub fn status(&self) -> Option<Status> {
        match self.outcome {
            Outcome::Done => Some(Status::Completed),
            Outcome::Unavailable => None,
            Outcome::Interrupted => Some(Status::Interrupted),
            Outcome::NotLoggedIn
            | Outcome::UnknownModel
            | Outcome::ContextExceeded
            | Outcome::RateLimited
            | Outcome::MaxTurns
            | Outcome::BudgetExhausted
            | Outcome::ApiError { .. }
            | Outcome::Crashed
            | Outcome::Failed => Some(Status::Failed { message: self.words.clone() }),
        }
    }
}

/// Turn latency in milliseconds; a value is `null` if the event did not occur.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, rename_all = "camelCase")]
pub struct TurnTiming {
    /// From the start of the agent's process until it was ready; only for the first turn of the process.
    pub spawn_ms: Option<u64>,
    /// From the prompt to the agent's first line.
    pub first_line_ms: Option<u64>,
    /// From the prompt to the first text for the user.
    pub first_text_ms: Option<u64>,
}

/// The outcome of a turn. `is_error` takes precedence, because an API failure has `subtype: success` (2.1.329).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Outcome {
    Done,
    /// The prompt was a slash command that the agent runs only in a terminal: nothing was done.
    Unavailable,
    Interrupted,
    NotLoggedIn,
    UnknownModel,
    ContextExceeded,
    RateLimited,
    MaxTurns,
    BudgetExhausted,
    ApiError {
        status: Option<u16>,
    },
    /// The process exited before the turn ended.
    Crashed,
    Failed,
}

/// The exit of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ExitReport {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// The exit was requested: by a stop, by quitting the app, or by hibernation.
    pub expected: bool,
    /// The last lines of its error output.
    pub stderr: String,
}
