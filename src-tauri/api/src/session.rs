//! Sessions: state, status and usage.

use super::agent::{AgentKind, AgentLacks, AgentLogin, AgentOption, Model, SlashCommand};
use super::background::{BackgroundTask, ScheduledTurn};
use super::board::BoardState;
use super::capabilities::AgentCapabilities;
use super::configuration::Configuration;
use super::context::ContextUsage;
use super::event::Event;
use super::id::SessionId;
use super::limits::PlanLimits;
use super::options::SessionOptions;
use super::permission::PermissionRequest;
use super::prompt::QueuedPrompt;
use super::rewind::RewindState;
use super::rules::{MissedPrompt, RulesInForce};
use super::side::SideQuestion;
use serde::{Deserialize, Deserializer, Serialize};
use ts_rs::TS;

/// Defines a session and its change from one list of fields.
macro_rules! session {
    (
        $(#[$about:meta])*
        pub struct $Session:ident {
            $(#[$id_about:meta])* pub id: $Id:ty,
            $(#[$requests_about:meta])* pub requests: $Requests:ty,
            ..
            $($(#[$field_about:meta])* pub $field:ident: $Type:ty,)*
        }
        $(#[$change_about:meta])*
        pub struct $Change:ident;
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
        #[serde(rename_all = "camelCase")]
        pub struct $Session {
            $(#[$id_about])* pub id: $Id,
            $(#[$requests_about])* pub requests: $Requests,
            $($(#[$field_about])* pub $field: $Type,)*
        }

        $(#[$change_about])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $Change {
            /// All open requests in the first change of a session; empty if no request is open.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub requests: Option<$Requests>,
            $(
                #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given")]
                pub $field: Option<$Type>,
            )*
        }

        impl $Change {
            /// All of a session.
            pub fn whole(session: &$Session) -> Self {
                Self { requests: Some(session.requests.clone()), $($field: Some(session.$field.clone()),)* }
            }

            /// The fields of `after` that differ from those of `before`, without requests.
            pub fn between(before: &$Session, after: &$Session) -> Self {
                Self {
                    requests: None,
                    $($field: (before.$field != after.$field).then(|| after.$field.clone()),)*
                }
            }

            /// Adds a later change.
            pub fn merge(&mut self, later: Self) {
                if later.requests.is_some() {
                    self.requests = later.requests;
                }
                $(if later.$field.is_some() { self.$field = later.$field; })*
            }
        }

        impl $Session {
            fn change(&mut self, change: &$Change) {
                if let Some(requests) = &change.requests {
                    self.requests.clone_from(requests);
                }
                $(if let Some(value) = &change.$field { self.$field.clone_from(value); })*
            }
        }
    };
}

/// A field that is there. `null` is a value of some fields.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(value: D) -> Result<Option<T>, D::Error> {
    T::deserialize(value).map(Some)
}

session! {
    /// One conversation with one agent in one project.
    pub struct Session {
        pub id: SessionId,
        /// Open permission requests, oldest first. Each has events of its own.
        pub requests: Vec<PermissionRequest>,
        ..
        pub title: String,
        /// Path of the project's folder.
        pub project: String,
        /// The agent: `claude`, `demo`, or `acp` for one that speaks the Agent Client Protocol.
        pub agent: AgentKind,
        /// Its name: “Gemini CLI”.
        pub agent_name: String,
        /// Its row in the table of agents that speak ACP; `null` for other agents, and for a command of the user.
        #[serde(default)]
        pub agent_id: Option<String>,
        /// The name of the profile in the settings that it was begun with.
        #[serde(default)]
        pub profile: Option<String>,
        /// What the agent does not report or offer.
        #[serde(default)]
        pub lacks: AgentLacks,
        /// How the user logs in to its agent; `null` for Claude Code, whose login is in `Readiness`, and if no command is known.
        #[serde(default)]
        pub login: Option<AgentLogin>,
        /// The agent's own id of this conversation; `null` until the agent sent one.
        pub agent_session_id: Option<String>,
        pub status: Status,
        /// It has no prompts and no title yet. Its agent starts with `start` or with the first prompt.
        pub is_empty: bool,
        /// Its title is the beginning of its first prompt, since Deskbell opened it: neither the user nor the agent has
        /// named it, and no title was asked for.
        #[serde(default)]
        pub has_prompt_title: bool,
        /// Whether the agent's process is running. Independent of working: an idle session may or may not have a process.
        pub alive: bool,
        pub pid: Option<u32>,
        pub agent_version: Option<String>,
        pub capabilities: AgentCapabilities,
        pub model: Option<String>,
        pub mode: String,
        /// The effort level in use; `null` if the model has none, or if it is unknown.
        pub effort: Option<String>,
        pub thinking: bool,
        /// What its agent is started with.
        pub options: SessionOptions,
        /// Its agent runs and was started with other options: they take effect at its next start.
        pub options_wait: bool,
        /// The rules as last reported; `null` until they were requested.
        pub rules: Option<RulesInForce>,
        /// The agent did not ask where it must. Must be shown as long as its process lives.
        pub missed_prompt: Option<MissedPrompt>,
        /// The models that the agent offers; empty until it reported them.
        pub models: Vec<Model>,
        /// Settings that an agent that speaks ACP offers itself; empty until it reported them.
        #[serde(default)]
        pub agent_options: Vec<AgentOption>,
        pub commands: Vec<SlashCommand>,
        /// Accepted prompts that were not sent yet, in order.
        pub queue: Vec<QueuedPrompt>,
        /// The running turn can take another prompt: the agent reports which prompts it read.
        pub takes_into_turn: bool,
        pub usage: Usage,
        /// What fills the context window, after `readContext`.
        pub context: ContextUsage,
        /// What is configured for its agent, after `readConfiguration`.
        pub configuration: Configuration,
        pub limits: PlanLimits,
        pub rewind: RewindState,
        /// The last side questions, in the order in which they were asked. They live as long as the session is open.
        #[serde(default)]
        pub side_questions: Vec<SideQuestion>,
        pub created_at: u64,
        /// When the last prompt was accepted, or the last turn ended.
        pub changed_at: u64,
        /// Number of commands and subagents running in the background, with or without a running turn.
        pub n_background: u32,
        /// The first 100 of them, in the order in which they began.
        pub background: Vec<BackgroundTask>,
        /// Turns that the agent will begin by itself. Its process does not hibernate before them.
        #[serde(default)]
        pub scheduled: Vec<ScheduledTurn>,
        /// When the running turn began.
        pub turn_started_at: Option<u64>,
        /// Its agent runs, or last ran, without the folder's own settings: `--setting-sources=user --strict-mcp-config`.
        pub restricted: bool,
        /// The link to the process that runs it.
        #[serde(default)]
        pub link: SessionLink,
        /// The version of the older Deskbell whose server runs it; `null` if it runs in this version. It moves to this version
        /// as soon as nothing runs in that server.
        #[serde(default)]
        pub older_server: Option<String>,
    }

    /// The changed fields of a session, and in every change the agent's id of the conversation. The first change of a
    /// session has all fields.
    pub struct SessionChange;
}

impl SessionChange {
    /// Adds the fields that every change has, so that a client can read the conversation's id and the absence of
    /// requests from the latest change alone.
    #[must_use]
    pub fn of(mut self, agent_session_id: Option<String>, has_requests: bool) -> Self {
        self.agent_session_id = Some(agent_session_id);
        if !has_requests {
            self.requests = Some(Vec::new());
        }
        self
    }
}

impl Session {
    /// A session of which nothing else is known: idle, without a prompt and without a process.
    pub fn new(id: SessionId, project: String, agent: AgentKind, agent_name: String) -> Self {
        Self {
            id,
            title: "New session".to_owned(),
            project,
            agent,
            agent_name,
            agent_id: None,
            profile: None,
            lacks: AgentLacks::default(),
            login: None,
            agent_session_id: None,
            status: Status::Idle,
            is_empty: true,
            has_prompt_title: false,
            alive: false,
            pid: None,
            agent_version: None,
            capabilities: AgentCapabilities::default(),
            model: None,
            mode: "default".to_owned(),
            effort: None,
            thinking: true,
            options: SessionOptions::default(),
            options_wait: false,
            rules: None,
            missed_prompt: None,
            models: Vec::new(),
            agent_options: Vec::new(),
            commands: Vec::new(),
            queue: Vec::new(),
            takes_into_turn: false,
            requests: Vec::new(),
            usage: Usage::default(),
            context: ContextUsage::default(),
            configuration: Configuration::default(),
            limits: PlanLimits::default(),
            rewind: RewindState::default(),
            side_questions: Vec::new(),
            created_at: 0,
            changed_at: 0,
            n_background: 0,
            background: Vec::new(),
            scheduled: Vec::new(),
            turn_started_at: None,
            restricted: false,
            link: SessionLink::default(),
            older_server: None,
        }
    }

    /// Applies an event to the session. Ignores events that change nothing of it.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::SessionChanged { session } => self.change(session),
            // A mirror reports open requests again.
            Event::PermissionRequested { request, .. }
                if !self.requests.iter().any(|known| known.id == request.id) =>
            {
                self.requests.push((**request).clone());
            }
            Event::PermissionResolved { request_id, .. } => {
                self.requests.retain(|request| request.id != *request_id);
            }
            _ => {}
        }
    }
}

/// The link between a window and a session. It is another thing than the session: a lost link ends no session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum SessionLink {
    /// The session runs in the window's own process, and ends with it.
    #[default]
    Here,
    /// It runs in a server, which goes on without the window.
    Connected,
    /// An attempt to connect to the server is running.
    Connecting,
    /// The link is down. Attempt `attempt` begins at `at`.
    Waiting { attempt: u32, at: u64 },
    /// The server is of another version of Deskbell, with which this one cannot talk.
    Incompatible { version: String },
}

/// The status of a session, as displayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Status {
    /// Nothing to do; the last turn, if any, was seen.
    Idle,
    /// The process is starting.
    Starting,
    /// A turn is running. `activity` is the current activity in plain words.
    Working { activity: String },
    /// The user interrupted the turn; it has not ended yet.
    Interrupting,
    /// The user has to answer. `what` is one line: “Wants to run a command”.
    NeedsInput { what: String },
    /// The last turn ended successfully.
    Completed,
    /// The user interrupted the last turn. The agent may still be there.
    Interrupted,
    /// No turn runs and none failed, but commands or subagents that one started continue.
    Background,
    /// The last turn, or the process, failed. `message` is one line to show.
    Failed { message: String },
    /// The process crashed and will be restarted: attempt `attempt` at `at`.
    Restarting { attempt: u32, at: u64 },
    /// The process is being stopped.
    Stopping,
    /// The user stopped it.
    Stopped,
}

impl Status {
    /// The state in which lists of sessions, the board, the tray, window titles and the start page show a session. `None`
    /// if nothing happens in it and nothing is news: it is idle, or the user stopped it.
    pub fn state(&self) -> Option<BoardState> {
        match self {
            Self::NeedsInput { .. } => Some(BoardState::NeedsInput),
            Self::Working { .. } | Self::Interrupting | Self::Restarting { .. } | Self::Background => {
                Some(BoardState::Working)
            }
            Self::Failed { .. } => Some(BoardState::Failed),
            Self::Completed => Some(BoardState::Finished),
            Self::Idle | Self::Starting | Self::Interrupted | Self::Stopping | Self::Stopped => None,
        }
    }
}

/// Token counts and cost. The cost is the agent's own figure in US dollars.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Tokens in the context at the end of the last turn: input, cached or not, and output.
    pub context_tokens: u64,
    /// Size of the model's context window in tokens; `null` until the agent reported it.
    pub context_window: Option<u64>,
    /// Cost of the whole session.
    pub cost_usd: f64,
    pub output_tokens: u64,
    /// Exact cost and tokens by model, as the agent reports them, over the whole session.
    #[serde(default)]
    pub by_model: Vec<ModelUsage>,
}

/// What one model cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelUsage {
    /// As the agent names it; empty if it reported only a sum.
    pub model: String,
    /// In US dollars, as an exact decimal number: `0.010312`.
    pub cost: String,
    pub tokens: Tokens,
}

/// Numbers of tokens as the agent counts them. Tokens that were read from a cache or written to it are not in `input`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default, rename_all = "camelCase")]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}
