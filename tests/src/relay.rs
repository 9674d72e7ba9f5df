//! A driver for `deskbell relay`, the engine without a window: commands in and events out, as lines of JSON.
//!
//! Events are read as plain JSON and not as the engine's types, because the test is about the bytes in the pipe.

mod dial;
mod transcript;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use deskbell_cli::exit::Exit;
use deskbell_engine::api::{Command, Decision, Delivery, Outcome, RequestId};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::real_cli::World;
use crate::suite::Requirement;

pub use dial::{Dialed, dialed_by};
pub use transcript::text_of;

/// The default deadline for an event.
pub const DEADLINE: Duration = Duration::from_secs(120);

/// Deskbell's executable: `DESKBELL_TEST_APP`, else the debug build of this checkout.
pub fn app() -> Result<PathBuf> {
    let program = env::var_os("DESKBELL_TEST_APP").filter(|program| !program.is_empty()).map(PathBuf::from);
    let program = program.unwrap_or_else(|| {
        let name = format!("deskbell{}", env::consts::EXE_SUFFIX);
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/debug").join(name)
    });
    std::fs::canonicalize(&program).with_context(|| {
        format!("{} is not there: build Deskbell first, or set DESKBELL_TEST_APP", program.display())
    })
}

/// The program without windows, built beside Deskbell's executable.
pub fn program_without_windows() -> Result<PathBuf> {
    let program = app()?.with_file_name(format!("deskbell-relay{}", env::consts::EXE_SUFFIX));
    ensure!(program.is_file(), "{} is not there: build deskbell-cli first", program.display());
    Ok(program)
}

pub fn requirement() -> Requirement {
    Requirement::from(&app().and_then(|_| program_without_windows()).map(drop))
}

/// A running relay and all its events so far.
pub struct Relay {
    child: Child,
    stdin: Option<ChildStdin>,
    events: watch::Receiver<Heard>,
    stderr: JoinHandle<String>,
    /// The index at which [`Relay::event`] continues its search.
    cursor: usize,
}

/// State shared by the reader and the test.
#[derive(Default)]
struct Heard {
    events: Vec<Value>,
    /// The bytes of the line of each event.
    lengths: Vec<usize>,
    /// Set after the last event: `Err` describes a malformed line.
    end: Option<Result<(), String>>,
}

impl Relay {
    /// Starts it in the world's project with the real CLI, followed by `arguments`. The program without windows has the same
    /// relay as the app, and starts with less work.
    pub fn spawn(world: &World, arguments: &[&str]) -> Result<Self> {
        let mut command = world.command(&program_without_windows()?);
        command.arg("relay");
        command.arg(format!("--project={}", world.project.display()));
        command.arg(format!("--agent={}", world.agent.display()));
        command.args(arguments);
        Self::of(command)
    }

    /// A relay that this command runs, here or on another machine.
    pub fn of(mut command: tokio::process::Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("starting the relay")?;
        let stdout = child.stdout.take().context("its stdout is a pipe")?;
        let mut stderr = child.stderr.take().context("its stderr is a pipe")?;
        let (sender, events) = watch::channel(Heard::default());
        tokio::spawn(async move {
            let end = read(stdout, &sender).await.map_err(|error| format!("{error:#}"));
            sender.send_modify(|heard| heard.end = Some(end));
        });
        let stderr = tokio::spawn(async move {
            let mut text = Vec::new();
            // Best effort: the text is used only in messages.
            let _ = stderr.read_to_end(&mut text).await;
            String::from_utf8_lossy(&text).into_owned()
        });
        let stdin = child.stdin.take();
        Ok(Self { child, stdin, events, stderr, cursor: 0 })
    }

