//! Hibernation: the memory of an idle CLI that it saves, and the delay of the prompt that wakes it.

use std::fs;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use deskbell_engine::LocalHost;
use deskbell_engine::api::*;
use deskbell_engine::launch::Launch;
use deskbell_engine::recorder::Recorder;
use deskbell_engine::session::Timeouts;
use deskbell_engine::session::{Open, SessionHandle, Subscriber};
use deskbell_engine::store::{Record, SavedSession};
use deskbell_tests::real_cli::World;
use deskbell_tests::window::processes_with;
use tokio::sync::mpsc;

/// Idle time before hibernation: long enough to measure before it.
const IDLE_MS: u64 = 3_000;

pub async fn an_agent_that_hibernates_gives_its_memory_back_and_goes_on() -> Result<()> {
    let world = World::new().await?;
    let token = format!("hibernation.{}", std::process::id());
    let session = open(&world, &token);
    let (sender, mut events) = mpsc::channel(64);
    session.subscribe(Subscriber::Every(sender)).await.context("listening")?;

    let first = turn(&session, &mut events, "SAY first").await?;
    let awake = memory_kib(&token);
    let asleep = next(&mut events, |event| matches!(event, Event::AgentExited { .. })).await;
    asleep.context("it did not hibernate")?;
    let left = memory_kib(&token);
    let woken = turn(&session, &mut events, "SAY second").await?;

    let mib = |kib: u64| kib as f64 / 1024.0;
    println!("an idle CLI holds {:.0} MiB, a hibernating one {:.0} MiB", mib(awake), mib(left));
    println!("its first turn took {first:.2} s, the turn that woke it {woken:.2} s");
    ensure!(awake > 10 * 1024, "the CLI was not found: {awake} KiB");
    ensure!(left == 0, "{left} KiB are left");
    let snapshot = session.snapshot().await.context("asking for the items")?;
    let answers = snapshot.items.iter().filter(|item| matches!(item.body, Body::Text { .. })).count();
    ensure!(answers == 2, "{answers} answers");
    drop(events);
    session.close().await.context("closing")
}

/// Seconds from prompt to the successful end of its turn.
pub async fn turn(session: &SessionHandle, events: &mut mpsc::Receiver<Envelope>, text: &str) -> Result<f64> {
    let started_at = Instant::now();
    let prompt =
        Command::Prompt { text: text.to_owned(), attachments: Vec::new(), delivery: Delivery::AfterTurn };
    session.command(prompt).await.context("asking")?;
    let ended = next(events, |event| matches!(event, Event::TurnEnded { .. })).await;
    match ended {
        Some(Event::TurnEnded { turn }) if turn.outcome == Outcome::Done => {
            Ok(started_at.elapsed().as_secs_f64())
        }
        other => anyhow::bail!("the turn did not end well: {other:?}"),
    }
}

async fn next(events: &mut mpsc::Receiver<Envelope>, is_it: impl Fn(&Event) -> bool) -> Option<Event> {
    while let Some(envelope) = events.recv().await {
        if is_it(&envelope.event) {
            return Some(envelope.event);
        }
    }
    None
}

/// The sum over all processes of this session of their share of memory.
fn memory_kib(token: &str) -> u64 {
    let share = |pid: u32| {
        // A process may be gone by now.
        let rollup = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
        let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
        line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0)
    };
    processes_with(Launch::RUN_TOKEN, token).iter().map(|process| share(process.pid)).sum()
}

pub fn open(world: &World, token: &str) -> SessionHandle {
    let launch = Launch {
        kind: AgentKind::Claude,
        acp: None,
        program: world.agent.clone(),
        first_args: Vec::new(),
        project: world.project.clone(),
        // In a restricted folder an agent schedules nothing.
        restricted: false,
        snapshot: None,
        env: world.env().into_iter().map(|(name, value)| (name, Some(value))).collect(),
        run_token: token.to_owned(),
        priority: Priority::Normal,
    };
    SessionHandle::open(Open {
        record: Record {
            id: SessionId::new(token),
            project: world.project.clone(),
            agent: AgentKind::Claude,
            created_at: 1,
            changed_at: 1,
            memory: SavedSession::default(),
        },
        launcher: Arc::new(move || Ok(launch.clone())),
        host: Arc::new(LocalHost),
        store: None,
        agent_config: world.config.clone(),
        locks: None,
        agent_sessions: None,
        timeouts: Timeouts { hibernate_ms: IDLE_MS, ..Timeouts::default() },
        recorder: Recorder::default(),
    })
}
