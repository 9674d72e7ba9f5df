//! What an agent offered in its last run is there before the next one.

#![cfg(target_os = "linux")]

use crate::life::{Life, Setup};
use deskbell_engine::api::*;
use deskbell_tests::window::{SHORT, eventually};

/// The agent's session after a turn, and another new session in the next run of the app: without a process.
async fn next_run(setup: Setup) -> (Session, Life) {
    let memory = setup.memory.clone();
    let mut first = setup.open().await;
    first.turn("SAY ready").await;
    let ran = first.snapshot().await.session;
    let mut setup = first.close().await;
    let file = setup.folder.path().join("store/offers.list");
    eventually("the offer is kept", SHORT, async || Ok(file.exists().then_some(()))).await.unwrap();
    setup.memory = memory;
    // Another session of the same store.
    setup.mark.push_str("-next");
    (ran, setup.open().await)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_models_efforts_and_commands_of_the_last_run_are_there_before_the_next() {
    let (ran, life) = next_run(Setup::demo()).await;
    assert!(ran.models.iter().any(|model| !model.effort_levels.is_empty()) && !ran.commands.is_empty());
    let next = life.snapshot().await.session;
    assert_eq!((next.alive, next.models, next.commands), (false, ran.models, ran.commands));
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn so_are_those_of_another_agent_which_takes_a_choice_before_it_runs() {
    let (_, mut life) = next_run(Setup::acp("qwen", "options").trusted()).await;
    let session = life.snapshot().await.session;
    let names: Vec<_> = session.models.iter().map(|model| model.name.as_str()).collect();
    assert_eq!((names, session.capabilities.models), (vec!["small", "large"], true));
    life.command(Command::SetModel { model: "small".to_owned() }).await.unwrap();
    assert!(!life.snapshot().await.session.alive);
    life.turn("MODEL").await;
    let said = life.answers().await;
    assert!(said.last().unwrap().starts_with("model small"), "{said:?}");
    life.close().await;
}
