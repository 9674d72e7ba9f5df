//! Folds a recording again: the same machine and the same transcript, with the recording in place of agent and user.

use crate::api::*;
use crate::permission::OpenRequests;
use crate::recorder::{Direction, Recorded};
use crate::session::machine::{Effect, Input, Limits, Machine, Memory, Prompt};
use crate::transcript::Transcript;
use crate::wire;
use serde_json::Value;
use std::collections::VecDeque;

/// A recording as it was lived through.
pub struct Replay {
    machine: Machine,
    transcript: Transcript,
    events: Vec<Event>,
}

/// The events of a recorded session, in their order, and its items at the end.
pub fn replay(recording: &[Recorded]) -> (Vec<Event>, Vec<Item>) {
    let limits = Limits { hibernate_ms: 0, ..Limits::default() };
    let mut replay = Replay {
        machine: Machine::new(Memory::default(), limits),
        transcript: Transcript::default(),
        events: Vec::new(),
    };
    for recorded in recording {
        replay.line(recorded);
        replay.events.extend(replay.transcript.take_events());
    }
    (replay.events, replay.transcript.items().to_vec())
}

impl Replay {
    fn line(&mut self, recorded: &Recorded) {
        let now = recorded.ms;
        match recorded.dir {
            Direction::Start => self.step(now, Input::Start),
            Direction::In => {
                if let Some(input) = said(&recorded.line, self.machine.requests()) {
                    self.step(now, input);
                }
            }
            Direction::Out => {
                let line = match &recorded.line {
                    Value::String(text) => text.clone(),
                    value => value.to_string(),
                };
                let mut inbound = wire::parse(line.as_bytes());
                self.transcript.line(now, &mut inbound);
                self.step(now, Input::Line(inbound));
            }
            Direction::Err => {}
            Direction::Exit => {
                let number =
                    |key: &str| recorded.line.get(key).and_then(Value::as_i64).map(|number| number as i32);
                let report = ExitReport {
                    code: number("code"),
                    signal: number("signal"),
                    expected: false,
                    stderr: String::new(),
                };
                self.step(now, Input::Exited(report));
            }
        }
    }

    /// As the actor does, without a process, a disk or timers: what they did then is in the recording.
    fn step(&mut self, now: u64, input: Input) {
        let mut inputs = VecDeque::from([input]);
        while let Some(input) = inputs.pop_front() {
            for effect in self.machine.step(now, input) {
                match effect {
                    Effect::Spawn(_) => inputs.push_back(Input::Spawned),
                    Effect::Save(Some(id)) => inputs.push_back(Input::Saved(id)),
                    Effect::Emit(event) => {
                        self.events.extend(self.transcript.take_events());
                        self.events.push(event);
                    }
                    Effect::Note(note) => self.transcript.note(now, note),
                    _ => {}
                }
            }
        }
    }
}

/// What we had said to the agent, as the input that made us say it.
fn said(line: &Value, open: &OpenRequests) -> Option<Input> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    match text(line, "type")?.as_str() {
        "user" => {
            let content = line.get("message")?.get("content")?;
            let words = match content {
                Value::String(words) => words.clone(),
                blocks => blocks.as_array()?.iter().find_map(|block| text(block, "text")).unwrap_or_default(),
            };
            let id = PromptId::new(text(line, "uuid").unwrap_or_else(|| "prompt".to_owned()));
            Some(Input::Prompt(Prompt::new(id, words, Vec::new(), Delivery::AfterTurn)))
        }
        "control_request" => {
            let request = line.get("request")?;
            (text(request, "subtype")? == "interrupt").then_some(Input::Command(Command::Interrupt))
        }
        "control_response" => {
            let response = line.get("response")?;
            let answer = response.get("response")?;
            let decision = match text(answer, "behavior")?.as_str() {
                "allow" => {
                    let json = answer.get("updatedInput").map(Value::to_string);
                    Decision::AllowOnce { updated_input: json.map(|json| InputChange::Whole { json }) }
                }
                _ => {
                    Decision::Deny { message: text(answer, "message").unwrap_or_default(), interrupt: false }
                }
            };
            let request_id = RequestId::new(text(response, "request_id")?);
            let shown = open.get(&request_id).map(|request| request.shown.clone());
            Some(Input::Command(Command::Decide { request_id, shown, decision }))
        }
        _ => None,
    }
}