    /// The relay's own process, not the agent's.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    pub async fn send(&mut self, command: &Command) -> Result<()> {
        self.send_line(&serde_json::to_value(command)?).await
    }

    /// Sends a line, which need not be a command.
    pub async fn send_line(&mut self, line: &Value) -> Result<()> {
        let line = line.to_string() + "\n";
        let stdin = self.stdin.as_mut().context("its stdin is closed")?;
        stdin.write_all(line.as_bytes()).await.context("writing to the relay")?;
        stdin.flush().await.context("writing to the relay")
    }

    pub async fn prompt(&mut self, text: &str) -> Result<()> {
        self.send(&Command::Prompt {
            text: text.to_owned(),
            attachments: Vec::new(),
            delivery: Delivery::AfterTurn,
        })
        .await
    }

    /// Answers a `permissionRequested` event.
    pub async fn decide(&mut self, asked: &Value, decision: Decision) -> Result<()> {
        let id = asked["request"]["id"].as_str().context("a request has an id")?;
        let shown = asked["request"]["shown"].as_str().map(str::to_owned);
        self.send(&Command::Decide { request_id: RequestId::new(id), shown, decision }).await
    }

    /// The next event that matches, from the one after the last that this returned; fails after `deadline`, and
    /// when the relay ended or broke the order of its events.
    pub async fn next_event(
        &mut self,
        what: &str,
        deadline: Duration,
        matching: impl Fn(&Value) -> bool,
    ) -> Result<Value> {
        let from = self.cursor;
        let mut events = self.events.clone();
        let position =
            |heard: &Heard| heard.events[from..].iter().position(&matching).map(|offset| from + offset);
        let waited =
            timeout(deadline, events.wait_for(|heard| position(heard).is_some() || heard.end.is_some()));
        let found = match waited.await {
            Ok(Ok(heard)) => position(&heard).map(|idx| (idx, heard.events[idx].clone())),
            Ok(Err(_)) => None,
            Err(_) => {
                bail!("no {what} within {deadline:?}; since the last one came:\n{}", self.heard_since(from))
            }
        };
        let Some((idx, event)) = found else {
            let end = self.events.borrow().end.clone();
            if let Some(Err(error)) = end {
                bail!("while waiting for {what}: {error}");
            }
            let stderr = (&mut self.stderr).await.unwrap_or_default();
            bail!("the relay ended before {what}:\n{}\nstderr:\n{stderr}", self.heard_since(from));
        };
        self.cursor = idx + 1;
        Ok(event)
    }

    /// The next event of this type.
    pub async fn event(&mut self, kind: &str) -> Result<Value> {
        self.next_event(kind, DEADLINE, |event| event["type"] == kind).await
    }

    /// The next permission request.
    pub async fn request(&mut self) -> Result<Value> {
        self.event("permissionRequested").await
    }

    /// The end of the running turn; fails at a permission request, because the test would never answer it.
    pub async fn turn_end(&mut self) -> Result<Value> {
        let ends = |event: &Value| event["type"] == "turnEnded" || event["type"] == "permissionRequested";
        let event = self.next_event("end of the turn", DEADLINE, ends).await?;
        ensure!(event["type"] == "turnEnded", "asked instead of ending the turn: {event}");
        self.facts_after_turn().await?;
        Ok(event["turn"].clone())
    }

    /// Waits for the session's facts after the end of the turn: they are a line of their own. What the test has yet to
    /// read stays unread.
    async fn facts_after_turn(&mut self) -> Result<()> {
        let cursor = self.cursor;
        self.event("sessionChanged").await?;
        self.cursor = cursor;
        Ok(())
    }

    /// Waits until the session's facts meet a condition, which can be at once.
    pub async fn session_where(&mut self, what: &str, holds: impl Fn(&Value) -> bool) -> Result<Value> {
        if let Ok(session) = self.session()
            && holds(&session)
        {
            return Ok(session);
        }
        let changed = |event: &Value| event["type"] == "sessionChanged" && holds(&event["session"]);
        Ok(self.next_event(what, DEADLINE, changed).await?["session"].clone())
    }

    /// Sends a prompt and waits for the end of its turn, allowing every request.
    pub async fn turn_allowing_all(&mut self, prompt: &str) -> Result<Value> {
        self.prompt(prompt).await?;
        let ends = |event: &Value| event["type"] == "turnEnded" || event["type"] == "permissionRequested";
        loop {
            let event = self.next_event("end of the turn", DEADLINE, ends).await?;
            if event["type"] == "turnEnded" {
                self.facts_after_turn().await?;
                return Ok(event["turn"].clone());
            }
            self.decide(&event, Decision::AllowOnce { updated_input: None }).await?;
        }
    }

    /// Sends a prompt and waits for the successful end of its turn.
    pub async fn turn(&mut self, prompt: &str) -> Result<Value> {
        self.prompt(prompt).await?;
        let turn = self.turn_end().await?;
        ensure!(outcome(&turn)? == Outcome::Done, "the turn did not end well: {turn}");
        Ok(turn)
    }

    /// The kinds and the bytes of all events so far.
    pub fn lengths(&self) -> Vec<(String, usize)> {
        let heard = self.events.borrow();
        let kinds = heard.events.iter().map(|event| event["type"].as_str().unwrap_or_default().to_owned());
        kinds.zip(heard.lengths.iter().copied()).collect()
    }

    /// All events so far; each `sessionChanged` has the whole session.
    pub fn events(&self) -> Vec<Value> {
        self.events.borrow().events.clone()
    }

    /// The session's facts as last published.
    pub fn session(&self) -> Result<Value> {
        let heard = self.events.borrow();
        let mut newest = heard.events.iter().rev();
        let changed = newest.find(|event| event["type"] == "sessionChanged");
        Ok(changed.context("no facts of the session were told")?["session"].clone())
    }

    /// Whether the agent is the older of the two tested versions of the CLI.
    pub fn is_old_cli(&self) -> Result<bool> {
        Ok(self.session()?["agentVersion"] == "2.1.197")
    }

    /// The transcript folded from the events, as a window would show it.
    pub fn items(&self) -> Vec<Value> {
        transcript::fold(&self.events.borrow().events)
    }

    /// The texts of the notices in the transcript, each with its level before it.
    pub fn notices(&self) -> Vec<String> {
        let items = self.items();
        let notices = items.iter().map(|item| &item["body"]).filter(|body| body["type"] == "notice");
        let shown = |text: &Value| text.as_str().unwrap_or_default().to_owned();
        notices.map(|body| format!("{}: {}", shown(&body["level"]), shown(&body["text"]))).collect()
    }

    /// The end times in notices that have one.
    pub fn notices_until(&self) -> Vec<u64> {
        self.items().iter().filter_map(|item| item["body"]["untilAt"].as_u64()).collect()
    }

    /// The texts of the agent's answers, without their markup.
    pub fn answers(&self) -> Vec<String> {
        let items = self.items();
        items
            .iter()
            .filter(|item| item["body"]["type"] == "text")
            .map(|item| text_of(&item["body"]))
            .collect()
    }

    /// Closes its stdin: the relay finishes the queue, ends the agent, and exits.
    pub fn close_input(&mut self) {
        drop(self.stdin.take());
    }

    /// Closes its stdin and waits for its exit.
    pub async fn finish(mut self) -> Result<Finished> {
        self.close_input();
        self.ended().await
    }

    /// Closes its stdin and waits for its exit: the normal end of a test, which leaves no process running.
    pub async fn close(self) -> Result<()> {
        self.finish().await?.check()
    }

    /// Waits for its exit, and for the last event before it.
    pub async fn ended(mut self) -> Result<Finished> {
        let deadline = DEADLINE;
        let ended = async {
            self.events.wait_for(|heard| heard.end.is_some()).await.context("its reader is gone")?;
            anyhow::Ok(self.child.wait().await?)
        };
        let status = match timeout(deadline, ended).await {
            Ok(status) => status?,
            Err(_) => bail!("the relay did not end within {deadline:?}:\n{}", self.heard_since(0)),
        };
        let stderr = (&mut self.stderr).await.unwrap_or_default();
        if let Some(Err(error)) = &self.events.borrow().end {
            bail!("{error}");
        }
        Ok(Finished { status, events: self.events(), stderr })
    }

    fn heard_since(&self, from: usize) -> String {
        let heard = self.events.borrow();
        let lines = heard.events[from..].iter().map(|event| event.to_string().chars().take(400).collect());
        lines.collect::<Vec<String>>().join("\n")
    }
}

