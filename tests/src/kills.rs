//! Random kills of Deskbell's processes, in turns with queued prompts and open requests. A ledger has the accepted prompts
//! and the answers. It checks that no prompt is lost or begun twice, and that each request is answered at most once.

mod own_app;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use deskbell_engine::api::{
    Body, Command, Decision, Delivery, ErrorCode, Event, Item, PermissionRequest, RequestId, Session,
    Snapshot, Status, ToolState,
};
use deskbell_engine::session::SessionHandle;
use serde_json::Value;
use tokio::time::timeout;

use crate::chance::Chance;
use crate::relay::text_of;
use crate::wait::eventually;

pub use own_app::{OwnApp, OwnAppAnswer, OwnAppEvent, OwnAppRequest};

/// The kills of each run in the window (`tests/real_window/kills.rs`): of the app, of its page's process and of others.
pub const N_IN_WINDOW: usize = 4;
/// The kills of each run below a server and its clients (`tests/engine/kills.rs`).
pub const N_OF_SERVERS: usize = 190;
/// The kills of each run below apps that own their agents (`tests/engine/kills.rs`).
pub const N_OF_APPS: usize = 106;

/// The pieces of the answer before the request of a turn.
pub const N_PIECES: usize = 60;

/// The moment of a kill in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillMoment {
    /// As soon as all prompts are accepted.
    Accepted,
    /// After so many pieces of the answer.
    Streaming(usize),
    /// While the request is open.
    Asked,
    /// As soon as the request is answered.
    Answered,
}

impl KillMoment {
    fn of(chance: &mut Chance) -> Self {
        match chance.below(4) {
            0 => Self::Accepted,
            1 => Self::Streaming(chance.below(N_PIECES)),
            2 => Self::Asked,
            _ => Self::Answered,
        }
    }
}

/// What happens in a turn before a kill.
#[derive(Clone, Copy, Debug)]
pub struct KillPlan {
    pub moment: KillMoment,
    /// The agent has a child in a session of its own.
    pub has_child: bool,
    /// The number of prompts that wait for the end of the turn.
    pub n_waiting: usize,
}

impl KillPlan {
    pub fn of(chance: &mut Chance) -> Self {
        let moment = KillMoment::of(chance);
        Self { moment, has_child: chance.below(2) == 0, n_waiting: chance.below(3) }
    }
}

/// These victims in an order of the seed: of as many as there are or a multiple of that, each as often as the others.
pub fn order<T: Copy>(victims: &[T], n: usize, chance: &mut Chance) -> Vec<T> {
    let n_whole = n.next_multiple_of(victims.len());
    let mut victims: Vec<T> = victims.iter().copied().cycle().take(n_whole).collect();
    for last in (1..victims.len()).rev() {
        victims.swap(last, chance.below(last + 1));
    }
    victims.truncate(n);
    victims
}

/// A session whose processes are killed, as its user has it.
pub trait KilledSession {
    fn snapshot(&self, deadline: Duration) -> impl Future<Output = Result<Snapshot>>;
    fn command(
        &self,
        command: Command,
        deadline: Duration,
    ) -> impl Future<Output = Result<Result<(), ErrorCode>>>;
}

impl KilledSession for SessionHandle {
    async fn snapshot(&self, deadline: Duration) -> Result<Snapshot> {
        let asked = timeout(deadline, Self::snapshot(self)).await.context("no snapshot")?;
        asked.map_err(|error| anyhow::anyhow!("{error:?}"))
    }

    async fn command(&self, command: Command, deadline: Duration) -> Result<Result<(), ErrorCode>> {
        let answer = timeout(deadline, Self::command(self, command)).await.context("no answer")?;
        Ok(answer.map_err(|error| error.code))
    }
}

/// An accepted prompt.
#[derive(Debug)]
pub struct AcceptedPrompt {
    /// A word of the prompt that is in no other.
    pub mark: String,
    /// The last word that the agent says for it.
    pub done: String,
    /// How often the user sent it: again only after it was cut off.
    pub n_sent: usize,
    /// It is held as new, and an agent began with it: the agent read it from its pipe after the next start had read the
    /// transcript. The user may send it once more than is right; `docs/design/journal.md` has this limit.
    pub is_begun_unseen: bool,
}

