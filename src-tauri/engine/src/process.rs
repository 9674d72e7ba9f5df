//! One agent process: spawn, pipes and exit. No other module spawns or signals an agent.
//!
//! Stdin and stderr have a task each for the whole life of the process, so that a full pipe cannot block another.
//! Stdout is read by the caller's own task, the session's: a task in between would wake another thread for each batch.
//! A process has ended when both its exit and the end of its output are known (`output`).

pub mod app_runs;
pub mod guard;
pub mod identity;
pub mod lines;
pub mod orphans;
mod output;
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

pub use output::{Heard, Output};

use crate::disk;
use crate::launch::{Launch, Start};
use crate::recorder::{Direction, Recorder};
use output::{Exit, Reader};
#[cfg(target_os = "linux")]
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

/// After stdin breaks, wait this long for the exit status; it says more than the pipe error.
const BROKEN_STDIN_GRACE: Duration = Duration::from_millis(500);

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
    reader: Reader,
}

impl Process {
    /// Spawns the agent.
    pub async fn spawn(launch: &Launch, start: &Start, recorder: Recorder) -> Result<Self, SpawnError> {
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
        let (exit_sender, exit) = watch::channel(None);
        let (broken_sender, stdin_broken) = oneshot::channel();
        tokio::spawn(write_lines(child_stdin, lines, broken_sender, recorder.clone(), exit.clone()));
        let reader = Reader::new(child_stdout, child_stderr, stdin_broken, exit, recorder);
        tokio::spawn(watch_exit(child, control.clone(), exit_sender));
        Ok(Self { pid, stdin: Some(stdin), control, run_token: launch.run_token.clone(), reader })
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Queues a complete line for stdin. Returns `false` if stdin is closed.
    pub fn write(&self, line: String) -> bool {
        self.stdin.as_ref().is_some_and(|stdin| stdin.send(line).is_ok())
    }

    /// The next output; none comes after `Output::Exited`. While the caller does not ask, the agent blocks on its own
    /// pipe. Cancel safe.
    pub async fn next_output(&mut self) -> Output {
        self.reader.next().await
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
    broken: oneshot::Sender<String>,
    recorder: Recorder,
    mut exit: watch::Receiver<Option<Exit>>,
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
            if tokio::time::timeout(BROKEN_STDIN_GRACE, exit.wait_for(Option::is_some)).await.is_ok() {
                // The exit is reported. Lines queued until then are dropped.
                while lines.recv().await.is_some() {}
                return;
            }
            // The receiver is dropped only with the process; then the event is not needed.
            let _ = broken.send(error.to_string());
            return;
        }
    }
}

/// Waits for the exit, whether or not anything reads the output, so that the process is reaped.
async fn watch_exit(mut child: system::Child, control: system::Control, exit: watch::Sender<Option<Exit>>) {
    let status = child.wait().await;
    control.reaped();
    let (code, signal) = match status {
        Ok(status) => (status.code(), system::signal(status)),
        Err(error) => {
            tracing::error!(%error, "could not get the exit status of the agent");
            (None, None)
        }
    };
    exit.send_replace(Some(Exit { at: Instant::now(), code, signal }));
}
