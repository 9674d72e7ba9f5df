//! The open permission requests of one session. Each gets at most one answer, and none after it was withdrawn.

use super::{answer, view};
use crate::agent::tool::RawInput;
use crate::agent::{AgentCommand, ToolRequest};
use crate::api::{Decision, PermissionRequest, RequestId, Resolution, Subagent};
use std::sync::Arc;

/// The requests without an answer, oldest first.
#[derive(Debug, Default)]
pub struct OpenRequests(Vec<Open>);

#[derive(Debug)]
struct Open {
    view: PermissionRequest,
    request: Arc<ToolRequest>,
}

/// A request that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Closed {
    pub request_id: RequestId,
    /// The tool call it belonged to.
    pub tool_use_id: Option<String>,
    /// For the agent; `None` if it no longer accepts an answer.
    pub command: Option<AgentCommand>,
    pub resolution: Resolution,
    /// The input as the user edited it, if it differs.
    pub changed: Option<RawInput>,
}

/// The reason why a decision was rejected. The request is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("The request was already answered or withdrawn.")]
    NotOpen,
    #[error("{0}")]
    Unfit(String),
}

impl OpenRequests {
    /// Adds a request. `None` if a request with this id is already open: it keeps its place, and gets one answer.
    pub fn ask(
        &mut self,
        id: RequestId,
        request: Arc<ToolRequest>,
        subagent: Option<Subagent>,
        now: u64,
    ) -> Option<&PermissionRequest> {
        if self.place(&id).is_some() {
            return None;
        }
        let view = PermissionRequest { subagent, ..view(id, &request, now) };
        self.0.push(Open { view, request });
        self.0.last().map(|open| &open.view)
    }

    /// Answers a request with a decision.
    pub fn decide(
        &mut self,
        id: &RequestId,
        shown: Option<&str>,
        decision: Decision,
    ) -> Result<Closed, Refusal> {
        let at = self.place(id).ok_or(Refusal::NotOpen)?;
        let open = &self.0[at];
        let answer = answer(&open.view, &open.request, shown, decision).map_err(Refusal::Unfit)?;
        let closed = closed(self.0.remove(at), answer.resolution, Some(answer.command));
        Ok(Closed { changed: answer.changed, ..closed })
    }

    /// The agent withdraws a request.
    pub fn withdraw(&mut self, id: &RequestId, reason: &str) -> Option<Closed> {
        let at = self.place(id)?;
        let resolution = Resolution::Withdrawn { reason: reason.to_owned() };
        Some(closed(self.0.remove(at), resolution, None))
    }

    /// Denies all open requests, because no user is left who could answer them.
    pub fn deny_all(&mut self, message: &str) -> Vec<Closed> {
        let denied = |open: Open| {
            let request_id = open.view.id.to_string();
            let command = match open.request.asked.form {
                Some(_) => AgentCommand::Fill { request_id, values: None },
                None => AgentCommand::Deny { request_id, message: message.to_owned(), interrupt: false },
            };
            closed(open, Resolution::Denied { message: message.to_owned() }, Some(command))
        };
        std::mem::take(&mut self.0).into_iter().map(denied).collect()
    }

    /// Withdraws all open requests; no answer counts any more.
    pub fn withdraw_all(&mut self, reason: &str) -> Vec<Closed> {
        let withdrawn = |open| closed(open, Resolution::Withdrawn { reason: reason.to_owned() }, None);
        std::mem::take(&mut self.0).into_iter().map(withdrawn).collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = &PermissionRequest> {
        self.0.iter().map(|open| &open.view)
    }

    #[cfg(test)]
    pub fn get(&self, id: &RequestId) -> Option<&PermissionRequest> {
        self.iter().find(|view| view.id == *id)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn place(&self, id: &RequestId) -> Option<usize> {
        self.0.iter().position(|open| open.view.id == *id)
    }
}

fn closed(open: Open, resolution: Resolution, command: Option<AgentCommand>) -> Closed {
    Closed {
        request_id: open.view.id,
        tool_use_id: open.request.tool_use_id.clone(),
        command,
        resolution,
        changed: None,
    }
}
