//! Permission requests that wait for an answer, and the inputs that the user changed with an answer.

use crate::agent::{Assistant, ContentBlock, Task, ToolRequest, User};
use crate::api::{Decision, PermissionRequest, RequestId, Resolution};
use crate::permission::{Asking, Closed, OpenRequests, Refusal, Subagents};
use crate::transcript::changed_inputs::{ChangedInput, ChangedInputs};
use std::collections::HashSet;
use std::sync::Arc;

#[derive(Debug, Default)]
pub struct KeptRequests {
    open: OpenRequests,
    subagents: Subagents,
    changed_inputs: ChangedInputs,
    /// The calls of the agent itself in this turn. A subagent in the background may wait beyond the turn.
    calls_of_turn: HashSet<String>,
}

impl KeptRequests {
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
        self.calls_of_turn.clear();
    }

    /// The agent asks.
    pub fn on_request(&mut self, id: &str, request: &Arc<ToolRequest>, now: u64) -> Asking<'_> {
        let subagent = self.subagents.asking(request);
        self.open.ask(RequestId::new(id), request.clone(), subagent, now)
    }

    /// The plan of a request as its file has it now. Returns the request that is over and the one in its place, if the
    /// plan is another one.
    pub fn on_plan(
        &mut self,
        id: &RequestId,
        plan: &str,
        now: u64,
    ) -> Option<(Closed, Box<PermissionRequest>)> {
        let (withdrawn, request) = self.open.plan_changed(id, plan)?;
        let Asking::New(shown) = self.on_request(id.as_str(), &request, now) else { return None };
        Some((withdrawn, Box::new(shown.clone())))
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

    /// The agent makes calls.
    pub fn on_reply(&mut self, assistant: &Assistant) {
        let id = |block: &ContentBlock| match block {
            ContentBlock::ToolUse { id, .. } => Some(id.clone()),
            _ => None,
        };
        if assistant.parent_tool_use_id.is_none() {
            self.calls_of_turn.extend(assistant.message.content.iter().filter_map(id));
        }
    }

    /// Calls have results. A request for one of them was answered elsewhere, such as by a hook.
    pub fn on_results(&mut self, user: &User) -> Vec<Closed> {
        let is_over = |request: &ToolRequest| {
            let mut results = user.results();
            results.any(|result| request.tool_use_id.as_ref() == Some(&result.tool_use_id))
        };
        self.open.withdraw_of(is_over, "The call ended without your answer.")
    }

    /// The turn ended, and with it the calls of the agent itself.
    pub fn on_turn_end(&mut self) -> Vec<Closed> {
        let calls = std::mem::take(&mut self.calls_of_turn);
        let is_over =
            |request: &ToolRequest| request.tool_use_id.as_ref().is_some_and(|id| calls.contains(id));
        self.open.withdraw_of(is_over, "The turn ended without your answer.")
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
