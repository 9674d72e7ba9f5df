//! A session's lines, both ways and with their times, in one file that can go into a bug report: redacted as it is
//! written, and folded again by `deskbell replay`.
//!
//! One JSON object a line: `{"ms":12,"dir":"out","line":{…}}`. `dir` is `in` to the agent, `out` from it, `err` its
//! stderr, `start` the arguments it was started with; what is not JSON is a string. `opened` is the session as it was
//! when the recording began, `input` whatever happened to it besides the agent's lines: a prompt, a command, a timer, the
//! end of the process. With these two a replay goes through the same states as the session did.

use crate::session::machine::{Input, Memory};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Which way a line went.
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

/// The session as it was when its recording began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Opened {
    /// The version of Deskbell.
    pub version: String,
    /// Milliseconds since the epoch.
    pub at: u64,
    /// The project's folder, as it is written in the other lines.
    pub project: String,
    pub memory: Memory,
}

/// One recorded line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// Since the recording began.
    pub ms: u64,
    pub dir: Direction,
    pub line: Value,
}

/// A recorder that can be switched on and off while its session lives. Off, it costs a lock per batch.
#[derive(Clone, Default)]
pub struct Recorder(Arc<Mutex<Option<File>>>);

struct File {
    path: PathBuf,
    file: BufWriter<std::fs::File>,
    begun: Instant,
    /// The same by the session's own clock, in milliseconds since the epoch.
    began_at: u64,
    /// A failed write ends the recording, and is told once.
    failure: Option<io::Error>,
}

impl Recorder {
    fn lock(&self) -> MutexGuard<'_, Option<File>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a new file, readable by its owner alone. A file that is there already is not touched.
    pub fn begin(&self, path: &Path) -> io::Result<()> {
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = BufWriter::new(options.open(path)?);
        *self.lock() =
            Some(File { path: path.to_owned(), file, begun: Instant::now(), began_at: 0, failure: None });
        Ok(())
    }

    /// Ends the recording; gives its file, or what went wrong with it.
    pub fn end(&self) -> io::Result<Option<PathBuf>> {
        let Some(mut recording) = self.lock().take() else { return Ok(None) };
        match recording.failure.take() {
            Some(error) => Err(error),
            None => recording.file.flush().map(|()| Some(recording.path)),
        }
    }

    pub fn is_on(&self) -> bool {
        self.lock().is_some()
    }

    /// Keeps what the session is when it is opened, at this time of its clock.
    pub fn keep_opened(&self, at: u64, project: &Path, memory: &Memory) {
        if let Some(recording) = self.lock().as_mut() {
            let ms = recording.ms();
            recording.began_at = at.saturating_sub(ms);
            let version = env!("CARGO_PKG_VERSION").to_owned();
            let project = project.display().to_string();
            recording.keep(ms, Direction::Opened, &Opened { version, at, project, memory: memory.clone() });
        }
    }

    /// Keeps what happens to the session, at the very time that it is told it does: a prompt that is sent again is named
    /// after it. The agent's lines are kept where they are read.
    pub fn keep_input(&self, at: u64, input: &Input) {
        if matches!(input, Input::Line(_)) {
            return;
        }
        if let Some(recording) = self.lock().as_mut() {
            let ms = at.saturating_sub(recording.began_at);
            recording.keep(ms, Direction::Input, input);
        }
    }

    /// Keeps a line of bytes.
    pub fn keep_bytes(&self, dir: Direction, line: &[u8]) {
        match serde_json::from_slice::<Value>(line) {
            Ok(line) => self.keep(dir, &line),
            Err(_) => self.keep(dir, String::from_utf8_lossy(line).trim_end()),
        }
    }

    /// Keeps a line.
    pub fn keep<T: Serialize + ?Sized>(&self, dir: Direction, line: &T) {
        if let Some(recording) = self.lock().as_mut() {
            let ms = recording.ms();
            recording.keep(ms, dir, line);
        }
    }
}

impl File {
    /// Since the recording began.
    fn ms(&self) -> u64 {
        self.begun.elapsed().as_millis() as u64
    }

