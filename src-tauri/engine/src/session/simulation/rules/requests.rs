//! Rules for permission requests and their answers.

use super::{Phase, RuleResult, Scene, hold};
use crate::agent::{AgentEvent, AgentRequest, ToolRequest, json as text_of};
use crate::api::*;
use crate::session::machine::{Effect, Input, Machine};
use serde_json::{Value, json};
use std::collections::HashMap;

#[derive(Default)]
pub struct ExpectedRequests {
    pub open: Vec<(RequestId, ToolRequest)>,
    /// The `shown` of each request, as it was published last.
    shown: HashMap<RequestId, String>,
    /// Received in this step, and not published yet.
    to_show: Option<(RequestId, ToolRequest)>,
    /// Not supported: must be answered with an error or a denial in this step.
    to_turn_down: Option<(String, TurnDown)>,
    /// Must be withdrawn in this step.
    to_withdraw: Option<RequestId>,
    /// Answered in this step and not resolved yet, with whether it was allowed.
    answered: Vec<(RequestId, bool)>,
    n_refused: usize,
    was_open: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TurnDown {
    WithError,
    WithDenial,
}

impl ExpectedRequests {
    /// The `shown` of an open request.
    pub fn shown(&self, id: &RequestId) -> Option<String> {
        self.shown.get(id).filter(|_| self.is_open(id)).cloned()
    }

    fn is_open(&self, id: &RequestId) -> bool {
        self.open.iter().any(|(known, _)| known == id)
    }

    pub fn input(&mut self, scene: &Scene<'_>, phase: Phase) -> RuleResult {
        self.n_refused = 0;
        self.was_open = false;
        match scene.cause {
            Input::Line(AgentEvent::Request { request_id, request }) => {
                // The closed stdin is the answer; no other can be sent.
                if phase == Phase::Stopping {
                    return Ok(());
                }
                match request {
                    AgentRequest::Tool(request) => {
                        let id = RequestId::new(request_id);
                        if !self.is_open(&id) {
                            self.to_show = Some((id, (**request).clone()));
                        }
                    }
                    AgentRequest::Unknown { .. } => {
                        self.to_turn_down = Some((request_id.clone(), TurnDown::WithError));
                    }
                    AgentRequest::Malformed { .. } => {
                        self.to_turn_down = Some((request_id.clone(), TurnDown::WithDenial));
                    }
                }
            }
            Input::Line(AgentEvent::RequestWithdrawn { request_id }) => {
                let id = RequestId::new(request_id);
                self.to_withdraw = Some(id).filter(|id| self.is_open(id));
            }
            Input::Command(Command::Decide { request_id, .. }) => self.was_open = self.is_open(request_id),
            _ => {}
        }
        Ok(())
    }

    pub fn effect(&mut self, scene: &Scene<'_>, effect: &Effect, line: Option<&Value>) -> RuleResult {
        match effect {
            Effect::Write(_) => {
                if let Some(line) = line.filter(|line| line["type"] == "control_response") {
                    return self.answer(scene, &line["response"]);
                }
            }
            Effect::Refuse(_) => self.n_refused += 1,
            Effect::Emit(Event::PermissionRequested { request, .. }) => {
                let due = self.to_show.take();
                hold!(
                    due.as_ref().is_some_and(|(id, asked)| *id == request.id
                        && text_of::indented(asked.input.text()) == request.input_text),
                    Answers,
                    "{} is shown, which was not asked now",
                    request.id
                );
                self.shown.insert(request.id.clone(), request.shown.clone());
                self.open.extend(due);
            }
            Effect::Emit(Event::PermissionResolved { request_id, resolution }) => {
                return self.resolved(scene, request_id, resolution);
            }
            _ => {}
        }
        Ok(())
    }

    fn answer(&mut self, scene: &Scene<'_>, response: &Value) -> RuleResult {
        let id = response["request_id"].as_str().unwrap_or_default();
        let answer = &response["response"];
        if let Some((due, how)) = &self.to_turn_down
            && due == id
        {
            let is_right = match how {
                TurnDown::WithError => response["subtype"] == "error" && response["error"].is_string(),
                TurnDown::WithDenial => answer["behavior"] == "deny" && answer["message"].is_string(),
            };
            hold!(is_right, Answers, "{id} is not turned down: {response}");
            self.to_turn_down = None;
            return Ok(());
        }
        let id = RequestId::new(id);
        let Some((_, request)) = self.open.iter().find(|(known, _)| *known == id) else {
            hold!(false, Answers, "{id} is answered, which is not open");
            return Ok(());
        };
        hold!(!self.answered.iter().any(|(known, _)| *known == id), Answers, "{id} is answered twice");
        let allowed = answer["behavior"] == "allow" || answer["action"] == "accept";
        match scene.cause {
            Input::Command(Command::Decide { request_id, decision, .. }) if *request_id == id => {
                let is_right = says(answer, request, decision);
                hold!(is_right, Answers, "{id}: {decision:?} became {answer}");
            }
            Input::Command(Command::Stop) => hold!(!allowed, Answers, "{id} is allowed by a stop"),
            cause => hold!(false, Answers, "{id} is answered by {cause:?}"),
        }
        self.answered.push((id, allowed));
        Ok(())
    }

