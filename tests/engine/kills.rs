//! Random kills of real processes without a window, in turns with queued prompts and open requests: of a server, its guard, its
//! agents and the connection of a client; and of an app that owns its agents, its guard and its agents. No accepted prompt is
//! lost or begun twice, each request is answered once at most, and no process is left.
//!
//! `tests/real_window/kills.rs` has those of the window; `deskbell_tests::kills` has the numbers of all, and what is checked.
//! `DESKBELL_TEST_SEED` repeats them.

#![cfg(target_os = "linux")]

use crate::leftovers::nothing_runs;
use crate::life::{DEADLINE, MARK};
use crate::server::world::World;
use anyhow::{Context, Result, ensure};
use deskbell_engine::api::server::NewSession;
use deskbell_engine::api::{Command, ErrorCode, Event, SessionLink, Snapshot};
use deskbell_engine::remote::ServerLink;
use deskbell_engine::session::{SessionHandle, Subscriber};
use deskbell_tests::chance::{Chance, seed};
use deskbell_tests::kills::{
    KillLedger, KillMoment, KillPlan, KilledSession, N_OF_APPS, N_OF_SERVERS, OwnApp, lines_below, order,
};
use deskbell_tests::relay::{Dialed, dialed_by, program_without_windows};
use deskbell_tests::suite::missing;
use deskbell_tests::window::{Process, eventually, processes_with};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Kills in one life of a session: its conversation stays short.
const OF_LIFE: usize = 10;

/// Lives at the same time: most of a life is waiting.
const AT_ONCE: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    /// The app that owns the agents.
    App,
    /// First the guard, which would end the agents otherwise.
    AppAndGuard,
    /// The process of the connection between a client and its server.
    Connection,
    Server,
    /// First the guard, which would end the agents otherwise.
    ServerAndGuard,
    /// The guard of the server or of the app.
    Guard,
    Agent,
}

const OF_SERVER: [Victim; 5] =
    [Victim::Connection, Victim::Server, Victim::ServerAndGuard, Victim::Guard, Victim::Agent];
const OF_APP: [Victim; 4] = [Victim::App, Victim::AppAndGuard, Victim::Guard, Victim::Agent];

impl Victim {
    /// Whether the turn goes on without it.
    fn spares_turn(self) -> bool {
        matches!(self, Self::Connection | Self::Guard)
    }
}

/// The processes of a life, by their job.
#[derive(Debug)]
struct Parts {
    all: Vec<Process>,
    server: Option<Process>,
    guard: Option<Process>,
    agents: Vec<Process>,
    /// What the agents left in sessions of their own.
    children: Vec<Process>,
}

impl Parts {
    fn of(mark: &str) -> Self {
        let all = processes_with(MARK, mark);
        let word = |process: &Process| process.command_line.split(' ').nth(1).map(str::to_owned);
        let is = |process: &&Process, job: &str| word(process).as_deref() == Some(job);
        let agents: Vec<Process> = all.iter().filter(|process| is(process, "demo-agent")).cloned().collect();
        let is_child = |child: &&Process| agents.iter().any(|agent| agent.pid == child.parent);
        Self {
            server: all.iter().find(|process| process.command_line.contains("--serve")).cloned(),
            guard: all.iter().find(|process| is(process, "guard")).cloned(),
            children: all.iter().filter(is_child).cloned().collect(),
            agents,
            all,
        }
    }
}

/// The process that has the session, and the way to it.
enum Owner {
    Server { link: ServerLink, session: SessionHandle, connections: Arc<Mutex<Vec<u32>>> },
    App(OwnApp),
}

impl KilledSession for Owner {
    async fn snapshot(&self, deadline: Duration) -> Result<Snapshot> {
        match self {
            Self::Server { session, .. } => KilledSession::snapshot(session, deadline).await,
            Self::App(app) => app.snapshot(deadline).await,
        }
    }

    async fn command(&self, command: Command, deadline: Duration) -> Result<Result<(), ErrorCode>> {
        match self {
            Self::Server { session, .. } => KilledSession::command(session, command, deadline).await,
            Self::App(app) => app.command(command, deadline).await,
        }
    }
}

