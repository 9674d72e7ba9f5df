//! Folds a recording again: the same machine and the same transcript, with the recording in place of agent, user and
//! clock. `text` writes down what came of it.

pub mod text;

use crate::api::*;
use crate::recorder::{Direction, Opened, Recorded};
use crate::session::machine::{Effect, Input, Limits, Machine};
use crate::transcript::Transcript;
use crate::wire::{self, Inbound};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

/// A recorded session, lived through once more.
pub struct Replayed {
    /// In their order, as the session told them.
    pub events: Vec<Event>,
    /// The transcript at its end.
    pub items: Vec<Item>,
    /// When the recording began, in milliseconds since the epoch; 0 if that part of it is missing.
    pub began_at: u64,
}

/// Lives through a recorded session again. What is missing in it is missing in what comes of it; it never fails.
pub fn replay(recording: &[Recorded]) -> Replayed {
    let opened = recording.iter().find(|recorded| recorded.dir == Direction::Opened);
    let (ms, opened) = opened
        .and_then(|recorded| Some((recorded.ms, Opened::deserialize(&recorded.line).ok()?)))
        .unwrap_or_default();
    let mut replay = Replay {
        machine: Machine::new(opened.memory, Limits::default()),
        transcript: Transcript::new(Path::new(&opened.project)),
        events: Vec::new(),
        shown: HashMap::new(),
    };
    let began_at = opened.at.saturating_sub(ms);
    for recorded in recording {
        replay.line(began_at + recorded.ms, recorded);
        replay.take_events();
    }
    Replayed { events: replay.events, items: replay.transcript.items().cloned().collect(), began_at }
}

struct Replay {
    machine: Machine,
    transcript: Transcript,
    events: Vec<Event>,
    /// What names the content of each permission request that was shown.
    shown: HashMap<RequestId, String>,
}

impl Replay {
    fn line(&mut self, now: u64, recorded: &Recorded) {
        match recorded.dir {
            Direction::Out => {
                let mut inbound = inbound(&recorded.line);
                self.transcript.line(now, &mut inbound);
                if self.machine.hears(&inbound) {
                    self.step(now, Input::Line(inbound));
                }
            }
            Direction::Input => {
                if let Ok(mut input) = Input::deserialize(&recorded.line) {
                    self.show_again(&mut input);
                    self.step(now, input);
                }
            }
            Direction::Opened | Direction::Start | Direction::In | Direction::Err => {}
        }
    }

    /// A decision names what was shown by its exact text, which has changed where something was taken out of the recording.
    fn show_again(&self, input: &mut Input) {
        if let Input::Command(Command::Decide { request_id, shown, .. }) = input
            && let (Some(shown), Some(again)) = (shown, self.shown.get(request_id))
        {
            shown.clone_from(again);
        }
    }

    /// Takes a step and shows what came of it. What else the session did then, such as writing to its agent, came to
    /// something that is in the recording.
    fn step(&mut self, now: u64, input: Input) {
        for effect in self.machine.step(now, input) {
            match effect {
                Effect::Emit(event) => {
                    if let Event::PermissionRequested { request } = &event {
                        self.shown.insert(request.id.clone(), request.shown.clone());
                    }
                    self.take_events();
                    self.events.push(event);
                }
                Effect::Note(note) => self.transcript.note(now, note),
                _ => {}
            }
        }
    }

    fn take_events(&mut self) {
        self.events.extend(self.transcript.take_events());
    }
}

fn inbound(line: &Value) -> Inbound {
    match line {
        Value::String(text) => wire::parse(text.as_bytes()),
        value => wire::parse(value.to_string().as_bytes()),
    }
}
