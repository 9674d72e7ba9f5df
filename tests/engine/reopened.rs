//! A session after a restart of the app: the same rows as before, in their order, at their times.

use crate::life::{Life, Setup};
use crate::transcript;
use deskbell_engine::api::*;
use deskbell_engine::store::{Record, Store};
use deskbell_tests::real_cli::process;
use deskbell_tests::relay::text_of;
use std::path::Path;

fn records(setup: &Setup) -> Vec<Record> {
    Store::open(setup.folder.path().join("store")).unwrap().load().unwrap().records
}

/// The session as the next start of the app opens it.
async fn reopened(mut setup: Setup) -> Life {
    setup.memory = records(&setup).remove(0).memory;
    setup.open().await
}

/// The rows of the conversation, without notices and the states of prompts, which a restart changes.
fn rows(items: &[Item]) -> Vec<String> {
    let row = |item: &Item| match &item.body {
        Body::Prompt { text, .. } => Some(format!("prompt {text}")),
        Body::Text { .. } => Some(format!("text {}", transcript::answer(item).unwrap_or_default())),
        Body::Message { text, .. } => Some(format!("message {text}")),
        Body::Thinking { text, .. } => Some(format!("thought {text}")),
        Body::ToolCall(call) => Some(format!("call {} {}", call.verb, call.subject)),
        Body::TurnEnd(turn) => Some(format!("end {turn:?} at {}", item.at)),
        Body::Notice { .. } => None,
    };
    items.iter().filter_map(row).collect()
}

/// Whether the event contains these words of an answer.
fn brings(event: &Event, words: &str) -> bool {
    let event = serde_json::to_value(event).unwrap();
    let blocks = [&event["blocks"], &event["item"]["body"]["blocks"]];
    blocks.into_iter().any(|blocks| blocks.is_array() && text_of(blocks).contains(words))
}

async fn streams(life: &mut Life, words: &str) {
    life.next(words, |event| brings(event, words).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_row_is_there_after_a_restart() {
    let mut life = Setup::demo().open().await;
    life.turn("SAY one").await;
    life.prompt("SLOW 20 400 cut").await;
    streams(&mut life, "cut5").await;
    life.command(Command::Interrupt).await.unwrap();
    assert_eq!(life.turn_end().await.outcome, Outcome::Interrupted);
    life.turn("THINK well | two").await;
    // The agent loses its streaming text when its process is killed.
    life.prompt("SLOW 20 400 lost").await;
    streams(&mut life, "lost5").await;
    process::kill(life.snapshot().await.session.pid.unwrap()).unwrap();
    assert_eq!(life.turn_end().await.outcome, Outcome::Crashed);
    // More items than are remembered to find the end of a turn.
    life.turn(&["THINK so | far"; 5].join("\n")).await;
    life.turn("SAY three").await;
    life.prompt("SLOW 20 400 stopped").await;
    streams(&mut life, "stopped5").await;
    life.command(Command::Stop).await.unwrap();
    assert_eq!(life.turn_end().await.outcome, Outcome::Interrupted);
    let before = rows(&life.snapshot().await.items);
    for words in ["cut5", "lost5", "stopped5"] {
        assert!(before.iter().any(|row| row.starts_with("text") && row.contains(words)), "{before:#?}");
    }
    assert_eq!(before.iter().filter(|row| row.starts_with("end")).count(), 6, "a crash is a notice");

    let life = reopened(life.close().await).await;
    let after = rows(&life.snapshot().await.items);
    assert_eq!(after, before, "{after:#?}\n{before:#?}");
    // Once more: text that was read is not saved a second time.
    let life = reopened(life.close().await).await;
    assert_eq!(rows(&life.snapshot().await.items), before);
    life.close().await;
}

/// A prompt that is sent again has another id in the agent's transcript.
#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_turn_is_found_by_the_name_that_its_prompt_was_sent_under() {
    let mut life = Setup::faulty("late-store").open().await;
    life.prompt("PAUSE 300\nSAY hello").await;
    let prompt_id = life.turn_started().await.remove(0);
    life.facts("session id", |session| session.agent_session_id.is_some()).await;
    process::kill(life.snapshot().await.session.pid.unwrap()).unwrap();
    life.turn_end().await;
    life.command(Command::Resend { prompt_id }).await.unwrap();
    assert_eq!(life.turn_end().await.outcome, Outcome::Done);
    let life = reopened(life.close().await).await;
    let after = rows(&life.snapshot().await.items);
    assert!(after.last().is_some_and(|row| row.starts_with("end")), "{after:#?}");
    life.close().await;
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let place = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &place);
        } else {
            std::fs::copy(entry.path(), place).unwrap();
        }
    }
}

/// A copy of the disk at one moment is the state after the app was killed at that moment.
#[tokio::test(flavor = "multi_thread")]
async fn what_streamed_is_there_after_the_app_was_killed() {
    let mut life = Setup::demo().open().await;
    life.turn("SAY one").await;
    life.prompt("SLOW 20 2000 wave").await;
    streams(&mut life, "wave9").await;
    let folder = life.setup.folder.path().to_owned();
    let is_streaming = || {
        let kept = std::fs::read_dir(folder.join("store")).unwrap();
        kept.filter_map(|entry| std::fs::read_to_string(entry.unwrap().path()).ok())
            .any(|text| text.contains("wave1 ") && text.contains("wave9"))
    };
    life.next("a text that is kept while it streams", |_| is_streaming().then_some(())).await;
    for name in ["store", "config"] {
        copy(&folder.join(name), &folder.join("killed").join(name));
    }
    let setup = life.close().await;
    for name in ["store", "config"] {
        std::fs::remove_dir_all(folder.join(name)).unwrap();
        std::fs::rename(folder.join("killed").join(name), folder.join(name)).unwrap();
    }
    let life = reopened(setup).await;
    let snapshot = life.snapshot().await;
    let after = rows(&snapshot.items);
    assert!(after[2].starts_with("end") && after[3] == "prompt SLOW 20 2000 wave", "{after:#?}");
    assert!(after.len() == 5 && after[4].contains("wave1 ") && after[4].contains("wave9"), "{after:#?}");
    assert!(snapshot.session.queue[0].cut_off, "{:?}", snapshot.session.queue);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_as_old_as_what_its_user_and_its_agent_did_last() {
    let mut life = Setup::demo().open().await;
    let began = life.snapshot().await.session.changed_at;
    life.command(Command::Start).await.unwrap();
    life.facts("agent", |session| session.alive && session.status == Status::Idle).await;
    life.command(Command::Rename { title: "Mine".into() }).await.unwrap();
    assert_eq!(life.snapshot().await.session.changed_at, began, "nothing was said");
    life.prompt("SAY one").await;
    let prompted = life.snapshot().await.session.changed_at;
    assert!(prompted > began);
    life.turn_end().await;
    let ended = life.snapshot().await.session.changed_at;
    assert!(ended >= prompted);
    let setup = life.close().await;
    assert_eq!(records(&setup)[0].changed_at, ended, "the end of its process is no news");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_session_has_no_process_until_it_is_wanted() {
    let mut life = Setup::demo().open().await;
    let session = life.snapshot().await.session;
    assert!(session.is_empty && !session.alive && session.status == Status::Idle, "{session:?}");
    life.command(Command::Start).await.unwrap();
    let session = life.facts("agent", |session| session.alive && session.status == Status::Idle).await;
    assert!(session.is_empty, "an agent is no prompt");
    life.prompt("SAY one").await;
    assert!(!life.snapshot().await.session.is_empty);
    life.turn_end().await;
    assert!(!life.snapshot().await.session.is_empty);
    life.close().await;
}
