//! A machine as a window uses it: one question at a time with a deadline, or a connection to the server there. What ssh
//! asks, it asks in a window, and what a failed connection printed is kept for its error.

use super::{AskWindow, Connection, Connections, MachineCommand, Unanswered, Way, shown, start};
use deskbell_engine::api::{CommandError, ErrorCode, RemoteMachine};
use serde::de::DeserializeOwned;
#[cfg(unix)]
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader, ReadBuf};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;

/// Timeout of a question, with the copy of the program over a slow connection.
const ANSWERS: Duration = Duration::from_secs(180);

/// Timeout of a connection that joins a shared one. Its program is there already.
#[cfg(unix)]
const JOINS: Duration = Duration::from_secs(8);

/// A connection that joins a doubtful one has this time before a new one is made as well.
#[cfg(unix)]
const DOUBTS: Duration = Duration::from_millis(250);

/// The largest answer, in bytes.
const MAX_ANSWER: u64 = 8 << 20;

/// The last lines that an error has, and the length of each in characters.
const MOST_LINES: usize = 8;
const LINE_LENGTH: usize = 300;

/// The longest line that is kept whole, in bytes. The rest of a longer one counts as further lines.
const MAX_LINE: u64 = 4 << 10;

/// Timeout for the last lines of a program that ended.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A question that a machine did not answer.
#[derive(Debug, thiserror::Error)]
pub enum FarError {
    #[error("{program} could not be started: {problem}")]
    NoProgram { program: &'static str, problem: io::Error },
    /// In words of the handshake, with the last lines of the program.
    #[error("{problem}")]
    NoConnection { problem: String, lines: Vec<String> },
    /// The user did not answer what ssh asked.
    #[error("{}", unanswered(*.0))]
    Unanswered(Unanswered),
    /// The command ran there and failed.
    #[error("Deskbell there failed")]
    Failed { lines: Vec<String> },
    #[error("there was no answer within {ANSWERS:?}")]
    Slow { lines: Vec<String> },
    #[error("the answer could not be read: {0}")]
    BadAnswer(String),
}

/// The error can repeat a word of the answer.
fn bad_answer(error: serde_json::Error) -> FarError {
    FarError::BadAnswer(shown(&error.to_string()).chars().take(LINE_LENGTH).collect())
}

fn unanswered(why: Unanswered) -> &'static str {
    match why {
        Unanswered::Cancelled => {
            "You cancelled what ssh asked, so nothing was opened. Connect again to be asked again."
        }
        Unanswered::Slow => "What ssh asked was not answered in time. Connect again to be asked again.",
    }
}

impl FarError {
    fn lines(&self) -> &[String] {
        match self {
            Self::NoConnection { lines, .. } | Self::Failed { lines } | Self::Slow { lines } => lines,
            Self::NoProgram { .. } | Self::BadAnswer(_) | Self::Unanswered(_) => &[],
        }
    }

    /// The error as a window shows it: the last lines of ssh say most, so they come first.
    pub fn for_window(&self, machine: &RemoteMachine) -> CommandError {
        let message = match self {
            Self::Failed { .. } => format!("Deskbell on {machine} could not do that."),
            Self::Unanswered(_) => format!("The connection to {machine} was not made."),
            _ => format!("{machine} cannot be reached."),
        };
        let lines = self.lines();
        let said = lines.join("\n").to_lowercase();
        let is_denied = ["permission denied", "host key verification failed", "too many authentication"]
            .iter()
            .any(|sign| said.contains(sign));
        // Deskbell there names itself, as every program in a terminal.
        let plain = |line: &String| line.strip_prefix("deskbell: ").unwrap_or(line).to_owned();
        let mut detail: Vec<String> = lines.iter().map(plain).collect();
        if !matches!(self, Self::Failed { .. }) || lines.is_empty() {
            detail.push(self.to_string());
        }
        if is_denied {
            detail.push(format!(
                "The machine refused the connection. “ssh {machine}” in a terminal shows whether its key, your key and \
                 your password are right."
            ));
        }
        CommandError { code: ErrorCode::Refused, message, detail: Some(detail.join("\n")) }
    }
}

/// The last lines that the program of a connection printed.
#[derive(Clone, Default)]
struct Problems(Arc<Mutex<Vec<String>>>);

