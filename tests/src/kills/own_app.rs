//! An app that owns its agents, without a window and in a process of its own (`tests/examples/own_app.rs`), and the way to
//! it: lines of JSON.

use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use deskbell_engine::api::{Command, CommandError, Envelope, ErrorCode, Event, Snapshot};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin};
use tokio::sync::{Mutex, mpsc};
use tokio::time::timeout;

use super::KilledSession;

/// What the test says to the app.
#[derive(Debug, Serialize, Deserialize)]
pub enum OwnAppRequest {
    Snapshot,
    Command(Command),
}

/// The answer to a request. They come in the order of the requests.
#[derive(Debug, Serialize, Deserialize)]
pub enum OwnAppAnswer {
    Snapshot(Box<Snapshot>),
    Command(Result<(), CommandError>),
}

/// A line of the app.
#[derive(Debug, Serialize, Deserialize)]
pub enum OwnAppEvent {
    /// An event of its session.
    Session(Box<Envelope>),
    Answer(OwnAppAnswer),
}

/// The running app, whose one session goes on from the app before it.
pub struct OwnApp {
    child: Child,
    way: Mutex<Way>,
}

/// One request is on its way at a time.
struct Way {
    stdin: ChildStdin,
    answers: mpsc::UnboundedReceiver<OwnAppAnswer>,
}

impl OwnApp {
    /// Starts it by this command. The receiver gets the events of its session.
    pub fn start(mut command: tokio::process::Command) -> Result<(Self, mpsc::UnboundedReceiver<Event>)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().context("starting the app")?;
        let stdin = child.stdin.take().context("its stdin is a pipe")?;
        let mut lines = BufReader::new(child.stdout.take().context("its stdout is a pipe")?).lines();
        let (of_session, events) = mpsc::unbounded_channel();
        let (answered, answers) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            // A killed app can leave half a line. Both channels end with it.
            while let Ok(Some(line)) = lines.next_line().await
                && let Ok(event) = serde_json::from_str(&line)
            {
                // Nobody may listen at the moment.
                let _ = match event {
                    OwnAppEvent::Session(envelope) => of_session.send(envelope.event).is_ok(),
                    OwnAppEvent::Answer(answer) => answered.send(answer).is_ok(),
                };
            }
        });
        Ok((Self { child, way: Mutex::new(Way { stdin, answers }) }, events))
    }

    /// Kills it.
    pub async fn kill(&mut self) -> Result<()> {
        Ok(self.child.kill().await?)
    }

    /// Closes its stdin, and waits until it has ended in order.
    pub async fn end(self, deadline: Duration) -> Result<ExitStatus> {
        let Self { mut child, way, .. } = self;
        drop(way);
        timeout(deadline, child.wait()).await.context("the app does not end")?.context("waiting for the app")
    }

    async fn ask(&self, request: OwnAppRequest, deadline: Duration) -> Result<OwnAppAnswer> {
        let mut way = self.way.lock().await;
        let line = serde_json::to_string(&request)? + "\n";
        let asked = async {
            way.stdin.write_all(line.as_bytes()).await.context("writing to the app")?;
            way.answers.recv().await.context("the app has ended")
        };
        timeout(deadline, asked).await.context("the app does not answer")?
    }
}

impl KilledSession for OwnApp {
    async fn snapshot(&self, deadline: Duration) -> Result<Snapshot> {
        match self.ask(OwnAppRequest::Snapshot, deadline).await? {
            OwnAppAnswer::Snapshot(snapshot) => Ok(*snapshot),
            other @ OwnAppAnswer::Command(_) => bail!("another answer: {other:?}"),
        }
    }

    async fn command(&self, command: Command, deadline: Duration) -> Result<Result<(), ErrorCode>> {
        match self.ask(OwnAppRequest::Command(command), deadline).await? {
            OwnAppAnswer::Command(answer) => Ok(answer.map_err(|error| error.code)),
            other @ OwnAppAnswer::Snapshot(_) => bail!("another answer: {other:?}"),
        }
    }
}
