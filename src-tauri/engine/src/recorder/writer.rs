//! The thread that redacts the lines of a recording and writes them. A session never waits for its disk: lines are
//! queued up to a limit, and beyond it the recording stops. It also stops when a line cannot be written, at once.

use super::redact::redacted;
use super::streamed::Streamed;
use super::{Direction, MOST_BYTES, Recorded};
use crate::api::RecordingState;
use serde_json::Value;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Bytes of lines that wait for the disk, approximately. Beyond them the recording stops.
const MOST_QUEUED: u64 = 64 * 1024 * 1024;

/// How long the end of a recording waits until the disk has the last lines.
const LAST_LINES: Duration = Duration::from_secs(10);

/// A line of the session. Pieces of a text are redacted together.
pub(super) struct Line {
    pub ms: u64,
    pub dir: Direction,
    pub value: Value,
    pub may_be_piece: bool,
}

/// A recording that is being written.
pub(super) struct Writer {
    pub path: PathBuf,
    lines: Option<Sender<(Line, u64)>>,
    shared: Arc<Shared>,
    over: Receiver<()>,
}

struct Shared {
    path: PathBuf,
    /// Bytes of lines that wait for the disk, approximately.
    queued: AtomicU64,
    /// Bytes of whole lines in the file.
    written: AtomicU64,
    /// The recording as the first problem left it.
    failed: watch::Sender<Option<RecordingState>>,
}

impl Shared {
    fn of(path: &Path) -> Self {
        let failed = watch::Sender::default();
        Self { path: path.to_owned(), queued: AtomicU64::new(0), written: AtomicU64::new(0), failed }
    }

    fn state(&self, is_running: bool, problem: Option<String>) -> RecordingState {
        let (path, n_bytes) = (self.path.display().to_string(), self.written.load(Ordering::Relaxed));
        RecordingState { path, is_running, n_bytes, problem }
    }

    fn fail(&self, problem: String) {
        tracing::error!(problem, path = %self.path.display(), "could not write to the recording; it was stopped");
        self.failed.send_if_modified(|failed| {
            let is_first = failed.is_none();
            failed.get_or_insert_with(|| self.state(false, Some(problem)));
            is_first
        });
    }

    fn has_failed(&self) -> bool {
        self.failed.borrow().is_some()
    }
}

/// The problem of a recording, in words for the user.
fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "the disk is full".to_owned(),
        _ => error.to_string(),
    }
}

impl Writer {
    /// Makes the file, readable only by its owner, and starts the thread. Fails if the file exists.
    #[allow(clippy::disallowed_methods, reason = "it is made here, so nothing that is there is opened")]
    pub fn begin(path: &Path) -> io::Result<Self> {
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Self::to(path, options.open(path)?)
    }

    fn to(path: &Path, file: impl Write + Send + 'static) -> io::Result<Self> {
        let (lines, queue) = channel();
        let (done, over) = channel();
        let shared = Arc::new(Shared::of(path));
        let of_thread = shared.clone();
        std::thread::Builder::new().name("recording".to_owned()).spawn(move || {
            if let Err(error) = write_all(file, &queue, &of_thread) {
                of_thread.fail(words(&error));
            }
            // The recording may have been dropped without an end.
            let _ = done.send(());
        })?;
        Ok(Self { path: path.to_owned(), lines: Some(lines), shared, over })
    }

    /// Queues a line. Never waits.
    pub fn keep(&self, line: Line) {
        let size = size_of(&line.value);
        if self.has_failed() {
            return;
        }
        if self.shared.queued.fetch_add(size, Ordering::Relaxed) + size > MOST_QUEUED {
            self.shared.fail("the disk was too slow for the session".to_owned());
            return;
        }
        if let Some(lines) = &self.lines {
            // Without its thread the recording has failed, which `failed` reports.
            let _ = lines.send((line, size));
        }
    }

    pub fn has_failed(&self) -> bool {
        self.shared.has_failed()
    }

    pub fn state(&self) -> RecordingState {
        let failed = self.shared.failed.borrow().clone();
        failed.unwrap_or_else(|| self.shared.state(true, None))
    }

    /// Receives the state of the recording when a problem ends it.
    pub fn failed(&self) -> watch::Receiver<Option<RecordingState>> {
        self.shared.failed.subscribe()
    }

    /// Waits until the lines so far are written and the file is closed.
    pub fn end(mut self) -> RecordingState {
        self.close();
        RecordingState { is_running: false, ..self.state() }
    }

    /// A recording that has failed has no last lines to wait for.
    fn close(&mut self) {
        let is_open = self.lines.take().is_some();
        if is_open
            && !self.has_failed()
            && self.over.recv_timeout(LAST_LINES) == Err(RecvTimeoutError::Timeout)
        {
            self.shared.fail("the disk did not take the last lines".to_owned());
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.close();
    }
}

/// Writes the lines until there are no more.
fn write_all(file: impl Write, queue: &Receiver<(Line, u64)>, shared: &Shared) -> io::Result<()> {
    let mut out = Out { file: BufWriter::new(file), streamed: Streamed::default(), shared };
    let mut last = (Instant::now(), 0);
    while let Ok((line, size)) = queue.recv() {
        if shared.has_failed() {
            return Ok(());
        }
        last = (Instant::now(), line.ms);
        let written = out.line(line);
        shared.queued.fetch_sub(size, Ordering::Relaxed);
        written?;
    }
    let ms = last.1 + last.0.elapsed().as_millis() as u64;
    out.end(ms)
}

struct Out<'a, W: Write> {
    file: BufWriter<W>,
    streamed: Streamed,
    shared: &'a Shared,
}