impl Problems {
    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn push(&self, line: &[u8]) {
        let text = shown(&String::from_utf8_lossy(line));
        let text: String = text.trim().chars().take(LINE_LENGTH).collect();
        if text.is_empty() {
            return;
        }
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == MOST_LINES {
            lines.remove(0);
        }
        lines.push(text);
    }

    /// Keeps reading, so that the program never waits, until the program has ended.
    async fn read(self, stderr: ChildStderr) {
        let mut stderr = BufReader::new(stderr);
        let mut line = Vec::new();
        loop {
            line.clear();
            match (&mut stderr).take(MAX_LINE).read_until(b'\n', &mut line).await {
                Ok(0) => return,
                Ok(_) => self.push(&line),
                Err(error) => return tracing::debug!(%error, "could not read what a connection says"),
            }
        }
    }
}

/// What a command printed, and its exit code.
struct Said {
    answer: Vec<u8>,
    code: Option<i32>,
}

/// The values that a command printed.
#[derive(Debug)]
pub struct FarLines<T> {
    pub values: Vec<T>,
    /// The exit code of the command; `None` after a signal.
    pub code: Option<i32>,
    /// The last lines of its stderr.
    pub problems: Vec<String>,
}

/// A machine, as a window reaches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Far {
    pub machine: RemoteMachine,
    /// The program to copy there, instead of the one for its system that came with Deskbell.
    pub program: Option<PathBuf>,
}

impl Far {
    /// Runs a command of Deskbell there that prints one JSON value, and returns the value. The connection ends with it.
    /// What ssh asks first goes to the window.
    pub async fn ask<T: DeserializeOwned>(
        &self,
        connections: &Connections,
        window: Option<AskWindow>,
        command: &[String],
    ) -> Result<T, FarError> {
        let problems = Problems::default();
        let asking = self.answer(connections, window, command, &problems);
        let answer = tokio::time::timeout(ANSWERS, asking).await;
        let answer = answer.unwrap_or_else(|_| Err(FarError::Slow { lines: problems.lines() }))?;
        serde_json::from_slice(&answer).map_err(bad_answer)
    }

    /// Runs a command of Deskbell there that prints one JSON value in each line, and returns the values. A command that
    /// ends with an error after it printed some has said why in `problems`.
    pub async fn ask_lines<T: DeserializeOwned>(
        &self,
        connections: &Connections,
        window: Option<AskWindow>,
        command: &[String],
    ) -> Result<FarLines<T>, FarError> {
        let problems = Problems::default();
        let asking = self.said(connections, window, command, &problems);
        let said = tokio::time::timeout(ANSWERS, asking).await;
        let Said { answer, code } =
            said.unwrap_or_else(|_| Err(FarError::Slow { lines: problems.lines() }))?;
        let lines = answer.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let values = lines.map(serde_json::from_slice).collect::<Result<Vec<T>, _>>();
        let values = values.map_err(bad_answer)?;
        Ok(FarLines { values, code, problems: problems.lines() })
    }

    async fn answer(
        &self,
        connections: &Connections,
        window: Option<AskWindow>,
        command: &[String],
        problems: &Problems,
    ) -> Result<Vec<u8>, FarError> {
        match self.said(connections, window, command, problems).await? {
            Said { answer, code: Some(0) } => Ok(answer),
            Said { .. } => Err(FarError::Failed { lines: problems.lines() }),
        }
    }

    /// Runs a command there to its end.
    async fn said(
        &self,
        connections: &Connections,
        window: Option<AskWindow>,
        command: &[String],
        problems: &Problems,
    ) -> Result<Said, FarError> {
        let started = self.start(connections, window, command, problems).await?;
        let Started { mut child, reader, writer, reading, .. } = started;
        // Nothing is said to the command.
        drop(writer);
        let mut answer = Vec::new();
        let read = reader.take(MAX_ANSWER + 1).read_to_end(&mut answer).await;
        read.map_err(|error| FarError::BadAnswer(error.to_string()))?;
        if answer.len() as u64 > MAX_ANSWER {
            return Err(FarError::BadAnswer(format!("it is longer than {MAX_ANSWER} bytes")));
        }
        let status = child.wait().await.map_err(|error| FarError::BadAnswer(error.to_string()))?;
        if !status.success() {
            last_words(reading).await;
        }
        Ok(Said { answer, code: status.code() })
    }

