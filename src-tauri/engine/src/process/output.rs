//! What an agent process writes, read by the task that asks for it.
//!
//! Lines are parsed in batches, when they are asked for. Nothing is read ahead: the memory used when the caller is slow
//! is the unfinished line and one read. The end of a process is its exit and the end of its output. After the exit, the
//! end of the output is awaited for at most `DRAIN`, because a grandchild may keep the pipe open forever.

use super::lines::{self, Line, Lines};
use crate::agent::{AgentEvent, AgentRequest, Driver, driver};
use crate::api::{ExitReport, RawKind};
use crate::host;
use crate::recorder::{self, Direction, Recorder};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// After the exit, wait this long for the end of the output.
const DRAIN: Duration = Duration::from_secs(2);
/// The maximum capacity of a pipe in bytes: an ordinary process can set at most 1 MiB.
const PIPE: usize = 1 << 20;
/// Bytes kept from the end of stderr.
const STDERR_TAIL: usize = 16 * 1024;
/// Maximum number of lines in one batch, so that a command waits for few of them.
const BATCH: usize = 256;

/// A line of the agent's output, with its recorded form if a recorder is on.
#[derive(Debug)]
pub struct Heard {
    pub inbound: AgentEvent,
    pub recorded: Option<serde_json::Value>,
}

/// Events of a process.
#[derive(Debug)]
pub enum Output {
    /// Lines in order; none is lost.
    Lines(Vec<Heard>),
    /// A write to stdin failed; no more lines are written.
    StdinBroken(String),
    /// The last event, after all lines.
    Exited(ExitReport),
}

#[derive(Clone, Copy)]
pub(super) struct Exit {
    pub at: Instant,
    pub exited: host::Exited,
}

/// The events of one process.
pub(super) struct Reader {
    /// `None` after the end of the output.
    stdout: Option<host::Reader>,
    lines: Lines,
    /// Bytes read since the exit.
    n_late: usize,
    stdin_broken: Option<oneshot::Receiver<String>>,
    exit: watch::Receiver<Option<Exit>>,
    stderr: Stderr,
    recorder: Recorder,
    is_over: bool,
    /// What comes before the next line.
    waiting: Vec<Heard>,
    /// What the driver makes of a line; empty between lines.
    out: driver::Output,
}

impl Reader {
    pub fn new(
        stdout: host::Reader,
        stderr: host::Reader,
        stdin_broken: oneshot::Receiver<String>,
        exit: watch::Receiver<Option<Exit>>,
        recorder: Recorder,
    ) -> Self {
        Self {
            stdout: Some(stdout),
            lines: Lines::default(),
            n_late: 0,
            stdin_broken: Some(stdin_broken),
            exit,
            stderr: Stderr::read(stderr, recorder.clone()),
            recorder,
            is_over: false,
            waiting: Vec::new(),
            out: driver::Output::default(),
        }
    }

    /// Adds events that are not from a line.
    pub fn next_is(&mut self, events: Vec<AgentEvent>) {
        self.waiting.extend(events.into_iter().map(|inbound| Heard { inbound, recorded: None }));
    }

    /// The next event. Cancel safe: what was read stays here until it is returned. What the driver writes at once goes
    /// to `stdin`, unless it is closed.
    pub async fn next(
        &mut self,
        driver: &mut dyn Driver,
        stdin: Option<&mpsc::UnboundedSender<String>>,
    ) -> Output {
        loop {
            let batch = self.batch(driver, stdin);
            if !batch.is_empty() {
                return Output::Lines(batch);
            }
            if self.is_over {
                return std::future::pending().await;
            }
            let Some(stdout) = &mut self.stdout else { break };
            let read = tokio::select! {
                biased;
                problem = broken(&mut self.stdin_broken) => return Output::StdinBroken(problem),
                read = stdout.read_buf(self.lines.buffer()) => read,
                // The time limit applies to waiting for the pipe only: data in the pipe is read however slow the
                // caller is.
                () = drained(&mut self.exit) => Ok(0),
            };
            self.account(read);
        }
        let exit = tokio::select! {
            biased;
            problem = broken(&mut self.stdin_broken) => return Output::StdinBroken(problem),
            exit = exited(&mut self.exit) => exit,
        };
        let stderr = self.stderr.tail(exit.at + DRAIN).await;
        self.is_over = true;
        let host::Exited { code, signal } = exit.exited;
        Output::Exited(ExitReport { code, signal, expected: false, stderr })
    }

    /// The lines that are complete.
    fn batch(
        &mut self,
        driver: &mut dyn Driver,
        stdin: Option<&mpsc::UnboundedSender<String>>,
    ) -> Vec<Heard> {
        let keeping =
            Keeping { recorder: &self.recorder, is_recording: self.recorder.is_on(), at: recorder::now() };
        let mut batch = std::mem::take(&mut self.waiting);
        let out = &mut self.out;
        while batch.len() < BATCH
            && let Some(line) = self.lines.next_line()
        {
            hear(line, &keeping, driver, out, &mut batch);
        }
        if batch.is_empty()
            && self.stdout.is_none()
            && let Some(line) = self.lines.last_line()
        {
            hear(line, &keeping, driver, out, &mut batch);
        }
        for line in out.lines.drain(..) {
            // After the end of input nothing can be written. A write that fails is reported by itself.
            if stdin.is_none_or(|stdin| stdin.send(line).is_err()) {
                break;
            }
        }
        batch
    }

