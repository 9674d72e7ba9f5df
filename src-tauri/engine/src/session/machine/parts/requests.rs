//! Permission requests that wait for an answer, and the inputs that the user changed with an answer.

use crate::agent::{Task, ToolRequest};
use crate::api::{Decision, PermissionRequest, RequestId, Resolution};
use crate::permission::{Closed, OpenRequests, Refusal, Subagents};
use crate::transcript::changed_inputs::{ChangedInput, ChangedInputs};
use std::sync::Arc;

#[derive(Debug, Default)]
pub struct Requests {
    open: OpenRequests,
    subagents: Subagents,
    changed_inputs: ChangedInputs,
}

impl Requests {
    pub fn restore(changed_inputs: Vec<ChangedInput>) -> Self {
        Self { changed_inputs: ChangedInputs::new(changed_inputs), ..Self::default() }
    }

    pub fn open(&self) -> &OpenRequests {
        &self.open
    }

    /// The inputs to save with the session.
    pub fn changed_inputs(&self) -> Vec<ChangedInput> {
        self.changed_inputs.to_vec()
    }

    /// The agent reports a task, which may be a subagent that will ask.
    pub fn on_task(&mut self, task: &Task) {
        self.subagents.on_task(task);
    }

    /// The subagents ended with their process.
    pub fn process_ended(&mut self) {
        self.subagents = Subagents::default();
    }

    /// The agent asks. Returns the request to show; `None` if it is not a new one.
    pub fn on_request(
        &mut self,
        id: &str,
        request: &Arc<ToolRequest>,
        now: u64,
    ) -> Option<Box<PermissionRequest>> {
        let subagent = self.subagents.asking(request);
        self.open.ask(RequestId::new(id), request.clone(), subagent, now).cloned().map(Box::new)
    }

    /// The user decided. Returns why nothing is sent, if the decision does not fit.
    pub fn on_decision(
        &mut self,
        id: &RequestId,
        shown: Option<&str>,
        decision: Decision,
    ) -> Result<Closed, Refusal> {
        let closed = self.open.decide(id, shown, decision)?;
        let is_allowed = matches!(closed.resolution, Resolution::Allowed { .. } | Resolution::Answered);
        if let (true, Some(id), Some(changed)) = (is_allowed, &closed.tool_use_id, &closed.changed) {
            self.changed_inputs.add(id.clone(), changed);
        }
        Ok(closed)
    }

    /// The agent withdrew a request.
    pub fn on_cancel(&mut self, id: &str) -> Option<Closed> {
        self.open.withdraw(&RequestId::new(id), "The agent withdrew the request.")
    }

    /// Denies all requests: the user can no longer answer.
    pub fn deny_all(&mut self, message: &str) -> Vec<Closed> {
        self.open.deny_all(message)
    }

    /// Withdraws all requests: an answer would have no effect.
    pub fn withdraw_all(&mut self, reason: &str) -> Vec<Closed> {
        self.open.withdraw_all(reason)
    }
}
