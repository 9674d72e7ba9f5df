//! The user's own command for an event of the bell, for example to reach a phone.
//!
//! It is a program with its arguments, started without a shell. Nothing waits for it: it gets a deadline, only a few
//! run at once, and its failure costs nothing else. The facts are in its environment and never in its arguments, so no
//! text of an agent is ever read as an option.

use crate::api::UserCommand;
use crate::bell::BellEvent;
use std::collections::HashSet;
use std::process::{ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Number of commands that run at once. Further ones are not started.
const AT_ONCE: usize = 4;

/// The end of its error output that is shown, in bytes.
const MOST_STDERR: u64 = 2_000;

/// How long its error output is read after its exit: a process that it left may keep the pipe open.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// What happened, for the environment of the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    pub event: BellEvent,
    /// The folder of the project.
    pub project: String,
    /// The id of the session.
    pub session: String,
    pub title: String,
    /// The text of the notification.
    pub text: String,
}

impl Facts {
    fn environment(&self) -> [(&'static str, &str); 5] {
        [
            ("DESKBELL_EVENT", self.event.name()),
            ("DESKBELL_PROJECT", &self.project),
            ("DESKBELL_SESSION", &self.session),
            ("DESKBELL_TITLE", &self.title),
            ("DESKBELL_TEXT", &self.text),
        ]
    }
}

/// The reason why a command did not do its work.
#[derive(Debug, thiserror::Error)]
pub enum CommandFailure {
    #[error("it could not be started: {0}")]
    Spawn(std::io::Error),
    #[error("it was still running after {} s and was stopped", .0.as_secs_f32())]
    TimedOut(Duration),
    #[error("it ended with {status}{}", said(.stderr))]
    Failed { status: ExitStatus, stderr: String },
    #[error("{AT_ONCE} of your commands are running already")]
    Busy,
}

impl CommandFailure {
    /// For the log: without the command's error output, which may repeat what Deskbell gave it, the agent's words.
    fn for_log(&self) -> String {
        match self {
            Self::Failed { status, stderr: _ } => format!("it ended with {status}"),
            other => other.to_string(),
        }
    }
}

fn said(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!(": {stderr}") }
}

/// Runs the user's commands.
pub struct UserCommands {
    slots: Semaphore,
    deadline: Duration,
    /// Commands that failed, so that each failure is reported once.
    failed: Mutex<HashSet<(BellEvent, UserCommand)>>,
}

impl UserCommands {
    /// Time that a command may take.
    pub const DEADLINE: Duration = Duration::from_secs(30);

    pub fn new(deadline: Duration) -> Self {
        Self { slots: Semaphore::new(AT_ONCE), deadline, failed: Mutex::default() }
    }

    /// How many more commands could be started now.
    pub fn n_free(&self) -> usize {
        self.slots.available_permits()
    }

    /// Runs a command to its end. Returns a failure that was not returned before: the same command of an event is
    /// reported again only after it worked.
    pub async fn run(&self, command: &UserCommand, facts: &Facts) -> Option<CommandFailure> {
        let outcome = match self.slots.try_acquire() {
            Ok(_slot) => run(command, facts, self.deadline).await,
            Err(_) => Err(CommandFailure::Busy),
        };
        let key = (facts.event, command.clone());
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        match outcome {
            Ok(()) => {
                failed.remove(&key);
                None
            }
            Err(failure) => {
                let problem = failure.for_log();
                tracing::warn!(event = facts.event.name(), problem, "a command of the user failed");
                failed.insert(key).then_some(failure)
            }
        }
    }
}

async fn run(command: &UserCommand, facts: &Facts, deadline: Duration) -> Result<(), CommandFailure> {
    let mut started = Command::new(&command.program);
    started.args(&command.args).envs(facts.environment());
    started.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    // What it starts is ended with it.
    #[cfg(unix)]
    started.process_group(0);
    let mut child = started.spawn().map_err(CommandFailure::Spawn)?;
    let pid = child.id();
    let stderr = child.stderr.take();
    let Ok((waited, stderr)) = timeout(deadline, ended(&mut child, stderr)).await else {
        end_group(pid);
        return Err(CommandFailure::TimedOut(deadline));
    };
    let status = waited.map_err(CommandFailure::Spawn)?;
    if status.success() {
        return Ok(());
    }
    Err(CommandFailure::Failed { status, stderr: String::from_utf8_lossy(&stderr).trim().to_owned() })
}

/// Waits for the exit, and reads the beginning of the error output meanwhile.
async fn ended(
    child: &mut Child,
    stderr: Option<impl AsyncRead + Unpin>,
) -> (std::io::Result<ExitStatus>, Vec<u8>) {
    let mut said = Vec::new();
    let Some(stderr) = stderr else { return (child.wait().await, said) };
    let mut stderr = stderr.take(MOST_STDERR);
    let status = tokio::select! {
        // An error of the pipe says less than the exit.
        _ = stderr.read_to_end(&mut said) => {
            // The rest is read too: a full pipe would hold the command up.
            let mut rest = stderr.into_inner();
            let mut sink = tokio::io::sink();
            tokio::select! {
                _ = tokio::io::copy(&mut rest, &mut sink) => child.wait().await,
                status = child.wait() => status,
            }
        }
        status = child.wait() => {
            // A process that the command left may keep the pipe open.
            let _ = timeout(LAST_WORDS, stderr.read_to_end(&mut said)).await;
            status
        }
    };
    (status, said)
}

/// Ends a command and what it started.
#[cfg(unix)]
fn end_group(pid: Option<u32>) {
    let Some(pid) = pid.and_then(|pid| i32::try_from(pid).ok()) else { return };
    // SAFETY: a signal to a group has no memory effects. The child was not waited for, so its id is still its own.
    if unsafe { libc::kill(-pid, libc::SIGKILL) } != 0 {
        tracing::debug!(error = %std::io::Error::last_os_error(), "the command has ended already");
    }
}

/// Dropping the child ends it.
#[cfg(not(unix))]
fn end_group(_pid: Option<u32>) {}
