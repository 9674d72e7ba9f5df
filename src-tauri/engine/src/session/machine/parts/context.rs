//! What fills the context window: the agent's last report and the request for one.

use crate::api::{ContextReport, ContextUsage};

#[derive(Debug, Default)]
pub struct Context {
    usage: ContextUsage,
    /// The running process answered that it does not know the request.
    is_unknown: bool,
}

impl Context {
    pub fn usage(&self) -> &ContextUsage {
        &self.usage
    }

    /// Whether the agent reports its context, as far as known.
    pub fn is_reported(&self) -> bool {
        !self.is_unknown
    }

    /// Another process may be another version of the agent.
    pub fn on_spawn(&mut self) {
        self.is_unknown = false;
    }

    /// Begins a request. Returns whether none was pending.
    pub fn on_request(&mut self) -> bool {
        self.usage.problem = None;
        !std::mem::replace(&mut self.usage.is_pending, true)
    }

    pub fn on_report(&mut self, report: ContextReport) {
        self.usage = ContextUsage { is_pending: false, report: Some(report), problem: None };
    }

    pub fn on_unknown(&mut self, problem: String) {
        self.is_unknown = true;
        self.on_failure(problem);
    }

    /// The request failed. The last report stays. Returns whether the request was pending.
    pub fn on_failure(&mut self, problem: String) -> bool {
        let was_pending = std::mem::take(&mut self.usage.is_pending);
        self.usage.problem = Some(problem);
        was_pending
    }

    /// A new conversation began: the last report is of another one.
    pub fn on_cleared(&mut self) {
        self.usage.report = None;
    }
}
