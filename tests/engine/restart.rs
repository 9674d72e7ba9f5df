//! Restarts after a crash: the same conversation, and no endless loop.

use crate::life::{Life, Setup};
use deskbell_engine::api::*;
use deskbell_tests::real_cli::process;

async fn crash(life: &mut Life) {
    process::kill(life.snapshot().await.session.pid.unwrap()).unwrap();
    life.exit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_process_takes_up_the_same_conversation() {
    let mut life = Setup::demo().open().await;
    life.turn("SAY one").await;
    let before = life.snapshot().await.session;
    crash(&mut life).await;
    life.turn("RECALL").await;
    let after = life.snapshot().await.session;
    assert_ne!(after.pid, before.pid);
    assert_eq!(after.agent_session_id, before.agent_session_id);
    assert!(after.agent_session_id.is_some());
    life.turn("ARGS").await;
    let answers = life.answers().await;
    assert_eq!(answers[..2], ["one", "SAY one"]);
    let resume = format!("--resume={}", after.agent_session_id.unwrap());
    assert!(answers[2].contains(&resume), "{answers:?}");
    life.close().await;
}

/// The agent wrote nothing to its store before it was killed: its session id is unknown.
#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_was_never_kept_begins_afresh() {
    let mut life = Setup::faulty("late-store").open().await;
    life.prompt("PAUSE 300\nSAY hello").await;
    let prompt_id = life.turn_started().await.remove(0);
    life.facts("session id", |session| session.agent_session_id.is_some()).await;
    crash(&mut life).await;
    life.turn_end().await;
    life.command(Command::Resend { prompt_id }).await.unwrap();
    assert_eq!(life.turn_end().await.outcome, Outcome::Done);
    assert_eq!(life.answers().await, ["hello"]);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_three_crashes_it_is_left_at_that() {
    let mut life = Setup::faulty("exit-at-start:42").open().await;
    life.prompt("SAY hello").await;
    for attempt in 1..=2 {
        assert_eq!(life.exit().await.code, Some(42));
        let is_restarting = |session: &Session| matches!(session.status, Status::Restarting { attempt: now, .. } if now == attempt);
        let session = life.facts("restart", is_restarting).await;
        assert!(!session.queue[0].held);
    }
    assert_eq!(life.exit().await.code, Some(42));
    let session =
        life.facts("end of the restarts", |session| matches!(session.status, Status::Failed { .. }));
    let session = session.await;
    let Status::Failed { message } = &session.status else { unreachable!() };
    for part in ["exit code 42", "the demo agent was told to exit at its start", "3 times"] {
        assert!(message.contains(part), "{message}");
    }
    assert!(session.queue[0].held, "the prompt is kept, and waits for the user");
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_the_restarts() {
    let mut life = Setup::faulty("exit-at-start").open().await;
    life.prompt("SAY hello").await;
    life.facts("restart", |session| matches!(session.status, Status::Restarting { .. })).await;
    life.command(Command::Stop).await.unwrap();
    let session = life.facts("stopped session", |session| session.status == Status::Stopped).await;
    assert!(session.queue[0].held && !session.alive);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_agent_that_hibernates_comes_back_where_it_was() {
    let mut life = Setup::demo().timeouts(|timeouts| timeouts.hibernate_ms = 200).open().await;
    life.turn("SAY one").await;
    let report = life.exit().await;
    assert!(report.expected && report.code == Some(0), "{report:?}");
    let asleep = life.facts("sleep", |session| !session.alive).await;
    assert_eq!(asleep.status, Status::Completed, "its last turn is what is shown");
    life.turn("RECALL").await;
    assert_eq!(life.answers().await, ["one", "SAY one"]);
    life.close().await;
}
