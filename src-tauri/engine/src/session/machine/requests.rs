//! Requests for permission: each gets one answer, which somebody gave, or none.

use super::*;
use crate::permission::{Closed, Refusal};
use crate::wire::ControlRequest;

impl Step<'_> {
    pub(super) fn decide(&mut self, id: &RequestId, shown: Option<&str>, decision: Decision) {
        match self.machine.requests.decide(id, shown, decision) {
            Ok(closed) => self.resolved([closed]),
            Err(refusal) => {
                let code = match refusal {
                    Refusal::NotOpen => ErrorCode::NoSuchRequest,
                    Refusal::Unfit(_) => ErrorCode::BadCommand,
                };
                self.refuse(code, refusal.to_string());
            }
        }
    }

    pub(super) fn resolved(&mut self, closed: impl IntoIterator<Item = Closed>) {
        for Closed { request_id, tool_use_id, line, resolution } in closed {
            if let Some(line) = line {
                self.push(Effect::Write(line.clone()));
                self.given(&line);
            }
            let denied = matches!(resolution, Resolution::Denied { .. });
            self.note(Note::Answered { tool_use_id, denied });
            self.emit(Event::PermissionResolved { request_id, resolution });
            self.changed();
        }
    }

    pub(super) fn control_request(&mut self, id: String, request: ControlRequest) {
        if !self.listens() {
            // The end of its input is a denial to it.
            return;
        }
        match request {
            ControlRequest::CanUseTool(request) => {
                let tool_use_id = request.tool_use_id.clone();
                self.watch_request(tool_use_id.as_deref());
                let now = self.now;
                let asked = self.machine.requests.ask(RequestId::new(id), *request, now);
                if let Some(request) = asked.cloned().map(Box::new) {
                    self.note(Note::Asked { tool_use_id });
                    self.emit(Event::PermissionRequested { request });
                    self.changed();
                }
            }
            ControlRequest::MalformedCanUseTool { error } => {
                self.notice(
                    Level::Warning,
                    "The agent asked for permission in a way that could not be read, and was denied.",
                    Some(error),
                );
                self.push(Effect::Write(wire::deny(&id, "The permission request could not be read.", false)));
            }
            ControlRequest::Unknown { subtype } => {
                self.push(Effect::Write(wire::refuse(&id, &format!("unsupported request: {subtype}"))));
            }
        }
    }

    /// Denies what is open: whoever could have answered is gone.
    pub(super) fn deny_all(&mut self, message: &str) {
        let closed = self.machine.requests.deny_all(message);
        self.resolved(closed);
    }

    /// Nobody's answer counts any more.
    pub(super) fn withdraw_all(&mut self, reason: &str) {
        let closed = self.machine.requests.withdraw_all(reason);
        self.resolved(closed);
    }
}
