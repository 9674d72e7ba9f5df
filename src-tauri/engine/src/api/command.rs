//! What a person asks of one session, and how that fails.

use super::id::{PromptId, RequestId};
use super::permission::Decision;
use super::prompt::{Delivery, Image};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What can be asked of a session. One JSON object per line through `deskbell relay`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Command {
    /// Accepts a prompt. It is sent at once if the agent is idle, else as `delivery` says.
    Prompt {
        text: String,
        #[serde(default)]
        images: Vec<Image>,
        #[serde(default)]
        delivery: Delivery,
    },
    /// Answers an open permission request. Only the first answer counts; a later one is refused. `shown` is the
    /// request's own: an answer that carries another is refused, and without any only a denial is taken.
    Decide {
        request_id: RequestId,
        #[serde(default)]
        shown: Option<String>,
        decision: Decision,
    },
    /// Ends the turn, keeps the session.
    Interrupt,
    /// Takes a prompt that is still queued out of the queue.
    Withdraw { prompt_id: PromptId },
    /// Changes the text of a prompt that is still queued.
    EditQueued { prompt_id: PromptId, text: String },
    /// Sends a prompt again that a crash cut off or that was held back. Never done without being asked.
    Resend { prompt_id: PromptId },
    /// Changes when a prompt goes that is still queued. One that is held goes with it.
    Deliver { prompt_id: PromptId, delivery: Delivery },
    /// Puts a queued prompt before another one; before none: behind them all.
    Move { prompt_id: PromptId, before: Option<PromptId> },
    /// `default`, `acceptEdits`, `plan`, `dontAsk`, `auto`: what the agent may do unasked.
    SetMode { mode: String },
    /// A model's name as `Session::models` lists it, or `default`.
    SetModel { model: String },
    /// How hard the model tries: one of its `effortLevels`; `null` is the agent's own.
    SetEffort {
        #[serde(default)]
        effort: Option<String>,
    },
    /// Whether the model thinks before it answers; only a model that `canStopThinking` can be told not to.
    SetThinking { on: bool },
    /// Asks the agent for the rules that it works by; they come in `Session::rules`.
    ListRules,
    /// A title of the user's own.
    Rename { title: String },
    /// Ends the agent's process, by the stop ladder. The session can be prompted again.
    Stop,
}

/// A failure to branch on, to read, and to unfold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct CommandError {
    pub code: ErrorCode,
    pub message: String,
    pub detail: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ErrorCode {
    /// No agent program was found; `detail` lists what was tried, a line each.
    AgentNotFound,
    /// The program was found and could not be started.
    SpawnFailed,
    /// The folder does not exist, or is not a folder.
    BadProject,
    /// Nobody has said yet whether the folder is trusted, or its files changed since.
    NotTrusted,
    NoSuchSession,
    NoSuchPrompt,
    /// The request was answered or withdrawn before.
    NoSuchRequest,
    /// The command could not be read, or makes no sense now.
    BadCommand,
    /// The conversation is open in another window or terminal.
    OpenElsewhere,
    /// The agent refused, in its own words.
    Refused,
    Internal,
}
