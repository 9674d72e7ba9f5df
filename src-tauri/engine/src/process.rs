//! One agent process: spawning it, its three pipes, its end. Nothing else in the project spawns or signals an agent.
//!
//! The three pipes are served for the whole life of the process, each by a task of its own, so that no full pipe
//! can stop another. A process has ended when both its exit and the end of its output are known; the output is
//! waited for at most `DRAIN` after the exit, since a grandchild may hold it open for ever.

pub mod birth;
pub mod guard;
pub mod lines;
pub mod runs;
pub mod survivors;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

use crate::api::ExitReport;
use crate::launch::{Launch, Start};
use crate::recorder::{Direction, Recorder};
use crate::wire::{self, Inbound};
use lines::{Line, Lines};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// How long the output may stay open behind an exit.
const DRAIN: Duration = Duration::from_secs(2);
/// How long its exit may be in coming when its stdin broke: the exit says more than the broken pipe.
const DEAF: Duration = Duration::from_millis(500);
/// More than a pipe can hold (1 MiB is the most an ordinary process may ask for).
const PIPE: usize = 1 << 20;
/// The part of the error output that is kept.
const STDERR_TAIL: usize = 16 * 1024;
/// Lines handed over at once; with the channel's length it bounds what waits in memory when a consumer stalls.
const BATCH: usize = 256;

/// What a process tells.
#[derive(Debug)]
pub enum Output {
    /// In order, none lost.
    Lines(Vec<Inbound>),
    /// Its stdin takes nothing any more.
    StdinBroken(String),
    /// The last thing it tells: behind every line.
    Exited(ExitReport),
}

/// The program was found and could not be started.
#[derive(Debug, thiserror::Error)]
#[error("could not start {program}: {source}", program = program.display())]
pub struct SpawnError {
    pub program: PathBuf,
    pub source: std::io::Error,
}

/// A process. Dropping it ends it at once, with all that it left behind: an owner that is gone cannot walk the ladder.
pub struct Process {
    pid: u32,
    stdin: Option<mpsc::UnboundedSender<String>>,
    control: system::Control,
    run_token: String,
}

impl Process {
    /// Starts the agent. `output` is bounded: while it is full the process is held by its own pipe.
    pub async fn spawn(
        launch: &Launch,
        start: &Start,
        output: mpsc::Sender<Output>,
        recorder: Recorder,
    ) -> Result<Self, SpawnError> {
        let error = |source| SpawnError { program: launch.program.clone(), source };
        let mut command = std::process::Command::new(&launch.program);
        command
            .args(launch.args(start))
            .current_dir(&launch.project)
            .env_clear()
            .envs(launch.environment(std::env::vars_os()))
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

    /// Queues a whole line for stdin. `false`: stdin is closed.
    pub fn write(&self, line: String) -> bool {
        self.stdin.as_ref().is_some_and(|stdin| stdin.send(line).is_ok())
    }

    /// The first rung: end of input, behind everything written so far.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// The second rung: SIGTERM to the process itself, which ends its tools too (2.1.329). On Windows there is no
    /// such signal, and the third rung follows in its time.
    pub fn terminate(&self) {
        self.control.terminate();
    }

    /// The last rung: kills it, and every process that carries its run token.
    pub fn kill(&self) {
        self.control.kill();
        self.sweep();
    }

    /// Ends what it left behind.
    pub fn sweep(&self) {
        let n_survivors = sweep(&self.run_token);
        if n_survivors > 0 {
            tracing::info!(n_survivors, "ended what an agent had left behind");
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Kills every process that carries this run token. Tools have sessions of their own, so a group does not reach them.
pub fn sweep(run_token: &str) -> usize {
    system::sweep(run_token)
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
            if tokio::time::timeout(DEAF, exited.wait_for(Option::is_some)).await.is_ok() {
                // Its exit is told in its turn. What is still written until then goes nowhere.
                while lines.recv().await.is_some() {}
                return;
            }
            // The receiver is dropped only with the session; then nobody needs to know.
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
            // Only waiting for the pipe is bounded: what is in it is read however long its consumer takes.
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
        lines.push(&buffer[..n], |line| batch.extend(inbound(line, is_recording.then_some(&recorder))));
        if !send_lines(batch, &output).await {
            return;
        }
        if exited.borrow().is_some() {
            // A grandchild may go on for ever; what the agent itself wrote fits in its pipe.
            n_late += n;
            if n_late > PIPE {
                break;
            }
        }
    }
    let mut batch = Vec::new();
    let is_recording = recorder.is_on();
    lines.finish(|line| batch.extend(inbound(line, is_recording.then_some(&recorder))));
    send_lines(batch, &output).await;
}

/// `false`: the session is gone, and nobody needs to know.
async fn send_lines(mut batch: Vec<Inbound>, output: &mpsc::Sender<Output>) -> bool {
    while !batch.is_empty() {
        let rest = batch.split_off(batch.len().min(BATCH));
        if output.send(Output::Lines(batch)).await.is_err() {
            return false;
        }
        batch = rest;
    }
    true
}

/// Returns when the process has been gone for `DRAIN`.
async fn drained(exited: &mut watch::Receiver<Option<Instant>>) {
    match exited.wait_for(Option::is_some).await.map(|at| *at) {
        Ok(Some(at)) => tokio::time::sleep_until(at + DRAIN).await,
        // Whoever would tell is gone: nothing bounds the wait.
        Ok(None) | Err(_) => std::future::pending().await,
    }
}

fn inbound(line: Line<'_>, recorder: Option<&Recorder>) -> Option<Inbound> {
    match line {
        Line::Whole(line) if line.trim_ascii().is_empty() => None,
        Line::Whole(line) => {
            if let Some(recorder) = recorder {
                recorder.keep_bytes(Direction::Out, line);
            }
            Some(wire::parse(line))
        }
        Line::TooLong { start, n_bytes } => {
            let limit = lines::LIMIT >> 20;
            let start = String::from_utf8_lossy(start);
            let line = format!("A line of {n_bytes} bytes, more than {limit} MiB, that begins: {start}");
            if let Some(recorder) = recorder {
                recorder.keep_bytes(Direction::Out, line.as_bytes());
            }
            Some(Inbound::Unreadable { line, error: "the line is too long".to_owned() })
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

/// Waits for the exit, then for the output, then tells.
async fn watch_exit(mut watch: Watch) {
    let status = watch.child.wait().await;
    watch.control.reaped();
    let ended_at = Instant::now();
    watch.exited.send_replace(Some(ended_at));
    if let Err(panic) = watch.reader.await {
        tracing::error!(%panic, "reading the agent's output failed");
    }
    if tokio::time::timeout_at(ended_at + DRAIN, &mut watch.stderr).await.is_err() {
        // A grandchild holds it open; what the agent wrote is in the tail already.
        watch.stderr.abort();
    }
    let stderr = {
        let tail = watch.tail.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&tail).trim().to_owned()
    };
    let (code, signal) = match status {
        Ok(status) => (status.code(), system::signal(status)),
        Err(error) => {
            tracing::error!(%error, "could not learn how the agent ended");
            (None, None)
        }
    };
    let report = ExitReport { code, signal, expected: false, stderr };
    // Without a session there is nobody to tell.
    let _ = watch.output.send(Output::Exited(report)).await;
}
