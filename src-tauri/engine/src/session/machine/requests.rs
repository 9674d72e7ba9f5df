//! Permission requests: each gets at most one answer, which the user gave.

use super::*;
use crate::agent::AgentRequest;
use crate::permission::{Asking, Closed, Refusal};

impl Step<'_> {
    pub(super) fn decide(&mut self, id: &RequestId, shown: Option<&str>, decision: Decision) {
        let ends_turn = matches!(decision, Decision::Deny { interrupt: true, .. });
        match self.machine.requests.on_decision(id, shown, decision) {
            Ok(closed) => {
                self.resolved([closed]);
                if ends_turn {
                    // The agent ends the turn itself.
                    self.hold_what_follows();
                }
            }
            Err(refusal) => {
                let code = match refusal {
                    Refusal::NotOpen => ErrorCode::NoSuchRequest,
                    Refusal::Unfit(_) => ErrorCode::BadCommand,
                };
                self.refuse(code, refusal.to_string());
            }
        }
    }

    /// The file of a plan was read. A plan that is another one now is shown again, so that nothing is approved unseen.
    pub(super) fn plan_read(&mut self, id: &RequestId, plan: &str) {
        let Some((withdrawn, request)) = self.machine.requests.on_plan(id, plan, self.now) else { return };
        let tool_use_id = withdrawn.tool_use_id.clone();
        self.resolved([withdrawn]);
        self.note(TranscriptEvent::Asked { tool_use_id });
        self.emit(Event::PermissionRequested { request, in_item: false });
        self.changed();
    }

    pub(super) fn resolved(&mut self, closed: impl IntoIterator<Item = Closed>) {
        for Closed { request_id, tool_use_id, command, resolution, changed } in closed {
            if let Some(command) = command {
                let given = command.given_rules().map(<[Rule]>::to_vec);
                self.push(Effect::Write(command));
                self.given(given);
            }
            let end = match resolution {
                Resolution::Denied { .. } => RequestEnd::Denied,
                Resolution::Withdrawn { .. } => RequestEnd::Withdrawn,
                Resolution::Allowed { .. } | Resolution::Answered => {
                    // The changed input is in the record.
                    self.saves |= tool_use_id.is_some() && changed.is_some();
                    RequestEnd::Allowed { changed }
                }
            };
            self.note(TranscriptEvent::Answered { tool_use_id, end });
            self.emit(Event::PermissionResolved { request_id, resolution });
            self.changed();
        }
    }

    pub(super) fn control_request(&mut self, id: &str, request: &AgentRequest) {
        if !self.listens() {
            // The agent treats the end of its input as a denial.
            return;
        }
        match request {
            AgentRequest::Tool(request) => {
                let tool_use_id = request.tool_use_id.clone();
                self.machine.audit.on_request(tool_use_id.as_deref());
                match self.machine.requests.on_request(id, request, self.now) {
                    Asking::New(request) => {
                        let request = Box::new(request.clone());
                        self.note(TranscriptEvent::Asked { tool_use_id });
                        self.emit(Event::PermissionRequested { request, in_item: false });
                        self.changed();
                    }
                    Asking::Known => {}
                    Asking::Clash(open, denial) => {
                        self.resolved([*open]);
                        self.push(Effect::Write(denial));
                        let words =
                            "The agent sent two permission requests with the same id. Both were denied.";
                        self.notice(Level::Warning, words, None);
                    }
                }
            }
            AgentRequest::Malformed { error } => {
                self.notice(
                    Level::Warning,
                    "A permission request of the agent could not be read. It was denied.",
                    Some(error.clone()),
                );
                self.push(Effect::Write(AgentCommand::Deny {
                    request_id: id.to_owned(),
                    message: "The permission request could not be read.".to_owned(),
                    interrupt: false,
                }));
            }
            AgentRequest::Unknown { name } => {
                let (request_id, error) = (id.to_owned(), format!("unsupported request: {name}"));
                self.push(Effect::Write(AgentCommand::Refuse { request_id, error }));
            }
        }
    }

    /// Denies all open requests: the user can no longer answer.
    pub(super) fn deny_all(&mut self, message: &str) {
        let closed = self.machine.requests.deny_all(message);
        self.resolved(closed);
    }

    /// Withdraws all open requests: an answer would have no effect.
    pub(super) fn withdraw_all(&mut self, reason: &str) {
        let closed = self.machine.requests.withdraw_all(reason);
        self.resolved(closed);
    }
}
