//! Prompts are sent once, in order and whole; after a crash an interrupted prompt is offered again and never sent
//! automatically.

use crate::life::{Life, Setup};
use deskbell_engine::api::*;
use serde_json::{Value, json};

/// The texts of the prompts in the transcript, with their states.
async fn prompts(life: &mut Life) -> Vec<(String, PromptState)> {
    let items = life.items().await;
    let prompts = items.into_iter().filter_map(|item| match item.body {
        Body::Prompt { text, state, .. } => Some((text, state)),
        _ => None,
    });
    prompts.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn five_prompts_given_at_once_are_five_turns_in_order() {
    let mut life = Setup::demo().open().await;
    let texts: Vec<String> = (1..=5).map(|n| format!("PAUSE 30\nSAY answer {n}")).collect();
    for text in &texts {
        life.prompt(text).await;
    }
    let mut turns = Vec::new();
    for _ in &texts {
        turns.push(life.turn_end().await);
    }
    assert!(turns.iter().all(|turn| turn.outcome == Outcome::Done && turn.prompt_ids.len() == 1));
    assert_eq!(life.answers().await, ["answer 1", "answer 2", "answer 3", "answer 4", "answer 5"]);
    let done = texts.into_iter().map(|text| (text, PromptState::Done)).collect::<Vec<_>>();
    assert_eq!(prompts(&mut life).await, done);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_prompts_alike_stay_two() {
    let mut life = Setup::demo().open().await;
    life.prompt("SAY yes").await;
    life.prompt("SAY yes").await;
    let first = life.turn_end().await;
    let second = life.turn_end().await;
    assert_ne!(first.prompt_ids, second.prompt_ids);
    assert_eq!(life.answers().await, ["yes", "yes"]);
    life.turn("RECALL").await;
    assert_eq!(life.answers().await[2], "SAY yes\nSAY yes", "the agent heard both");
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queued_prompt_can_be_changed_and_taken_back_until_it_is_sent() {
    let mut life = Setup::demo().open().await;
    life.prompt("SAY on it\nWAIT").await;
    let running = life.turn_started().await.remove(0);
    for text in ["SAY one", "SAY two", "SAY three"] {
        life.prompt(text).await;
    }
    let queue = life.snapshot().await.session.queue;
    let [one, two, _] = &queue[..] else { panic!("{queue:?}") };
    let edit = Command::EditQueued { prompt_id: one.id.clone(), text: "SAY uno".into() };
    life.command(edit).await.unwrap();
    life.command(Command::Withdraw { prompt_id: two.id.clone() }).await.unwrap();
    let empty = Command::EditQueued { prompt_id: one.id.clone(), text: "  ".into() };
    assert_eq!(life.command(empty).await.unwrap_err().code, ErrorCode::BadCommand);
    for prompt_id in [running, two.id.clone()] {
        let gone = life.command(Command::Withdraw { prompt_id: prompt_id.clone() }).await;
        assert_eq!(gone.unwrap_err().code, ErrorCode::NoSuchPrompt);
        let gone = life.command(Command::EditQueued { prompt_id, text: "SAY late".into() }).await;
        assert_eq!(gone.unwrap_err().code, ErrorCode::NoSuchPrompt);
    }
    life.command(Command::InterruptAndContinue).await.unwrap();
    assert_eq!(life.turn_end().await.outcome, Outcome::Interrupted);
    life.turn_end().await;
    life.turn_end().await;
    assert_eq!(life.answers().await, ["on it", "uno", "three"]);
    life.turn("RECALL").await;
    let heard = life.answers().await.pop().unwrap();
    assert!(heard.ends_with("SAY uno\nSAY three"), "{heard}");
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_holds_everything_that_waits_until_it_is_continued() {
    let mut life = Setup::demo().open().await;
    life.prompt("SAY on it\nWAIT").await;
    life.turn_started().await;
    life.prompt("SAY one").await;
    life.prompt("SAY two").await;
    // Written into the turn, which does not take it up: the agent would begin it as soon as the turn ends.
    life.facts("a turn that takes prompts", |session| session.takes_into_turn).await;
    let into_turn = Delivery::IntoTurn;
    let joining = Command::Prompt { text: "SAY zero".into(), attachments: Vec::new(), delivery: into_turn };
    life.command(joining).await.unwrap();
    life.command(Command::Interrupt).await.unwrap();
    assert_eq!(life.turn_end().await.outcome, Outcome::Interrupted);
    let session = life.snapshot().await.session;
    let queue: Vec<_> = session.queue.iter().map(|prompt| (prompt.text.as_str(), prompt.held)).collect();
    assert_eq!(queue, [("SAY zero", true), ("SAY one", true), ("SAY two", true)]);
    assert_eq!(session.turn_started_at, None, "nothing runs");
    life.turn("SAY something else").await;
    life.command(Command::ContinueQueue).await.unwrap();
    for _ in 0..3 {
        life.turn_end().await;
    }
    let answers = life.answers().await;
    assert_eq!(answers, ["on it", "something else", "zero", "one", "two"]);
    life.close().await;
}

/// Every byte of text and image reaches the agent, under the id in the turn's events.
#[tokio::test(flavor = "multi_thread")]
async fn images_and_any_text_arrive_as_they_were_given() {
    let script = r#"ready; hear; hear; printf '%s' "$heard" > prompt; result; until_end_of_input"#;
    let mut life = Setup::shell(script).open().await;
    let text = "Zeile\r\n\u{2028}\t\"\\ \u{1f600} /clear @file -p --resume=x \u{0}end";
    let image = Attachment {
        media_type: "image/png".into(),
        data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ".to_owned() + &"AAAA".repeat(6_000),
        ..Attachment::default()
    };
    let paper = Attachment {
        name: "Paper \u{1f600}.pdf".into(),
        media_type: "application/pdf".into(),
        data: "JVBERi0xLjcK".into(),
    };
    let notes = Attachment { name: "notes".into(), media_type: "text/plain".into(), data: "a\r\n".into() };
    life.command(Command::Prompt {
        text: text.into(),
        attachments: vec![image.clone(), paper.clone(), notes],
        delivery: Delivery::AfterTurn,
    })
    .await
    .unwrap();
    let turn = life.turn_end().await;
    let line: Value = serde_json::from_slice(&std::fs::read(life.path("prompt")).unwrap()).unwrap();
    let source = json!({"type": "base64", "media_type": image.media_type, "data": image.data});
    assert_eq!(
        line["message"],
        json!({"role": "user", "content": [
            {"type": "image", "source": source},
            {"type": "document", "title": paper.name,
             "source": {"type": "base64", "media_type": "application/pdf", "data": paper.data}},
            {"type": "document", "title": "notes",
             "source": {"type": "text", "media_type": "text/plain", "data": "a\r\n"}},
            {"type": "text", "text": text},
        ]})
    );
    assert_eq!(line["uuid"], turn.prompt_ids[0].as_str());
    let items = life.items().await;
    assert!(items.iter().any(|item| matches!(&item.body, Body::Prompt { n_images: 1, n_documents: 2, .. })));
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_without_words_is_refused() {
    let life = Setup::demo().open().await;
    for text in ["", " \n\t"] {
        let empty =
            Command::Prompt { text: text.into(), attachments: Vec::new(), delivery: Delivery::AfterTurn };
        assert_eq!(life.command(empty).await.unwrap_err().code, ErrorCode::BadCommand);
    }
    assert!(!life.snapshot().await.session.alive);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_that_a_crash_cut_off_is_held_and_the_rest_goes_on() {
    let mut life = Setup::demo().open().await;
    // The first process is interrupted; the second finds the file and ends successfully.
    life.prompt("PAUSE 300\nSAY first").await;
    let first = life.turn_started().await.remove(0);
    life.prompt("SAY second").await;
    life.prompt("SAY third").await;
    deskbell_tests::real_cli::process::kill(life.snapshot().await.session.pid.unwrap()).unwrap();

    let cut_off = life.turn_end().await;
    assert_eq!((cut_off.outcome, &cut_off.prompt_ids[..]), (Outcome::Crashed, &[first.clone()][..]));
    let is_restarting = |session: &Session| matches!(session.status, Status::Restarting { attempt: 1, .. });
    let session = life.facts("restart", is_restarting).await;
    assert_eq!(session.queue.iter().map(|prompt| prompt.held).collect::<Vec<_>>(), [true, false, false]);
    life.turn_end().await;
    life.turn_end().await;
    assert_eq!(life.answers().await, ["second", "third"]);
    let queue = life.snapshot().await.session.queue;
    assert_eq!(queue.iter().map(|prompt| &prompt.id).collect::<Vec<_>>(), [&first]);

    life.command(Command::Resend { prompt_id: first.clone() }).await.unwrap();
    assert_eq!(life.turn_end().await.prompt_ids, [first]);
    assert_eq!(life.answers().await, ["second", "third", "first"]);
    assert_eq!(life.snapshot().await.session.queue, []);
    life.close().await;
}

/// An accepted prompt is on disk, and a later session offers it.
#[tokio::test(flavor = "multi_thread")]
async fn accepted_prompts_outlive_the_app() {
    let mut life = Setup::demo().open().await;
    life.prompt("SAY on it\nWAIT").await;
    life.answer().await;
    life.prompt("SAY next").await;
    let record = life.setup.record();
    let texts: Vec<&str> = record["memory"]["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|prompt| prompt["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["SAY on it\nWAIT", "SAY next"]);

    let mut setup = life.close().await;
    setup.memory = serde_json::from_value(record["memory"].clone()).unwrap();
    let life = setup.open().await;
    let queue = life.snapshot().await.session.queue;
    assert_eq!(queue.iter().map(|prompt| &prompt.text[..]).collect::<Vec<_>>(), texts);
    assert!(queue.iter().all(|prompt| prompt.held), "nothing goes before the user says so");
    let cut_off: Vec<bool> = queue.iter().map(|prompt| prompt.cut_off).collect();
    assert_eq!(cut_off, [true, false], "the agent's own transcript tells which it got");
    life.close().await;
}

/// A full disk: the prompt is refused, not half accepted.
#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_that_cannot_be_kept_is_refused() {
    let mut life = Setup::demo().open().await;
    life.turn("SAY one").await;
    let store = life.setup.folder.path().join("store");
    let elsewhere = life.setup.folder.path().join("elsewhere");
    std::fs::rename(&store, &elsewhere).unwrap();
    let prompt =
        Command::Prompt { text: "SAY lost".into(), attachments: Vec::new(), delivery: Delivery::AfterTurn };
    assert_eq!(life.command(prompt).await.unwrap_err().code, ErrorCode::Internal);
    std::fs::rename(&elsewhere, &store).unwrap();
    life.turn("SAY two").await;
    assert_eq!(life.answers().await, ["one", "two"]);
    life.close().await;
}
