//! Random kills of the app, of the process that draws its page, of the agent, the server and the guards, in turns with queued
//! prompts and open requests. No accepted prompt is lost or begun twice, each request is answered once at most,
//! and no process is left.
//!
//! `DESKBELL_KILLS=300` makes as many; `DESKBELL_TEST_SEED` repeats them.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use deskbell_engine::api::{
    Body, Command, Decision, Delivery, Envelope, ErrorCode, Event, PermissionRequest, RequestId, SessionLink,
    Snapshot, Status, ToolState,
};
use deskbell_engine::remote::ServerLink;
use deskbell_engine::session::{SessionHandle, Subscriber};
use deskbell_tests::chance::{Chance, seed};
use deskbell_tests::relay::{Dialed, dialed_by, text_of};
use deskbell_tests::window::{
    Accessibility, Accessible, Desktop, Launch, Manners, Notifications, Owned, Pointer, Process, Role,
    app_program, eventually,
};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::stage::PROJECT;
use crate::survival::keep_running;

/// The kills of a run unless the environment has another number.
const N_KILLS: usize = 4;

/// Kills in one life of a desktop: its conversation stays short.
const OF_LIFE: usize = 12;

/// The deadline for each step: a guard waits 3.5 s, and the machine is busy.
const SOON: Duration = Duration::from_secs(40);

/// The pieces of the answer before the request.
const N_PIECES: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    App,
    Page,
    Agent,
    Server,
    GuardOfApp,
    GuardOfServer,
    /// First the guard, which would end the agents otherwise.
    ServerAndGuard,
}

const VICTIMS: [Victim; 7] = [
    Victim::App,
    Victim::Page,
    Victim::Agent,
    Victim::Server,
    Victim::GuardOfApp,
    Victim::GuardOfServer,
    Victim::ServerAndGuard,
];

impl Victim {
    /// Whether the turn goes on without it.
    fn spares_turn(self) -> bool {
        matches!(self, Self::App | Self::Page | Self::GuardOfApp | Self::GuardOfServer)
    }
}

/// The moment of a kill in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// As soon as all prompts are accepted.
    Accepted,
    /// After so many pieces of the answer.
    Streaming(usize),
    /// While the request is open.
    Asked,
    /// As soon as the request is answered.
    Answered,
}

impl Moment {
    fn of(chance: &mut Chance) -> Self {
        match chance.below(4) {
            0 => Self::Accepted,
            1 => Self::Streaming(chance.below(N_PIECES)),
            2 => Self::Asked,
            _ => Self::Answered,
        }
    }
}

/// An accepted prompt.
#[derive(Debug)]
struct Accepted {
    /// A word of the prompt that is in no other.
    mark: String,
    /// The last word that the agent says for it.
    done: String,
    /// How often the user sent it: again only after it was cut off.
    n_sent: usize,
}

/// The processes of the app, by their job.
#[derive(Debug, Default)]
struct Parts {
    all: Vec<Process>,
    server: Option<Process>,
    agents: Vec<Process>,
    page: Vec<Process>,
    guard_of_app: Option<Process>,
    guard_of_server: Option<Process>,
}

/// A desktop with the app, whose sessions keep running in a server, and a client of that server beside it.
struct Life {
    app: Owned,
    accessibility: Accessibility,
    pointer: Pointer,
    link: ServerLink,
    session: SessionHandle,
    launch: Launch,
    heard: PathBuf,
    prompts: Vec<Accepted>,
    answered: Vec<RequestId>,
    /// Answers to an agent that was killed at once, and may not have read them.
    unsure: Vec<RequestId>,
    n_rounds: usize,
    _notifications: Notifications,
    desktop: Desktop,
}

fn start(desktop: &Desktop, launch: &Launch) -> Result<Owned> {
    let log = File::options().create(true).append(true).open(desktop.scratch().join("app.log"))?;
    let mut command = launch.command(desktop);
    command.stdout(log.try_clone()?).stderr(log);
    Ok(Owned::start("the app", &mut command)?)
}

