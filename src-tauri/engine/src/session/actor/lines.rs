//! The lines of a conversation that Deskbell keeps itself, on their way to disk.
//!
//! They are written together: after a second, when there are many, and before the record of the session, because a
//! prompt leaves the record when its turn has ended.

use super::{Actor, STREAMING_MS, now};
use crate::api::*;
use crate::disk;
use crate::history::OwnLine;

/// Lines that are written at once.
const MOST_LINES: usize = 256;

/// Lines that wait while the disk takes none. More are not kept.
const MOST_WAITING: usize = 4_096;

#[derive(Default)]
pub(super) struct Lines {
    waiting: Vec<OwnLine>,
    /// The user was told that the disk takes none.
    is_failing: bool,
}

impl Actor {
    pub(super) async fn keep(&mut self, lines: Vec<OwnLine>) {
        self.lines.waiting.extend(lines);
        if self.lines.waiting.len() >= MOST_LINES && !self.lines.is_failing {
            self.keep_lines().await;
        } else if self.streaming_due.is_none() {
            self.streaming_due = Some(now() + STREAMING_MS);
        }
    }

    /// Writes the lines that wait. If the disk takes none, they are written with the next ones.
    pub(super) async fn keep_lines(&mut self) {
        if self.lines.waiting.is_empty() {
            return;
        }
        let lines = std::mem::take(&mut self.lines.waiting);
        let Some(store) = self.open.store.clone() else { return };
        let id = self.open.record.id.clone();
        let write = move || match store.keep(&id, &lines) {
            Ok(()) => Ok(()),
            Err(error) => Err((error, lines)),
        };
        let problem = match disk::run(&self.place, disk::DEADLINE, write).await {
            Ok(Ok(())) => {
                self.lines.is_failing = false;
                return;
            }
            Ok(Err((error, mut lines))) => {
                lines.truncate(MOST_WAITING);
                self.lines.waiting = lines;
                error.to_string()
            }
            // They are written when the disk responds again.
            Err(unfinished) => unfinished.to_string(),
        };
        tracing::warn!(problem, "could not keep a part of the conversation");
        if !std::mem::replace(&mut self.lines.is_failing, true) {
            let error = CommandError {
                code: ErrorCode::Internal,
                message: "The conversation could not be saved to disk. What follows may be missing after a restart."
                    .to_owned(),
                detail: Some(problem),
            };
            self.emit(Event::CommandFailed { error }).await;
        }
    }
}
