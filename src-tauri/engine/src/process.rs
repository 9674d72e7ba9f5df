//! One agent process: spawn, pipes and exit. No other module spawns or signals an agent.
//!
//! Each of the three pipes has its own task for the whole life of the process, so that a full pipe cannot block
//! another. A process has ended when both its exit and the end of its output are known. After the exit, the end of the
//! output is awaited for at most `DRAIN`, because a grandchild may keep the pipe open forever.

pub mod app_runs;
pub mod guard;
pub mod identity;
pub mod lines;
pub mod orphans;
#[cfg(target_os = "linux")]
mod token;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

use crate::api::ExitReport;
use crate::disk;
use crate::launch::{Launch, Start};
use crate::recorder::{self, Direction, Recorder};
use crate::wire::{self, Inbound};
use lines::{Line, Lines};
#[cfg(target_os = "linux")]
use std::path::Path;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// After the exit, wait this long for the end of the output.
const DRAIN: Duration = Duration::from_secs(2);
/// After stdin breaks, wait this long for the exit status; it says more than the pipe error.
const BROKEN_STDIN_GRACE: Duration = Duration::from_millis(500);
/// The maximum capacity of a pipe in bytes: an ordinary process can set at most 1 MiB.
const PIPE: usize = 1 << 20;
/// Bytes kept from the end of stderr.
const STDERR_TAIL: usize = 16 * 1024;
/// Maximum number of lines in one message. With the channel's capacity it bounds the memory used when a consumer
/// stalls.
const BATCH: usize = 256;