impl Life {
    async fn begin() -> Result<Self> {
        let desktop = Desktop::start().await?;
        let folder = desktop.project(PROJECT)?;
        keep_running(&desktop)?;
        let notifications = Notifications::on(&desktop, Manners::Polite).await?;
        let heard = desktop.scratch().join("heard");
        std::fs::create_dir(&heard)?;
        let launch = Launch::demo(&folder).env("DESKBELL_DEMO_HEARD", &heard);
        let app = start(&desktop, &launch)?;
        let (accessibility, pointer) = (Accessibility::on(&desktop).await?, Pointer::on(&desktop));
        pointer.window(PROJECT).await?;
        type_prompt(&accessibility, &pointer, "SAY m0a.").await?;

        let mut template = desktop.app_command(app_program());
        template.env("DESKBELL_DEMO_SPEED", "0").env("DESKBELL_DEMO_HEARD", &heard);
        let environment: HashMap<_, _> = template
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
            .collect();
        let Dialed { dial, .. } = dialed_by(move || {
            let mut command = tokio::process::Command::new(app_program());
            command.args(["relay", "--attach", "--idle=600"]).env_clear().envs(&environment);
            command
        });
        let link = ServerLink::open(dial);
        // The server may be asked before the window has begun its session.
        let summary = eventually("a session in the server", SOON, async || {
            link.list();
            Ok(link.listed().borrow().iter().flatten().next().cloned())
        })
        .await?;
        let session = SessionHandle::mirror(&link, summary.id.clone(), folder);
        let first = Accepted { mark: "m0a.".to_owned(), done: "m0a.".to_owned(), n_sent: 1 };
        let mut life = Self {
            app,
            accessibility,
            pointer,
            link,
            session,
            launch: launch.again(),
            heard,
            prompts: vec![first],
            answered: Vec::new(),
            unsure: Vec::new(),
            n_rounds: 0,
            _notifications: notifications,
            desktop,
        };
        life.settle().await?;
        Ok(life)
    }

    fn parts(&self) -> Parts {
        let all = self.desktop.app_processes();
        let find = |fits: &dyn Fn(&Process) -> bool| all.iter().find(|process| fits(process)).cloned();
        let server = find(&|process| process.command_line.contains("--serve"));
        let guard_of = |parent: u32| {
            find(&|process| {
                process.parent == parent && process.command_line.split(' ').nth(1) == Some("guard")
            })
        };
        Parts {
            agents: all
                .iter()
                .filter(|process| process.command_line.contains(" demo-agent "))
                .cloned()
                .collect(),
            page: all
                .iter()
                .filter(|process| process.program.ends_with("WebKitWebProcess"))
                .cloned()
                .collect(),
            guard_of_app: guard_of(self.app.pid()),
            guard_of_server: server.as_ref().and_then(|server| guard_of(server.pid)),
            server,
            all,
        }
    }

    async fn snapshot(&self) -> Result<Snapshot> {
        let asked = tokio::time::timeout(SOON, self.session.snapshot()).await.context("no snapshot")?;
        asked.map_err(|error| anyhow::anyhow!("{error:?}"))
    }

    async fn command(&self, command: Command) -> Result<Result<(), ErrorCode>> {
        let answer = tokio::time::timeout(SOON, self.session.command(command)).await.context("no answer")?;
        Ok(answer.map_err(|error| error.code))
    }

    /// Sends a prompt over the link, and waits until it is accepted.
    async fn send(&mut self, mark: &str, done: &str, text: String) -> Result<()> {
        let prompt = Command::Prompt { text, attachments: Vec::new(), delivery: Delivery::default() };
        let sent = self.command(prompt).await?;
        ensure!(sent.is_ok(), "{mark} was refused: {sent:?}");
        self.prompts.push(Accepted { mark: mark.to_owned(), done: done.to_owned(), n_sent: 1 });
        Ok(())
    }

    /// Types a prompt in the window, and waits until the server has it.
    async fn typed(&mut self, mark: &str) -> Result<()> {
        type_prompt(&self.accessibility, &self.pointer, &format!("SAY {mark}")).await?;
        eventually(&format!("{mark} is accepted"), SOON, async || {
            let snapshot = self.snapshot().await?;
            let has_mark = |text: String| text.contains(mark);
            let is_known = snapshot.session.queue.iter().any(|prompt| has_mark(prompt.text.clone()))
                || snapshot.items.iter().any(|item| has_mark(json(&item.body)));
            Ok(is_known.then_some(()))
        })
        .await?;
        self.prompts.push(Accepted { mark: mark.to_owned(), done: mark.to_owned(), n_sent: 1 });
        Ok(())
    }

