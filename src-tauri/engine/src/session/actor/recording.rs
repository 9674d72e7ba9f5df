//! The session's part in its recording: the state that a recording begins with, and its end with the session.

use super::Actor;
use crate::api::{CommandError, RecordingState};
use crate::disk;
use crate::recorder::{NewFile, Opened, now};
use crate::session::recording::{END, refused};

impl Actor {
    /// Begins a recording with the state of the session.
    pub(super) fn record(&self, file: NewFile) -> Result<RecordingState, CommandError> {
        let record = &self.open.record;
        let opened = Opened {
            at: now(),
            project: record.project.display().to_string(),
            agent: Some(record.agent),
            is_running: self.process.is_some(),
            is_in_turn: self.core.is_in_turn(),
            memory: self.core.memory(),
            ..Opened::default()
        };
        let begun = self.open.recorder.begin_with(file, opened);
        begun.map_err(|_| refused("This session is being recorded already."))
    }

    /// Waits until the recording of a session that has ended is on disk.
    pub(super) async fn end_recording(&self) {
        let Some(path) = self.open.recorder.path() else { return };
        let recorder = self.open.recorder.clone();
        let ended = disk::run(path.parent().unwrap_or(&path), END, move || recorder.end()).await;
        // The writer logs its own problems.
        if let Err(error) = ended {
            tracing::error!(%error, path = %path.display(), "the recording is incomplete");
        }
    }
}
