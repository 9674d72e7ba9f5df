//! Control requests to the agent: their ids, their budget, and those that it has not answered.

use super::budget::{Budget, Spent};
use crate::api::PermissionMode;

/// A control request that the agent has not answered yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PendingRequest {
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
    Settings,
    Rules,
    SettingsForRules,
    /// The agent's cost counter.
    Cost,
}

/// The requests of the current process.
#[derive(Debug, Default)]
pub(super) struct ControlRequests {
    /// In the order in which they were sent.
    pending: Vec<(String, PendingRequest)>,
    /// Over all processes, so that a late answer to an earlier one fits none.
    n_sent: u64,
    budget: Budget,
}

impl ControlRequests {
    /// A process starts, with a budget of its own.
    pub(super) fn process_started(&mut self) {
        self.budget = Budget::default();
    }

    /// The process has exited. Returns the requests that it did not answer.
    pub(super) fn process_ended(&mut self) -> Vec<PendingRequest> {
        std::mem::take(&mut self.pending).into_iter().map(|(_, request)| request).collect()
    }

    pub(super) fn user_acted(&mut self) {
        self.budget.user_acted();
    }

    pub(super) fn spend(&mut self, request: &PendingRequest, now: u64) -> Spent {
        self.budget.spend(request.kind(), now)
    }

    /// Adds a request. Returns its id.
    pub(super) fn add(&mut self, request: PendingRequest) -> String {
        self.n_sent += 1;
        let id = format!("deskbell-{}", self.n_sent);
        self.pending.push((id.clone(), request));
        id
    }

    /// Removes a request that the agent answered; `None` if it is not pending.
    pub(super) fn answered(&mut self, id: &str) -> Option<PendingRequest> {
        let at = self.pending.iter().position(|(known, _)| known == id)?;
        Some(self.pending.remove(at).1)
    }

    pub(super) fn pending(&self) -> impl Iterator<Item = (&String, &PendingRequest)> {
        self.pending.iter().map(|(id, request)| (id, request))
    }

    pub(super) fn has(&self, is_meant: impl Fn(&PendingRequest) -> bool) -> bool {
        self.pending.iter().any(|(_, request)| is_meant(request))
    }

    /// The last mode that was requested and not answered.
    pub(super) fn mode(&self) -> Option<PermissionMode> {
        self.pending.iter().rev().find_map(|(_, request)| match request {
            PendingRequest::Mode(mode) => Some(*mode),
            _ => None,
        })
    }

    #[cfg(test)]
    pub(super) fn last_id(&self) -> String {
        format!("deskbell-{}", self.n_sent)
    }
}
