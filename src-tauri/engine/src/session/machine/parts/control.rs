//! Control requests to the agent: their ids, their budget, those that it has not answered, and the wait for answers.

use super::budget::{Budget, Spent};
use super::configuration::ConfigurationChange;
use crate::api::{ConfigurationPart, PermissionMode};

/// A control request that the agent has not answered yet.
#[derive(Clone, Debug, PartialEq)]
pub enum PendingRequest {
    Initialize,
    Interrupt,
    /// Gives back a prompt that was written into the turn, by its wire id.
    CancelPrompt(String),
    Mode(PermissionMode),
    Model(String),
    Effort {
        wish: Option<String>,
        before: Option<String>,
    },
    Thinking {
        on: bool,
    },
    /// Shows messages of other sessions that the agent holds.
    HeldMessages,
    /// Receives messages of other sessions, or refuses them.
    Messages,
    /// Asks about what these rules allow; the last ones that the agent confirmed.
    SuspendedRules {
        before: Vec<String>,
    },
    /// A setting that the agent offers itself.
    AgentOption,
    /// The id of a background task.
    StopTask(String),
    MoveToBackground,
    /// The title that the user chose.
    Rename(String),
    GenerateTitle,
    Settings,
    Rules,
    SettingsForRules,
    /// The agent's cost counter.
    Cost,
    /// What fills the context window, with the time of the request.
    Context {
        requested_at: u64,
    },
    /// A part of what is configured.
    Configuration(ConfigurationPart),
    ConfigurationChange(ConfigurationChange),
    /// Rewinds files, or says which ones would change: the rewind of time `at`.
    RewindFiles {
        at: u64,
        is_dry: bool,
    },
    /// The id of a side question.
    Side(String),
}

impl PendingRequest {
    /// The subtype of the request on the wire.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Initialize => "initialize",
            Self::Interrupt => "interrupt",
            Self::CancelPrompt(_) => "cancel_async_message",
            Self::Mode(_) => "set_permission_mode",
            Self::Model(_) => "set_model",
            Self::Effort { .. } | Self::Messages | Self::SuspendedRules { .. } => "apply_flag_settings",
            Self::HeldMessages => "set_peer_delivery",
            Self::Thinking { .. } => "set_max_thinking_tokens",
            Self::AgentOption => "set_config_option",
            Self::Settings | Self::SettingsForRules => "get_settings",
            Self::Rules => "list_permission_rules",
            Self::StopTask(_) => "stop_task",
            Self::MoveToBackground => "background_tasks",
            Self::Cost => "get_usage",
            Self::Context { .. } => "get_context_usage",
            Self::Configuration(ConfigurationPart::Servers) => "mcp_status",
            Self::Configuration(ConfigurationPart::Hooks) => "get_hooks_listing",
            Self::Configuration(ConfigurationPart::Extensions) => "get_context_usage",
            Self::ConfigurationChange(ConfigurationChange::Server(_)) => "mcp_toggle",
            Self::ConfigurationChange(ConfigurationChange::Reload) => "reload_plugins",
            Self::RewindFiles { .. } => "rewind_files",
            Self::Rename(_) => "rename_session",
            Self::GenerateTitle => "generate_session_title",
            Self::Side(_) => "side_question",
        }
    }
}

/// The requests of the current process.
#[derive(Debug, Default)]
pub struct ControlRequests {
    /// In the order in which they were sent.
    pending: Vec<(String, PendingRequest)>,
    /// Over all processes, so that a late answer to an earlier one fits none.
    n_sent: u64,
    budget: Budget,
    /// The end of the wait for answers, if prompts wait.
    wait_ends_at: Option<u64>,
    /// Ids of requests that timed out. Prompts no longer wait for them.
    given_up: Vec<String>,
}

impl PendingRequest {
    /// Whether a prompt has to wait for the answer. `wants_effort`: the user chose an effort.
    pub fn is_waited_for(&self, wants_effort: bool) -> bool {
        match self {
            Self::Cost => true,
            // The agent accepts any effort; this answer shows which one is in force.
            Self::Settings => wants_effort,
            other => other.changes().is_some(),
        }
    }

