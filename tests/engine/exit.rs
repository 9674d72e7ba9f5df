//! Agents that exit unexpectedly.

use crate::life::{Life, Setup};
use crate::transcript::tool_states;
use deskbell_engine::api::*;
use deskbell_tests::real_cli::process;
use std::time::{Duration, Instant};

/// The prompt is offered again, the session reports what happened, and nothing is sent again automatically.
async fn is_held_after(life: &mut Life, how: &str) -> Session {
    let failed = |session: &Session| matches!(session.status, Status::Failed { .. }) && !session.alive;
    let session = life.facts("failed session", failed).await;
    let Status::Failed { message } = &session.status else { unreachable!() };
    assert!(message.contains(how), "{message}");
    assert_eq!(session.queue.iter().map(|prompt| prompt.held).collect::<Vec<_>>(), [true]);
    session
}

/// Runs a turn that ends with the agent's exit.
async fn ended_by(script: &str, how: &str) -> (ExitReport, Life) {
    let mut life = Setup::demo().open().await;
    life.prompt(script).await;
    let report = life.exit().await;
    assert!(!report.expected);
    let turn = life.turn_end().await;
    assert_eq!((turn.outcome, turn.prompt_ids.len()), (Outcome::Crashed, 1));
    is_held_after(&mut life, how).await;
    (report, life)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exit_in_a_turn_is_told_with_its_code_and_its_last_words() {
    let script = "STDERR first\nSTDERR no such model\nSAY so far\nCRASH 7";
    let (report, mut life) =
        ended_by(script, "The agent stopped unexpectedly (exit code 7): no such model").await;
    assert_eq!((report.code, report.signal, &report.stderr[..]), (Some(7), None, "first\nno such model"));
    assert_eq!(life.answers().await, ["so far"]);
    let notices = life.notices().await;
    assert!(notices[0].contains("first\nno such model"), "{notices:?}");
    let reports = life.items().await.into_iter().filter(|item| match &item.body {
        Body::Notice { level, .. } => *level == Level::Error,
        Body::TurnEnd(_) => true,
        _ => false,
    });
    assert_eq!(reports.count(), 1, "a crash is reported once");
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exit_without_an_error_is_a_crash_too_while_a_turn_runs() {
    let (report, life) = ended_by("SAY bye\nCRASH 0", "The agent stopped unexpectedly (exit code 0)").await;
    assert_eq!(report.code, Some(0));
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_end_by_a_signal_is_told_by_its_number() {
    for (name, number, how) in [("SEGV", 11, "crashed"), ("KILL", 9, "was killed"), ("ABRT", 6, "crashed")] {
        let (report, life) =
            ended_by(&format!("KILL {name}"), &format!("The agent {how} (signal {number})")).await;
        assert_eq!((report.code, report.signal), (None, Some(number)));
        life.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_ran_is_shown_as_cut_off() {
    let mut life = Setup::demo().open().await;
    life.prompt("RUN 60000 Read {\"file_path\": \"a.txt\"}").await;
    let running = |event: &Event| match event {
        Event::ItemAdded { item } | Event::ItemChanged { item } => match &item.body {
            Body::ToolCall(call) if call.state == ToolState::Running => Some(()),
            _ => None,
        },
        _ => None,
    };
    life.next("running tool", running).await;
    process::kill(life.snapshot().await.session.pid.unwrap()).unwrap();
    assert_eq!(life.exit().await.signal, Some(9));
    is_held_after(&mut life, "signal 9").await;
    assert_eq!(tool_states(&life.items().await), [ToolState::Interrupted]);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_of_an_agent_that_ended_is_withdrawn() {
    let mut life = Setup::demo().open().await;
    life.prompt("TOOL Bash {\"command\": \"touch a.txt\"}").await;
    let request = life.request().await;
    process::kill(life.snapshot().await.session.pid.unwrap()).unwrap();
    let resolved = |event: &Event| match event {
        Event::PermissionResolved { request_id, resolution } => {
            Some((request_id.clone(), resolution.clone()))
        }
        _ => None,
    };
    let (request_id, resolution) = life.next("end of the request", resolved).await;
    assert_eq!(request_id, request.id);
    assert!(matches!(resolution, Resolution::Withdrawn { .. }), "{resolution:?}");
    let session = is_held_after(&mut life, "signal 9").await;
    assert_eq!(session.requests, []);
    let decision = Decision::AllowOnce { updated_input: None };
    let late = life.command(Command::Decide { request_id, shown: Some(request.shown), decision }).await;
    assert_eq!(late.unwrap_err().code, ErrorCode::NoSuchRequest);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_exit_right_after_the_start_harms_nothing_but_itself() {
    let mut life = Setup::faulty("exit-after-init").open().await;
    life.session().start().await.unwrap();
    let report = life.exit().await;
    assert_eq!(report.code, Some(1));
    let failed = |session: &Session| matches!(session.status, Status::Failed { .. });
    life.facts("failed session", failed).await;
    life.close().await;
}

/// The agent closes its stdin and keeps running; it cannot be used any more.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_stops_listening_is_ended() {
    let script = "ready; hear; exec <&-; say deaf; sleep 600";
    let mut life = Setup::shell(script).short_ladder().open().await;
    life.session().start().await.unwrap();
    life.answer().await;
    life.prompt(&"p".repeat(1 << 20)).await;
    let report = life.exit().await;
    assert!(report.signal.is_some(), "{report:?}");
    let turn = life.turn_end().await;
    assert_eq!(turn.outcome, Outcome::Crashed);
    let notices = life.notices().await;
    assert!(notices.iter().any(|notice| notice.contains("closed its input")), "{notices:?}");
    assert!(life.snapshot().await.session.queue[0].held, "the prompt is kept");
    life.close().await;
}

/// A grandchild that keeps the output open delays the exit only for a limited time, and ends with the agent.
#[tokio::test(flavor = "multi_thread")]
async fn a_grandchild_that_holds_the_output_does_not_hide_the_exit() {
    let mut life = Setup::demo().open().await;
    life.prompt("CHILD 600\nCRASH 3").await;
    let grandchild: u32 = life.answer().await.parse().unwrap();
    assert!(process::is_running(grandchild));
    assert_eq!(life.exit().await.code, Some(3));
    ended_soon(grandchild).await;
    life.close().await;
}

/// It keeps both outputs open, and even writes to them.
#[tokio::test(flavor = "multi_thread")]
async fn a_grandchild_that_goes_on_writing_does_not_hide_the_exit() {
    let script = "ready; hear; setsid sh -c 'echo $$ > grandchild; exec yes The quick brown fox jumps over the lazy dog' &
        while ! [ -s grandchild ]; do sleep 0.02; done; kill -9 $$";
    let mut life = Setup::shell(script).open().await;
    life.session().start().await.unwrap();
    let pid = life.facts("process", |session| session.pid.is_some()).await.pid.unwrap();
    process::ended(pid, crate::life::DEADLINE).await.unwrap();
    let ended_at = Instant::now();
    assert_eq!(life.exit().await.signal, Some(9));
    // 2 s by its limit; the rest is for a busy machine.
    assert!(ended_at.elapsed() < Duration::from_secs(60), "{:?}", ended_at.elapsed());
    let grandchild = std::fs::read_to_string(life.path("grandchild")).unwrap();
    ended_soon(grandchild.trim().parse().unwrap()).await;
    life.close().await;
}

/// The same without output: both outputs stay open, and nothing arrives.
#[tokio::test(flavor = "multi_thread")]
async fn two_outputs_held_open_do_not_hide_the_exit_twice_as_long() {
    // 2 s by the limit of both, 4 s by one limit after the other. A busy machine delays some rounds.
    const ONCE: Duration = Duration::from_millis(3_500);
    const N_ROUNDS: usize = 5;
    let script = "ready; hear; setsid sleep 600 & say hello; hear; exit 4";
    let mut all = Vec::new();
    while all.iter().all(|took| *took >= ONCE) {
        assert!(all.len() < N_ROUNDS, "{all:?}");
        let mut life = Setup::shell(script).open().await;
        life.prompt("end").await;
        let pid = life.facts("process", |session| session.pid.is_some()).await.pid.unwrap();
        process::ended(pid, crate::life::DEADLINE).await.unwrap();
        let ended_at = Instant::now();
        assert_eq!(life.exit().await.code, Some(4));
        all.push(ended_at.elapsed());
        life.close().await;
    }
}

async fn ended_soon(pid: u32) {
    process::ended(pid, crate::life::DEADLINE).await.unwrap();
}
