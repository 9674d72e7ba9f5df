//! The driver: lines of the agent become events, commands become lines. It has no process, file, clock or randomness.

mod agent_requests;
mod answers;
mod commands;
mod updates;

use crate::agents::CommandPlace;
use crate::calls::Calls;
use crate::event::{AcpAction, AcpEvent, AcpSession, AcpTurnEnd, Failure, Ready, Voice, Withdrawal};
use crate::requests::{AskedRequest, Ours, Theirs, cancelled};
use crate::rpc::{self, Id, RpcMessage, shortened};
use serde_json::{Value, json};

/// Requests of an agent that may wait at the same time. One more is cancelled.
pub const MOST_OPEN: usize = 256;

/// What came of a line or of a command.
#[derive(Debug, Default, PartialEq)]
pub struct ClientStep {
    pub events: Vec<AcpEvent>,
    /// To write to the agent, in order, each with a newline after it.
    pub lines: Vec<String>,
}

/// One agent process that speaks ACP, and its one session.
#[derive(Debug)]
pub struct AcpClient {
    ours: Ours,
    theirs: Theirs,
    calls: Calls,
    ready: Option<Ready>,
    session: Option<AcpSession>,
    /// The id of the session that is loaded or resumed: the answer does not repeat it.
    continued: Option<String>,
    /// The last message: chunks of the same voice and id belong to it.
    message: Option<(Voice, Option<String>)>,
    is_in_turn: bool,
    /// The turn was interrupted and has not ended yet.
    is_interrupted: bool,
    is_stopping: bool,
}

impl AcpClient {
    /// `place`: where this agent has the command of a call, from its row in the table.
    pub fn new(place: CommandPlace) -> Self {
        Self {
            ours: Ours::default(),
            theirs: Theirs::default(),
            calls: Calls::new(place),
            ready: None,
            session: None,
            continued: None,
            message: None,
            is_in_turn: false,
            is_interrupted: false,
            is_stopping: false,
        }
    }

    /// Requests of the agent that wait for an answer.
    pub fn n_requests(&self) -> usize {
        self.theirs.len()
    }

    /// The session with the mode and the settings that it has now.
    pub fn session(&self) -> Option<&AcpSession> {
        self.session.as_ref()
    }

    /// The newest command that waits for the agent's answer.
    pub(crate) fn last_action(&self) -> Option<AcpAction> {
        self.ours.last().cloned()
    }

    /// Calls that are not over.
    pub fn n_calls(&self) -> usize {
        self.calls.n_open()
    }

    /// Takes one line of the agent's output, without its newline. Never fails: everything is an event.
    pub fn line(&mut self, line: &[u8]) -> ClientStep {
        let mut step = ClientStep::default();
        match rpc::read(line) {
            Ok(messages) => messages.into_iter().for_each(|message| self.message(message, &mut step)),
            Err(unreadable) => step.events.push(AcpEvent::Unreadable {
                line: unreadable.line,
                n_bytes: unreadable.n_bytes,
                error: unreadable.error,
            }),
        }
        step
    }

    /// The process ended: everything that is open is over. The lines that would answer it are not made.
    pub fn ended(&mut self) -> Vec<AcpEvent> {
        let mut step = ClientStep::default();
        self.withdraw_all(Withdrawal::ProcessEnded, &mut step);
        self.settle(true, &mut step);
        for action in self.ours.close_all() {
            step.events.push(match action {
                AcpAction::Prompt => {
                    AcpEvent::TurnEnded { end: AcpTurnEnd::Failed(Failure::Ended), tokens: None }
                }
                action => AcpEvent::Failed { action, failure: Failure::Ended },
            });
        }
        self.is_in_turn = false;
        self.is_stopping = true;
        step.events
    }

    fn was_denied(&mut self, asked: &AskedRequest) {
        if let AskedRequest::Permission { call, .. } = asked {
            self.calls.denied(call);
        }
    }

    /// Cancels every open request of the agent.
    fn withdraw_all(&mut self, reason: Withdrawal, step: &mut ClientStep) {
        for (request, id, asked) in self.theirs.close_all() {
            step.lines.push(rpc::answer(&id, &cancelled(&asked)));
            step.events.push(AcpEvent::Withdrawn { request, reason });
            if let (Withdrawal::Cancelled, AskedRequest::Permission { call, .. }) = (reason, asked) {
                self.calls.withdrawn(&call);
            }
        }
    }

    fn settle(&mut self, is_cancelled: bool, step: &mut ClientStep) {
        self.message = None;
        let settled = self.calls.settle(is_cancelled);
        step.events.extend(settled.into_iter().map(|call| AcpEvent::Call(Box::new(call))));
    }

    fn message(&mut self, message: RpcMessage, step: &mut ClientStep) {
        match message {
            RpcMessage::Request { id, method, params } => self.request(id, method, params, step),
            RpcMessage::Notification { method, params } => self.notification(method, params, step),
            RpcMessage::Answer { id, outcome } => match self.ours.close(&id) {
                Some(action) => self.answered(action, outcome, step),
                None => {
                    let json = match outcome {
                        Ok(result) => json!({"id": id.text(), "result": result}),
                        Err(error) => json!({"id": id.text(), "code": error.code, "message": error.message}),
                    };
                    step.events.push(unknown("answer", &json));
                }
            },
            RpcMessage::Malformed { waits, json } => {
                if let Some(id) = waits {
                    step.lines.push(rpc::error(&id, rpc::INVALID_REQUEST, "Invalid request"));
                }
                step.events.push(unknown("message", &json));
            }
        }
    }

    fn is_foreign(&self, session: &str) -> bool {
        self.session.as_ref().is_some_and(|ours| ours.id != session)
    }

    fn notification(&mut self, method: String, params: Value, step: &mut ClientStep) {
        match method.as_str() {
            "session/update" => {
                let session = params.get("sessionId").and_then(Value::as_str);
                match params.get("update") {
                    // Before the answer to `session/new` the session has no name here: updates may come first.
                    Some(update) if !session.is_some_and(|id| self.is_foreign(id)) => {
                        self.update(update, step);
                    }
                    _ => step.events.push(unknown("session/update", &params)),
                }
            }
            "$/cancel_request" => {
                let request = params.get("requestId").map(Id::new);
                match request.and_then(|id| Some((self.theirs.close_id(&id)?, id))) {
                    Some(((request, asked), id)) => {
                        self.was_denied(&asked);
                        step.lines.push(rpc::error(&id, rpc::REQUEST_CANCELLED, "Request cancelled"));
                        step.events.push(AcpEvent::Withdrawn { request, reason: Withdrawal::ByAgent });
                    }
                    None => step.events.push(unknown("$/cancel_request", &params)),
                }
            }
            _ => step.events.push(unknown(&method, &params)),
        }
    }
}

fn unknown(kind: &str, json: &Value) -> AcpEvent {
    AcpEvent::Unknown { kind: kind.to_owned(), json: shortened(json) }
}