/// A line of the agent's output, with its recorded form if a recorder is on.
#[derive(Debug)]
pub struct Heard {
    pub inbound: Inbound,
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

/// The program was found but could not be started.
#[derive(Debug, thiserror::Error)]
#[error("could not start {program}: {source}", program = program.display())]
pub struct SpawnError {
    pub program: PathBuf,
    pub source: std::io::Error,
}

/// An agent process. Dropping it kills it and its remaining child processes, because a dropped owner cannot run the
/// staged shutdown.
pub struct Process {
    pid: u32,
    stdin: Option<mpsc::UnboundedSender<String>>,
    control: system::Control,
    run_token: String,
}

impl Process {
    /// Spawns the agent. `output` is bounded: while it is full, the agent blocks on its own pipe.
    pub async fn spawn(
        launch: &Launch,
        start: &Start,
        output: mpsc::Sender<Output>,
        recorder: Recorder,
    ) -> Result<Self, SpawnError> {
        let error = |source| SpawnError { program: launch.program.clone(), source };
        // Building the environment checks which of the usual program folders exist.
        let theirs = launch.clone();
        let environment = move || theirs.environment(std::env::vars_os());
        let environment = disk::run(&launch.project, disk::DEADLINE, environment)
            .await
            .map_err(|unfinished| error(unfinished.into()))?;
        let mut command = std::process::Command::new(&launch.program);
        command
            .args(launch.args(start))
            .current_dir(&launch.project)
            .env_clear()
            .envs(environment)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        let system::Spawned { mut child, control } = system::spawn(command).await.map_err(error)?;

        let pid = control.pid();
        let (stdin, lines) = mpsc::unbounded_channel();
        let child_stdin = child.stdin().take().expect("stdin is piped");
        let child_stdout = child.stdout().take().expect("stdout is piped");
        let child_stderr = child.stderr().take().expect("stderr is piped");
        if recorder.is_on() {
            let args: Vec<String> =
                launch.args(start).iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
            recorder.keep(Direction::Start, &serde_json::json!({ "args": args }));
        }
        let (exited, when_exited) = watch::channel(None);
        let writer = write_lines(child_stdin, lines, output.clone(), recorder.clone(), when_exited.clone());
        tokio::spawn(writer);
        let reader = tokio::spawn(read_lines(child_stdout, output.clone(), recorder.clone(), when_exited));
        let tail = Arc::new(Mutex::new(Vec::new()));
        let stderr = tokio::spawn(read_stderr(child_stderr, tail.clone(), recorder));
        let control_then = control.clone();
        let watch = Watch { child, control: control_then, exited, reader, stderr, tail, output };
        tokio::spawn(watch_exit(watch));
        Ok(Self { pid, stdin: Some(stdin), control, run_token: launch.run_token.clone() })
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Queues a complete line for stdin. Returns `false` if stdin is closed.
    pub fn write(&self, line: String) -> bool {
        self.stdin.as_ref().is_some_and(|stdin| stdin.send(line).is_ok())
    }

    /// Shutdown stage 1: closes stdin after everything written so far.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Shutdown stage 2: SIGTERM to the process itself, which also ends its tools (2.1.329). Windows has no such
    /// signal, so this does nothing there and stage 3 follows after its timeout.
    pub fn terminate(&self) {
        self.control.terminate();
    }

    /// Shutdown stage 3: kills the process and every process that carries its run token.
    pub fn kill(&self) {
        self.control.kill();
        self.kill_tagged();
    }

    /// Kills the processes that the agent left running.
    pub fn kill_tagged(&self) {
        let n_orphans = kill_tagged(&self.run_token);
        if n_orphans > 0 {
            tracing::info!(n_orphans, "killed processes that an agent had left running");
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Maximum size of a file in `/proc`. An environment or a command line has at most 6 MiB.
#[cfg(target_os = "linux")]
const MOST_OF_PROC: u64 = 16 * 1024 * 1024;

#[cfg(target_os = "linux")]
fn proc_bytes(path: &str) -> Result<Vec<u8>, disk::ReadError> {
    disk::read_regular(Path::new(path), MOST_OF_PROC)
}

#[cfg(target_os = "linux")]
fn proc_text(path: &str) -> Option<String> {
    Some(String::from_utf8_lossy(&proc_bytes(path).ok()?).into_owned())
}

/// Ids of all processes, unordered.
#[cfg(target_os = "linux")]
fn pids() -> Vec<u32> {
    let listing = disk::list(Path::new("/proc"), usize::MAX).unwrap_or_default();
    listing.paths.iter().filter_map(|path| path.file_name()?.to_str()?.parse().ok()).collect()
}

/// Kills every process that carries this run token and returns their number. Tools run in sessions of their own, so
/// signalling the agent's group does not reach them.
pub fn kill_tagged(run_token: &str) -> usize {
    system::kill_tagged(run_token)
}

async fn write_lines(
    mut stdin: tokio::process::ChildStdin,
    mut lines: mpsc::UnboundedReceiver<String>,
    output: mpsc::Sender<Output>,
    recorder: Recorder,
    mut exited: watch::Receiver<Option<Instant>>,
) {
    while let Some(mut line) = lines.recv().await {
        if recorder.is_on() {
            recorder.keep_bytes(Direction::In, line.as_bytes());
        }
        line.push('\n');
        let written = async {
            stdin.write_all(line.as_bytes()).await?;
            stdin.flush().await
        };
        if let Err(error) = written.await {
            if tokio::time::timeout(BROKEN_STDIN_GRACE, exited.wait_for(Option::is_some)).await.is_ok() {
                // The exit is reported by `watch_exit`. Lines queued until then are dropped.
                while lines.recv().await.is_some() {}
                return;
            }
            // The receiver is dropped only with the session; then the event is not needed.
            let _ = output.send(Output::StdinBroken(error.to_string())).await;
            return;
        }
    }
}

async fn read_lines(
    mut stdout: impl AsyncRead + Unpin,
    output: mpsc::Sender<Output>,
    recorder: Recorder,
    mut exited: watch::Receiver<Option<Instant>>,
) {
    let mut lines = Lines::default();
    let mut buffer = vec![0; 64 * 1024];
    let mut n_late = 0;
    loop {
        let read = tokio::select! {
            biased;
            read = stdout.read(&mut buffer) => read,
            // The time limit applies to waiting for the pipe only: data in the pipe is read however slow the consumer
            // is.
            () = drained(&mut exited) => break,
        };
        let n = match read {
            Ok(0) => break,
            Ok(n) => n,
            Err(error) => {
                tracing::warn!(%error, "could not read the agent's output");
                break;
            }
        };
        let mut batch = Vec::new();
        let is_recording = recorder.is_on();
        lines.push(&buffer[..n], |line| batch.extend(heard(line, is_recording)));
        if !send_lines(batch, &output).await {
            return;
        }
        if exited.borrow().is_some() {
            // A grandchild may write forever; the agent's own remaining output fits in the pipe.
            n_late += n;
            if n_late > PIPE {
                break;
            }
        }
    }
    let mut batch = Vec::new();
    let is_recording = recorder.is_on();
    lines.finish(|line| batch.extend(heard(line, is_recording)));
    send_lines(batch, &output).await;
}

/// Returns `false` if the session is gone.
async fn send_lines(mut batch: Vec<Heard>, output: &mpsc::Sender<Output>) -> bool {
    while !batch.is_empty() {
        let rest = batch.split_off(batch.len().min(BATCH));
        if output.send(Output::Lines(batch)).await.is_err() {
            return false;
        }
        batch = rest;
    }
    true
}

/// Returns when `DRAIN` has passed since the exit.
async fn drained(exited: &mut watch::Receiver<Option<Instant>>) {
    match exited.wait_for(Option::is_some).await.map(|at| *at) {
        Ok(Some(at)) => tokio::time::sleep_until(at + DRAIN).await,
        // The sender is gone, so no exit time will arrive: wait without a limit.
        Ok(None) | Err(_) => std::future::pending().await,
    }
}

fn heard(line: Line<'_>, is_recording: bool) -> Option<Heard> {
    match line {
        Line::Whole(line) if line.trim_ascii().is_empty() => None,
        Line::Whole(line) => {
            let recorded = is_recording.then(|| recorder::line_of(line));
            Some(Heard { inbound: wire::parse(line), recorded })
        }
        Line::TooLong { start, n_bytes } => {
            let limit = lines::LIMIT >> 20;
            let start = String::from_utf8_lossy(start);
            let line = format!("A line of {n_bytes} bytes, more than {limit} MiB, that begins: {start}");
            let recorded = is_recording.then(|| recorder::line_of(line.as_bytes()));
            let inbound = Inbound::Unreadable { line, error: "the line is too long".to_owned() };
            Some(Heard { inbound, recorded })
        }
    }
}

async fn read_stderr(mut stderr: impl AsyncRead + Unpin, tail: Arc<Mutex<Vec<u8>>>, recorder: Recorder) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(n @ 1..) = stderr.read(&mut buffer).await {
        if recorder.is_on() {
            recorder.keep_bytes(Direction::Err, &buffer[..n]);
        }
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend_from_slice(&buffer[..n]);
        let surplus = tail.len().saturating_sub(STDERR_TAIL);
        tail.drain(..surplus);
    }
}

struct Watch {
    child: system::Child,
    control: system::Control,
    exited: watch::Sender<Option<Instant>>,
    reader: JoinHandle<()>,
    stderr: JoinHandle<()>,
    tail: Arc<Mutex<Vec<u8>>>,
    output: mpsc::Sender<Output>,
}

/// Waits for the exit and the end of the output, then sends `Output::Exited`.
async fn watch_exit(mut watch: Watch) {
    let status = watch.child.wait().await;
    watch.control.reaped();
    let ended_at = Instant::now();
    watch.exited.send_replace(Some(ended_at));
    if let Err(panic) = watch.reader.await {
        tracing::error!(%panic, "reading the agent's output failed");
    }
    if tokio::time::timeout_at(ended_at + DRAIN, &mut watch.stderr).await.is_err() {
        // A grandchild keeps it open; the agent's own output is in the tail already.
        watch.stderr.abort();
    }
    let stderr = {
        let tail = watch.tail.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&tail).trim().to_owned()
    };
    let (code, signal) = match status {
        Ok(status) => (status.code(), system::signal(status)),
        Err(error) => {
            tracing::error!(%error, "could not get the exit status of the agent");
            (None, None)
        }
    };
    let report = ExitReport { code, signal, expected: false, stderr };
    // Fails only if the session is gone.
    let _ = watch.output.send(Output::Exited(report)).await;
}
