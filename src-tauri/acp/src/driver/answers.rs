//! The agent's answers to commands.

use super::{AcpClient, ClientStep, unknown};
use crate::event::{AcpAction, AcpEvent, AcpTurnEnd, Failure, RpcError, Withdrawal};
use crate::read;
use crate::rpc::{self, shortened};
use agent_client_protocol_schema::v1;
use serde::Deserialize;
use serde_json::Value;

impl AcpClient {
    pub(super) fn answered(
        &mut self,
        action: AcpAction,
        outcome: Result<Value, RpcError>,
        step: &mut ClientStep,
    ) {
        if let Err(error) = &outcome
            && error.code == rpc::LOGIN_REQUIRED
            // A session works without the list of the others.
            && action != AcpAction::ListSessions
        {
            let logins = self.ready.as_ref().map(|ready| ready.logins.clone()).unwrap_or_default();
            step.events.push(AcpEvent::LoginRequired { message: error.words(), logins });
        }
        if action == AcpAction::Prompt {
            return self.turn_ended(outcome, step);
        }
        match outcome {
            Ok(result) => self.succeeded(action, &result, step),
            Err(error) => {
                if matches!(action, AcpAction::LoadSession) {
                    // Calls of a history that was repeated in part.
                    self.settle(true, step);
                }
                step.events.push(AcpEvent::Failed { action, failure: Failure::Refused(error) });
            }
        }
    }

    fn succeeded(&mut self, action: AcpAction, result: &Value, step: &mut ClientStep) {
        let unusable = |action, reason| AcpEvent::Failed { action, failure: Failure::Unusable(reason) };
        match action {
            AcpAction::Initialize => match read::ready(result) {
                Ok(ready) => {
                    self.ready = Some(ready.clone());
                    step.events.push(AcpEvent::Ready(Box::new(ready)));
                }
                Err(reason) => step.events.push(unusable(action, reason)),
            },
            AcpAction::NewSession | AcpAction::LoadSession | AcpAction::ResumeSession => {
                // The calls of a history that was repeated.
                self.settle(false, step);
                // Only a new session is named by its answer.
                let continued = self.continued.take().filter(|_| action != AcpAction::NewSession);
                match read::session(result, continued.as_deref()) {
                    Ok(session) => {
                        let (_, odd) = read::config_options(result.get("configOptions"));
                        step.events.extend(odd.iter().map(|odd| unknown("configOptions", odd)));
                        self.session = Some(session.clone());
                        step.events.push(AcpEvent::Session(Box::new(session)));
                    }
                    Err(reason) => step.events.push(unusable(action, reason)),
                }
            }
            AcpAction::ListSessions => {
                let (sessions, next, odd) = read::stored(result);
                step.events.push(AcpEvent::Stored { sessions, next });
                step.events.extend(odd.iter().map(|odd| unknown("sessions", odd)));
            }
            AcpAction::SetMode { id } => {
                if result.get("configOptions").is_some() {
                    self.set_options(result.get("configOptions"), step);
                } else {
                    self.mode_is(id.clone(), step);
                }
                step.events.push(AcpEvent::Done(AcpAction::SetMode { id }));
            }
            // The answer says what is in force. Without it nothing is known to have changed.
            AcpAction::SetOption { .. } => match result.get("configOptions").filter(|list| list.is_array()) {
                Some(list) => {
                    self.set_options(Some(list), step);
                    step.events.push(AcpEvent::Done(action));
                }
                None => {
                    let reason = "the answer does not say what the settings are now".to_owned();
                    step.events.push(unusable(action, reason));
                }
            },
            AcpAction::SetModel { id } => {
                if let Some(session) = &mut self.session {
                    session.model = Some(id.clone());
                }
                step.events.push(AcpEvent::Done(AcpAction::SetModel { id }));
            }
            action => step.events.push(AcpEvent::Done(action)),
        }
    }

    fn turn_ended(&mut self, outcome: Result<Value, RpcError>, step: &mut ClientStep) {
        let (end, tokens) = match outcome {
            Ok(result) => {
                let reason = result.get("stopReason").unwrap_or(&Value::Null);
                let end = match v1::StopReason::deserialize(reason) {
                    Ok(v1::StopReason::EndTurn) => AcpTurnEnd::Done,
                    Ok(v1::StopReason::MaxTokens) => AcpTurnEnd::MaxTokens,
                    Ok(v1::StopReason::MaxTurnRequests) => AcpTurnEnd::MaxRequests,
                    Ok(v1::StopReason::Refusal) => AcpTurnEnd::Refusal,
                    Ok(v1::StopReason::Cancelled) => AcpTurnEnd::Cancelled,
                    _ => AcpTurnEnd::Other(reason.as_str().map_or_else(|| shortened(reason), str::to_owned)),
                };
                (end, result.get("usage").and_then(read::tokens))
            }
            Err(error) => (AcpTurnEnd::Failed(Failure::Refused(error)), None),
        };
        self.withdraw_all(Withdrawal::TurnEnded, step);
        self.settle(self.is_interrupted || end == AcpTurnEnd::Cancelled, step);
        self.is_in_turn = false;
        self.is_interrupted = false;
        step.events.push(AcpEvent::TurnEnded { end, tokens });
    }
}
