//! The log on stderr and in files. Its level is `DESKBELL_LOG`, or else the setting.
//!
//! Lines for files go through a queue to a thread of its own, so that a disk that is slow or away holds up nothing. When
//! the queue is full, lines are dropped; the next line that is written says how many.

use deskbell_engine::api::{LogLevel, Settings};
use deskbell_engine::disk;
use deskbell_engine::log_files::{LogFiles, LogSource};
use deskbell_engine::settings::SettingsFile;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::{DefaultFields, Writer};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::Registry;
use tracing_subscriber::reload::{self, Handle};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, fmt as log_format};

/// Lines that wait for the disk, at most.
const QUEUE: usize = 8_192;

/// How long the end of the process waits for the disk.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Lines of the log in a report.
const REPORTED: usize = 200;

/// Changes the level; unset if the environment decides it.
static FILTER: OnceLock<Handle<EnvFilter, Registry>> = OnceLock::new();

/// The queue of this process; unset if it writes no files.
static FILES: OnceLock<Queue> = OnceLock::new();

/// Begins to log: on stderr, and in the files of a data folder if this process writes any.
pub fn begin(source: Option<LogSource>, data: &Path) {
    let given = EnvFilter::try_from_env("DESKBELL_LOG").ok();
    let is_given = given.is_some();
    let (filter, handle) = reload::Layer::new(given.unwrap_or_else(|| filter(LogLevel::Warn)));
    let files = source.map(|source| {
        let folder = LogFiles::folder(data);
        let queue = Queue::new(QUEUE, |dropped| LogFiles::new(folder, source, dropped));
        let writer = queue.writer.clone();
        if FILES.set(queue).is_err() {
            eprintln!("deskbell: the log was begun twice");
        }
        log_format::layer().with_ansi(false).fmt_fields(PlainFields::default()).with_writer(writer)
    });
    let has_colours =
        io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|no| no.is_empty());
    let stderr = log_format::layer().with_ansi(has_colours).with_writer(io::stderr);
    tracing_subscriber::registry().with(filter).with(stderr).with(files).init();
    if !is_given && FILTER.set(handle).is_err() {
        tracing::debug!("the log was begun twice");
    }
}

/// Applies the setting of a file, for a process that does not follow it. The disk may not respond: run this with a
/// deadline.
pub fn read_level(file: &SettingsFile) {
    set_level(file.read(&Settings::default()).settings.log);
}

/// Applies the setting.
pub fn set_level(level: LogLevel) {
    let Some(handle) = FILTER.get() else { return };
    if let Err(error) = handle.reload(filter(level)) {
        tracing::warn!(%error, "could not change the level of the log");
    }
}

/// Waits until everything is written, at most for a moment. The end of the process would lose it.
pub fn end() {
    if let Some(queue) = FILES.get() {
        queue.settle(LAST_LINES);
    }
}

/// The last lines of the log in this data folder, or why there are none, with a title. Without keys, tokens and names.
pub async fn last_lines(data: &Path) -> String {
    let folder = LogFiles::folder(data);
    let reading = folder.clone();
    let read = move || {
        end();
        LogFiles::last_lines(&reading, REPORTED)
    };
    let read = disk::run(&folder, disk::DEADLINE, read).await;
    let text = match read {
        Ok(Ok(lines)) if lines.is_empty() => "The log is empty.\n".to_owned(),
        Ok(Ok(lines)) => lines.into_iter().map(|line| line + "\n").collect(),
        Ok(Err(error)) => format!("The log could not be read: {error}\n"),
        Err(unfinished) => format!("The log could not be read: {unfinished}\n"),
    };
    format!("Last lines of the log\n\n{text}")
}

fn filter(level: LogLevel) -> EnvFilter {
    let level = match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    };
    EnvFilter::default().add_directive(level.into())
}

/// Fields of spans for the files. With a type of their own they are not shared with stderr, where they have colours.
#[derive(Default)]
struct PlainFields(DefaultFields);

impl<'writer> FormatFields<'writer> for PlainFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'writer>, fields: R) -> fmt::Result {
        self.0.format_fields(writer, fields)
    }
}

