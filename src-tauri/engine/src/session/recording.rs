//! Recording of an open session, which the user starts and stops.

use super::{LocalMessage, LocalSession, SessionHandle};
use crate::api::{CommandError, ErrorCode, RecordingState};
use crate::disk;
use crate::recorder::{NewFile, now};
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longer than the end of a recording waits for its disk.
pub(super) const END: Duration = Duration::from_secs(15);

pub(super) fn refused(message: &str) -> CommandError {
    CommandError { code: ErrorCode::BadCommand, message: message.to_owned(), detail: None }
}

fn not_written(folder: &Path, error: &io::Error) -> CommandError {
    CommandError {
        code: ErrorCode::Internal,
        message: format!(
            "The recording could not be written in {}. The session goes on without it.",
            folder.display()
        ),
        detail: Some(error.to_string()),
    }
}

impl SessionHandle {
    /// Records the session from now on, without secrets, in a new file of this folder. Nothing that happened before is
    /// in it. The session never waits for the disk.
    pub async fn record(&self, folder: PathBuf) -> Result<RecordingState, CommandError> {
        let Self::Local(session) = self else {
            return Err(refused("A session that keeps running in the background cannot be recorded here."));
        };
        let name = format!("session-{}-{}.ndjson", now(), self.id());
        let (place, made_in) = (folder.clone(), folder.clone());
        let made = disk::run(&place, disk::DEADLINE, move || NewFile::create(&made_in, &name)).await?;
        let file = made.map_err(|error| not_written(&folder, &error))?;
        session.mailbox.ask(|reply| LocalMessage::Record { file, reply }).await?
    }

    /// Stops the recording, and returns what became of it once its last lines are on disk; `None` if there is none.
    pub async fn stop_recording(&self) -> Result<Option<RecordingState>, CommandError> {
        let Self::Local(LocalSession { recorder, .. }) = self else { return Ok(None) };
        let Some(path) = recorder.path() else { return Ok(None) };
        let (recorder, folder) = (recorder.clone(), path.parent().unwrap_or(&path).to_owned());
        Ok(disk::run(&folder, END, move || recorder.end()).await?)
    }

    /// The recording that runs, or the one that a problem ended.
    pub fn recording(&self) -> Option<RecordingState> {
        match self {
            Self::Local(session) => session.recorder.state(),
            Self::Mirror(_) => None,
        }
    }

    /// Waits until a problem ends the recording that runs now. `None`: the user stopped it, or the session has ended.
    /// Keeps no session open.
    pub fn recording_failed(&self) -> impl Future<Output = Option<RecordingState>> + Send + use<> {
        let failed = match self {
            Self::Local(session) => Some(session.recorder.failed()),
            Self::Mirror(_) => None,
        };
        async move { failed?.await }
    }
}