    /// Connects to the user's server there, which is started if none is running. The connection ends with the reader.
    pub async fn attach(
        &self,
        connections: &Connections,
        window: Option<AskWindow>,
    ) -> Result<(FarReader, ChildStdin), FarError> {
        let command = ["relay", "--attach"].map(str::to_owned);
        let started = self.start(connections, window, &command, &Problems::default()).await?;
        let Started { child, reader, writer, is_doubtful, .. } = started;
        Ok((FarReader { reader, _child: child, has_ended: false, is_doubtful }, writer))
    }

    async fn start(
        &self,
        connections: &Connections,
        window: Option<AskWindow>,
        command: &[String],
        problems: &Problems,
    ) -> Result<Started, FarError> {
        #[cfg(unix)]
        if self.machine.is_ssh() {
            return self.start_shared(connections, window, command, problems).await;
        }
        self.start_once(connections.way(&self.machine, window), command, problems).await
    }

    /// Joins the shared connection of the machine, or makes it. A shared connection that does not answer is left: the
    /// network may have changed, and ssh notices that only after 15 s.
    #[cfg(unix)]
    async fn start_shared(
        &self,
        connections: &Connections,
        window: Option<AskWindow>,
        command: &[String],
        problems: &Problems,
    ) -> Result<Started, FarError> {
        let (machine, environment) = (&self.machine, connections.environment());
        let way = |window: &Option<AskWindow>, options: Vec<OsString>| {
            let mut way = connections.way(machine, window.clone());
            way.options.extend(options);
            way
        };
        let Ok(parent) = connections.folder() else {
            return self.start_once(way(&window, Vec::new()), command, problems).await;
        };
        let slot = connections.shared.slot(machine);
        let mut slot = slot.lock().await;
        let mut options = slot.options(machine, &parent, environment).await;
        if !slot.is_shared() {
            drop(slot);
            return self.start_once(way(&window, options), command, problems).await;
        }
        let joins = slot.joins();
        let is_doubtful = slot.is_doubtful.clone();
        let made = |started: Started| {
            is_doubtful.store(false, Ordering::Relaxed);
            Started { is_doubtful: Some(is_doubtful.clone()), ..started }
        };
        // Until it has succeeded: the caller may give up.
        slot.is_in_doubt = true;
        if let Some(joins) = joins {
            let joining =
                tokio::time::timeout(JOINS, self.start_once(way(&window, joins), command, problems));
            tokio::pin!(joining);
            let joined = tokio::select! {
                joined = &mut joining => joined.ok().and_then(Result::ok),
                () = doubts(&is_doubtful) => {
                    let new = slot.replacement(&parent);
                    let starting = async {
                        match &new {
                            Some((_, options)) => {
                                self.start_once(way(&window, options.clone()), command, problems).await.ok()
                            }
                            None => None,
                        }
                    };
                    let (is_new, started) = first_of(starting, async { joining.await.ok()?.ok() }).await;
                    if let Some((folder, _)) = new {
                        let old = if is_new { slot.folder.replace(folder) } else { Some(folder) };
                        slot.leave(old, if is_new { "stop" } else { "exit" }, machine, environment);
                    }
                    started
                }
            };
            if let Some(started) = joined {
                slot.is_in_doubt = false;
                return Ok(made(started));
            }
            options = slot.options(machine, &parent, environment).await;
            slot.is_in_doubt = true;
        }
        let started = self.start_once(way(&window, options), command, problems).await?;
        (slot.is_up, slot.is_in_doubt) = (true, false);
        Ok(made(started))
    }

    async fn start_once(
        &self,
        way: Way,
        command: &[String],
        problems: &Problems,
    ) -> Result<Started, FarError> {
        let program = self.machine.program();
        let connection = Connection::open(&self.machine, &way);
        let Connection { child, mut reader, mut writer, problems: stderr } =
            connection.map_err(|problem| FarError::NoProgram { program, problem })?;
        let reading = tokio::spawn(problems.clone().read(stderr));
        let starting = start(&mut reader, &mut writer, self.program.as_deref(), command);
        let started = tokio::select! {
            // What was not answered comes first: ssh ends after it, and says only that it failed.
            biased;
            // ssh ends here with its child, before it asks the same again.
            why = way.unanswered() => return Err(FarError::Unanswered(why)),
            started = starting => started,
        };
        match started {
            Ok(()) => Ok(Started { child, reader, writer, reading, is_doubtful: None }),
            Err(error) => {
                drop((reader, writer));
                last_words(reading).await;
                Err(FarError::NoConnection { problem: error.to_string(), lines: problems.lines() })
            }
        }
    }
}

