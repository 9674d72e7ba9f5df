//! A session with an agent that speaks ACP after a restart of the app: the same conversation, without a process.

#![cfg(target_os = "linux")]

use crate::life::{Life, Setup};
use crate::transcript::{answer, notice, tool_states};
use deskbell_engine::api::*;
use deskbell_engine::store::{Record, Store};
use std::path::PathBuf;

fn agent(faults: &str) -> Setup {
    Setup::acp("qwen", faults).trusted()
}

fn record(setup: &Setup) -> Record {
    Store::open(setup.folder.path().join("store")).unwrap().load().unwrap().records.remove(0)
}

/// The session as the next start of the app opens it.
async fn reopened(mut setup: Setup) -> Life {
    setup.memory = record(&setup).memory;
    setup.open().await
}

fn conversation(setup: &Setup) -> PathBuf {
    setup.folder.path().join("store").join(format!("{}.conversation.jsonl", setup.mark))
}

/// The items with their times, without ids and the states of prompts, which a restart changes. A text that was cut off
/// gets the time of its end.
async fn shown(life: &Life) -> Vec<(u64, Body)> {
    let mut items: Vec<(u64, Body)> = Vec::new();
    for item in life.snapshot().await.items {
        let mut body = item.body;
        match (&mut body, items.last_mut()) {
            (Body::Prompt { state, .. }, _) => *state = PromptState::Done,
            (Body::Notice { text, .. }, Some((at, Body::Text { .. }))) if text.contains("is incomplete") => {
                *at = 0
            }
            _ => {}
        }
        items.push((item.at, body));
    }
    items
}

/// The answers of the agent, also those that no event of this start of the app brought.
async fn answers(life: &Life) -> Vec<String> {
    life.snapshot().await.items.iter().filter_map(answer).collect()
}

async fn notices(life: &Life) -> String {
    life.snapshot().await.items.iter().filter_map(notice).collect::<Vec<_>>().join("\n")
}

/// Answers the next request.
async fn decide(life: &mut Life, decision: Decision) {
    let request = life.request().await;
    let shown = Some(request.shown.clone());
    life.command(Command::Decide { request_id: request.id, shown, decision }).await.unwrap();
}

fn allow() -> Decision {
    Decision::AllowOnce { updated_input: None }
}

fn deny() -> Decision {
    Decision::Deny { message: "no".to_owned(), interrupt: false }
}