/// A relay that exited.
pub struct Finished {
    pub status: ExitStatus,
    pub events: Vec<Value>,
    pub stderr: String,
}

impl Finished {
    /// Fails if the relay ended in another way than by itself. The turn or the start of an agent that was to fail is in
    /// the exit code.
    pub fn check(&self) -> Result<()> {
        let ends = [Exit::Success, Exit::NoAgent, Exit::TurnFailed].map(|exit| Some(i32::from(exit.code())));
        let has_ended = ends.contains(&self.status.code());
        ensure!(has_ended, "the relay ended with {}: {}", self.status, self.stderr);
        Ok(())
    }

    /// The transcript as the events make it.
    pub fn items(&self) -> Vec<Value> {
        transcript::fold(&self.events)
    }
}

/// How a turn ended.
pub fn outcome(turn: &Value) -> Result<Outcome> {
    serde_json::from_value(turn["outcome"].clone()).with_context(|| format!("no outcome in {turn}"))
}

/// Completes the events `sessionChanged`: `session` has all fields then, in place of those that changed.
pub fn complete_sessions<'a>(events: impl Iterator<Item = &'a mut Value>) {
    let mut known = serde_json::Map::new();
    events.for_each(|event| complete_session(&mut known, event));
}

fn complete_session(known: &mut serde_json::Map<String, Value>, event: &mut Value) {
    let requests = known.entry("requests").or_insert_with(|| Value::Array(Vec::new()));
    match (event["type"].as_str(), requests.as_array_mut()) {
        (Some("permissionRequested"), Some(open)) => open.push(event["request"].clone()),
        (Some("permissionResolved"), Some(open)) => {
            open.retain(|request| request["id"] != event["requestId"]);
        }
        (Some("sessionChanged"), _) => {
            if let Some(changed) = event["session"].as_object() {
                known.extend(changed.clone());
            }
            event["session"] = Value::Object(known.clone());
        }
        _ => {}
    }
}

/// Reads events to the end, and checks their order: `seq` grows by one, without a gap.
async fn read(stdout: ChildStdout, sender: &watch::Sender<Heard>) -> Result<()> {
    let mut lines = BufReader::new(stdout).lines();
    let mut last_seq: Option<u64> = None;
    let mut session = serde_json::Map::new();
    while let Some(line) = lines.next_line().await.context("reading from the relay")? {
        let mut event: Value =
            serde_json::from_str(&line).with_context(|| format!("not an event: {line}"))?;
        let seq = event["seq"].as_u64().with_context(|| format!("an event without seq: {line}"))?;
        if let Some(last_seq) = last_seq {
            ensure!(seq == last_seq + 1, "a gap in the events: {seq} follows {last_seq}");
        }
        last_seq = Some(seq);
        complete_session(&mut session, &mut event);
        sender.send_modify(|heard| {
            heard.events.push(event);
            heard.lengths.push(line.len());
        });
    }
    Ok(())
}
