//! One agent process on its host: its pipes, its stop stages and its exit.
//!
//! Stdin and stderr have a task each for the whole life of the process, so that a full pipe cannot block another.
//! Stdout is read by the caller's own task, the session's, so nothing is read ahead of it.
//! A process has ended when both its exit and the end of its output are known (`output`).

pub mod app_runs;
mod error;
pub mod guard;
pub mod lines;
pub mod orphans;
mod output;
#[cfg(test)]
mod tests;

pub(crate) use output::Heard;
pub use output::Output;

use crate::agent::{AgentCommand, Driver, driver};
use crate::disk;
use crate::host::{BoxFuture, Child, Exited, Host, Program, Signals, Writer};
use crate::launch::{Launch, Start};
use crate::recorder::{Direction, Recorder};
use error::SpawnError;
use output::{Exit, Reader};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

/// After stdin breaks, wait this long for the exit status; it says more than the pipe error.
const BROKEN_STDIN_GRACE: Duration = Duration::from_millis(500);

/// An agent process. Dropping it kills it and its remaining child processes, because a dropped owner cannot run the
/// staged shutdown.
pub struct Process {
    pid: u32,
    stdin: Option<mpsc::UnboundedSender<String>>,
    signals: Arc<dyn Signals>,
    host: Arc<dyn Host>,
    run_token: String,
    driver: Box<dyn Driver>,
    reader: Reader,
}

impl Process {
    /// Spawns the agent on this host.
    pub async fn spawn(
        host: Arc<dyn Host>,
        launch: &Launch,
        start: &Start,
        recorder: Recorder,
    ) -> Result<Self, SpawnError> {
        let error = |source| SpawnError { program: launch.program.clone(), source };
        // Building the environment checks which of the usual program folders exist.
        let theirs = launch.clone();
        let environment = move || theirs.environment(std::env::vars_os());
        let environment = disk::run(&launch.project, disk::DEADLINE, environment)
            .await
            .map_err(|unfinished| error(unfinished.into()))?;
        let args = launch.args(start);
        let started: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
        let started = serde_json::json!({ "args": started }).to_string();
        recorder.keep_bytes(Direction::Start, started.as_bytes());
        let (path, folder) = (launch.program.clone(), launch.project.clone());
        let child = host
            .spawn(Program { path, args, folder, environment, priority: launch.priority })
            .await
            .map_err(error)?;
        let Child { pid, stdin, stdout, stderr, signals, exit: when_exited } = child;
        let (stdin_lines, lines) = mpsc::unbounded_channel();
        let (exit_sender, exit) = watch::channel(None);
        let (broken_sender, stdin_broken) = oneshot::channel();
        tokio::spawn(write_lines(stdin, lines, broken_sender, recorder.clone(), exit.clone()));
        let reader = Reader::new(stdout, stderr, stdin_broken, exit, recorder);
        tokio::spawn(watch_exit(when_exited, exit_sender));
        Ok(Self {
            pid,
            stdin: Some(stdin_lines),
            signals,
            host,
            run_token: launch.run_token.clone(),
            driver: launch.driver(start),
            reader,
        })
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Queues a command for stdin, as its driver writes it. Returns `false` if stdin is closed.
    pub fn send(&mut self, command: &AgentCommand) -> bool {
        let mut out = driver::Output::default();
        self.driver.write(command, &mut out);
        #[cfg(test)]
        crate::stages::passed("driver", &out.lines);
        self.reader.next_is(out.events);
        out.lines.into_iter().all(|line| self.write(line))
    }

    /// Queues a complete line for stdin. Returns `false` if stdin is closed.
    fn write(&self, line: String) -> bool {
        self.stdin.as_ref().is_some_and(|stdin| stdin.send(line).is_ok())
    }

    /// The next output; none comes after `Output::Exited`. While the caller does not ask, the agent blocks on its own
    /// pipe. Cancel safe.
    pub async fn next_output(&mut self) -> Output {
        self.reader.next(&mut *self.driver, self.stdin.as_ref()).await
    }

    /// Shutdown stage 1: closes stdin after everything written so far, and after what the driver has to say before it.
    pub fn close_stdin(&mut self) {
        let mut out = driver::Output::default();
        self.driver.close(&mut out);
        // A broken stdin is reported by itself.
        let _ = out.lines.into_iter().all(|line| self.write(line));
        self.stdin = None;
    }

    /// Shutdown stage 2: SIGTERM to the process itself, which also ends its tools (2.1.329). Windows has no such
    /// signal, so this does nothing there and stage 3 follows after its timeout.
    pub fn terminate(&self) {
        self.signals.terminate();
    }

    /// Shutdown stage 3: kills the process and every process that carries its run token.
    pub fn kill(&self) {
        self.signals.kill();
        self.kill_tagged();
    }

    /// Kills the processes that the agent left running.
    pub fn kill_tagged(&self) {
        let n_orphans = self.host.kill_tagged(&self.run_token);
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

async fn write_lines(
    mut stdin: Writer,
    mut lines: mpsc::UnboundedReceiver<String>,
    broken: oneshot::Sender<String>,
    recorder: Recorder,
    mut exit: watch::Receiver<Option<Exit>>,
) {
    while let Some(mut line) = lines.recv().await {
        #[cfg(test)]
        crate::stages::passed(module_path!(), &line);
        recorder.keep_bytes(Direction::In, line.as_bytes());
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
async fn watch_exit(
    when_exited: BoxFuture<'static, std::io::Result<Exited>>,
    exit: watch::Sender<Option<Exit>>,
) {
    let exited = when_exited.await.unwrap_or_else(|error| {
        tracing::error!(%error, "could not get the exit status of the agent");
        Exited { code: None, signal: None }
    });
    exit.send_replace(Some(Exit { at: Instant::now(), exited }));
}