/// A session whose processes are killed again and again.
struct KilledLife {
    owner: Owner,
    events: mpsc::UnboundedReceiver<Event>,
    ledger: KillLedger,
    heard: PathBuf,
    world: Arc<World>,
}

/// Sets the environment of the agents: they play without pauses, and record the lines that they read.
fn set_up_agents(command: &mut tokio::process::Command, heard: &Path) {
    command.env("DESKBELL_DEMO_SPEED", "0").env("DESKBELL_DEMO_HEARD", heard);
}

fn start_app(world: &World, heard: &Path) -> Result<(OwnApp, mpsc::UnboundedReceiver<Event>)> {
    let mut command = world.app(&[&world.project()]);
    set_up_agents(&mut command, heard);
    OwnApp::start(command)
}

impl KilledLife {
    async fn of_app(world: World) -> Result<Self> {
        let heard = heard_of(&world)?;
        let (app, events) = start_app(&world, &heard)?;
        let ledger = KillLedger::new(DEADLINE);
        Ok(Self { owner: Owner::App(app), events, ledger, heard, world: Arc::new(world) })
    }

    async fn of_server(world: World) -> Result<Self> {
        let (heard, world) = (heard_of(&world)?, Arc::new(world));
        let (there, told) = (world.clone(), heard.clone());
        let Dialed { dial, pids } = dialed_by(move || {
            let mut command = there.command(&["--attach", "--idle=600"]);
            set_up_agents(&mut command, &told);
            command
        });
        let link = ServerLink::open(dial);
        let new =
            NewSession { project: world.project(), agent: Some("demo".to_owned()), ..NewSession::default() };
        let opened = timeout(DEADLINE, link.new_session(new)).await.context("no answer")?;
        let id = opened.map_err(|error| anyhow::anyhow!("{error:?}"))?;
        let session = SessionHandle::mirror(&link, id, PathBuf::from(world.project()));
        let events = events_of(&session).await?;
        let owner = Owner::Server { link, session, connections: pids };
        Ok(Self { owner, events, ledger: KillLedger::new(DEADLINE), heard, world })
    }

    fn parts(&self) -> Parts {
        Parts::of(&self.world.mark)
    }

    async fn snapshot(&self) -> Result<Snapshot> {
        self.owner.snapshot(DEADLINE).await
    }

    /// A turn with a request, prompts that wait, and a kill in it. Then everything is finished.
    async fn survive(&mut self, victim: Victim, chance: &mut Chance) -> Result<()> {
        let plan = KillPlan::of(chance);
        self.ledger.begin_turn();
        while self.events.try_recv().is_ok() {}
        self.ledger.send_turn(&self.owner, &plan).await?;
        for letter in ["b", "c"].into_iter().take(plan.n_waiting) {
            self.ledger.send_waiting(&self.owner, letter).await?;
        }
        let events = &mut self.events;
        self.ledger.wait_for(plan.moment, &self.owner, async || events.recv().await).await?;
        let before = self.parts();
        if !victim.spares_turn() {
            self.ledger.agent_is_killed();
        }
        self.kill(victim, &before).await?;
        self.recovers(victim, &before).await.with_context(|| format!("{plan:?}"))?;
        if !victim.spares_turn() {
            self.agents_have_ended(&before).await?;
        }
        // A client is connected before it has the events that it missed.
        let whole = eventually("nothing is lost", DEADLINE, async || {
            let stored = lines_below(&self.world.data)?;
            self.ledger.is_whole(&self.snapshot().await?, &stored, victim.spares_turn()).map(Some)
        });
        whole.await.with_context(|| format!("after the kill, {plan:?}"))?;
        if victim.spares_turn() && plan.moment != KillMoment::Answered {
            eventually("the request", DEADLINE, async || {
                Ok((!self.snapshot().await?.session.requests.is_empty()).then_some(()))
            })
            .await?;
        }
        self.ledger.settle(&self.owner).await.with_context(|| format!("{plan:?}"))?;
        self.ledger.is_counted(&lines_below(&self.world.data)?, &lines_below(&self.heard)?)?;
        self.is_tidy(victim, &before).await
    }