    /// Whole lines reach the disk as they come: a recording is most wanted when something crashes.
    fn keep<T: Serialize + ?Sized>(&mut self, ms: u64, dir: Direction, line: &T) {
        if self.failure.is_some() {
            return;
        }
        let written = serde_json::to_value(line)
            .and_then(|line| serde_json::to_vec(&Recorded { ms, dir, line: redacted(line) }))
            .map_err(io::Error::from)
            .and_then(|mut text| {
                text.push(b'\n');
                self.file.write_all(&text)?;
                self.file.flush()
            });
        if let Err(error) = written {
            tracing::error!(%error, path = %self.path.display(), "the recording ends here");
            self.failure = Some(error);
        }
    }
}

/// What must not leave the machine, wherever in a line it stands: keys, tokens, the user's name in paths.
static SECRETS: LazyLock<Vec<(regex::Regex, &'static str)>> = LazyLock::new(|| {
    let rule = |pattern: &str, with| (regex::Regex::new(pattern).expect("the pattern is a constant"), with);
    vec![
        rule(r"sk-[A-Za-z0-9_-]{8,}", "<key>"),
        rule(r"(?i)\b(gh[pousr]_|github_pat_|glpat-|xox[abprs]-)[A-Za-z0-9_-]{8,}", "<token>"),
        rule(r"\bAKIA[0-9A-Z]{16}\b", "<key>"),
        rule(r"(?i)\bbearer\s+[A-Za-z0-9._~+/=-]{8,}", "Bearer <token>"),
        rule(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*", "<token>"),
        rule(r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----", "<private key>"),
        rule(
            r"(?i)\b([a-z0-9_]*(?:api_?key|secret|token|password|passwd)[a-z0-9_]*)(\s*[=:]\s*)[^\s,;&]{6,}",
            "$1$2<secret>",
        ),
        rule(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}", "<address>"),
        rule(r"(/home/|/Users/|\\Users\\)[^/\\\s]+", "${1}user"),
    ]
});

/// Keys whose value is a secret, or of no use to anyone who reads a report.
const SECRET_KEYS: &[&str] =
    &["signature", "apiKey", "api_key", "authorization", "email", "organization", "accountUuid"];

fn redacted(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(redacted_text(text)),
        Value::Array(values) => Value::Array(values.into_iter().map(redacted).collect()),
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(key, value)| {
                    let is_secret = SECRET_KEYS.contains(&key.as_str()) && value.is_string();
                    let value = if is_secret { Value::from("<redacted>") } else { redacted(value) };
                    (key, value)
                })
                .collect(),
        ),
        other => other,
    }
}

fn redacted_text(mut text: String) -> String {
    for (pattern, with) in SECRETS.iter() {
        if pattern.is_match(&text) {
            text = pattern.replace_all(&text, *with).into_owned();
        }
    }
    text
}

/// A recording that was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    pub lines: Vec<Recorded>,
    /// Where in the file, counted from 1, there are lines that are none: torn by a crash, or garbled on the way.
    pub unreadable: Vec<usize>,
}

/// Reads a recording as far as it is one: a line that is none costs itself alone.
pub fn read(bytes: &[u8]) -> Recording {
    let mut recording = Recording::default();
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        match serde_json::from_slice(line) {
            Ok(recorded) => recording.lines.push(recorded),
            Err(_) if line.trim_ascii().is_empty() => {}
            Err(_) => recording.unreadable.push(number),
        }
    }
    recording
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
        let recording = read(text.as_bytes());
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
        recorder.keep_opened(1_000_000, Path::new("/p"), &Memory::default());
        recorder.keep_input(1_000_007, &Input::Spawned);
        recorder.end().unwrap();
        let recording = read(&std::fs::read(&path).unwrap());
        assert_eq!(recording.lines[1].ms, recording.lines[0].ms + 7);
    }

    #[test]
    fn what_is_no_line_costs_itself_alone() {
        let bytes = b"{\"ms\":1,\"dir\":\"out\",\"line\":1}\r\n\xff\xfe{\n\n[]\n\
            {\"ms\":2,\"dir\":\"sideways\",\"line\":1}\n\
            {\"ms\":3,\"dir\":\"in\",\"line\":2,\"new\":true}\n{\"ms\":4,\"dir\":\"o";
        let recording = read(bytes);
        let read: Vec<u64> = recording.lines.iter().map(|recorded| recorded.ms).collect();
        assert_eq!(read, [1, 3]);
        assert_eq!(recording.unreadable, [2, 4, 5, 7]);
        assert_eq!(super::read(b""), Recording::default());
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