impl<W: Write> Out<'_, W> {
    fn line(&mut self, Line { ms, dir, value, may_be_piece }: Line) -> io::Result<()> {
        let values = if may_be_piece { self.streamed.pass(value) } else { vec![value] };
        values.into_iter().try_for_each(|value| self.write(ms, dir, value))
    }

    /// Writes the text that `streamed` still holds back.
    fn end(mut self, ms: u64) -> io::Result<()> {
        let held = self.streamed.end();
        held.map_or(Ok(()), |value| self.write(ms, Direction::Out, value))
    }

    /// Flushes each line at once, because a recording is needed most after a crash.
    fn write(&mut self, ms: u64, dir: Direction, value: Value) -> io::Result<()> {
        let mut text = serde_json::to_vec(&Recorded { ms, dir, line: redacted(value) })?;
        text.push(b'\n');
        let n_bytes = text.len() as u64;
        if self.shared.written.load(Ordering::Relaxed) + n_bytes > MOST_BYTES {
            return Err(io::Error::other("it reached its maximum size"));
        }
        self.file.write_all(&text)?;
        self.file.flush()?;
        self.shared.written.fetch_add(n_bytes, Ordering::Relaxed);
        self.check_place()
    }

    /// A file that was removed can be written on Unix, and nothing of it is kept.
    fn check_place(&self) -> io::Result<()> {
        match std::fs::symlink_metadata(&self.shared.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.shared.written.store(0, Ordering::Relaxed);
                Err(io::Error::other("its file was removed or moved"))
            }
            _ => Ok(()),
        }
    }
}

/// The bytes of a value in memory, approximately.
fn size_of(value: &Value) -> u64 {
    const ONE: u64 = 32;
    match value {
        Value::String(text) => ONE + text.len() as u64,
        Value::Array(list) => ONE + list.iter().map(size_of).sum::<u64>(),
        Value::Object(fields) => {
            ONE + fields.iter().map(|(key, value)| key.len() as u64 + size_of(value)).sum::<u64>()
        }
        _ => ONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(ms: u64, value: Value) -> Line {
        Line { ms, dir: Direction::Out, value, may_be_piece: false }
    }

    /// A disk that takes nothing until it is released.
    struct Stuck(Receiver<()>);

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // The test drops the sender.
            let _ = self.0.recv();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_stuck_disk_costs_bounded_memory_and_holds_nothing_up() {
        let (release, stuck) = channel();
        let writer = Writer::to(Path::new("x"), Stuck(stuck)).unwrap();
        let text = "x".repeat(1024 * 1024);
        for ms in 0..200 {
            writer.keep(line(ms, Value::from(text.clone())));
        }
        assert!(writer.shared.has_failed());
        assert!(writer.shared.queued.load(Ordering::Relaxed) < MOST_QUEUED + 2 * 1024 * 1024);
        drop(release);
        assert_eq!(writer.end().problem.as_deref(), Some("the disk was too slow for the session"));
    }

    #[test]
    fn a_disk_that_never_answers_does_not_hold_up_the_end_of_a_failed_recording() {
        let (_stuck_forever, stuck) = channel();
        let writer = Writer::to(Path::new("x"), Stuck(stuck)).unwrap();
        writer.keep(line(0, Value::from("x".repeat(MOST_QUEUED as usize))));
        let began = Instant::now();
        assert!(writer.end().problem.is_some());
        assert!(began.elapsed() < LAST_LINES);
    }

    #[tokio::test]
    async fn a_full_disk_ends_the_recording_at_once() {
        let writer = Writer::to(Path::new("x"), Full).unwrap();
        let mut failed = writer.failed();
        writer.keep(line(0, Value::from("a")));
        let state = failed.wait_for(Option::is_some).await.unwrap().clone().unwrap();
        assert_eq!(state.problem.as_deref(), Some("the disk is full"));
        assert_eq!((state.n_bytes, state.is_running), (0, false));
        assert_eq!(writer.state(), state);
        assert_eq!(writer.end(), state);
    }

    #[tokio::test]
    async fn a_file_that_was_removed_ends_the_recording_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::begin(&folder.path().join("a")).unwrap();
        let mut failed = writer.failed();
        std::fs::remove_file(folder.path().join("a")).unwrap();
        writer.keep(line(0, Value::from("a")));
        let state = failed.wait_for(Option::is_some).await.unwrap().clone().unwrap();
        assert_eq!(state.problem.as_deref(), Some("its file was removed or moved"));
        assert_eq!(state.n_bytes, 0, "nothing is kept");
    }

    #[tokio::test]
    async fn a_recording_that_was_stopped_did_not_fail() {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::begin(&folder.path().join("a")).unwrap();
        let mut failed = writer.failed();
        writer.keep(line(0, Value::from("a")));
        let state = writer.end();
        assert_eq!((state.is_running, state.problem), (false, None));
        assert_eq!(state.n_bytes, std::fs::metadata(folder.path().join("a")).unwrap().len());
        assert!(failed.wait_for(Option::is_some).await.is_err());
    }
}