    fn resolved(&mut self, scene: &Scene<'_>, id: &RequestId, resolution: &Resolution) -> RuleResult {
        let Some(place) = self.open.iter().position(|(known, _)| known == id) else {
            hold!(false, Answers, "{id} is resolved, which is not open");
            return Ok(());
        };
        self.open.remove(place);
        let answered = self.answered.iter().position(|(known, _)| known == id);
        let answered = answered.map(|place| self.answered.remove(place).1);
        let is_right = match resolution {
            Resolution::Allowed { .. } | Resolution::Answered => answered == Some(true),
            Resolution::Denied { .. } => answered == Some(false),
            Resolution::Withdrawn { .. } => {
                let is_gone = match scene.cause {
                    Input::Line(AgentEvent::RequestWithdrawn { request_id }) => request_id == id.as_str(),
                    Input::Exited(_) | Input::StdinBroken(_) | Input::Timer(_) => true,
                    // An agent that keeps running without asking is ended by what it reports.
                    Input::Line(_) => scene.ends_process,
                    _ => false,
                };
                answered.is_none() && is_gone
            }
        };
        hold!(is_right, Answers, "{id} is {resolution:?}, but its answer was {answered:?}");
        if self.to_withdraw.as_ref() == Some(id) {
            self.to_withdraw = None;
        }
        Ok(())
    }

    pub fn end_of_step(&mut self, scene: &Scene<'_>, machine: &Machine) -> RuleResult {
        let to_show = self.to_show.take();
        hold!(to_show.is_none(), Answers, "{to_show:?} is not shown");
        hold!(self.to_turn_down.is_none(), Answers, "a request that is not served is left without an answer");
        hold!(self.to_withdraw.is_none(), Answers, "{:?} is not withdrawn", self.to_withdraw);
        hold!(self.answered.is_empty(), Answers, "{:?} is answered, and stays open", self.answered);
        hold!(
            machine.has_requests() != self.open.is_empty(),
            Answers,
            "what is open is not shown, or the reverse"
        );
        if let Input::Command(Command::Decide { request_id, .. }) = scene.cause {
            let is_resolved = self.was_open && !self.is_open(request_id);
            hold!(
                is_resolved != (self.n_refused == 1),
                Answers,
                "{request_id}: the decision is lost, and nobody is told"
            );
        }
        Ok(())
    }
}

/// Does the answer match the decision, and contain nothing more?
fn says(answer: &Value, request: &ToolRequest, decision: &Decision) -> bool {
    let allows = |input: &Value| answer["behavior"] == "allow" && answer["updatedInput"] == *input;
    let keeps_nothing = answer.get("updatedPermissions").is_none();
    if request.asked.form.is_some() {
        return match decision {
            Decision::Fill { values } => *answer == json!({"action": "accept", "content": values}),
            Decision::Deny { interrupt: false, .. } => *answer == json!({"action": "decline"}),
            _ => false,
        };
    }
    match decision {
        Decision::AllowOnce { updated_input: None } => allows(request.input.value()) && keeps_nothing,
        Decision::AllowOnce { updated_input: Some(InputChange::Whole { json }) } => {
            serde_json::from_str(json).is_ok_and(|input| allows(&input)) && keeps_nothing
        }
        Decision::AllowOnce { updated_input: Some(InputChange::Field { name, text }) } => {
            let mut input = request.input.value().clone();
            input[name] = json!(text);
            allows(&input) && keeps_nothing
        }
        Decision::AllowAlways { suggestion } => {
            let place = suggestion.as_str().and_then(|id| id.strip_prefix('s')?.parse::<usize>().ok());
            let named = || request.options.iter().find(|option| suggestion.as_str() == Some(&option.id));
            let rule = place.map_or_else(named, |place| request.options.get(place)).map(|option| &option.raw);
            // The same rule may also be added for the session, so that it applies immediately.
            let is_rule = |kept: &Value| {
                let mut wider = kept.clone();
                if let (Some(rule), true) = (rule, kept["destination"] == "session") {
                    wider["destination"] = rule["destination"].clone();
                }
                rule == Some(&wider)
            };
            let kept = answer["updatedPermissions"].as_array();
            allows(request.input.value())
                && kept.is_some_and(|kept| kept.first() == rule && kept.iter().all(is_rule))
        }
        Decision::ApprovePlan { accept_edits } => {
            let mode = json!([{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]);
            let is_kept = if *accept_edits { answer["updatedPermissions"] == mode } else { keeps_nothing };
            allows(request.input.value()) && is_kept
        }
        Decision::Fill { .. } => false,
        Decision::Answer { answers } => {
            let mut input = request.input.value().clone();
            input["answers"] = json!(answers);
            allows(&input) && keeps_nothing
        }
        Decision::Deny { .. } => {
            answer["behavior"] == "deny"
                && answer["message"].as_str().is_some_and(|message| !message.trim().is_empty())
        }
    }
}
