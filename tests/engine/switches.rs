//! Settings that change while the agent lives, and agents that refuse the change.

use crate::life::Setup;
use deskbell_engine::api::*;

fn effort(level: &str) -> Command {
    Command::SetEffort { effort: Some(level.to_owned()) }
}

#[tokio::test(flavor = "multi_thread")]
async fn mode_model_effort_and_thinking_are_switched_without_a_new_process() {
    let mut life = Setup::demo().open().await;
    life.turn("PID").await;
    assert_eq!(life.snapshot().await.session.effort.as_deref(), Some("medium"));
    life.command(effort("high")).await.unwrap();
    life.command(Command::SetMode { mode: PermissionMode::Plan }).await.unwrap();
    life.command(Command::SetModel { model: "haiku".to_owned() }).await.unwrap();
    life.facts("model", |session| session.model.as_deref() == Some("claude-haiku-5-5")).await;
    life.command(Command::SetThinking { on: false }).await.unwrap();
    let switched = |session: &Session| {
        session.effort.as_deref() == Some("high") && session.mode == "plan" && !session.thinking
    };
    life.facts("switches", switched).await;
    life.turn("PID").await;
    let answers = life.answers().await;
    assert_eq!(answers[0], answers[1], "a switch cost a new process");
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_agent_will_not_do_is_said_and_goes_back() {
    let mut life = Setup::faulty("stubborn").open().await;
    life.turn("SAY hello").await;
    let before = life.snapshot().await.session;
    assert_eq!(before.effort.as_deref(), Some("medium"));
    for command in [
        effort("high"),
        Command::SetMode { mode: PermissionMode::Plan },
        Command::SetModel { model: "haiku".to_owned() },
    ] {
        life.command(command).await.unwrap();
        let error = life.failure().await;
        assert_eq!(error.code, ErrorCode::Refused, "{error:?}");
        let after = life.snapshot().await.session;
        assert_eq!((&after.effort, &after.mode, &after.model), (&before.effort, &before.mode, &before.model));
    }
    life.close().await;
}
