//! The stop stages: end of input, SIGTERM, SIGKILL. An agent ends soon, whatever it ignores.

use crate::life::{Life, Setup};
use deskbell_engine::api::*;
use deskbell_tests::real_cli::process;
use rustix::process::{Pid, Signal, kill_process};
use std::time::{Duration, Instant};

/// The exit of an agent that is stopped while idle or working: its exit code or its signal.
async fn stopped(faults: &str, works: bool) -> (Option<i32>, Option<i32>) {
    let mut life = Setup::faulty(faults).short_ladder().open().await;
    if works {
        life.prompt("SAY on it\nWAIT").await;
        life.answer().await;
    } else {
        life.turn("SAY hello").await;
    }
    life.command(Command::Stop).await.unwrap();
    let report = life.exit().await;
    assert!(report.expected);
    let session = life.facts("stopped session", |session| session.status == Status::Stopped).await;
    assert!(!session.alive && session.pid.is_none());
    life.close().await;
    (report.code, report.signal)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_rung_ends_what_the_one_before_did_not() {
    assert_eq!(stopped("", false).await, (Some(0), None));
    assert_eq!(stopped("ignore-eof", false).await, (None, Some(15)));
    assert_eq!(stopped("ignore-eof,ignore-sigterm", false).await, (None, Some(9)));
    assert_eq!(stopped("", true).await, (None, Some(15)));
    assert_eq!(stopped("ignore-eof,ignore-sigterm", true).await, (None, Some(9)));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_does_not_even_run_is_ended() {
    let mut life = Setup::demo().short_ladder().open().await;
    life.turn("SAY hello").await;
    let pid = life.snapshot().await.session.pid.unwrap();
    kill_process(Pid::from_raw(pid as i32).unwrap(), Signal::STOP).unwrap();
    life.command(Command::Stop).await.unwrap();
    assert_eq!(life.exit().await.signal, Some(9));
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_is_interrupted_and_the_agent_stays() {
    let mut life = Setup::demo().open().await;
    life.prompt("SAY on it\nWAIT").await;
    life.answer().await;
    let pid = life.snapshot().await.session.pid;
    life.command(Command::Interrupt).await.unwrap();
    assert_eq!(life.turn_end().await.outcome, Outcome::Interrupted);
    life.turn("SAY still here").await;
    assert_eq!(life.snapshot().await.session.pid, pid);
    life.close().await;
}

/// Interrupts a turn that ignores the interrupt.
async fn ignores_the_interrupt(faults: &str, script: &str) {
    let mut life = Setup::faulty(faults).short_ladder().open().await;
    life.prompt(script).await;
    life.answer().await;
    let pid = life.snapshot().await.session.pid;
    life.command(Command::Interrupt).await.unwrap();
    let report = life.exit().await;
    assert!(report.signal.is_some(), "{report:?}");
    assert_eq!(life.turn_end().await.outcome, Outcome::Interrupted);
    let notices = life.notices().await;
    assert!(notices.iter().any(|notice| notice.contains("ignored the interrupt")), "{notices:?}");
    // The user ended that turn: its prompts are not offered again, and the next prompt gets a new agent.
    assert_eq!(life.snapshot().await.session.queue, []);
    life.turn("SAY back").await;
    assert_ne!(life.snapshot().await.session.pid, pid);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_ignores_an_interrupt_is_replaced() {
    ignores_the_interrupt("", "IGNORE_INTERRUPT\nSAY on it\nWAIT").await;
    ignores_the_interrupt("", "IGNORE_INTERRUPT silently\nSAY on it\nWAIT").await;
    ignores_the_interrupt("ignore-eof,ignore-sigterm", "IGNORE_INTERRUPT silently\nSAY on it\nWAIT").await;
}

/// A prompt fills its stdin, so that not even the end of input gets through.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_reads_nothing_is_ended() {
    let mut life = Setup::shell("ready; hear; sleep 600").short_ladder().open().await;
    life.prompt(&"p".repeat(4 << 20)).await;
    life.turn_started().await;
    life.command(Command::Stop).await.unwrap();
    assert_eq!(life.exit().await.signal, Some(15));
    assert!(life.snapshot().await.session.queue[0].held);
    life.close().await;
}

/// The stop stages with their default timeouts, on an agent that ignores all of them.
#[tokio::test(flavor = "multi_thread")]
async fn closing_is_bounded() {
    let mut life = Setup::faulty("ignore-eof,ignore-sigterm").open().await;
    life.turn("SAY hello").await;
    let pid = life.snapshot().await.session.pid.unwrap();
    let began_at = Instant::now();
    life.close().await;
    assert!(!process::is_running(pid));
    // 3.5 s by its timeouts; the rest is for a busy machine.
    assert!(began_at.elapsed() < Duration::from_secs(60), "{:?}", began_at.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn stopping_while_the_agent_starts_ends_it() {
    let mut life = Setup::faulty("never-initialize").short_ladder().open().await;
    life.prompt("SAY hello").await;
    life.facts("starting agent", |session| session.pid.is_some()).await;
    life.command(Command::Stop).await.unwrap();
    assert!(life.exit().await.expected);
    let session = life.facts("stopped session", |session| session.status == Status::Stopped).await;
    assert!(session.queue[0].held, "the prompt is kept, and waits for the user");
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_was_stopped_can_be_prompted_again() {
    let mut life = Setup::demo().open().await;
    life.turn("SAY one").await;
    life.command(Command::Stop).await.unwrap();
    life.exit().await;
    life.turn("RECALL").await;
    assert_eq!(life.answers().await, ["one", "SAY one"]);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn finishing_works_off_the_queue_first() {
    let mut life: Life = Setup::demo().open().await;
    for word in ["one", "two", "three"] {
        life.prompt(&format!("PAUSE 50\nSAY {word}")).await;
    }
    // A request that can no longer be answered is denied.
    life.prompt("TOOL Bash {\"command\": \"touch x\"}\nSAY four").await;
    tokio::time::timeout(crate::life::DEADLINE, life.session().finish()).await.unwrap().unwrap();
    assert_eq!(life.answers().await, ["one", "two", "three", "four"]);
    assert_eq!(crate::transcript::tool_states(&life.items().await), [ToolState::Denied]);
    assert!(!life.snapshot().await.session.alive);
    life.close().await;
}
