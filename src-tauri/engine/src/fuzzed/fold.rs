//! Fuzz target for the transcript: for any agent output, applying the events gives the items, with and without merging
//! the events first.

use std::path::Path;

use serde_json::Value;

use super::cuts;
use crate::api::{Event, Item};
use crate::patch::{self, Pending};
use crate::recorder::{Direction, Recorded};
use crate::replay::Replayed;
use crate::transcript::Transcript;
use crate::wire;

/// Uses the bytes as an agent's output.
pub fn fold(data: &[u8]) {
    let (mut lengths, output) = cuts(data);
    let lines: Vec<&[u8]> = output.split(|byte| *byte == b'\n').collect();
    let mut transcript = Transcript::new(Path::new("/project"));
    let (mut shown, mut merged) = (Vec::new(), Vec::new());
    let mut pending = Pending::default();
    let mut left = lines.as_slice();
    while !left.is_empty() {
        let (batch, behind) = left.split_at(lengths.next().unwrap_or(1).min(left.len()));
        batch.iter().for_each(|line| transcript.line(0, wire::parse(line)));
        for change in transcript.drain_changes() {
            let event = change.whole(&transcript).expect("what is told of is there");
            told(&event);
            patch::apply(&mut shown, &event);
            // A window receives the smaller patch.
            change.into_patch().into_iter().for_each(|event| pending.push(event, None));
        }
        assert!(shown.iter().eq(transcript.items()), "{shown:?}");
        left = behind;
        if left.len().is_multiple_of(2) {
            pending.take_from(0).iter().for_each(|event| patch::apply(&mut merged, event));
            assert!(merged.iter().eq(transcript.items()), "{merged:?}");
        }
    }
    lived(&lines);
}

/// The same output in a complete session.
fn lived(lines: &[&[u8]]) {
    let record = |(ms, line): (u64, &&[u8])| Recorded {
        ms,
        dir: Direction::Out,
        line: Value::String(String::from_utf8_lossy(line).into_owned()),
    };
    let up = ["start", "spawned"].map(|input| Recorded { ms: 0, dir: Direction::Input, line: input.into() });
    let recording: Vec<Recorded> = up.into_iter().chain((1..).zip(lines).map(record)).collect();
    let replayed = Replayed::of(&recording);
    let mut shown: Vec<Item> = Vec::new();
    replayed.events.iter().for_each(|event| patch::apply(&mut shown, event));
    assert_eq!(shown, replayed.items);
}

fn told(event: &Event) {
    let text = serde_json::to_string(event).expect("an event is JSON");
    serde_json::from_str::<Value>(&text).expect("a window can read it");
}