    async fn kill(&mut self, victim: Victim, parts: &Parts) -> Result<()> {
        let guard = || parts.guard.as_ref().map(Process::kill).transpose();
        match victim {
            Victim::App | Victim::AppAndGuard => {
                if victim == Victim::AppAndGuard {
                    guard()?;
                }
                let Owner::App(app) = &mut self.owner else { anyhow::bail!("no app") };
                app.kill().await?;
            }
            Victim::Connection => {
                let Owner::Server { connections, .. } = &self.owner else { anyhow::bail!("no connection") };
                let pid = connections.lock().unwrap_or_else(PoisonError::into_inner).last().copied();
                let connection = parts.all.iter().find(|process| Some(process.pid) == pid);
                connection.context("a connection")?.kill()?;
            }
            Victim::Server => parts.server.as_ref().context("a server")?.kill()?,
            Victim::ServerAndGuard => {
                guard()?;
                parts.server.as_ref().context("a server")?.kill()?;
            }
            Victim::Guard => drop(guard()?),
            Victim::Agent => parts.agents.iter().try_for_each(Process::kill)?,
        }
        Ok(())
    }

    /// Waits until what was killed is there again, and says so.
    async fn recovers(&mut self, victim: Victim, before: &Parts) -> Result<()> {
        match victim {
            Victim::App | Victim::AppAndGuard => {
                // What an agent reads after the next start is not in the transcript that the start reads.
                self.agents_have_ended(before).await?;
                let (app, events) = start_app(&self.world, &self.heard)?;
                (self.owner, self.events) = (Owner::App(app), events);
                Ok(())
            }
            Victim::Connection => {
                let old: Vec<u32> = before.all.iter().map(|process| process.pid).collect();
                eventually("another connection", DEADLINE, async || {
                    let Owner::Server { connections, .. } = &self.owner else { return Ok(None) };
                    let now = connections.lock().unwrap_or_else(PoisonError::into_inner).last().copied();
                    let is_there = self.snapshot().await?.session.link == SessionLink::Connected;
                    Ok((is_there && now.is_some_and(|now| !old.contains(&now))).then_some(()))
                })
                .await
            }
            Victim::Server | Victim::ServerAndGuard => {
                let old = before.server.as_ref().map(|server| server.pid);
                eventually("another server has the session", DEADLINE, async || {
                    let session = self.snapshot().await?.session;
                    let is_other = self.parts().server.is_some_and(|server| Some(server.pid) != old);
                    Ok((is_other && session.link == SessionLink::Connected && !session.alive).then_some(()))
                })
                .await
            }
            Victim::Agent => {
                eventually("the session says that its agent has ended", DEADLINE, async || {
                    let pid = self.snapshot().await?.session.pid;
                    let is_old = before.agents.iter().any(|agent| Some(agent.pid) == pid);
                    Ok((!is_old).then_some(()))
                })
                .await
            }
            Victim::Guard => Ok(()),
        }
    }

    /// Waits for the end of agents: until then they read what is in their pipes.
    async fn agents_have_ended(&self, before: &Parts) -> Result<()> {
        let is_old = |agent: &Process| before.agents.iter().any(|old| old.pid == agent.pid);
        eventually("the agents have ended", DEADLINE, async || {
            Ok((!self.parts().agents.iter().any(is_old)).then_some(()))
        })
        .await
    }

    /// What belonged to a killed process is gone, and nothing runs twice.
    async fn is_tidy(&self, victim: Victim, before: &Parts) -> Result<()> {
        let ended = |process: &&Process| {
            let of_agents = before.agents.iter().chain(&before.children);
            !victim.spares_turn() && of_agents.into_iter().any(|one| one.pid == process.pid)
        };
        eventually("nothing is left of what was killed", DEADLINE, async || {
            let parts = self.parts();
            let left: Vec<_> = parts.all.iter().filter(ended).collect();
            let n_of =
                |words: &str| parts.all.iter().filter(|process| process.command_line.contains(words)).count();
            let n_servers = usize::from(matches!(self.owner, Owner::Server { .. }));
            let is_once = n_of("--serve") == n_servers && parts.agents.len() <= 1 && n_of(" guard ") <= 1;
            ensure!(left.is_empty() && is_once, "left: {left:#?} of {:#?}", parts.all);
            Ok(Some(()))
        })
        .await
    }

