//! Work without a process, counted by instruction: counts are repeatable, times are not.

use std::hint::black_box;
use std::path::Path;

use anyhow::{Context, Result, bail};
use deskbell_agent::AgentEvent;
use deskbell_claude::wire;
use deskbell_engine::Transcript;
use deskbell_engine::process::lines::{Line, Lines};

use crate::fixture::{self, Kind};
use crate::reader::baselines::{self, Flat};

/// The size of a read from a full pipe.
const CHUNK: usize = 64 * 1024;

/// Makes the fixture, then reads it. Counting twice removes the cost of making it.
pub fn run(reader: &str, kind: &str, n: usize) -> Result<()> {
    let kind = Kind::of(kind).with_context(|| format!("no fixture is called {kind}"))?;
    let bytes = fixture::lines(kind, n);
    match reader {
        "nothing" => drop(black_box(bytes)),
        "flat" => baselines::split(bytes.as_slice(), |line| {
            black_box(serde_json::from_slice::<Flat<'_>>(line).map_or(0, |flat| flat.n_text()));
        })?,
        "deskbell" => ours(&bytes, |batch| drop(black_box(batch))),
        "folded" => {
            let mut transcript = Transcript::new(Path::new("/"));
            ours(&bytes, |batch| {
                batch.into_iter().for_each(|inbound| transcript.line(0, inbound));
                black_box(transcript.take_events());
            });
        }
        _ => bail!("no reader is called {reader}; they are: nothing flat deskbell folded"),
    }
    Ok(())
}

fn ours(bytes: &[u8], mut each: impl FnMut(Vec<AgentEvent>)) {
    let mut lines = Lines::default();
    for chunk in bytes.chunks(CHUNK) {
        let mut batch = Vec::new();
        lines.push(chunk, |line| {
            if let Line::Whole(line) = line {
                batch.push(wire::parse(line));
            }
        });
        each(batch);
    }
}