/// Lines on their way to a writer, which has a thread of its own.
struct Queue {
    writer: NonBlocking,
    /// Receives the answers to marks.
    written: Mutex<Receiver<()>>,
    /// Marks that were dropped like lines.
    n_lost_marks: Arc<AtomicU64>,
    /// Its destructor prints to stdout if the disk is stuck, so it is never dropped.
    _worker: ManuallyDrop<WorkerGuard>,
}

impl Queue {
    /// `make` gets a function that counts the dropped lines.
    fn new<W: Write + Send + 'static>(
        most_lines: usize,
        make: impl FnOnce(Box<dyn Fn() -> u64 + Send>) -> W,
    ) -> Self {
        let counter = Arc::<OnceLock<ErrorCounter>>::default();
        let n_lost_marks = Arc::<AtomicU64>::default();
        let (counted, not_lines) = (counter.clone(), n_lost_marks.clone());
        let dropped = move || {
            let all = counted.get().map_or(0, |counter| counter.dropped_lines() as u64);
            all.saturating_sub(not_lines.load(Ordering::Relaxed))
        };
        let (sender, written) = channel();
        let (writer, worker) = NonBlockingBuilder::default()
            .buffered_lines_limit(most_lines)
            .thread_name("log")
            .finish(Marked { writer: make(Box::new(dropped)), written: sender });
        if counter.set(writer.error_counter()).is_err() {
            eprintln!("deskbell: the log has two queues");
        }
        let written = Mutex::new(written);
        Self { writer, written, n_lost_marks, _worker: ManuallyDrop::new(worker) }
    }

    /// Waits until everything before this is written, or for this long.
    fn settle(&self, limit: Duration) {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        // Answers that came too late for an earlier call.
        while written.try_recv().is_ok() {}
        let before = self.writer.error_counter().dropped_lines();
        // An empty line is a mark.
        let sent = self.writer.clone().write_all(&[]);
        let is_full = sent.is_err() || self.writer.error_counter().dropped_lines() > before;
        if is_full {
            self.n_lost_marks.fetch_add(1, Ordering::Relaxed);
        } else {
            // Without an answer the disk is stuck: the lines are lost.
            let _ = written.recv_timeout(limit);
        }
    }
}

/// Passes lines on, and answers each empty one.
struct Marked<W> {
    writer: W,
    written: Sender<()>,
}

impl<W: Write> Write for Marked<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.writer.write(line)
    }

    fn write_all(&mut self, line: &[u8]) -> io::Result<()> {
        if !line.is_empty() {
            return self.writer.write_all(line);
        }
        self.writer.flush()?;
        // The receiver lives as long as the process.
        let _ = self.written.send(());
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// A disk that does nothing until it is allowed to, and what it got.
    struct Stuck {
        go_on: Receiver<()>,
        lines: Arc<Mutex<Vec<String>>>,
        dropped: Box<dyn Fn() -> u64 + Send>,
    }

    impl Write for Stuck {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            // The sender is gone: the disk responds again.
            let _ = self.go_on.recv();
            let said = format!("{} ({} dropped)", String::from_utf8_lossy(line), (self.dropped)());
            self.lines.lock().unwrap().push(said);
            Ok(line.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_stuck_disk_holds_up_nothing_and_what_is_lost_is_counted() {
        let (release, go_on) = channel();
        let lines = Arc::<Mutex<Vec<String>>>::default();
        let queue = Queue::new(10, |dropped| Stuck { go_on, lines: lines.clone(), dropped });
        let started_at = Instant::now();
        for n in 0..1_000 {
            queue.writer.clone().write_all(format!("line {n}").as_bytes()).unwrap();
        }
        queue.settle(Duration::from_millis(10));
        assert!(started_at.elapsed() < Duration::from_secs(5), "{:?}", started_at.elapsed());
        drop(release);
        while lines.lock().unwrap().len() < 10 {
            std::thread::yield_now();
        }
        queue.settle(Duration::from_secs(60));
        let lines = lines.lock().unwrap();
        // The one that was being written, and those that waited.
        assert!((10..=11).contains(&lines.len()), "{lines:?}");
        let n_lost = 1_000 - lines.len();
        assert!(lines.last().unwrap().contains(&format!("({n_lost} dropped)")), "{lines:?}");
    }
}
