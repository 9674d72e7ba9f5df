//! Models, efforts, modes and other settings of an agent that speaks ACP: what it reports, and changes of them.

#![cfg(target_os = "linux")]

use crate::life::{Life, Setup};
use deskbell_engine::api::*;

fn model(name: &str) -> Command {
    Command::SetModel { model: name.to_owned() }
}

fn effort(level: &str) -> Command {
    Command::SetEffort { effort: Some(level.to_owned()) }
}

fn option(id: &str, value: &str) -> Command {
    Command::SetAgentOption { id: id.to_owned(), value: value.to_owned() }
}

async fn ready(faults: &str) -> Life {
    let mut life = Setup::acp("qwen", faults).trusted().open().await;
    life.turn("SAY ready").await;
    life
}

fn value_of(session: &Session, id: &str) -> Option<String> {
    let options = &session.agent_options;
    options.iter().find(|option| option.id == id).map(|option| option.value.clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_agent_offers_can_be_changed_and_is_in_force_for_the_next_prompt() {
    let mut life = ready("options").await;
    let session = life.snapshot().await.session;
    let names: Vec<_> = session.models.iter().map(|model| model.name.as_str()).collect();
    assert_eq!((names, session.model.as_deref()), (vec!["small", "large"], Some("large")));
    assert_eq!(session.effort.as_deref(), Some("low"));
    assert!(session.capabilities.models && session.capabilities.effort);
    let ids: Vec<_> = session.agent_options.iter().map(|option| option.id.as_str()).collect();
    assert_eq!(ids, ["mode", "fast"], "not the one that turns off asking");

    life.command(effort("high")).await.unwrap();
    life.command(option("fast", "true")).await.unwrap();
    life.command(option("mode", "plan")).await.unwrap();
    // The prompt waits until the agent has confirmed them.
    life.turn("MODEL").await;
    assert_eq!(life.answers().await.last().unwrap(), "model large effort high");
    let session = life.snapshot().await.session;
    assert_eq!((session.effort.as_deref(), session.mode.as_str()), (Some("high"), "plan"));
    assert_eq!(value_of(&session, "fast").as_deref(), Some("true"));

    life.command(model("small")).await.unwrap();
    life.turn("MODEL").await;
    assert_eq!(life.answers().await.last().unwrap(), "model small effort high");
    let session = life.snapshot().await.session;
    assert_eq!((session.model.as_deref(), session.effort), (Some("small"), None), "it has no effort levels");
    assert!(!session.capabilities.effort);
    assert_eq!(life.notices().await, [""; 0]);
    life.close().await;
}

/// Waits until the model in force has effort levels, or has none.
async fn effort_levels(life: &mut Life, has: bool) {
    life.facts("the effort levels of the model", |session| session.capabilities.effort == has).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_process_has_the_model_and_the_effort_and_asks_again() {
    let mut life = ready("options").await;
    // Which efforts there are is known once the agent has confirmed the model.
    life.command(model("small")).await.unwrap();
    effort_levels(&mut life, false).await;
    life.command(model("large")).await.unwrap();
    effort_levels(&mut life, true).await;
    life.command(effort("high")).await.unwrap();
    life.command(option("mode", "plan")).await.unwrap();
    life.turn("SAY chosen").await;
    life.command(Command::Stop).await.unwrap();
    life.exit().await;
    let session = life.snapshot().await.session;
    assert_eq!(session.agent_options, [], "they are of a process");
    let refused = life.command(option("fast", "true")).await.unwrap_err();
    assert!(refused.message.starts_with("The agent is not running."), "{refused:?}");
    life.command(model("small")).await.unwrap();
    life.command(model("large")).await.unwrap();
    life.turn("MODEL").await;
    assert_eq!(life.answers().await.last().unwrap(), "model large effort high");
    assert_eq!(life.snapshot().await.session.mode, "default", "the mode that asks");
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn models_of_the_older_form_can_be_changed_too() {
    let mut life = ready("models").await;
    life.command(model("small")).await.unwrap();
    life.turn("MODEL").await;
    assert_eq!(life.answers().await.last().unwrap(), "model small effort low");
    let session = life.snapshot().await.session;
    assert_eq!((session.model.as_deref(), session.effort), (Some("small"), None));
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_the_agent_does_not_make_is_said_and_not_shown() {
    for fault in ["keeps-options", "no-options"] {
        let mut life = ready(&format!("options,{fault}")).await;
        life.command(model("small")).await.unwrap();
        let failure = life.failure().await;
        assert_eq!(failure.message, "The agent refused the model.", "{fault}");
        assert_eq!(life.snapshot().await.session.model.as_deref(), Some("large"), "{fault}");
        life.command(option("fast", "true")).await.unwrap();
        assert_eq!(life.failure().await.message, "The agent refused the setting.", "{fault}");
        assert_eq!(value_of(&life.snapshot().await.session, "fast").as_deref(), Some("false"), "{fault}");
        life.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mode_that_is_not_known_to_ask_is_refused() {
    let mut life = ready("options").await;
    for mode in ["yolo", "auto"] {
        life.command(option("mode", mode)).await.unwrap();
        let failure = life.failure().await;
        let detail = failure.detail.unwrap();
        assert_eq!(detail, "Deskbell does not know that Qwen Code asks in this mode.");
    }
    let refused = life.command(option("allow_all", "on")).await.unwrap_err();
    assert_eq!(refused.message, "The agent does not offer this setting.");
    assert_eq!(life.snapshot().await.session.mode, "default");
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_agent_changes_by_itself_is_shown() {
    let mut life = ready("options").await;
    life.turn("OPTION model small").await;
    assert_eq!(life.snapshot().await.session.model.as_deref(), Some("small"));
    life.turn("OPTION fast true").await;
    assert_eq!(value_of(&life.snapshot().await.session, "fast").as_deref(), Some("true"));
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_context_is_shown_if_the_agent_reports_it() {
    let mut life = ready("").await;
    let usage = life.snapshot().await.session.usage;
    assert_eq!((usage.context_tokens, usage.context_window), (0, None), "nothing is invented");
    life.turn("USED 1200 200000").await;
    let usage = life.snapshot().await.session.usage;
    assert_eq!((usage.context_tokens, usage.context_window), (1_200, Some(200_000)));
    life.close().await;
}
