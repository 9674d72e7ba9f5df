//! Reports of an agent outside of any reply: errors and lost writes.

use crate::life::Setup;
use deskbell_engine::api::*;
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn an_error_line_ends_its_turn_as_failed() {
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let script = "ready; hear; hear; cat error; hear; say well; result; until_end_of_input";
    let mut life = Setup::shell(script).file("error", format!("{error}\n").as_bytes()).open().await;
    life.prompt("one").await;
    life.prompt("two").await;
    let turn = life.turn_end().await;
    assert_eq!((turn.outcome, turn.words.as_str()), (Outcome::Failed, "Overloaded"));
    let turn = life.turn_end().await;
    assert_eq!(turn.outcome, Outcome::Done, "the next prompt goes: {turn:?}");
    let states = life.items().await.into_iter().filter_map(|item| match item.body {
        Body::Prompt { state, .. } => Some(state),
        _ => None,
    });
    assert_eq!(states.collect::<Vec<_>>(), [PromptState::Failed, PromptState::Done]);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_without_a_turn_is_shown() {
    let error = json!({"type": "error", "message": "the key was revoked"});
    let script = "ready; cat error; hear; until_end_of_input";
    let mut life = Setup::shell(script).file("error", format!("{error}\n").as_bytes()).open().await;
    life.session().start().await.unwrap();
    let is_shown = |event: &Event| match event {
        Event::ItemAdded { item: Item { body: Body::Notice { level: Level::Error, detail, .. }, .. } } => {
            detail.clone()
        }
        _ => None,
    };
    assert_eq!(life.next("the error", is_shown).await, "the key was revoked");
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_that_were_lost_are_shown_with_what_they_mean() {
    let lost = json!({"type": "system", "subtype": "session_writes_lost", "error_code": "ENOSPC",
                      "lost": ["transcript"], "transcript_session_ids": ["s"]});
    let script = "ready; hear; hear; say one; result; cat lost; until_end_of_input";
    let mut life = Setup::shell(script).file("lost", format!("{lost}\n").as_bytes()).open().await;
    life.turn("speak").await;
    let shown = |event: &Event| match event {
        Event::ItemAdded { item: Item { body: Body::Notice { level: Level::Error, text, .. }, .. } } => {
            Some(text.clone())
        }
        _ => None,
    };
    let text = life.next("the notice", shown).await;
    for words in ["the disk is full", "part of it may be missing", "Free up space"] {
        assert!(text.contains(words), "{text}");
    }
    life.close().await;
}

/// The transcript removes the texts from a message before the machine receives it.
#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_was_not_streamed_has_a_time_to_first_text() {
    let mut life = Setup::shell("ready; hear; hear; say whole; result; until_end_of_input").open().await;
    let turn = life.turn("speak").await;
    assert!(turn.timing.first_text_ms.is_some(), "{:?}", turn.timing);
    assert_eq!(life.answers().await, ["whole"]);
    life.close().await;
}
