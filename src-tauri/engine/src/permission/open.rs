//! The requests of one session that wait for an answer. Each gets one at most, and none after it was withdrawn.

use super::{answer, view};
use crate::api::{Decision, PermissionRequest, RequestId, Resolution};
use crate::wire::{self, CanUseTool};

/// What is asked and not answered, oldest first.
#[derive(Debug, Default)]
pub struct OpenRequests(Vec<Open>);

#[derive(Debug)]
struct Open {
    view: PermissionRequest,
    request: CanUseTool,
}

/// A request that is over.
#[derive(Clone, Debug, PartialEq)]
pub struct Closed {
    pub request_id: RequestId,
    /// The tool call it belonged to.
    pub tool_use_id: Option<String>,
    /// What goes to the agent; nothing if it does not listen any more.
    pub line: Option<String>,
    pub resolution: Resolution,
}

/// Why a decision was not taken. The request is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("The request was answered or withdrawn before.")]
    NotOpen,
    #[error("{0}")]
    Unfit(String),
}

impl OpenRequests {
    /// Adds a request; `None` if it is open already: it has its place, and will get its one answer.
    pub fn ask(&mut self, id: RequestId, request: CanUseTool, now: u64) -> Option<&PermissionRequest> {
        if self.place(&id).is_some() {
            return None;
        }
        let view = view(id, &request, now);
        self.0.push(Open { view, request });
        self.0.last().map(|open| &open.view)
    }

    /// Answers a request as somebody decided.
    pub fn decide(
        &mut self,
        id: &RequestId,
        shown: Option<&str>,
        decision: Decision,
    ) -> Result<Closed, Refusal> {
        let at = self.place(id).ok_or(Refusal::NotOpen)?;
        let open = &self.0[at];
        let answer = answer(&open.view, &open.request, shown, decision).map_err(Refusal::Unfit)?;
        Ok(closed(self.0.remove(at), answer.resolution, Some(answer.line)))
    }

    /// The agent takes a request back.
    pub fn withdraw(&mut self, id: &RequestId, reason: &str) -> Option<Closed> {
        let at = self.place(id)?;
        let resolution = Resolution::Withdrawn { reason: reason.to_owned() };
        Some(closed(self.0.remove(at), resolution, None))
    }

    /// Denies what is open: whoever could have answered is gone.
    pub fn deny_all(&mut self, message: &str) -> Vec<Closed> {
        let denied = |open: Open| {
            let line = wire::deny(open.view.id.as_str(), message, false);
            closed(open, Resolution::Denied { message: message.to_owned() }, Some(line))
        };
        std::mem::take(&mut self.0).into_iter().map(denied).collect()
    }

    /// Nobody's answer counts any more.
    pub fn withdraw_all(&mut self, reason: &str) -> Vec<Closed> {
        let withdrawn = |open| closed(open, Resolution::Withdrawn { reason: reason.to_owned() }, None);
        std::mem::take(&mut self.0).into_iter().map(withdrawn).collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = &PermissionRequest> {
        self.0.iter().map(|open| &open.view)
    }

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

fn closed(open: Open, resolution: Resolution, line: Option<String>) -> Closed {
    Closed { request_id: open.view.id, tool_use_id: open.request.tool_use_id, line, resolution }
}
