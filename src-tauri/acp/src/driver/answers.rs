//! The agent's answers to commands.

use super::{Driver, Step, unknown};
use crate::event::{Action, Event, Failure, RpcError, TurnEnd, Withdrawal};
use crate::read;
use crate::rpc::{self, shortened};
use agent_client_protocol_schema::v1;
use serde::Deserialize;
use serde_json::Value;

impl Driver {
    pub(super) fn answered(&mut self, action: Action, outcome: Result<Value, RpcError>, step: &mut Step) {
        if let Err(error) = &outcome
            && error.code == rpc::LOGIN_REQUIRED
            // A session works without the list of the others.
            && action != Action::ListSessions
        {
            let logins = self.ready.as_ref().map(|ready| ready.logins.clone()).unwrap_or_default();
            step.events.push(Event::LoginRequired { message: error.words(), logins });
        }
        if action == Action::Prompt {
            return self.turn_ended(outcome, step);
        }
        match outcome {
            Ok(result) => self.succeeded(action, &result, step),
            Err(error) => {
                if matches!(action, Action::LoadSession) {
                    // Calls of a history that was repeated in part.
                    self.settle(true, step);
                }
                step.events.push(Event::Failed { action, failure: Failure::Refused(error) });
            }
        }
    }

    fn succeeded(&mut self, action: Action, result: &Value, step: &mut Step) {
        let unusable = |action, reason| Event::Failed { action, failure: Failure::Unusable(reason) };
        match action {
            Action::Initialize => match read::ready(result) {
                Ok(ready) => {
                    self.ready = Some(ready.clone());
                    step.events.push(Event::Ready(Box::new(ready)));
                }
                Err(reason) => step.events.push(unusable(action, reason)),
            },
            Action::NewSession | Action::LoadSession | Action::ResumeSession => {
                // The calls of a history that was repeated.
                self.settle(false, step);
                // Only a new session is named by its answer.
                let continued = self.continued.take().filter(|_| action != Action::NewSession);
                match read::session(result, continued.as_deref()) {
                    Ok(session) => {
                        let (_, odd) = read::config_options(result.get("configOptions"));
                        step.events.extend(odd.iter().map(|odd| unknown("configOptions", odd)));
                        self.session = Some(session.clone());
                        step.events.push(Event::Session(Box::new(session)));
                    }
                    Err(reason) => step.events.push(unusable(action, reason)),
                }
            }
            Action::ListSessions => {
                let (sessions, next, odd) = read::stored(result);
                step.events.push(Event::Stored { sessions, next });
                step.events.extend(odd.iter().map(|odd| unknown("sessions", odd)));
            }
            Action::SetMode { id } => {
                if result.get("configOptions").is_some() {
                    self.set_options(result.get("configOptions"), step);
                } else {
                    self.mode_is(id.clone(), step);
                }
                step.events.push(Event::Done(Action::SetMode { id }));
            }
            // The answer says what is in force. Without it nothing is known to have changed.
            Action::SetOption { .. } => match result.get("configOptions").filter(|list| list.is_array()) {
                Some(list) => {
                    self.set_options(Some(list), step);
                    step.events.push(Event::Done(action));
                }
                None => {
                    let reason = "the answer does not say what the settings are now".to_owned();
                    step.events.push(unusable(action, reason));
                }
            },
            Action::SetModel { id } => {
                if let Some(session) = &mut self.session {
                    session.model = Some(id.clone());
                }
                step.events.push(Event::Done(Action::SetModel { id }));
            }
            action => step.events.push(Event::Done(action)),
        }
    }

    fn turn_ended(&mut self, outcome: Result<Value, RpcError>, step: &mut Step) {
        let (end, tokens) = match outcome {
            Ok(result) => {
                let reason = result.get("stopReason").unwrap_or(&Value::Null);
                let end = match v1::StopReason::deserialize(reason) {
                    Ok(v1::StopReason::EndTurn) => TurnEnd::Done,
                    Ok(v1::StopReason::MaxTokens) => TurnEnd::MaxTokens,
                    Ok(v1::StopReason::MaxTurnRequests) => TurnEnd::MaxRequests,
                    Ok(v1::StopReason::Refusal) => TurnEnd::Refusal,
                    Ok(v1::StopReason::Cancelled) => TurnEnd::Cancelled,
                    _ => TurnEnd::Other(reason.as_str().map_or_else(|| shortened(reason), str::to_owned)),
                };
                (end, result.get("usage").and_then(read::tokens))
            }
            Err(error) => (TurnEnd::Failed(Failure::Refused(error)), None),
        };
        self.withdraw_all(Withdrawal::TurnEnded, step);
        self.settle(self.is_interrupted || end == TurnEnd::Cancelled, step);
        self.is_in_turn = false;
        self.is_interrupted = false;
        step.events.push(Event::TurnEnded { end, tokens });
    }
}