    fn account(&mut self, read: std::io::Result<usize>) {
        let is_end = match read {
            Ok(0) => true,
            // A grandchild may write forever; the agent's own remaining output fits in the pipe.
            Ok(n) if self.exit.borrow().is_some() => {
                self.n_late += n;
                self.n_late > PIPE
            }
            Ok(_) => false,
            Err(error) => {
                tracing::warn!(%error, "could not read the agent's output");
                true
            }
        };
        if is_end {
            self.stdout = None;
        }
    }
}

/// Returns when writing to stdin fails; never, if it ends in another way.
async fn broken(stdin_broken: &mut Option<oneshot::Receiver<String>>) -> String {
    if let Some(receiver) = stdin_broken {
        let problem = receiver.await;
        *stdin_broken = None;
        if let Ok(problem) = problem {
            return problem;
        }
    }
    std::future::pending().await
}

async fn exited(exit: &mut watch::Receiver<Option<Exit>>) -> Exit {
    match exit.wait_for(Option::is_some).await.map(|exit| *exit) {
        Ok(Some(exit)) => exit,
        // The sender is gone, so no exit will arrive: wait without a limit.
        Ok(None) | Err(_) => std::future::pending().await,
    }
}

/// Returns when `DRAIN` has passed since the exit.
async fn drained(exit: &mut watch::Receiver<Option<Exit>>) {
    let exit = exited(exit).await;
    tokio::time::sleep_until(exit.at + DRAIN).await;
}

/// How the lines of a batch are kept.
struct Keeping<'a> {
    recorder: &'a Recorder,
    is_recording: bool,
    /// Milliseconds since the epoch.
    at: u64,
}

impl Keeping<'_> {
    fn recorded(&self, line: &[u8]) -> Option<serde_json::Value> {
        self.is_recording.then(|| recorder::line_of(line))
    }
}

/// Adds the events of a line. The first one has the line's recorded form.
fn hear(
    line: Line<'_>,
    keeping: &Keeping<'_>,
    driver: &mut dyn Driver,
    out: &mut driver::Output,
    batch: &mut Vec<Heard>,
) {
    let mut recorded = match line {
        Line::Whole(line) if line.trim_ascii().is_empty() => return,
        Line::Whole(line) => {
            #[cfg(test)]
            crate::stages::passed(module_path!(), &String::from_utf8_lossy(line));
            let recorded = keeping.recorded(line);
            driver.read(line, out);
            #[cfg(test)]
            crate::stages::passed("driver", &out.events);
            keeping.recorder.heard(keeping.at, kind_of(&out.events), line, line.len());
            recorded
        }
        Line::TooLong { start, n_bytes } => {
            keeping.recorder.heard(keeping.at, RawKind::Unreadable, start, n_bytes);
            let limit = lines::LIMIT >> 20;
            let start = String::from_utf8_lossy(start);
            let line = format!("A line of {n_bytes} bytes, more than {limit} MiB, that begins: {start}");
            let recorded = keeping.recorded(line.as_bytes());
            out.events.push(AgentEvent::Unreadable { line, error: "the line is too long".to_owned() });
            recorded
        }
    };
    batch.extend(out.events.drain(..).map(|inbound| Heard { inbound, recorded: recorded.take() }));
}

/// Whether a line is of a kind that its driver knows, by the events that the driver made of it.
fn kind_of(events: &[AgentEvent]) -> RawKind {
    let kind = |event: &AgentEvent| match event {
        AgentEvent::Unreadable { .. } => RawKind::Unreadable,
        AgentEvent::Unknown { .. } | AgentEvent::Request { request: AgentRequest::Unknown { .. }, .. } => {
            RawKind::Unknown
        }
        _ => RawKind::Known,
    };
    events.iter().map(kind).max().unwrap_or_default()
}

/// Reads stderr to its end, however much it is, and keeps its last bytes.
struct Stderr {
    tail: Arc<Mutex<Vec<u8>>>,
    task: JoinHandle<()>,
}

impl Stderr {
    fn read(stderr: host::Reader, recorder: Recorder) -> Self {
        let tail = Arc::default();
        let task = tokio::spawn(read_stderr(stderr, Arc::clone(&tail), recorder));
        Self { tail, task }
    }

    /// The last bytes, once the end is reached or the time has come: a grandchild may keep it open, and the agent's own
    /// output is in the tail already.
    async fn tail(&mut self, deadline: Instant) -> String {
        if let Ok(Err(panic)) = tokio::time::timeout_at(deadline, &mut self.task).await {
            tracing::error!(%panic, "reading the agent's error output failed");
        }
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&tail).trim().to_owned()
    }
}

impl Drop for Stderr {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn read_stderr(mut stderr: host::Reader, tail: Arc<Mutex<Vec<u8>>>, recorder: Recorder) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(n @ 1..) = stderr.read(&mut buffer).await {
        recorder.keep_bytes(Direction::Err, &buffer[..n]);
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(&buffer[..n]);
        let surplus = tail.len().saturating_sub(STDERR_TAIL);
        tail.drain(..surplus);
    }
}
