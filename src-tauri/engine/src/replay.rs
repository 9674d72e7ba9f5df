//! Replay of a recording: runs the same machine and transcript, with the recording instead of the agent, the user and
//! the clock. `text` formats the result.

pub mod text;

use crate::api::*;
use crate::recorder::{Direction, Opened, Recorded};
use crate::session::machine::{Effect, Input, Machine, Timeouts, TranscriptEvent};
use crate::transcript::Transcript;
use crate::wire::{self, Inbound};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

/// Result of a replay.
pub struct Replayed {
    /// Events in the order in which the session published them.
    pub events: Vec<Event>,
    /// The final transcript.
    pub items: Vec<Item>,
    /// Start of the recording in milliseconds since the epoch; 0 if it is not recorded.
    pub began_at: u64,
}

/// Replays a recorded session. Missing lines are missing in the result; a replay never fails.
pub fn replay(recording: &[Recorded]) -> Replayed {
    let opened = recording.iter().find(|recorded| recorded.dir == Direction::Opened);
    let (ms, opened) = opened
        .and_then(|recorded| Some((recorded.ms, Opened::deserialize(&recorded.line).ok()?)))
        .unwrap_or_default();
    let transcript =
        Transcript::with_changed_inputs(Path::new(&opened.project), &opened.memory.changed_inputs);
    let mut replay = Replay {
        machine: Machine::new(opened.memory, Timeouts::default()),
        transcript,
        events: Vec::new(),
        shown: HashMap::new(),
    };
    let began_at = opened.at.saturating_sub(ms);
    replay.take_over(opened.at);
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
    /// Fingerprint of each permission request that was published.
    shown: HashMap<RequestId, String>,
}

impl Replay {
    /// Holds the prompts that waited when the session was opened, as the session does.
    fn take_over(&mut self, now: u64) {
        for prompt in self.machine.prompts().cloned().collect::<Vec<_>>() {
            let id = prompt.id.clone();
            self.transcript.note(now, TranscriptEvent::PromptAccepted(prompt));
            self.transcript.note(now, TranscriptEvent::PromptState { id, state: PromptState::Held });
        }
    }

    fn line(&mut self, now: u64, recorded: &Recorded) {
        match recorded.dir {
            Direction::Out => {
                let mut inbound = inbound(&recorded.line);
                self.transcript.line(now, &mut inbound);
                if self.machine.is_relevant(&inbound) {
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

    /// Updates the fingerprint in a decision. It is computed from the exact text of the request, which redaction may
    /// have changed.
    fn show_again(&self, input: &mut Input) {
        if let Input::Command(Command::Decide { request_id, shown, .. }) = input
            && let (Some(shown), Some(again)) = (shown, self.shown.get(request_id))
        {
            shown.clone_from(again);
        }
    }

    /// Makes a step and collects its events. Other effects, such as writing to the agent, are ignored: their
    /// consequences are in the recording.
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
                Effect::TranscriptEvent(note) => self.transcript.note(now, note),
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