    async fn decide(&mut self, request: &PermissionRequest) -> Result<()> {
        let decide = || Command::Decide {
            request_id: request.id.clone(),
            shown: Some(request.shown.clone()),
            decision: Decision::AllowOnce { updated_input: None },
        };
        let first = self.command(decide()).await?;
        ensure!(first.is_ok(), "the answer was refused: {first:?}");
        self.answered.push(request.id.clone());
        let second = self.command(decide()).await?;
        ensure!(second == Err(ErrorCode::NoSuchRequest), "a second answer: {second:?}");
        Ok(())
    }

    /// A turn with a request, prompts that wait, and a kill in it. Then everything is finished.
    async fn survive(&mut self, victim: Victim, chance: &mut Chance) -> Result<()> {
        self.n_rounds += 1;
        let (nr, n_answered) = (self.n_rounds, self.answered.len());
        let moment = Moment::of(chance);
        let (has_child, n_waiting, is_typed) = (chance.below(2) == 0, chance.below(3), chance.below(3) == 0);
        println!("  {nr}. {victim:?}, {moment:?}, child {has_child}, {n_waiting} waiting, typed {is_typed}");
        let child = if has_child { "CHILD 600\n" } else { "" };
        let script = format!(
            "SAY m{nr}a.\n{child}SLOW 10 {N_PIECES} w\nTOOL Bash {{\"command\": \"touch m{nr}r\"}}\nSAY e{nr}a."
        );
        let (sender, mut events) = mpsc::channel(10_000);
        let subscribed =
            tokio::time::timeout(SOON, self.session.subscribe(Subscriber::Every(sender))).await?;
        subscribed.map_err(|error| anyhow::anyhow!("{error:?}"))?;
        self.send(&format!("m{nr}a."), &format!("e{nr}a."), script).await?;
        for letter in ["b", "c"].into_iter().take(n_waiting) {
            let mark = format!("m{nr}{letter}.");
            if is_typed && letter == "b" {
                self.typed(&mark).await?;
            } else {
                self.send(&mark, &mark, format!("SAY {mark}")).await?;
            }
        }
        if moment != Moment::Accepted {
            self.wait_for(moment, &mut events).await?;
        }
        drop(events);
        let before = self.parts();
        let children = self.children(&before);
        if !victim.spares_turn() {
            self.unsure.extend_from_slice(&self.answered[n_answered..]);
        }
        self.kill(victim, &before).await?;
        self.recovers(victim, &before).await?;
        self.is_whole(victim).await.context("after the kill")?;
        if moment != Moment::Answered {
            self.shows_what_waits(victim, nr).await?;
        }
        self.settle().await?;
        self.is_counted()?;
        self.is_tidy(victim, &before, &children).await?;
        let last = self.prompts.last().context("there are prompts")?.done.clone();
        self.shows(&[last]).await
    }

