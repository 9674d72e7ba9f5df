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
mod writer;

use crate::api::{AgentKind, RawDirection, RawKind, RawLines, RecordingState};
use crate::disk::{self, ReadError};
use crate::store::SavedSession;
use last::LastLines;
pub(crate) use last::now;
pub(crate) use redact::redacted_text;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use writer::{Line, Writer};

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
    /// The recording began while the agent ran, so that its start is not in it.
    pub is_running: bool,
    /// It began within a turn, so that the turn's prompt is not in it.
    pub is_in_turn: bool,
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

/// The empty file of a new recording.
pub(crate) struct NewFile(Writer);

impl NewFile {
    /// Makes a file with a name of its own in this folder, which is made if it does not exist. Only the user can read
    /// both.
    pub(crate) fn create(folder: &Path, name: &str) -> io::Result<Self> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
        Writer::begin(&folder.join(name)).map(Self)
    }
}

struct File {
    writer: Writer,
    begun: Instant,
    /// Start of the recording by the session's clock, in milliseconds since the epoch.
    began_at: u64,
}

impl Recorder {
    fn lock(&self) -> MutexGuard<'_, Option<File>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts recording to a new file, readable only by its owner. Fails if the file exists.
    pub fn begin(&self, path: &Path) -> io::Result<()> {
        let writer = Writer::begin(path)?;
        let previous = self.lock().replace(File { writer, begun: Instant::now(), began_at: 0 });
        drop(previous);
        Ok(())
    }

    /// Stops the recording and returns what became of it. Waits for the disk, up to 10 s.
    pub fn end(&self) -> Option<RecordingState> {
        let recording = self.lock().take();
        recording.map(|recording| recording.writer.end())
    }

    pub fn is_on(&self) -> bool {
        self.lock().as_ref().is_some_and(File::is_on)
    }

    /// The recording that runs, or the one that a problem ended.
    pub(crate) fn state(&self) -> Option<RecordingState> {
        self.lock().as_ref().map(|recording| recording.writer.state())
    }

    /// Waits until a problem ends the recording that runs now. `None`: the user stopped it.
    pub(crate) fn failed(&self) -> impl Future<Output = Option<RecordingState>> + Send + use<> {
        let failed = self.lock().as_ref().map(|recording| recording.writer.failed());
        async move { failed?.wait_for(Option::is_some).await.ok()?.clone() }
    }

    /// Records the state of the session when it is opened, at time `at` of its clock.
    pub fn keep_opened(&self, at: u64, project: &Path, agent: AgentKind, memory: &SavedSession) {
        self.keep_state(Opened {
            at,
            project: project.display().to_string(),
            agent: Some(agent),
            memory: memory.clone(),
            ..Opened::default()
        });
    }

    fn keep_state(&self, opened: Opened) {
        if let Some(recording) = self.lock().as_mut() {
            recording.keep_state(opened);
        }
    }

    /// Starts recording to a file that was made for it, with the state of a session that is open already. Returns the
    /// file if the session is being recorded.
    pub(crate) fn begin_with(&self, file: NewFile, opened: Opened) -> Result<RecordingState, NewFile> {
        let mut current = self.lock();
        if current.as_ref().is_some_and(File::is_on) {
            return Err(file);
        }
        let state = file.0.state();
        let mut recording = File { writer: file.0, begun: Instant::now(), began_at: 0 };
        // Before any line: what is recorded meanwhile waits for the lock.
        recording.keep_state(opened);
        *current = Some(recording);
        Ok(state)
    }

    /// The file of the recording, if there is one.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        self.lock().as_ref().map(|recording| recording.writer.path.clone())
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
            recording.writer.keep(Line { ms, dir: Direction::Out, value: line, may_be_piece: true });
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

impl File {
    fn is_on(&self) -> bool {
        !self.writer.has_failed()
    }

    /// Milliseconds since the recording began.
    fn ms(&self) -> u64 {
        self.begun.elapsed().as_millis() as u64
    }

    fn keep_state(&mut self, opened: Opened) {
        let ms = self.ms();
        self.began_at = opened.at.saturating_sub(ms);
        let version = env!("CARGO_PKG_VERSION").to_owned();
        self.keep(ms, Direction::Opened, &Opened { version, ..opened });
    }

    fn keep<T: Serialize + ?Sized>(&self, ms: u64, dir: Direction, line: &T) {
        match serde_json::to_value(line) {
            Ok(value) => self.writer.keep(Line { ms, dir, value, may_be_piece: false }),
            Err(error) => tracing::error!(%error, "a line is missing in the recording"),
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
        assert_eq!(recorder.end().unwrap().problem, None);
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
