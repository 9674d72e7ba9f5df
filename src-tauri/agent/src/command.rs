//! Commands: what an agent is to do.

use crate::api::{Attachment, PermissionMode, Rule};
use crate::option::AnswerOption;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// One command to the agent, which its driver writes in the agent's own words.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentCommand {
    /// A prompt. The agent refers to it by `uuid`.
    Prompt { uuid: String, text: String, attachments: Vec<Attachment> },
    /// A request, to which the agent responds.
    Request { request_id: String, request: HostRequest },
    /// Allows a tool call with exactly this input: one line of JSON that is sent byte for byte.
    Allow { request_id: String, input: String, grant: Option<Grant> },
    /// Allows a tool call that asks the user, with this input and with the answer to each question by its text.
    Answer { request_id: String, input: String, answers: BTreeMap<String, String> },
    /// Answers a form with values that fit it; `None` declines it.
    Fill { request_id: String, values: Option<Map<String, Value>> },
    /// Denies a tool call. The agent's model reads the message, which is never empty.
    Deny { request_id: String, message: String, interrupt: bool },
    /// Withdraws a request to the agent, which may answer it all the same.
    CancelRequest { request_id: String },
    /// Rejects a request that Deskbell does not support.
    Refuse { request_id: String, error: String },
}

impl AgentCommand {
    /// The rules that the command adds to the session. `None` if it adds nothing, not even a mode.
    pub fn given_rules(&self) -> Option<&[Rule]> {
        match self {
            Self::Allow { grant: Some(Grant::Option(option)), .. } => Some(&option.session_rules),
            Self::Allow { grant: Some(Grant::AcceptEdits), .. } => Some(&[]),
            _ => None,
        }
    }
}

/// A request to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostRequest {
    Initialize {
        /// The system prompt that the process was started with replaces the one that the conversation began with.
        renews_system_prompt: bool,
    },
    Interrupt,
    /// Gives back a prompt that has not joined a turn, by its uuid.
    CancelPrompt(String),
    SetMode(PermissionMode),
    SetModel(String),
    /// For this process only; `None` is the model's own effort.
    SetEffort(Option<String>),
    SetThinking(bool),
    /// Shows messages of other sessions that the agent holds back, so that the user can let them in.
    ShowHeldMessages,
    /// Receives messages of other sessions, or refuses them from now on.
    SetMessages {
        are_received: bool,
    },
    /// A setting that the agent offers itself, by its id.
    SetOption {
        id: String,
        value: String,
    },
    /// Stops a background task.
    StopTask(String),
    /// Moves the commands and subagents that the turn waits for to the background.
    MoveToBackground,
    /// The permission rules in force.
    ListRules,
    /// Asks about what these rules allow, whatever allows it. Replaces the rules of the last such request.
    SuspendRules(Vec<String>),
    /// The exact usage of the session.
    ReadUsage,
    /// What fills the context window.
    ReadContext,
    /// The settings in force, and where they come from.
    ReadSettings,
    /// The MCP servers and their state.
    ReadServers,
    /// The hooks that were loaded.
    ReadHooks,
    /// Skills, subagents and memory files.
    ReadExtensions,
    /// Connects to an MCP server again, by its name.
    ReconnectServer(String),
    /// Turns an MCP server on or off.
    SetServerEnabled {
        server: String,
        enabled: bool,
    },
    /// Loads plugins, skills and subagents again.
    ReloadPlugins,
    /// Takes files back to their state before a prompt, by its uuid.
    RewindFiles {
        uuid: String,
        /// Only says which files would change.
        is_dry: bool,
    },
    /// Names the conversation, as a choice of the user.
    Rename(String),
    /// A title for this text, which the agent's model makes.
    GenerateTitle(String),
    /// Asks the model a question that leaves the conversation as it is, after earlier ones with their answers.
    AskSide {
        question: String,
        history: Vec<SideExchange>,
    },
}

/// A side question that was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideExchange {
    pub question: String,
    pub answer: String,
}

/// What an answer allows beyond the one call.
#[derive(Clone, Debug, PartialEq)]
pub enum Grant {
    /// An option of the request.
    Option(Box<AnswerOption>),
    /// The agent edits without asking from now on.
    AcceptEdits,
}