    /// Waits for a moment of the turn. A request that was to be answered is.
    async fn wait_for(&mut self, moment: Moment, events: &mut mpsc::Receiver<Envelope>) -> Result<()> {
        let mut n_pieces = 0;
        while moment != Moment::Streaming(n_pieces) {
            let event = tokio::time::timeout(SOON, events.recv()).await.context("no event")?;
            match event.context("the session goes on")?.event {
                Event::BlocksChanged { .. } => n_pieces += 1,
                Event::PermissionRequested { request, .. } => {
                    if moment == Moment::Answered {
                        self.decide(&request).await?;
                    }
                    return Ok(());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The processes that agents left in sessions of their own.
    fn children(&self, parts: &Parts) -> Vec<u32> {
        let agents: Vec<u32> = parts.agents.iter().map(|agent| agent.pid).collect();
        parts
            .all
            .iter()
            .filter(|process| agents.contains(&process.parent))
            .map(|process| process.pid)
            .collect()
    }

    async fn kill(&mut self, victim: Victim, parts: &Parts) -> Result<()> {
        let guard = |guard: &Option<Process>| guard.as_ref().map(Process::kill).transpose();
        match victim {
            Victim::App => {
                self.app.child_mut().kill()?;
                self.app.child_mut().wait()?;
            }
            Victim::Page => parts.page.iter().try_for_each(Process::kill)?,
            Victim::Agent => parts.agents.iter().try_for_each(Process::kill)?,
            Victim::Server => parts.server.as_ref().context("a server")?.kill()?,
            Victim::GuardOfApp => drop(guard(&parts.guard_of_app)?),
            Victim::GuardOfServer => drop(guard(&parts.guard_of_server)?),
            Victim::ServerAndGuard => {
                guard(&parts.guard_of_server)?;
                parts.server.as_ref().context("a server")?.kill()?;
            }
        }
        Ok(())
    }

    /// Waits until what was killed is there again, and says so.
    async fn recovers(&mut self, victim: Victim, before: &Parts) -> Result<()> {
        if victim == Victim::App {
            let gone: Vec<u32> =
                before.page.iter().chain(&before.guard_of_app).map(|process| process.pid).collect();
            eventually("the app's processes have ended", SOON, async || {
                let left: Vec<_> = self
                    .desktop
                    .app_processes()
                    .into_iter()
                    .filter(|left| gone.contains(&left.pid))
                    .collect();
                if left.is_empty() { Ok(Some(())) } else { bail!("still there: {left:#?}") }
            })
            .await?;
            self.app = start(&self.desktop, &self.launch)?;
        }
        if matches!(victim, Victim::App | Victim::Page) {
            eventually("the page is there again", SOON, async || {
                Ok(entry(&self.accessibility).await?.map(drop))
            })
            .await?;
        }
        if matches!(victim, Victim::Server | Victim::ServerAndGuard) {
            let before = before.server.as_ref().map(|server| server.pid);
            eventually("another server has the session", SOON, async || {
                let session = self.snapshot().await?.session;
                let is_other = self.parts().server.is_some_and(|server| Some(server.pid) != before);
                Ok((is_other && session.link == SessionLink::Connected && !session.alive).then_some(()))
            })
            .await?;
        }
        if victim == Victim::Agent {
            let killed: Vec<u32> = before.agents.iter().map(|agent| agent.pid).collect();
            eventually("the session says that its agent has ended", SOON, async || {
                let session = self.snapshot().await?.session;
                Ok((session.pid.is_none_or(|pid| !killed.contains(&pid))).then_some(()))
            })
            .await?;
        }
        Ok(())
    }

    /// Each prompt is said to be done, or waits, or is with the agent; and none that is said to wait for the first time has
    /// reached an agent. A request is open, or its call says that it did not run.
    async fn is_whole(&self, victim: Victim) -> Result<()> {
        let Snapshot { session, items, .. } = self.snapshot().await?;
        let stored = lines_below(&self.desktop.home())?;
        let is_working = is_working(&session.status) || !session.requests.is_empty();
        for prompt in &self.prompts {
            let waiting: Vec<_> =
                session.queue.iter().filter(|waiting| waiting.text.contains(&prompt.mark)).collect();
            let n_begun = n_begun(&stored, &prompt.mark);
            ensure!(waiting.len() <= 1, "{prompt:?} waits twice");
            ensure!(n_begun <= prompt.n_sent, "agents began with {prompt:?} {n_begun} times");
            match waiting[..] {
                [waiting] if waiting.held && !waiting.cut_off => {
                    ensure!(n_begun == 0, "{prompt:?} is held as new, and an agent began with it");
                }
                [] if !is_said(&items, &prompt.done) => {
                    ensure!(
                        is_working && victim.spares_turn(),
                        "{prompt:?} is lost; agents began with it {n_begun} times: {session:#?}"
                    );
                }
                _ => {}
            }
        }
        if !victim.spares_turn() {
            ensure!(session.requests.is_empty(), "a request of an agent that ended: {:?}", session.requests);
            for item in &items {
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

    /// The window shows what waits for the user: prompts, and the request if its turn goes on.
    async fn shows_what_waits(&self, victim: Victim, nr: usize) -> Result<()> {
        if victim.spares_turn() {
            eventually("the request", SOON, async || {
                Ok((!self.snapshot().await?.session.requests.is_empty()).then_some(()))
            })
            .await?;
        }
        let session = self.snapshot().await?.session;
        let mut words: Vec<String> = self
            .prompts
            .iter()
            .filter(|prompt| session.queue.iter().any(|waiting| waiting.text.contains(&prompt.mark)))
            .map(|prompt| prompt.mark.clone())
            .collect();
        if !session.requests.is_empty() {
            words.push(format!("touch m{nr}r"));
        }
        self.shows(&words).await
    }

    async fn shows(&self, words: &[String]) -> Result<()> {
        eventually(&format!("the window shows {words:?}"), SOON, async || {
            let shown = shown(&self.accessibility).await?;
            let missing: Vec<_> = words.iter().filter(|word| !shown.contains(word.as_str())).collect();
            if missing.is_empty() { Ok(Some(())) } else { bail!("{missing:?} is not in: {shown}") }
        })
        .await
    }

    /// Answers each request and sends each held prompt again, until nothing waits and nobody works.
    async fn settle(&mut self) -> Result<()> {
        eventually("everything is finished", SOON, async || {
            Ok(match self.go_on().await {
                Ok(None) => Some(Ok(())),
                Ok(Some(unfinished)) => return Err(unfinished),
                Err(error) => Some(Err(error)),
            })
        })
        .await?
    }

    /// Answers what is asked and sends again what is held. Returns what is not finished.
    async fn go_on(&mut self) -> Result<Option<anyhow::Error>> {
        let Snapshot { session, items, .. } = self.snapshot().await?;
        for request in &session.requests {
            if !self.answered.contains(&request.id) {
                self.decide(request).await?;
            }
        }
        for waiting in session.queue.iter().filter(|waiting| waiting.held) {
            let again = self.command(Command::Resend { prompt_id: waiting.id.clone() }).await?;
            let sent = self.prompts.iter_mut().find(|prompt| waiting.text.contains(&prompt.mark));
            if again.is_ok() && waiting.cut_off {
                sent.with_context(|| format!("an unknown prompt: {waiting:?}"))?.n_sent += 1;
            }
        }
        let missing: Vec<_> = self.prompts.iter().filter(|prompt| !is_said(&items, &prompt.done)).collect();
        let is_quiet =
            session.requests.is_empty() && session.queue.is_empty() && !is_working(&session.status);
        Ok((!is_quiet || !missing.is_empty()).then(|| anyhow::anyhow!("{missing:#?} of {session:#?}")))
    }

    /// An agent began with each prompt, and as often as the user sent it at most. Each answer was read once.
    fn is_counted(&self) -> Result<()> {
        let (stored, heard) = (lines_below(&self.desktop.home())?, lines_below(&self.heard)?);
        for prompt in &self.prompts {
            let n = n_begun(&stored, &prompt.mark);
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

    /// What belonged to a killed process is gone, and nothing runs twice.
    async fn is_tidy(&self, victim: Victim, before: &Parts, children: &[u32]) -> Result<()> {
        let ended: Vec<u32> = match victim.spares_turn() {
            true => Vec::new(),
            false => before.agents.iter().map(|agent| agent.pid).chain(children.iter().copied()).collect(),
        };
        eventually("nothing is left of what was killed", SOON, async || {
            let parts = self.parts();
            let left: Vec<_> = parts.all.iter().filter(|process| ended.contains(&process.pid)).collect();
            let n_of =
                |words: &str| parts.all.iter().filter(|process| process.command_line.contains(words)).count();
            let is_once = n_of("--serve") == 1 && parts.agents.len() <= 1 && n_of(" guard ") <= 2;
            ensure!(
                left.is_empty() && is_once && parts.page.len() == 1,
                "left: {left:#?} of {:#?}",
                parts.all
            );
            Ok(Some(()))
        })
        .await
    }

    /// Ends everything in order: nothing is left.
    async fn end(mut self) -> Result<()> {
        let server = self.parts().server.context("the server runs")?;
        self.app.terminate()?;
        ensure!(self.app.wait(SOON)?.is_some(), "the app did not end");
        server.terminate()?;
        let Self { link, session, desktop, .. } = self;
        drop((link, session));
        eventually("nothing is left at the end", SOON, async || {
            let left = desktop.app_processes();
            if left.is_empty() { Ok(Some(())) } else { bail!("still there: {left:#?}") }
        })
        .await
    }
}

fn is_working(status: &Status) -> bool {
    matches!(
        status,
        Status::Starting | Status::Working { .. } | Status::Interrupting | Status::NeedsInput { .. }
    )
}

fn json(body: &Body) -> String {
    serde_json::to_string(body).unwrap_or_default()
}

/// Whether the agent has said this.
fn is_said(items: &[deskbell_engine::api::Item], words: &str) -> bool {
    let said = items.iter().filter(|item| matches!(item.body, Body::Text { .. }));
    said.into_iter()
        .any(|item| text_of(&serde_json::to_value(&item.body).unwrap_or_default()).contains(words))
}

/// How often agents began a turn with the prompt of this mark: an agent that is killed earlier has it in no transcript.
fn n_begun(stored: &[Value], mark: &str) -> usize {
    stored.iter().filter(|line| line["type"] == "user" && line["message"].to_string().contains(mark)).count()
}

/// The lines of JSON in the files of agents in this folder and below it: what they read, or their transcripts.
fn lines_below(folder: &Path) -> Result<Vec<Value>> {
    let (mut lines, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let entry = entry?;
            let path = entry.path();
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl" || extension == "ndjson")
            {
                // The last line of a killed agent may be torn.
                let text = std::fs::read_to_string(&path)?;
                lines.extend(text.lines().filter_map(|line| serde_json::from_str(line).ok()));
            }
        }
    }
    Ok(lines)
}

/// The composer of the window.
async fn entry(accessibility: &Accessibility) -> Result<Option<Accessible>> {
    for program in accessibility.programs().await? {
        for window in program.children().await.unwrap_or_default() {
            if let Some(entry) = window.find(Role::ENTRY, "Prompt").await {
                return Ok(Some(entry));
            }
        }
    }
    Ok(None)
}

async fn type_prompt(accessibility: &Accessibility, pointer: &Pointer, text: &str) -> Result<()> {
    let entry = eventually("the composer", SOON, async || entry(accessibility).await).await?;
    let (x, y) = entry.extents().await?.middle();
    pointer.click(x, y).await?;
    // A page that was killed before its prompt was accepted has it as a draft.
    pointer.key("ctrl+a").await?;
    pointer.type_text(text).await?;
    eventually("the prompt is typed", SOON, async || Ok((entry.text().await? == text).then_some(()))).await?;
    pointer.key("Return").await
}

/// All texts of all windows.
async fn shown(accessibility: &Accessibility) -> Result<String> {
    let mut words = Vec::new();
    for program in accessibility.programs().await? {
        for window in program.children().await.unwrap_or_default() {
            for object in window.tree().await {
                words.extend(object.name().await.ok().filter(|name| !name.is_empty()));
                words.extend(object.text().await.ok().filter(|text| !text.is_empty()));
            }
        }
    }
    Ok(words.join("\n"))
}

/// Victims in an order of the seed: of as many as there are or a multiple of that, each as often as the others.
fn order(n: usize, chance: &mut Chance) -> Vec<Victim> {
    let n_whole = n.next_multiple_of(VICTIMS.len());
    let mut victims: Vec<Victim> = VICTIMS.iter().copied().cycle().take(n_whole).collect();
    for last in (1..victims.len()).rev() {
        victims.swap(last, chance.below(last + 1));
    }
    victims.truncate(n);
    victims
}

pub async fn random_kills_lose_and_double_nothing_and_leave_nothing() -> Result<()> {
    let given = std::env::var("DESKBELL_KILLS").ok();
    let n_kills = given.map_or(Ok(N_KILLS), |n| n.parse()).context("DESKBELL_KILLS")?;
    let mut chance = Chance(seed());
    let victims = order(n_kills, &mut chance);
    for (nr, victims) in victims.chunks(OF_LIFE).enumerate() {
        println!("life {nr}: {victims:?}");
        let mut life = Life::begin().await?;
        for (kill, victim) in victims.iter().enumerate() {
            if let Err(error) = life.survive(*victim, &mut chance).await {
                let picture = life.desktop.screenshot("failed-kills").await;
                let log = std::fs::read_to_string(life.desktop.scratch().join("app.log")).unwrap_or_default();
                return Err(error.context(format!(
                    "kill {kill} of life {nr}, {victim:?}; picture {picture:?}; the app wrote:\n{log}"
                )));
            }
        }
        life.end().await?;
    }
    Ok(())
}
