//! Random kills of the app, of the process that draws its page, of the agent, the server and the guards, in turns with queued
//! prompts and open requests. No accepted prompt is lost or begun twice, each request is answered once at most,
//! and no process is left (`deskbell_tests::kills`). Most kills of a run are made without a window, by `tests/engine/kills.rs`.
//!
//! `DESKBELL_KILLS=300` makes as many here; `DESKBELL_TEST_SEED` repeats them.

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use deskbell_engine::api::{Body, SessionLink, Snapshot};
use deskbell_engine::remote::ServerLink;
use deskbell_engine::session::{SessionHandle, Subscriber};
use deskbell_tests::chance::{Chance, seed};
use deskbell_tests::kills::{
    KillLedger, KillMoment, KillPlan, KilledSession, N_IN_WINDOW, lines_below, order,
};
use deskbell_tests::relay::{Dialed, dialed_by};
use deskbell_tests::window::{
    Accessibility, Accessible, Desktop, LONG, Launch, Manners, Notifications, Owned, Pointer, Process, Role,
    app_program, eventually,
};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::stage::PROJECT;
use crate::survival::keep_running;

/// Kills in one life of a desktop: its conversation stays short.
const OF_LIFE: usize = 12;

/// The deadline for each step: a guard waits 3.5 s, and the machine is busy.
const SOON: Duration = LONG;

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

/// What only a window has: each is killed in every run.
const OF_WINDOW: [Victim; 2] = [Victim::App, Victim::Page];
/// What is killed without a window too.
const BELOW_WINDOW: [Victim; 5] =
    [Victim::Agent, Victim::Server, Victim::GuardOfApp, Victim::GuardOfServer, Victim::ServerAndGuard];

impl Victim {
    /// Whether the turn goes on without it.
    fn spares_turn(self) -> bool {
        matches!(self, Self::App | Self::Page | Self::GuardOfApp | Self::GuardOfServer)
    }
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
    ledger: KillLedger,
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
        let mut ledger = KillLedger::new(SOON);
        ledger.accepted("m0a.", "m0a.");
        let mut life = Self {
            app,
            accessibility,
            pointer,
            link,
            session,
            launch: launch.again(),
            heard,
            ledger,
            _notifications: notifications,
            desktop,
        };
        life.ledger.settle(&life.session).await?;
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
        KilledSession::snapshot(&self.session, SOON).await
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
        self.ledger.accepted(mark, mark);
        Ok(())
    }

    /// A turn with a request, prompts that wait, and a kill in it. Then everything is finished.
    async fn survive(&mut self, victim: Victim, chance: &mut Chance) -> Result<()> {
        let (nr, plan) = (self.ledger.begin_turn(), KillPlan::of(chance));
        let is_typed = chance.below(3) == 0;
        println!("  {nr}. {victim:?}, {plan:?}, typed {is_typed}");
        let (sender, mut events) = mpsc::channel(10_000);
        let subscribed =
            tokio::time::timeout(SOON, self.session.subscribe(Subscriber::Every(sender))).await?;
        subscribed.map_err(|error| anyhow::anyhow!("{error:?}"))?;
        self.ledger.send_turn(&self.session, &plan).await?;
        for letter in ["b", "c"].into_iter().take(plan.n_waiting) {
            if is_typed && letter == "b" {
                self.typed(&self.ledger.waiting(letter)).await?;
            } else {
                self.ledger.send_waiting(&self.session, letter).await?;
            }
        }
        let next = async || events.recv().await.map(|envelope| envelope.event);
        self.ledger.wait_for(plan.moment, &self.session, next).await?;
        drop(events);
        let before = self.parts();
        let children = self.children(&before);
        if !victim.spares_turn() {
            self.ledger.agent_is_killed();
        }
        self.kill(victim, &before).await?;
        self.recovers(victim, &before).await?;
        // A client is connected before it has the events that it missed.
        let whole = eventually("nothing is lost", SOON, async || {
            let stored = self.stored()?;
            self.ledger.is_whole(&self.snapshot().await?, &stored, victim.spares_turn()).map(Some)
        });
        whole.await.context("after the kill")?;
        if plan.moment != KillMoment::Answered {
            self.shows_what_waits(victim, nr).await?;
        }
        self.ledger.settle(&self.session).await?;
        self.ledger.is_counted(&self.stored()?, &lines_below(&self.heard)?)?;
        self.is_tidy(victim, &before, &children).await?;
        let last = self.ledger.prompts.last().context("there are prompts")?.done.clone();
        self.shows(&[last]).await
    }

    /// The lines of the agents' transcripts.
    fn stored(&self) -> Result<Vec<Value>> {
        lines_below(&self.desktop.home())
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
            .ledger
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

fn json(body: &Body) -> String {
    serde_json::to_string(body).unwrap_or_default()
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

pub async fn random_kills_lose_and_double_nothing_and_leave_nothing() -> Result<()> {
    let given = std::env::var("DESKBELL_KILLS").ok();
    let n_kills = given.map_or(Ok(N_IN_WINDOW), |n| n.parse()).context("DESKBELL_KILLS")?;
    let mut chance = Chance(seed());
    let victims = if n_kills == N_IN_WINDOW {
        let mut others = order(&BELOW_WINDOW, N_IN_WINDOW - OF_WINDOW.len(), &mut chance);
        others.extend(OF_WINDOW);
        order(&others, N_IN_WINDOW, &mut chance)
    } else {
        order(&[&OF_WINDOW[..], &BELOW_WINDOW].concat(), n_kills, &mut chance)
    };
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
    println!("{n_kills} kills: 0 lost, 0 twice, 0 left");
    Ok(())
}
