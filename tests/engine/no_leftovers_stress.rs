//! Stress test: no process survives the end of its session or app by more than a few seconds, in fifty of fifty rounds.
//! Claude Code's double, and the double over ACP in the place of two agents. All rounds have children in sessions of their
//! own, every other one an agent that ignores its stop stages.

#![cfg(target_os = "linux")]

use crate::app_killed::{self, App, app};
use crate::leftovers::{self, nothing_runs, with_child};
use crate::life::{DEADLINE, Life, MARK, Setup};
use crate::program::demo_agent;
use deskbell_engine::api::{Body, Command, Event, Outcome};
use deskbell_tests::real_cli::process;
use deskbell_tests::window::{Process, processes_with};
use rustix::process::{Pid, Signal, kill_process};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::time::timeout;

const ROUNDS: usize = 50;
/// Rounds in parallel: most of a round is waiting.
const AT_ONCE: usize = 10;

/// Runs every round, some in parallel, with the faults of its agent; a round returns how long the end took. A round
/// that leaves a process fails. The deadline is twice the target, because the machine may be busy; the longest time is
/// printed.
fn rounds(round: impl AsyncFn(&'static str) -> Duration + Sync) {
    let play = |player| {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let mine = (player..ROUNDS).step_by(AT_ONCE);
        let faults = |n: usize| if n.is_multiple_of(2) { "" } else { "ignore-eof,ignore-sigterm" };
        mine.map(|n| runtime.block_on(round(faults(n)))).collect::<Vec<_>>()
    };
    let mut took: Vec<Duration> = std::thread::scope(|scope| {
        let players: Vec<_> = (0..AT_ONCE).map(|player| scope.spawn(move || play(player))).collect();
        players.into_iter().flat_map(|player| player.join().unwrap()).collect()
    });
    took.sort_unstable();
    assert_eq!(took.len(), ROUNDS);
    println!(
        "{ROUNDS} of {ROUNDS} left nothing; median {:?}, longest {:?}",
        took[ROUNDS / 2],
        took[ROUNDS - 1]
    );
}

/// Waits until these have ended, by a kernel notification, and checks that no other is left.
async fn all_end(mark: &str, there: Vec<Process>, within: Duration) {
    for one in there {
        let ended = process::ended(one.pid, within).await;
        ended.unwrap_or_else(|error| panic!("{error:#}: {one:#?}"));
    }
    nothing_runs(mark, within).await;
}

#[test]
fn of_sessions_that_are_stopped() {
    rounds(async |faults| {
        let life = with_child(faults).await;
        let there = processes_with(MARK, &life.setup.mark);
        let ended_at = Instant::now();
        life.command(Command::Stop).await.unwrap();
        all_end(&life.setup.mark, there, 2 * leftovers::SOON).await;
        let took = ended_at.elapsed();
        life.close().await;
        took
    });
}

#[test]
fn of_sessions_that_are_closed_as_the_app_quits() {
    rounds(async |faults| {
        let life = with_child(faults).await;
        let there = processes_with(MARK, &life.setup.mark);
        let ended_at = Instant::now();
        let setup = life.close().await;
        all_end(&setup.mark, there, 2 * leftovers::SOON).await;
        ended_at.elapsed()
    });
}

/// A session over ACP, in the place of the agent with this row, whose agent works with a tool in a session of its own.
async fn over_acp(row: &str, faults: &str) -> Life {
    let mut life = Setup::acp(row, &format!("apart,{faults}")).trusted().open().await;
    life.prompt("CHILD").await;
    let runs = |event: &Event| match event {
        Event::ItemAdded { item } | Event::ItemChanged { item } => {
            matches!(&item.body, Body::ToolCall(call) if call.subject == "sleep 600").then_some(())
        }
        _ => None,
    };
    life.next("tool", runs).await;
    assert_eq!(processes_with(MARK, &life.setup.mark).len(), 2, "the agent and its tool");
    life
}

/// Two rows that the double can play. Their arguments differ.
const ROWS: [&str; 2] = ["qwen", "gemini"];

#[test]
fn of_sessions_over_acp_that_are_stopped() {
    for row in ROWS {
        rounds(async |faults| {
            let mut life = over_acp(row, faults).await;
            let there = processes_with(MARK, &life.setup.mark);
            let ended_at = Instant::now();
            life.command(Command::Stop).await.unwrap();
            all_end(&life.setup.mark, there, 2 * leftovers::SOON).await;
            let took = ended_at.elapsed();
            life.exit().await;
            life.close().await;
            took
        });
    }
}

#[test]
fn of_sessions_over_acp_that_are_closed_as_the_app_quits() {
    for row in ROWS {
        rounds(async |faults| {
            let life = over_acp(row, faults).await;
            let there = processes_with(MARK, &life.setup.mark);
            let ended_at = Instant::now();
            let setup = life.close().await;
            all_end(&setup.mark, there, 2 * leftovers::SOON).await;
            ended_at.elapsed()
        });
    }
}

/// The agent stays when a turn is interrupted, and its tool is its own to end; the close ends what it left.
#[test]
fn of_sessions_over_acp_that_are_interrupted_and_closed() {
    for row in ROWS {
        rounds(async |faults| {
            let mut life = over_acp(row, faults).await;
            let there = processes_with(MARK, &life.setup.mark);
            let ended_at = Instant::now();
            life.command(Command::Interrupt).await.unwrap();
            assert_eq!(life.turn_end().await.outcome, Outcome::Interrupted);
            let setup = life.close().await;
            all_end(&setup.mark, there, 2 * leftovers::SOON).await;
            ended_at.elapsed()
        });
    }
}

/// Working apps receive one of these signals, in turn.
fn apps_that_get(signals: &'static [Signal], soon: Duration) {
    let Some(program) = app() else { return };
    let n_played = AtomicUsize::new(0);
    rounds(async move |faults| {
        let mut app = App::start(program.clone(), demo_agent(), &[("DESKBELL_DEMO_FAULT", faults)]).await;
        app.prompt("CHILD 600\nWAIT").await;
        app.answer().await;
        // The app, its guard, the agent and its child.
        let there = processes_with(MARK, &app.mark);
        assert!(there.len() >= 4, "{there:#?}");
        let pid = app.child.id().and_then(|pid| Pid::from_raw(pid as i32)).unwrap();
        kill_process(pid, signals[n_played.fetch_add(1, Ordering::Relaxed) % signals.len()]).unwrap();
        let ended_at = Instant::now();
        timeout(DEADLINE, app.child.wait()).await.expect("it ends").unwrap();
        all_end(&app.mark, there, 2 * soon).await;
        ended_at.elapsed()
    });
}

#[test]
fn of_apps_that_are_asked_to_end() {
    apps_that_get(&[Signal::TERM], leftovers::SOON);
}

/// A panic that cannot be caught, such as one in a callback of the window system, ends the app by SIGABRT.
#[test]
fn of_apps_that_are_killed_or_abort() {
    apps_that_get(&[Signal::KILL, Signal::KILL, Signal::ABORT], app_killed::SOON);
}