    /// The name of the setting that it changes, if any.
    fn changes(&self) -> Option<&'static str> {
        match self {
            Self::Mode(_) => Some("the permission mode"),
            Self::Model(_) => Some("the model"),
            Self::Effort { .. } | Self::Settings => Some("the effort"),
            Self::Thinking { .. } => Some("thinking"),
            Self::AgentOption => Some("a setting of the agent"),
            Self::SuspendedRules { .. } => Some("the permission rules"),
            Self::Cost
            | Self::HeldMessages
            | Self::Messages
            | Self::Initialize
            | Self::Interrupt
            | Self::CancelPrompt(_)
            | Self::StopTask(_)
            | Self::MoveToBackground
            | Self::Rename(_)
            | Self::GenerateTitle
            | Self::Rules
            | Self::Context { .. }
            | Self::Configuration(_)
            | Self::ConfigurationChange(_)
            | Self::RewindFiles { .. }
            | Self::Side(_)
            | Self::SettingsForRules => None,
        }
    }
}

impl ControlRequests {
    /// A process starts, with a budget of its own.
    pub fn process_started(&mut self) {
        self.budget = Budget::default();
    }

    /// The process has exited. Returns the requests that it did not answer.
    pub fn process_ended(&mut self) -> Vec<PendingRequest> {
        std::mem::take(&mut self.pending).into_iter().map(|(_, request)| request).collect()
    }

    pub fn user_acted(&mut self) {
        self.budget.user_acted();
    }

    pub fn spend(&mut self, request: &PendingRequest, now: u64) -> Spent {
        self.budget.spend(request.kind(), now)
    }

    /// Adds a request. Returns its id.
    pub fn add(&mut self, request: PendingRequest) -> String {
        self.n_sent += 1;
        let id = format!("deskbell-{}", self.n_sent);
        self.pending.push((id.clone(), request));
        id
    }

    /// Removes a request that the agent answered; `None` if it is not pending.
    pub fn answered(&mut self, id: &str) -> Option<PendingRequest> {
        let at = self.pending.iter().position(|(known, _)| known == id)?;
        Some(self.pending.remove(at).1)
    }

    /// Removes a request that is being withdrawn. Returns its id; `None` if it is not pending.
    pub fn withdrawn(&mut self, request: &PendingRequest) -> Option<String> {
        let at = self.pending.iter().position(|(_, known)| known == request)?;
        Some(self.pending.remove(at).0)
    }

    /// The pending request with this id.
    pub fn pending(&self, id: &str) -> Option<&PendingRequest> {
        self.pending.iter().find(|(known, _)| known == id).map(|(_, request)| request)
    }

    /// The requests that did not time out.
    fn waiting(&self) -> impl Iterator<Item = &PendingRequest> {
        self.pending.iter().filter(|(id, _)| !self.given_up.contains(id)).map(|(_, request)| request)
    }

    /// Whether a prompt has to wait for the answer to a pending request. `wants_effort`: the user chose an effort.
    pub fn is_confirming(&self, wants_effort: bool) -> bool {
        self.waiting().any(|request| request.is_waited_for(wants_effort))
    }

    /// Whether the agent may still answer a request for a mode. A request that timed out says nothing about the mode in
    /// force.
    pub fn awaits_mode(&self) -> bool {
        self.waiting().any(|request| matches!(request, PendingRequest::Mode(_)))
    }

    /// Waits for answers at least until `at`. Returns the end of the wait.
    pub fn wait_until(&mut self, at: u64) -> u64 {
        let at = at.max(self.wait_ends_at.unwrap_or(0));
        self.wait_ends_at = Some(at);
        at
    }

    /// Ends the wait if the last answer that prompts waited for has arrived. Returns whether it ended.
    pub fn end_wait_if_confirmed(&mut self, wants_effort: bool) -> bool {
        !self.is_confirming(wants_effort) && self.wait_ends_at.take().is_some()
    }

    /// Ends the wait because the process ends. Returns whether one was running.
    pub fn end_wait(&mut self) -> bool {
        self.given_up.clear();
        self.wait_ends_at.take().is_some()
    }

    /// The agent did not answer in time: prompts wait no longer. Returns the name of a setting whose change it did not
    /// confirm.
    pub fn on_wait_over(&mut self) -> Option<&'static str> {
        let change = self.waiting().find_map(PendingRequest::changes);
        self.wait_ends_at = None;
        self.given_up = self.pending.iter().map(|(id, _)| id.clone()).collect();
        change
    }

    pub fn has(&self, is_meant: impl Fn(&PendingRequest) -> bool) -> bool {
        self.pending.iter().any(|(_, request)| is_meant(request))
    }

    /// The last mode that was requested and not answered.
    pub fn mode(&self) -> Option<PermissionMode> {
        self.pending.iter().rev().find_map(|(_, request)| match request {
            PendingRequest::Mode(mode) => Some(*mode),
            _ => None,
        })
    }

    #[cfg(test)]
    pub fn last_id(&self) -> String {
        format!("deskbell-{}", self.n_sent)
    }
}
