//! `deskbell replay`: shows a recording as a conversation or as lines, or folds it to events again.

use crate::args::{ReplayOptions, ReplayView};
use crate::output::stdout;
use anyhow::{Context, ensure};
use deskbell_engine::api::{Envelope, SessionId};
use deskbell_engine::permission::leave_out_repeats;
use deskbell_engine::recorder::Recording;
use deskbell_engine::replay::Replayed;
use std::io::Write;
use std::process::ExitCode;

pub fn main(options: &ReplayOptions) -> ExitCode {
    match show(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("deskbell: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn show(ReplayOptions { file, view }: &ReplayOptions) -> anyhow::Result<()> {
    let recording = Recording::read(file).with_context(|| format!("reading {}", file.display()))?;
    ensure!(!recording.lines.is_empty(), "{} is not a recording", file.display());
    for number in &recording.unreadable {
        eprintln!("deskbell: line {number} of {} cannot be read and is left out", file.display());
    }
    let mut output = std::io::BufWriter::new(stdout());
    match view {
        ReplayView::Conversation => {
            let replayed = Replayed::of(&recording.lines);
            if replayed.is_in_turn {
                eprintln!("deskbell: the recording began within a turn, whose beginning is not in it");
            }
            output.write_all(replayed.text_with_times().as_bytes())?;
        }
        ReplayView::Lines => output.write_all(recording.text().as_bytes())?,
        ReplayView::Events => {
            for (seq, mut event) in (1..).zip(Replayed::of(&recording.lines).events) {
                leave_out_repeats(&mut event);
                let session_id = SessionId::new("replay");
                serde_json::to_writer(&mut output, &Envelope { seq, session_id, event })?;
                output.write_all(b"\n")?;
            }
        }
    }
    Ok(output.flush()?)
}
