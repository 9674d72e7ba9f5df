//! Session recorder: writes a session's lines in both directions, with their times, to one file that can be attached to
//! a bug report. The lines are redacted when they are written. `deskbell replay` folds the file again.
//!
//! One JSON object per line: `{"ms":12,"dir":"out","line":{…}}`. `dir` is `in` for lines to the agent, `out` for lines
//! from it, `err` for its stderr and `start` for its arguments. A line that is not JSON is stored as a string. `opened`
//! is the state of the session when the recording began. `input` is any input of the session other than the agent's
//! lines: a prompt, a command, a timer, the end of the process. With these two a replay goes through the same states as
//! the session did.

mod last;
mod lost;
mod redact;
mod streamed;

use crate::api::{AgentKind, RawDirection, RawKind, RawLines};
use crate::disk::{self, ReadError};
use crate::store::SavedSession;
use last::LastLines;
pub(crate) use last::now;
pub(crate) use redact::redacted_text;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Kind of a recorded line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Direction {
    Opened,
    Input,
    Start,
    In,
    Out,
    Err,
}

/// State of the session when its recording began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Opened {
    /// The version of Deskbell.
    pub version: String,
    /// Milliseconds since the epoch.
    pub at: u64,
    /// The project's folder, redacted like in the other lines.
    pub project: String,
    /// `None` in recordings from before agents were named: it was Claude Code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentKind>,
    pub memory: SavedSession,
}

/// One recorded line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// Milliseconds since the recording began.
    pub ms: u64,
    pub dir: Direction,
    pub line: Value,
}

/// A recorder that can be switched on and off during its session. When off, it only copies the last lines to memory.
#[derive(Clone, Default)]
pub struct Recorder {
    file: Arc<Mutex<Option<File>>>,
    last: Arc<LastLines>,
}

struct File {
    path: PathBuf,
    file: BufWriter<std::fs::File>,
    begun: Instant,
    /// Start of the recording by the session's clock, in milliseconds since the epoch.
    began_at: u64,
    /// A failed write stops the recording; the error is reported once, by `end`.
    failure: Option<io::Error>,
    streamed: streamed::Streamed,
}

impl Recorder {
    fn lock(&self) -> MutexGuard<'_, Option<File>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts recording to a new file, readable only by its owner. Fails if the file exists.
    #[allow(clippy::disallowed_methods, reason = "it is made here, so nothing that is there is opened")]
    pub fn begin(&self, path: &Path) -> io::Result<()> {
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = BufWriter::new(options.open(path)?);
        *self.lock() = Some(File {
            path: path.to_owned(),
            file,
            begun: Instant::now(),
            began_at: 0,
            failure: None,
            streamed: streamed::Streamed::default(),
        });
        Ok(())
    }

    /// Stops the recording and returns its path, or the error that stopped it.
    pub fn end(&self) -> io::Result<Option<PathBuf>> {
        let Some(mut recording) = self.lock().take() else { return Ok(None) };
        recording.keep_held();
        match recording.failure.take() {
            Some(error) => Err(error),
            None => recording.file.flush().map(|()| Some(recording.path.clone())),
        }
    }

    pub fn is_on(&self) -> bool {
        self.lock().is_some()
    }

    /// Records the state of the session when it is opened, at time `at` of its clock.
    pub fn keep_opened(&self, at: u64, project: &Path, agent: AgentKind, memory: &SavedSession) {
        if let Some(recording) = self.lock().as_mut() {
            let ms = recording.ms();
            recording.began_at = at.saturating_sub(ms);
            let version = env!("CARGO_PKG_VERSION").to_owned();
            let project = project.display().to_string();
            let (agent, memory) = (Some(agent), memory.clone());
            recording.keep(ms, Direction::Opened, &Opened { version, at, project, agent, memory });
        }
    }

    /// Records an input with exactly the time that the session uses for it: the wire id of a prompt that is sent again
    /// is derived from this time. Lines of the agent are recorded by `keep_heard`.
    pub fn keep_input<T: Serialize>(&self, at: u64, input: &T) {
        if let Some(recording) = self.lock().as_mut() {
            let ms = at.saturating_sub(recording.began_at);
            recording.keep(ms, Direction::Input, input);
        }
    }

    /// Records a line of the agent when the session processes it, with the session's time. Recording it when it is read
    /// would allow another input in between.
    pub fn keep_heard(&self, at: u64, line: Value) {
        if let Some(recording) = self.lock().as_mut() {
            let ms = at.saturating_sub(recording.began_at);
            for line in recording.streamed.pass(line) {
                recording.keep(ms, Direction::Out, &line);
            }
        }
    }

    /// Records a line given as bytes.
    pub fn keep_bytes(&self, dir: Direction, line: &[u8]) {
        let direction = match dir {
            Direction::Opened | Direction::Input | Direction::Start => RawDirection::Start,
            Direction::In => RawDirection::ToAgent,
            Direction::Out => RawDirection::FromAgent,
            Direction::Err => RawDirection::Stderr,
        };
        self.last.push(last::now(), direction, RawKind::Known, line, line.len());
        if self.is_on() {
            self.keep(dir, &line_of(line));
        }
    }

    /// Keeps a line of the agent among the last ones, as it was read. `keep_heard` records it. `line` can be the start
    /// of a line of `n_bytes`.
    pub(crate) fn heard(&self, at: u64, kind: RawKind, line: &[u8], n_bytes: usize) {
        self.last.push(at, RawDirection::FromAgent, kind, line, n_bytes);
    }