/// What one session accepted, and what the user answered there.
#[derive(Debug)]
pub struct KillLedger {
    /// For each step: only a hang takes this long.
    pub deadline: Duration,
    pub prompts: Vec<AcceptedPrompt>,
    answered: Vec<RequestId>,
    /// Answers to an agent that was killed at once, and may not have read them.
    unsure: Vec<RequestId>,
    /// The answers before this turn.
    n_answered: usize,
    n_turns: usize,
}

impl KillLedger {
    pub fn new(deadline: Duration) -> Self {
        Self {
            deadline,
            prompts: Vec::new(),
            answered: Vec::new(),
            unsure: Vec::new(),
            n_answered: 0,
            n_turns: 0,
        }
    }

    /// Begins a turn, and returns its number.
    pub fn begin_turn(&mut self) -> usize {
        self.n_answered = self.answered.len();
        self.n_turns += 1;
        self.n_turns
    }

    /// Sends the prompt of this turn: an answer in pieces, a request, and an end.
    pub async fn send_turn(&mut self, session: &impl KilledSession, plan: &KillPlan) -> Result<()> {
        let nr = self.n_turns;
        let child = if plan.has_child { "CHILD 600\n" } else { "" };
        let script = format!(
            "SAY m{nr}a.\n{child}SLOW 10 {N_PIECES} w\nTOOL Bash {{\"command\": \"touch m{nr}r\"}}\nSAY e{nr}a."
        );
        self.send(session, &format!("m{nr}a."), &format!("e{nr}a."), script).await
    }

    /// Sends a prompt that waits for the end of the turn.
    pub async fn send_waiting(&mut self, session: &impl KilledSession, letter: &str) -> Result<()> {
        let mark = self.waiting(letter);
        self.send(session, &mark, &mark, format!("SAY {mark}")).await
    }

    /// The mark of a waiting prompt of this turn.
    pub fn waiting(&self, letter: &str) -> String {
        format!("m{}{letter}.", self.n_turns)
    }

    async fn send(
        &mut self,
        session: &impl KilledSession,
        mark: &str,
        done: &str,
        text: String,
    ) -> Result<()> {
        let prompt = Command::Prompt { text, attachments: Vec::new(), delivery: Delivery::default() };
        let sent = session.command(prompt, self.deadline).await?;
        ensure!(sent.is_ok(), "{mark} was refused: {sent:?}");
        self.accepted(mark, done);
        Ok(())
    }

    /// A prompt was accepted.
    pub fn accepted(&mut self, mark: &str, done: &str) {
        self.prompts.push(AcceptedPrompt {
            mark: mark.to_owned(),
            done: done.to_owned(),
            n_sent: 1,
            is_begun_unseen: false,
        });
    }

    /// Allows a request. A second answer is refused.
    pub async fn decide(&mut self, session: &impl KilledSession, request: &PermissionRequest) -> Result<()> {
        let decide = || Command::Decide {
            request_id: request.id.clone(),
            shown: Some(request.shown.clone()),
            decision: Decision::AllowOnce { updated_input: None },
        };
        let first = session.command(decide(), self.deadline).await?;
        ensure!(first.is_ok(), "the answer was refused: {first:?}");
        self.answered.push(request.id.clone());
        let second = session.command(decide(), self.deadline).await?;
        ensure!(second == Err(ErrorCode::NoSuchRequest), "a second answer: {second:?}");
        Ok(())
    }

