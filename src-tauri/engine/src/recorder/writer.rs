//! The thread that redacts the lines of a recording and writes them. A session never waits for its disk: lines are
//! queued up to a limit, and beyond it the recording stops.

use super::redact::redacted;
use super::streamed::Streamed;
use super::{Direction, MOST_BYTES, Recorded};
use serde_json::Value;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

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

#[derive(Default)]
struct Shared {
    queued: AtomicU64,
    /// The error that stopped the recording.
    failure: Mutex<Option<io::Error>>,
}

impl Shared {
    fn fail(&self, error: io::Error) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    fn has_failed(&self) -> bool {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).is_some()
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
        let shared = Arc::new(Shared::default());
        let (of_thread, named) = (shared.clone(), path.to_owned());
        std::thread::Builder::new().name("recording".to_owned()).spawn(move || {
            if let Err(error) = write_all(file, &queue, &of_thread) {
                tracing::error!(%error, path = %named.display(), "could not write to the recording; it was stopped");
                of_thread.fail(error);
            }
            // The recording may have been dropped without an end.
            let _ = done.send(());
        })?;
        Ok(Self { path: path.to_owned(), lines: Some(lines), shared, over })
    }

    /// Queues a line. Never waits.
    pub fn keep(&self, line: Line) {
        let size = size_of(&line.value);
        if self.shared.has_failed() {
            return;
        }
        if self.shared.queued.fetch_add(size, Ordering::Relaxed) + size > MOST_QUEUED {
            self.shared.fail(io::Error::other("the disk was too slow for the session"));
            return;
        }
        if let Some(lines) = &self.lines {
            // Without its thread the recording has failed, which `end` reports.
            let _ = lines.send((line, size));
        }
    }

    /// Waits until the lines so far are written and the file is closed. Returns the error that stopped the recording.
    pub fn end(mut self) -> io::Result<PathBuf> {
        self.close()?;
        let failure = self.shared.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        failure.map_or_else(|| Ok(std::mem::take(&mut self.path)), Err)
    }

    fn close(&mut self) -> io::Result<()> {
        if self.lines.take().is_none() {
            return Ok(());
        }
        match self.over.recv_timeout(LAST_LINES) {
            Ok(()) | Err(RecvTimeoutError::Disconnected) => Ok(()),
            Err(RecvTimeoutError::Timeout) => {
                Err(io::Error::new(io::ErrorKind::TimedOut, "the disk did not take the last lines"))
            }
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Nothing is left that could report it.
        let _ = self.close();
    }
}

/// Writes the lines until there are no more.
fn write_all(file: impl Write, queue: &Receiver<(Line, u64)>, shared: &Shared) -> io::Result<()> {
    let mut out = Out { file: BufWriter::new(file), streamed: Streamed::default(), n_bytes: 0 };
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

struct Out<W: Write> {
    file: BufWriter<W>,
    streamed: Streamed,
    n_bytes: u64,
}

impl<W: Write> Out<W> {
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
        self.n_bytes += text.len() as u64;
        if self.n_bytes > MOST_BYTES {
            return Err(io::Error::other("the recording reached its maximum size"));
        }
        self.file.write_all(&text)?;
        self.file.flush()
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
        assert_eq!(writer.end().unwrap_err().to_string(), "the disk was too slow for the session");
    }

    #[test]
    fn a_full_disk_is_reported_at_the_end() {
        let writer = Writer::to(Path::new("x"), Full).unwrap();
        for ms in 0..100 {
            writer.keep(line(ms, Value::from("a")));
        }
        assert_eq!(writer.end().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
}