    /// Ends everything in order: nothing is left.
    async fn end(self) -> Result<()> {
        let parts = self.parts();
        match self.owner {
            Owner::App(app) => {
                let status = app.end(DEADLINE).await?;
                ensure!(status.success(), "the app ended with {status}");
            }
            Owner::Server { link, session, .. } => {
                parts.server.context("the server runs")?.terminate()?;
                drop((link, session));
            }
        }
        nothing_runs(&self.world.mark, DEADLINE).await;
        Ok(())
    }
}

/// The folder of the lines that the agents of this life read.
fn heard_of(world: &World) -> Result<PathBuf> {
    let heard = world.root().join("heard");
    std::fs::create_dir(&heard)?;
    Ok(heard)
}

/// All events of a session, without a limit: the test may look away.
async fn events_of(session: &SessionHandle) -> Result<mpsc::UnboundedReceiver<Event>> {
    let (sender, mut envelopes) = mpsc::channel(64);
    let subscribed = timeout(DEADLINE, session.subscribe(Subscriber::Every(sender))).await;
    subscribed.context("no snapshot")?.map_err(|error| anyhow::anyhow!("{error:?}"))?;
    let (forward, events) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(envelope) = envelopes.recv().await
            && forward.send(envelope.event).is_ok()
        {}
    });
    Ok(events)
}

/// Makes these kills in lives that begin in worlds with this program, some at the same time.
fn kills<Begun: Future<Output = Result<KilledLife>>>(
    n: usize,
    victims: &[Victim],
    program: &Path,
    begin: impl Fn(World) -> Begun + Sync,
) {
    let seed = seed();
    let order = order(victims, n, &mut Chance(seed));
    let lives: Vec<&[Victim]> = order.chunks(OF_LIFE).collect();
    let live = async |nr: usize| -> Result<(usize, usize)> {
        let mut chance = Chance(seed.wrapping_add(1 + nr as u64));
        let mut life = begin(World::of(program.to_owned())).await?;
        for (kill, victim) in lives[nr].iter().enumerate() {
            let survived = life.survive(*victim, &mut chance).await;
            survived.with_context(|| format!("kill {kill} of life {nr}: {victim:?}"))?;
        }
        let n_unseen = life.ledger.n_begun_unseen();
        life.end().await?;
        Ok((lives[nr].len(), n_unseen))
    };
    let play = |player: usize| {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let of_player = (player..lives.len()).step_by(AT_ONCE);
        of_player.map(|nr| runtime.block_on(live(nr)).unwrap()).collect::<Vec<_>>()
    };
    let played: Vec<(usize, usize)> = std::thread::scope(|scope| {
        let players: Vec<_> = (0..AT_ONCE).map(|player| scope.spawn(move || play(player))).collect();
        players.into_iter().flat_map(|player| player.join().unwrap()).collect()
    });
    let (n_made, n_unseen): (Vec<usize>, Vec<usize>) = played.into_iter().unzip();
    let (n_made, n_unseen): (usize, usize) = (n_made.into_iter().sum(), n_unseen.into_iter().sum());
    assert_eq!(n_made, n);
    println!(
        "{n_made} kills of {victims:?}: 0 lost, 0 twice, 0 left; {n_unseen} prompts held as new that an agent had begun; \
         DESKBELL_TEST_SEED={seed}"
    );
}

#[test]
fn of_a_server_and_its_processes_lose_and_double_nothing_and_leave_nothing() {
    let Some(program) = program_without_windows().map_or_else(|error| missing(&format!("{error:#}")), Some)
    else {
        return;
    };
    kills(N_OF_SERVERS, &OF_SERVER, &program, KilledLife::of_server);
}

#[test]
fn of_an_app_that_owns_its_agents_lose_and_double_nothing_and_leave_nothing() {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("examples/own_app");
    if !program.is_file() {
        return missing(&format!("{} is not there", program.display())).unwrap_or_default();
    }
    kills(N_OF_APPS, &OF_APP, &program, KilledLife::of_app);
}
