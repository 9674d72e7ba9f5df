//! Commands of the user to a session, and their errors.

use super::id::{ItemId, PromptId, RequestId};
use super::mode::PermissionMode;
use super::options::SessionOptions;
use super::permission::Decision;
use super::prompt::{Attachment, Delivery};
use super::side::SidePurpose;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A command to a session. `deskbell relay` reads one JSON object per line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Command {
    /// Accepts a prompt. It is sent immediately if the agent is idle, otherwise as `delivery` says.
    Prompt {
        text: String,
        /// Scripts of earlier versions say `images`.
        #[serde(default, alias = "images")]
        attachments: Vec<Attachment>,
        #[serde(default)]
        delivery: Delivery,
    },
    /// Answers an open permission request. Only the first answer counts; later ones are rejected. `shown` is the value
    /// from the request: an answer with a different value is rejected, and without a value only a denial is accepted.
    Decide {
        request_id: RequestId,
        #[serde(default)]
        shown: Option<String>,
        decision: Decision,
    },
    /// Ends the turn and holds the queue: no prompt is sent until the user continues. Keeps the session.
    Interrupt,
    /// Ends the turn. The next prompt in the queue is sent.
    InterruptAndContinue,
    /// Sends the held prompts of the queue, in order. Prompts that were cut off are not sent, because the agent may
    /// already have acted on them: each needs its own `resend`.
    ContinueQueue,
    /// Removes a prompt from the queue.
    Withdraw { prompt_id: PromptId },
    /// Changes the text of a queued prompt.
    EditQueued { prompt_id: PromptId, text: String },
    /// Sends a prompt again that a crash cut off or that was held. Never happens automatically.
    Resend { prompt_id: PromptId },
    /// Changes when a queued prompt is sent. Also releases a held prompt.
    Deliver { prompt_id: PromptId, delivery: Delivery },
    /// Moves a queued prompt before another one; `null` moves it to the end.
    Move { prompt_id: PromptId, before: Option<PromptId> },
    /// Sets what the agent may do without asking.
    SetMode { mode: PermissionMode },
    /// Sets the model: a name from `Session::models`, or `default`.
    SetModel { model: String },
    /// Replaces the options that the agent is started with. They take effect at its next start, except model, effort and
    /// hibernation, which change at once.
    SetOptions { options: Box<SessionOptions> },
    /// Sets the reasoning effort: one of the model's `effortLevels`; `null` is the agent's default.
    SetEffort {
        #[serde(default)]
        effort: Option<String>,
    },
    /// Changes a setting that the agent itself offers: the `id` of one of `Session::agentOptions`, and one of its values.
    /// Only while it runs, and only for this process.
    SetAgentOption { id: String, value: String },
    /// Turns thinking on or off. Only a model with `canStopThinking` can turn it off.
    SetThinking { on: bool },
    /// Has the agent stop a command or a subagent that runs in the background: the `id` of one of
    /// `Session::background`. It wakes no turn.
    StopTask { task_id: String },
    /// Moves the commands and subagents that the running turn waits for to the background, where they continue: the
    /// turn goes on without their results. Only during a turn of an agent with the capability `backgroundTasks`.
    MoveToBackground,
    /// Requests the agent's permission rules, which arrive in `Session::rules`.
    ListRules,
    /// Has the agent ask about what these rules allow, whatever allows it, until its process ends; with `suspended` false
    /// they allow again. Only for Claude Code, while it runs.
    SuspendRules { rules: Vec<String>, suspended: bool },
    /// Requests a breakdown of the context window, which arrives in `Session::context`. Only for an agent with the capability
    /// `context`, while it runs.
    ReadContext,
    /// Asks the agent a question that leaves the conversation as it is, also while a turn runs: one call of the model without
    /// tools. `id` is the asker's own, and new in the session. The answer arrives in `Session::sideQuestions`. Starts the
    /// agent's process if necessary. Only for an agent with the capability `sideQuestions`.
    AskSide {
        id: String,
        question: String,
        #[serde(default)]
        purpose: SidePurpose,
    },
    /// Cancels a side question that waits for its answer.
    CancelSide { id: String },
    /// Requests the MCP servers, hooks, skills, subagents and memory files of the agent, which arrive in
    /// `Session::configuration`. Only while it runs.
    ReadConfiguration,
    /// Has the agent connect to an MCP server again, by the name that it reported. Only while it runs.
    ReconnectServer { server: String },
    /// Turns an MCP server on or off, by the name that the agent reported. The agent remembers it for the project. Only
    /// while it runs.
    SetServerEnabled { server: String, enabled: bool },
    /// Has the agent load its plugins, skills and subagents again. Only while it runs.
    ReloadPlugins,
    /// Requests what a rewind to the state before this prompt would change, which arrives as a `rewindPreviewed` event.
    /// Starts the agent's process if necessary. Only for an agent with the capability `rewind`, while it is idle.
    PreviewRewind { prompt_id: ItemId },
    /// Takes the files, the conversation or both back to their state before this prompt. A `rewound` event reports the
    /// end; if it fails, `Session::rewind` has the problem.
    Rewind { prompt_id: ItemId, files: bool, conversation: bool },
    /// Undoes the last rewind. If files have changed since then, this is refused with the code `changedSince`, unless
    /// `overwrite` is set.
    UndoRewind {
        #[serde(default)]
        overwrite: bool,
    },
    /// Sets a title chosen by the user. The agent gets it at once, or when its process starts.
    Rename { title: String },
    /// Has the agent make a title, which takes a call of the model. Starts the agent's process if necessary.
    GenerateTitle,
    /// Starts the agent's process before there is a prompt, so that the first prompt waits less.
    Start,
    /// Restarts the agent as soon as it is idle, with the folder settings that are trusted at that time. The
    /// conversation is kept.
    Reload,
    /// Stops the agent's process, in stages. The session can be prompted again.
    Stop,
}

/// An error with a code for programs, a message to show, and an optional detail to expand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct CommandError {
    #[serde(flatten)]
    pub code: ErrorCode,
    pub message: String,
    pub detail: Option<String>,
}

/// The kind of an error, with what a program needs to act on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "code", rename_all = "camelCase")]
pub enum ErrorCode {
    /// No agent program was found; `detail` lists the places that were tried, one per line.
    AgentNotFound,
    /// The program was found but could not be started.
    SpawnFailed,
    /// The folder does not exist, or is not a folder.
    BadProject,
    /// The user has not decided yet whether to trust the folder, or its files changed since then.
    NotTrusted,
    NoSuchSession,
    NoSuchPrompt,
    /// The request was already answered or withdrawn.
    NoSuchRequest,
    /// The command could not be parsed, or is not valid in the current state.
    BadCommand,
    /// The conversation is open in another window or terminal.
    OpenElsewhere,
    /// These files have changed since they were shown or written: paths in the project, or absolute ones. Servers of
    /// earlier versions name none.
    ChangedSince {
        #[serde(default)]
        files: Vec<String>,
    },
    /// The agent refused; the message is the agent's own.
    Refused,
    Internal,
}
