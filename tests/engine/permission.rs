//! Permission requests: asked once, answered once; late answers are refused with an error.

use crate::life::{Life, Setup};
use crate::transcript::tool_states;
use deskbell_engine::api::*;
use serde_json::{Value, json};

const TOUCH: &str = r#"TOOL Bash {"command": "touch a.txt"}"#;

fn allow() -> Decision {
    Decision::AllowOnce { updated_input: None }
}

fn deny(interrupt: bool) -> Decision {
    Decision::Deny { message: "not now".into(), interrupt }
}

async fn decide(life: &Life, request: &PermissionRequest, decision: Decision) -> Result<(), CommandError> {
    let (request_id, shown) = (request.id.clone(), Some(request.shown.clone()));
    life.command(Command::Decide { request_id, shown, decision }).await
}

/// Waits for the end of the request, and returns its outcome.
async fn resolution(life: &mut Life, id: &RequestId) -> Resolution {
    let resolved = |event: &Event| match event {
        Event::PermissionResolved { request_id, resolution } if request_id == id => Some(resolution.clone()),
        _ => None,
    };
    life.next("end of the request", resolved).await
}

/// A later answer is refused, whatever its decision, and changes nothing.
async fn is_closed(life: &Life, request: &PermissionRequest) {
    for late in [allow(), deny(false)] {
        assert_eq!(decide(life, request, late).await.unwrap_err().code, ErrorCode::NoSuchRequest);
    }
    assert_eq!(life.snapshot().await.session.requests, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allowed_tool_runs() {
    let mut life = Setup::demo().open().await;
    life.prompt(&format!("{TOUCH}\nSAY done")).await;
    let request = life.request().await;
    let input: Value = serde_json::from_str(&request.input_text).unwrap();
    assert_eq!((&request.tool[..], input), ("Bash", json!({"command": "touch a.txt"})));
    let session = life.facts("question", |session| !session.requests.is_empty()).await;
    assert!(matches!(session.status, Status::NeedsInput { .. }), "{:?}", session.status);
    decide(&life, &request, allow()).await.unwrap();
    assert_eq!(resolution(&mut life, &request.id).await, Resolution::Allowed { always: None });
    assert_eq!(life.turn_end().await.outcome, Outcome::Done);
    is_closed(&life, &request).await;
    assert_eq!(tool_states(&life.items().await), [ToolState::Succeeded]);
    assert_eq!(life.answers().await, ["done"]);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_tool_does_not_run_and_the_turn_goes_on_or_ends_as_was_said() {
    for (interrupt, outcome, answers) in
        [(false, Outcome::Done, &["done"][..]), (true, Outcome::Interrupted, &[])]
    {
        let mut life = Setup::demo().open().await;
        life.prompt(&format!("{TOUCH}\nSAY done")).await;
        let request = life.request().await;
        decide(&life, &request, deny(interrupt)).await.unwrap();
        let message = "not now".to_owned();
        assert_eq!(resolution(&mut life, &request.id).await, Resolution::Denied { message });
        assert_eq!(life.turn_end().await.outcome, outcome);
        is_closed(&life, &request).await;
        assert_eq!(tool_states(&life.items().await), [ToolState::Denied]);
        assert_eq!(life.answers().await, answers);
        life.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_the_agent_takes_back_is_closed() {
    let mut life = Setup::demo().open().await;
    life.prompt("WITHDRAW 50\nSAY done").await;
    let request = life.request().await;
    let resolution = resolution(&mut life, &request.id).await;
    assert!(matches!(resolution, Resolution::Withdrawn { .. }), "{resolution:?}");
    is_closed(&life, &request).await;
    life.turn_end().await;
    assert_eq!(life.answers().await, ["done"]);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_takes_the_request_back() {
    let mut life = Setup::demo().open().await;
    life.prompt(TOUCH).await;
    let request = life.request().await;
    life.command(Command::Interrupt).await.unwrap();
    let resolution = resolution(&mut life, &request.id).await;
    assert!(matches!(resolution, Resolution::Withdrawn { .. }), "{resolution:?}");
    assert_eq!(life.turn_end().await.outcome, Outcome::Interrupted);
    is_closed(&life, &request).await;
    // It was not denied, and it did not run.
    assert_eq!(tool_states(&life.items().await), [ToolState::NotRun]);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_of_an_allowed_tool_is_no_failure_of_it() {
    let mut life = Setup::demo().open().await;
    life.prompt("RUN 60000 Bash {\"command\": \"touch a.txt\"}").await;
    let request = life.request().await;
    decide(&life, &request, allow()).await.unwrap();
    life.facts("running tool", |session| matches!(session.status, Status::Working { .. })).await;
    life.command(Command::Interrupt).await.unwrap();
    assert_eq!(life.turn_end().await.outcome, Outcome::Interrupted);
    // The agent may read the interrupt before it has begun the call.
    let states = tool_states(&life.items().await);
    assert!(matches!(states[..], [ToolState::Interrupted | ToolState::NotRun]), "{states:?}");
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_open_requests_are_answered_each_for_itself() {
    let mut life = Setup::demo().open().await;
    life.prompt("ASK_TWICE").await;
    let (first, second) = (life.request().await, life.request().await);
    decide(&life, &second, allow()).await.unwrap();
    assert_eq!(life.snapshot().await.session.requests, std::slice::from_ref(&first));
    decide(&life, &first, deny(false)).await.unwrap();
    life.turn_end().await;
    assert_eq!(tool_states(&life.items().await), [ToolState::Denied, ToolState::Succeeded]);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_denies_what_is_open() {
    let mut life = Setup::demo().open().await;
    life.prompt(TOUCH).await;
    let request = life.request().await;
    life.command(Command::Stop).await.unwrap();
    let resolution = resolution(&mut life, &request.id).await;
    assert!(matches!(resolution, Resolution::Denied { .. }), "{resolution:?}");
    life.exit().await;
    is_closed(&life, &request).await;
    life.close().await;
}

/// Of simultaneous answers exactly one counts.
#[tokio::test(flavor = "multi_thread")]
async fn only_the_first_of_many_answers_counts() {
    let mut life = Setup::demo().open().await;
    life.prompt(TOUCH).await;
    let request = life.request().await;
    let mut answers = tokio::task::JoinSet::new();
    for n in 0..16 {
        let (session, request_id) = (life.session().clone(), request.id.clone());
        let shown = Some(request.shown.clone());
        let decision = if n % 2 == 0 { allow() } else { deny(false) };
        answers.spawn(async move {
            let allowed = matches!(decision, Decision::AllowOnce { .. });
            session.command(Command::Decide { request_id, shown, decision }).await.map(|()| allowed)
        });
    }
    let answers = answers.join_all().await;
    let counted: Vec<bool> = answers.iter().flatten().copied().collect();
    assert_eq!(counted.len(), 1, "{answers:?}");
    life.turn_end().await;
    let expected = if counted[0] { ToolState::Succeeded } else { ToolState::Denied };
    assert_eq!(tool_states(&life.items().await), [expected]);
    life.close().await;
}
