//! How a turn ended, and how a process did.

use super::id::PromptId;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What a turn came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TurnEnd {
    pub outcome: Outcome,
    /// One line for people: “Done”, “Interrupted”, “The API answered 529: overloaded”.
    pub words: String,
    /// The prompts it answered; empty if nobody asked for it.
    pub prompt_ids: Vec<PromptId>,
    pub duration_ms: u64,
    pub output_tokens: u64,
    /// Of this turn alone.
    pub cost_usd: f64,
    #[serde(default)]
    pub timing: TurnTiming,
}

/// What a turn was waited for, each in milliseconds; none of what there was not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, rename_all = "camelCase")]
pub struct TurnTiming {
    /// From the start of the agent's process until it was ready; only of the first turn in it.
    pub spawn_ms: Option<u64>,
    /// From the prompt to the agent's first line.
    pub first_line_ms: Option<u64>,
    /// From the prompt to the first piece of text for the user.
    pub first_text_ms: Option<u64>,
}

/// How a turn ended. Judged by `is_error` first: an API failure comes as `subtype: success` (2.1.329).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Outcome {
    Done,
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
    /// The process ended before the turn did.
    Crashed,
    Failed,
}

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ExitReport {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// Asked for: by stop, by the end of the app, by hibernation.
    pub expected: bool,
    /// The last lines of its error output.
    pub stderr: String,
}