    /// Waits for a moment of the turn. A request that was to be answered is.
    pub async fn wait_for(
        &mut self,
        moment: KillMoment,
        session: &impl KilledSession,
        mut next: impl AsyncFnMut() -> Option<Event>,
    ) -> Result<()> {
        let mut n_pieces = 0;
        while moment != KillMoment::Accepted && moment != KillMoment::Streaming(n_pieces) {
            let event = timeout(self.deadline, next()).await.context("no event")?;
            match event.context("the session goes on")? {
                Event::BlocksChanged { .. } => n_pieces += 1,
                Event::PermissionRequested { request, .. } => {
                    if moment == KillMoment::Answered {
                        self.decide(session, &request).await?;
                    }
                    return Ok(());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The agent is killed: it may not have read the answers of this turn.
    pub fn agent_is_killed(&mut self) {
        self.unsure.extend_from_slice(&self.answered[self.n_answered..]);
    }

    /// Each prompt is said to be done, or waits, or is with the agent; and none that is said to wait for the first time has
    /// reached an agent, but what an agent read after the next start. A request is open, or its call says that it did not
    /// run.
    /// `stored`: the lines of the agents' transcripts. `spares_turn`: the agent was not killed.
    pub fn is_whole(&mut self, snapshot: &Snapshot, stored: &[Value], spares_turn: bool) -> Result<()> {
        let Snapshot { session, items, .. } = snapshot;
        let is_working = is_working(&session.status) || !session.requests.is_empty();
        for prompt in &mut self.prompts {
            let waiting: Vec<_> =
                session.queue.iter().filter(|waiting| waiting.text.contains(&prompt.mark)).collect();
            let n_begun = n_begun(stored, &prompt.mark);
            ensure!(waiting.len() <= 1, "{prompt:?} waits twice");
            ensure!(n_begun <= prompt.n_sent, "agents began with {prompt:?} {n_begun} times");
            match waiting[..] {
                [waiting] if waiting.held && !waiting.cut_off => {
                    ensure!(
                        n_begun == 0 || !spares_turn,
                        "{prompt:?} is held as new, and an agent began with it"
                    );
                    prompt.is_begun_unseen = n_begun > 0;
                }
                [] if !is_said(items, &prompt.done) => {
                    ensure!(
                        is_working && spares_turn,
                        "{prompt:?} is lost; agents began with it {n_begun} times: {session:#?}"
                    );
                }
                _ => {}
            }
        }
        if !spares_turn {
            ensure!(session.requests.is_empty(), "a request of an agent that ended: {:?}", session.requests);
            for item in items {
                if let Body::ToolCall(call) = &item.body {
                    let is_open =
                        matches!(call.state, ToolState::Preparing | ToolState::Running | ToolState::Waiting);
                    ensure!(
                        !is_open || is_working,
                        "{:?}: a call of an agent that ended: {call:#?}",
                        call.state
                    );
                }
            }
        }
        Ok(())
    }

    /// Answers each request and sends each held prompt again, until the session is idle and its queue is empty.
    pub async fn settle(&mut self, session: &impl KilledSession) -> Result<()> {
        eventually("everything is finished", self.deadline, async || {
            Ok(match self.go_on(session).await {
                Ok(None) => Some(Ok(())),
                Ok(Some(unfinished)) => return Err(unfinished),
                Err(error) => Some(Err(error)),
            })
        })
        .await?
    }

    /// Answers what is asked and sends again what is held. Returns what is not finished.
    async fn go_on(&mut self, killed: &impl KilledSession) -> Result<Option<anyhow::Error>> {
        let Snapshot { session, items, .. } = killed.snapshot(self.deadline).await?;
        for request in &session.requests {
            if !self.answered.contains(&request.id) {
                self.decide(killed, request).await?;
            }
        }
        for waiting in session.queue.iter().filter(|waiting| waiting.held) {
            let resend = Command::Resend { prompt_id: waiting.id.clone() };
            let again = killed.command(resend, self.deadline).await?;
            let sent = self.prompts.iter_mut().find(|prompt| waiting.text.contains(&prompt.mark));
            let sent = sent.with_context(|| format!("an unknown prompt: {waiting:?}"))?;
            if again.is_ok() && (waiting.cut_off || sent.is_begun_unseen) {
                sent.n_sent += 1;
            }
        }
        let missing: Vec<_> = self.prompts.iter().filter(|prompt| !is_said(&items, &prompt.done)).collect();
        let is_quiet = is_quiet(&session);
        Ok((!is_quiet || !missing.is_empty()).then(|| anyhow::anyhow!("{missing:#?} of {session:#?}")))
    }

    /// How many prompts were held as new although an agent had begun with them.
    pub fn n_begun_unseen(&self) -> usize {
        self.prompts.iter().filter(|prompt| prompt.is_begun_unseen).count()
    }

    /// An agent began with each prompt, and as often as the user sent it at most. Each answer was read once.
    /// `stored`: the lines of the agents' transcripts. `heard`: the lines that agents read.
    pub fn is_counted(&self, stored: &[Value], heard: &[Value]) -> Result<()> {
        for prompt in &self.prompts {
            let n = n_begun(stored, &prompt.mark);
            ensure!((1..=prompt.n_sent).contains(&n), "agents began with {prompt:?} {n} times");
        }
        for request in &self.answered {
            let is_answer = |line: &&Value| {
                line["type"] == "control_response" && line["response"]["request_id"] == *request.0
            };
            let n = heard.iter().filter(is_answer).count();
            ensure!(n <= 1, "{request:?} was answered {n} times");
            ensure!(n == 1 || self.unsure.contains(request), "the answer to {request:?} is lost");
        }
        Ok(())
    }
}

fn is_quiet(session: &Session) -> bool {
    session.requests.is_empty() && session.queue.is_empty() && !is_working(&session.status)
}

fn is_working(status: &Status) -> bool {
    matches!(
        status,
        Status::Starting | Status::Working { .. } | Status::Interrupting | Status::NeedsInput { .. }
    )
}

/// Whether the agent has said this.
fn is_said(items: &[Item], words: &str) -> bool {
    let said = items.iter().filter(|item| matches!(item.body, Body::Text { .. }));
    said.into_iter()
        .any(|item| text_of(&serde_json::to_value(&item.body).unwrap_or_default()).contains(words))
}

/// How often agents began a turn with the prompt of this mark: an agent that is killed earlier has it in no transcript.
fn n_begun(stored: &[Value], mark: &str) -> usize {
    stored.iter().filter(|line| line["type"] == "user" && line["message"].to_string().contains(mark)).count()
}

/// The lines of JSON in the files of agents in this folder and below it: what they read, or their transcripts. A file or a
/// folder can be removed meanwhile.
pub fn lines_below(folder: &Path) -> Result<Vec<Value>> {
    let (mut lines, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        let Some(entries) = if_there(&folder, std::fs::read_dir(&folder))? else { continue };
        for entry in entries {
            let entry = entry?;
            let path = entry.path();
            let Some(kind) = if_there(&path, entry.file_type())? else { continue };
            let is_of_agent =
                path.extension().is_some_and(|extension| extension == "jsonl" || extension == "ndjson");
            if kind.is_dir() {
                folders.push(path);
            } else if is_of_agent && let Some(bytes) = if_there(&path, std::fs::read(&path))? {
                // The last line of a killed agent may be torn, also within a character.
                let whole = bytes.split(|byte| *byte == b'\n');
                lines.extend(whole.filter_map(|line| serde_json::from_slice(line).ok()));
            }
        }
    }
    Ok(lines)
}

/// What was read there; `None` if nothing is there any longer.
fn if_there<T>(path: &Path, read: std::io::Result<T>) -> Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| path.display().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_makes_three_hundred_kills_as_the_document_says() {
        assert_eq!(N_IN_WINDOW + N_OF_SERVERS + N_OF_APPS, 300);
        let document = include_str!("../../docs/design/journal.md");
        let said = [
            format!("{N_IN_WINDOW} in the window"),
            format!("{N_OF_SERVERS} of a server"),
            format!("{N_OF_APPS} of an app"),
        ];
        for words in said {
            assert!(document.contains(&words), "{words}");
        }
    }

    #[test]
    fn each_victim_is_killed_as_often_as_the_others() {
        for n in [7, 21, 300] {
            let killed = order(&[0, 1, 2], n, &mut Chance(n as u64));
            let counts: Vec<usize> =
                (0..3).map(|one| killed.iter().filter(|victim| **victim == one).count()).collect();
            assert_eq!(counts.iter().sum::<usize>(), n);
            assert!(counts.iter().all(|count| n % 3 != 0 || *count == n / 3), "{counts:?}");
        }
    }
}
