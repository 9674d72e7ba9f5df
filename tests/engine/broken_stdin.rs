//! Agents with a broken stdin, at each write from the first on.

use crate::life::{Life, Setup};
use deskbell_engine::api::*;
use serde_json::json;

/// Closes its stdin and reports it: every later write fails.
const BROKEN_STDIN_GRACE: &str = "exec <&-; say deaf; sleep 600";

/// An agent that does this, and then reads nothing more.
fn deaf(script: &str) -> Setup {
    Setup::shell(&format!("{script}; {BROKEN_STDIN_GRACE}"))
        .short_ladder()
        .timeouts(|timeouts| timeouts.initialize_ms = 500)
}

/// The agent is ended, and prompts without a visible answer are kept for the user.
async fn is_ended(mut life: Life, n_held: usize) {
    let report = life.exit().await;
    assert!(report.signal.is_some(), "{report:?}");
    let is_failed = |session: &Session| matches!(session.status, Status::Failed { .. }) && !session.alive;
    let session = life.facts("failed session", is_failed).await;
    assert_eq!(session.queue.iter().map(|prompt| prompt.held).collect::<Vec<_>>(), vec![true; n_held]);
    assert_eq!(session.requests, []);
    let notices = life.notices().await;
    let said =
        notices.iter().any(|notice| notice.contains("closed its input") || notice.contains("did not answer"));
    assert!(said, "{notices:?}");
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn at_the_first_line() {
    let life = deaf(":").open().await;
    life.prompt("hello").await;
    is_ended(life, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn at_a_prompt() {
    for earlier in 0..2 {
        let mut life =
            deaf(&format!("ready; hear{}", "; hear; say one; result".repeat(earlier))).open().await;
        for _ in 0..earlier {
            life.turn("earlier").await;
        }
        life.session().start().await.unwrap();
        while life.answer().await != "deaf" {}
        life.prompt("hello").await;
        is_ended(life, 1).await;
    }
}

/// A write fails while its turn runs: the turn is interrupted.
#[tokio::test(flavor = "multi_thread")]
async fn at_an_interrupt() {
    // The broken pipe is noticed before the interrupt counts as ignored.
    let setup = deaf("ready; hear; hear").timeouts(|timeouts| timeouts.interrupt_ms = 20_000);
    let mut life = setup.open().await;
    life.prompt("hello").await;
    while life.answer().await != "deaf" {}
    life.command(Command::Interrupt).await.unwrap();
    is_ended(life, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn at_an_answer() {
    let request = json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "touch a"},
                         "tool_use_id": "t"});
    let asked = json!({"type": "control_request", "request_id": "r", "request": request}).to_string() + "\n";
    let mut life = deaf("ready; hear; hear; cat asked").file("asked", asked.as_bytes()).open().await;
    life.prompt("hello").await;
    let request = life.request().await;
    while life.answer().await != "deaf" {}
    let decision = Decision::AllowOnce { updated_input: None };
    let decide = Command::Decide { request_id: request.id, shown: Some(request.shown), decision };
    life.command(decide).await.unwrap();
    is_ended(life, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn at_a_switch() {
    let mut life = deaf("ready; hear").open().await;
    life.session().start().await.unwrap();
    while life.answer().await != "deaf" {}
    life.command(Command::SetMode { mode: PermissionMode::Plan }).await.unwrap();
    is_ended(life, 0).await;
}