/// A command that runs there.
struct Started {
    child: Child,
    reader: BufReader<ChildStdout>,
    writer: ChildStdin,
    /// Reads what it says about problems.
    reading: JoinHandle<()>,
    /// To be set if the connection is given up while it is open: the shared one below it may be dead.
    is_doubtful: Option<Arc<AtomicBool>>,
}

/// Returns after a while if the shared connection is doubtful by then.
#[cfg(unix)]
async fn doubts(is_doubtful: &AtomicBool) {
    tokio::time::sleep(DOUBTS).await;
    if !is_doubtful.load(Ordering::Relaxed) {
        std::future::pending().await
    }
}

/// Runs both until one has succeeded. True: it was the first one.
#[cfg(unix)]
async fn first_of<T>(
    one: impl Future<Output = Option<T>>,
    other: impl Future<Output = Option<T>>,
) -> (bool, Option<T>) {
    tokio::pin!(one, other);
    tokio::select! {
        done = &mut one => match done {
            Some(done) => (true, Some(done)),
            None => (false, other.await),
        },
        done = &mut other => match done {
            Some(done) => (false, Some(done)),
            None => (true, one.await),
        },
    }
}

/// Waits until everything that a program said is read.
async fn last_words(reading: JoinHandle<()>) {
    if tokio::time::timeout(LAST_WORDS, reading).await.is_err() {
        tracing::debug!("stderr of a connection is still open");
    }
}

/// The output of a program that ends with it.
pub struct FarReader {
    reader: BufReader<ChildStdout>,
    _child: Child,
    has_ended: bool,
    is_doubtful: Option<Arc<AtomicBool>>,
}

/// A connection that is given up while it is open does not answer, and the shared one may be as dead.
impl Drop for FarReader {
    fn drop(&mut self) {
        if let Some(is_doubtful) = self.is_doubtful.take().filter(|_| !self.has_ended) {
            is_doubtful.store(true, Ordering::Relaxed);
        }
    }
}

impl AsyncRead for FarReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let n_before = buffer.filled().len();
        let read = Pin::new(&mut self.reader).poll_read(context, buffer);
        self.has_ended |= match &read {
            Poll::Ready(Ok(())) => buffer.filled().len() == n_before && buffer.remaining() > 0,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_connection(lines: &[&str]) -> CommandError {
        let lines = lines.iter().map(|line| (*line).to_owned()).collect();
        let problem = "the connection ended before Deskbell could start there".to_owned();
        FarError::NoConnection { problem, lines }.for_window(&"box".parse().unwrap())
    }

    #[test]
    fn what_ssh_said_is_in_the_error_with_the_way_out() {
        let denied = no_connection(&["me@box: Permission denied (publickey)."]);
        assert_eq!(denied.message, "box cannot be reached.");
        let detail = denied.detail.unwrap();
        assert!(
            detail.starts_with("me@box: Permission denied (publickey).\nthe connection ended"),
            "{detail}"
        );
        assert!(detail.ends_with("and your password are right."), "{detail}");
        let unknown = no_connection(&["ssh: Could not resolve hostname box"]).detail.unwrap();
        assert!(!unknown.contains("refused"), "{unknown}");
    }

    #[test]
    fn the_last_lines_are_kept_without_control_characters() {
        let problems = Problems::default();
        for nr in 0..20 {
            problems.push(format!("\u{1b}[2J{nr}\r\n").as_bytes());
        }
        problems.push("\u{202e}\u{9b}".repeat(500).as_bytes());
        let lines = problems.lines();
        assert_eq!((lines.len(), lines[0].as_str()), (MOST_LINES, "\u{fffd}[2J13"));
        assert_eq!(lines[MOST_LINES - 1].chars().count(), LINE_LENGTH);
        assert!(!lines.concat().contains(['\u{1b}', '\u{202e}', '\u{9b}']));
    }
}