/// Ends the process and starts another one, as a restart of the app does.
async fn stop(life: &mut Life) {
    life.command(Command::Stop).await.unwrap();
    life.exit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_row_is_there_after_a_restart_and_no_agent_was_started() {
    let mut life = agent("").open().await;
    life.prompt("THINK first\nSAY *one* `two`\nRUN ls -l\nEDIT src/new.rs\nEDIT src/sum.rs\nPLAN\nSAY three")
        .await;
    decide(&mut life, allow()).await;
    decide(&mut life, allow()).await;
    decide(&mut life, deny()).await;
    life.turn_end().await;
    life.prompt("RUN rm a\nSAY never").await;
    life.request().await;
    life.command(Command::Interrupt).await.unwrap();
    assert_eq!(life.turn_end().await.outcome, Outcome::Interrupted);
    life.prompt("GARBAGE not json\nQUESTION").await;
    decide(&mut life, deny()).await;
    life.turn_end().await;
    life.prompt("FAIL the service is down").await;
    life.turn_end().await;
    life.prompt("SAY before the crash\nCRASH 3").await;
    assert_eq!(life.turn_end().await.outcome, Outcome::Crashed);
    life.turn("SAY after").await;
    let before = shown(&life).await;
    assert!(before.len() > 15, "{before:#?}");

    let life = reopened(life.close().await).await;
    let snapshot = life.snapshot().await;
    assert!(!snapshot.session.alive && snapshot.session.requests.is_empty());
    let states = tool_states(&snapshot.items);
    assert_eq!(states[..3], [ToolState::Succeeded, ToolState::Succeeded, ToolState::Denied]);
    assert_eq!(states[4], ToolState::NotRun, "it waited for an answer when its turn was interrupted");
    assert_eq!(shown(&life).await, before);
    assert!(!snapshot.files.is_empty(), "its changed files are known");
    // Once more: what was read is not saved a second time.
    let life = reopened(life.close().await).await;
    assert_eq!(shown(&life).await, before);
    life.close().await;
}

/// The agent of the next process uses the same ids again.
#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_goes_on_below_its_earlier_messages() {
    for fault in ["", "load", "flood"] {
        let mut life = agent(fault).open().await;
        life.prompt("RUN one\nSAY first").await;
        decide(&mut life, allow()).await;
        life.turn_end().await;
        let before = shown(&life).await;
        let mut life = reopened(life.close().await).await;
        assert_eq!(shown(&life).await, before, "{fault}");
        life.prompt("RUN two\nSAY second").await;
        let request = life.request().await;
        assert_eq!(request.subject, "two", "{fault}: nothing of the conversation before asks again");
        let shown_id = Some(request.shown.clone());
        let decision = Command::Decide { request_id: request.id, shown: shown_id, decision: allow() };
        life.command(decision).await.unwrap();
        assert_eq!(life.turn_end().await.outcome, Outcome::Done, "{fault}");
        let after = shown(&life).await;
        assert_eq!(after[..before.len()], before, "{fault}");
        assert_eq!(answers(&life).await, ["first", "second"], "{fault}");
        let snapshot = life.snapshot().await;
        assert_eq!(tool_states(&snapshot.items), [ToolState::Succeeded; 2], "{fault}");
        let text = serde_json::to_string(&after).unwrap();
        assert!(!text.contains("repeated") && !text.contains("of another"), "{fault}: {text}");
        let life = reopened(life.close().await).await;
        assert_eq!(shown(&life).await, after, "{fault}");
        life.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_that_the_agent_cannot_continue_is_shown_and_the_prompt_waits() {
    for fault in ["no-resume", "lost", "load,lost"] {
        let mut life = agent(fault).open().await;
        life.turn("SAY one").await;
        let mut life = reopened(life.close().await).await;
        life.prompt("SAY two").await;
        life.facts("held prompt", |session| session.queue.iter().any(|one| one.held)).await;
        life.exit().await;
        let notices = notices(&life).await;
        assert!(notices.contains("does not know the messages above"), "{fault}: {notices}");
        assert_eq!(answers(&life).await, ["one"], "{fault}");
        // The user sends it: a new conversation of the agent, in the same session.
        let prompt_id = life.snapshot().await.session.queue[0].id.clone();
        life.command(Command::Resend { prompt_id }).await.unwrap();
        assert_eq!(life.turn_end().await.outcome, Outcome::Done, "{fault}");
        let life = reopened(life.close().await).await;
        assert_eq!(answers(&life).await, ["one", "two"], "{fault}");
        life.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_that_is_sent_again_is_where_it_was() {
    let mut life = agent("").open().await;
    life.turn("SAY one").await;
    life.prompt("SAY half\nHANG").await;
    let prompt_id = life.turn_started().await.remove(0);
    let is_half = |event: &Event| match event {
        Event::ItemAdded { item } => matches!(item.body, Body::Text { .. }).then_some(()),
        _ => None,
    };
    life.next("text", is_half).await;
    stop(&mut life).await;
    life.command(Command::Resend { prompt_id }).await.unwrap();
    life.next("text", is_half).await;
    life.command(Command::Interrupt).await.unwrap();
    life.turn_end().await;
    let before = shown(&life).await;
    let life = reopened(life.close().await).await;
    assert_eq!(shown(&life).await, before);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_file_is_shown_as_far_as_it_can_be_read_and_goes_on() {
    let mut life = agent("").open().await;
    life.turn("SAY one").await;
    let setup = life.close().await;
    let path = conversation(&setup);
    let mut text = std::fs::read(&path).unwrap();
    text.extend_from_slice(b"{\"at\":1,\"entry\":{\"type\":\"rep");
    std::fs::write(&path, text).unwrap();
    let mut life = reopened(setup).await;
    let notices = notices(&life).await;
    assert!(notices.contains("A part of this conversation could not be read"), "{notices}");
    life.turn("SAY two").await;
    let life = reopened(life.close().await).await;
    assert_eq!(answers(&life).await, ["one", "two"]);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_without_a_file_says_that_its_messages_cannot_be_shown() {
    let mut life = agent("").open().await;
    life.turn("SAY one").await;
    let setup = life.close().await;
    std::fs::remove_file(conversation(&setup)).unwrap();
    let mut life = reopened(setup).await;
    let awaited = notices(&life).await;
    assert!(awaited.contains("Earlier messages are shown when Qwen Code has started"), "{awaited}");
    assert!(!life.snapshot().await.session.alive);
    // It continues, and the next restart shows it from here.
    life.turn("SAY two").await;
    let missing = notices(&life).await;
    assert!(missing.contains("Earlier messages of this conversation cannot be shown"), "{missing}");
    let life = reopened(life.close().await).await;
    assert_eq!(answers(&life).await, ["two"]);
    life.close().await;
}

/// A disk that takes no line: the user is told once, and the lines are written when it does again.
#[tokio::test(flavor = "multi_thread")]
async fn lines_wait_for_a_disk_that_takes_none() {
    let life = agent("").open().await;
    let path = conversation(&life.setup);
    std::fs::create_dir(&path).unwrap();
    let setup = life.close().await;
    let mut life = setup.open().await;
    life.prompt("SAY one").await;
    let failure = life.failure().await;
    assert!(failure.message.starts_with("The conversation could not be saved"), "{failure:?}");
    life.turn_end().await;
    std::fs::remove_dir(&path).unwrap();
    life.turn("SAY two").await;
    let life = reopened(life.close().await).await;
    assert_eq!(answers(&life).await, ["one", "two"]);
    life.close().await;
}

/// Images of calls are asked for when they are shown, checked then, and are there after a restart; exports have them.
#[tokio::test(flavor = "multi_thread")]
async fn an_image_that_a_call_returned_is_shown_and_exported_then_and_later() {
    const PNG: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    async fn images(life: &Life) -> Vec<(u32, Vec<Attachment>)> {
        let mut found = Vec::new();
        for item in life.snapshot().await.items {
            if let Body::ToolCall(call) = item.body {
                found.push((
                    call.n_images,
                    life.session().query(ImagesQuery { item_id: item.id }).await.unwrap().unwrap(),
                ));
            }
        }
        found
    }
    let mut life = Setup::acp("qwen", "").trusted().open().await;
    life.turn(&format!("IMAGE {PNG}\nIMAGE PHNjcmlwdD4=\nPLAN")).await;
    let png =
        Attachment { media_type: "image/png".to_owned(), data: PNG.to_owned(), ..Attachment::default() };
    let expected = [(1, vec![png]), (1, Vec::new()), (0, Vec::new())];
    assert_eq!(images(&life).await, expected, "what is no image is not shown as one");
    let life = reopened(life.close().await).await;
    assert_eq!(images(&life).await, expected);
    let page = life.session().query(ExportQuery { format: ExportFormat::Html }).await.unwrap();
    assert_eq!(page.matches(&format!("data:image/png;base64,{PNG}")).count(), 1);
    assert!(page.contains("Image (image/png, 70 bytes)") && page.contains("A picture"), "{page}");
    assert_eq!(
        life.session().query(ImagesQuery { item_id: ItemId::new("no such call") }).await.unwrap(),
        None
    );
    life.close().await;
}