    /// The last lines after line `after`, without secrets. Takes some milliseconds.
    pub(crate) fn last_lines(&self, after: u64) -> RawLines {
        self.last.after(after)
    }

    /// Records a line.
    pub fn keep<T: Serialize + ?Sized>(&self, dir: Direction, line: &T) {
        if let Some(recording) = self.lock().as_mut() {
            let ms = recording.ms();
            recording.keep(ms, dir, line);
        }
    }
}

/// Parses a line for recording. A line that is not JSON becomes a string.
pub(crate) fn line_of(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes)
        .unwrap_or_else(|_| Value::from(String::from_utf8_lossy(bytes).trim_end().to_owned()))
}

impl Drop for File {
    fn drop(&mut self) {
        self.keep_held();
    }
}

impl File {
    /// Writes the text that `streamed` still holds back.
    fn keep_held(&mut self) {
        if let Some(line) = self.streamed.end() {
            self.keep(self.ms(), Direction::Out, &line);
        }
    }

    /// Milliseconds since the recording began.
    fn ms(&self) -> u64 {
        self.begun.elapsed().as_millis() as u64
    }

    /// Writes and flushes each line at once, because a recording is needed most after a crash.
    fn keep<T: Serialize + ?Sized>(&mut self, ms: u64, dir: Direction, line: &T) {
        if self.failure.is_some() {
            return;
        }
        let written = serde_json::to_value(line)
            .and_then(|line| serde_json::to_vec(&Recorded { ms, dir, line: redact::redacted(line) }))
            .map_err(io::Error::from)
            .and_then(|mut text| {
                text.push(b'\n');
                self.file.write_all(&text)?;
                self.file.flush()
            });
        if let Err(error) = written {
            tracing::error!(%error, path = %self.path.display(), "could not write to the recording; it was stopped");
            self.failure = Some(error);
        }
    }
}

/// The content of a recording file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    pub lines: Vec<Recorded>,
    /// Numbers, from 1, of the lines that could not be parsed, because of a crash or damage in transfer.
    pub unreadable: Vec<usize>,
}

/// Maximum size of a recording in bytes. Reading takes several times as much memory.
const MOST_BYTES: u64 = 512 * 1024 * 1024;

impl Recording {
    /// Reads a recording file.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        Ok(Self::parse(&disk::read_regular(path, MOST_BYTES)?))
    }

    /// Parses a recording. A line that cannot be parsed is skipped and listed in `unreadable`.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut recording = Self::default();
        for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
            match serde_json::from_slice(line) {
                Ok(recorded) => recording.lines.push(recorded),
                Err(_) if line.trim_ascii().is_empty() => {}
                Err(_) => recording.unreadable.push(number),
            }
        }
        recording
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_do_not_reach_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recording.ndjson");
        let recorder = Recorder::default();
        recorder.keep(Direction::Out, &json!({"before": 1}));
        recorder.begin(&path).unwrap();
        let line = json!({
            "text": "export API_KEY=abcdef123456; curl -H 'Authorization: Bearer abc.def-123456' sk-ant-api03-xyzxyzxyz",
            "path": "/home/someone/project",
            "nested": [{"signature": "c2ln", "mail": "write to a.b@c.example now"}],
        });
        recorder.keep_bytes(Direction::Out, line.to_string().as_bytes());
        recorder.keep_bytes(Direction::Err, b"not json\n");
        assert_eq!(recorder.end().unwrap(), Some(path.clone()));
        let text = std::fs::read_to_string(&path).unwrap();
        for secret in ["abcdef123456", "abc.def-123456", "xyzxyzxyz", "someone", "c2ln", "a.b@c", "before"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        let recording = Recording::parse(text.as_bytes());
        assert_eq!((recording.lines.len(), recording.unreadable.len()), (2, 0));
        assert_eq!(recording.lines[0].line["path"], "/home/user/project");
        assert_eq!(recording.lines[1].line, "not json");
    }

    #[test]
    fn an_input_has_the_time_that_the_session_was_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let recorder = Recorder::default();
        recorder.begin(&path).unwrap();
        recorder.keep_opened(1_000_000, Path::new("/p"), AgentKind::Demo, &SavedSession::default());
        recorder.keep_input(1_000_007, &"spawned");
        recorder.end().unwrap();
        let recording = Recording::parse(&std::fs::read(&path).unwrap());
        assert_eq!(recording.lines[1].ms, recording.lines[0].ms + 7);
        let opened = Opened::deserialize(&recording.lines[0].line).unwrap();
        assert_eq!(opened.agent, Some(AgentKind::Demo), "a replay has the driver of this agent");
    }

    #[test]
    fn what_is_no_line_costs_itself_alone() {
        let bytes = b"{\"ms\":1,\"dir\":\"out\",\"line\":1}\r\n\xff\xfe{\n\n[]\n\
            {\"ms\":2,\"dir\":\"sideways\",\"line\":1}\n\
            {\"ms\":3,\"dir\":\"in\",\"line\":2,\"new\":true}\n{\"ms\":4,\"dir\":\"o";
        let recording = Recording::parse(bytes);
        let read: Vec<u64> = recording.lines.iter().map(|recorded| recorded.ms).collect();
        assert_eq!(read, [1, 3]);
        assert_eq!(recording.unreadable, [2, 4, 5, 7]);
        assert_eq!(Recording::parse(b""), Recording::default());
    }

    #[test]
    fn a_file_that_is_there_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "mine").unwrap();
        assert!(Recorder::default().begin(&path).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    }
}
