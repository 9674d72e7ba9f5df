//! Delivery of a prompt given while the agent works, and its state after an interruption.

use crate::life::{Life, Setup};
use crate::transcript::answer;
use deskbell_engine::api::*;
use deskbell_tests::real_cli::process;

/// A running session, with a step during which a prompt can join the turn.
async fn at_work(setup: Setup, step: &str) -> Life {
    let mut life = setup.open().await;
    life.prompt(&format!("SAY on it\n{step}\nSAY rest")).await;
    life.answer().await;
    life
}

const TOOL: &str = r#"RUN 600 Read {"file_path": "a.txt"}"#;

fn texts(queue: &[QueuedPrompt]) -> Vec<&str> {
    queue.iter().map(|prompt| &prompt.text[..]).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_into_the_turn_is_part_of_it_behind_the_next_tool() {
    let mut life = at_work(Setup::demo(), TOOL).await;
    assert!(life.snapshot().await.session.takes_into_turn);
    life.prompt("SAY afterwards").await;
    life.give("SAY joined", Delivery::IntoTurn).await;
    assert_eq!(texts(&life.snapshot().await.session.queue), ["SAY afterwards"]);
    let turn = life.turn_end().await;
    assert_eq!((turn.outcome, turn.prompt_ids.len()), (Outcome::Done, 2));
    assert_eq!(life.turn_end().await.prompt_ids.len(), 1);
    assert_eq!(life.answers().await, ["on it", "rest", "joined", "afterwards"]);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_that_found_no_step_to_join_is_the_next_turn() {
    let mut life = at_work(Setup::demo(), "PAUSE 600").await;
    life.prompt("SAY afterwards").await;
    life.give("SAY late", Delivery::IntoTurn).await;
    let (first, second, third) = (life.turn_end().await, life.turn_end().await, life.turn_end().await);
    assert!([&first, &second, &third].iter().all(|turn| turn.prompt_ids.len() == 1));
    assert_eq!(life.answers().await, ["on it", "rest", "late", "afterwards"]);
    life.close().await;
}

/// 2.1.197 would take it up without reporting it.
#[tokio::test(flavor = "multi_thread")]
async fn an_old_agent_gets_it_after_the_turn() {
    let mut life = at_work(Setup::faulty("old"), TOOL).await;
    assert!(!life.snapshot().await.session.takes_into_turn);
    life.give("SAY next", Delivery::IntoTurn).await;
    assert_eq!(life.turn_end().await.prompt_ids.len(), 1);
    assert_eq!(life.turn_end().await.prompt_ids.len(), 1);
    assert_eq!(life.answers().await, ["on it", "rest", "next"]);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_that_goes_now_ends_the_turn_and_goes_before_the_others() {
    for faults in ["", "old"] {
        let mut life = at_work(Setup::faulty(faults), "WAIT").await;
        life.prompt("SAY afterwards").await;
        life.give("SAY urgent", Delivery::Now).await;
        assert_eq!(life.turn_end().await.outcome, Outcome::Interrupted);
        assert_eq!(life.turn_end().await.outcome, Outcome::Done);
        assert_eq!(life.turn_end().await.outcome, Outcome::Done);
        assert_eq!(life.answers().await, ["on it", "urgent", "afterwards"]);
        life.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_is_put_in_another_order_and_one_of_it_sent_at_once() {
    let mut life = at_work(Setup::demo(), "WAIT").await;
    for text in ["SAY one", "SAY two", "SAY three"] {
        life.prompt(text).await;
    }
    let queue = life.snapshot().await.session.queue;
    let [one, two, three] = [0, 1, 2].map(|at: usize| queue[at].id.clone());
    let before = Command::Move { prompt_id: three.clone(), before: Some(one.clone()) };
    life.command(before).await.unwrap();
    life.command(Command::Move { prompt_id: one.clone(), before: None }).await.unwrap();
    assert_eq!(texts(&life.snapshot().await.session.queue), ["SAY three", "SAY two", "SAY one"]);
    let gone = Command::Move { prompt_id: PromptId::new("gone"), before: None };
    assert_eq!(life.command(gone).await.unwrap_err().code, ErrorCode::NoSuchPrompt);

    life.command(Command::Deliver { prompt_id: two, delivery: Delivery::Now }).await.unwrap();
    assert_eq!(life.turn_end().await.outcome, Outcome::Interrupted);
    for _ in 0..3 {
        life.turn_end().await;
    }
    assert_eq!(life.answers().await, ["on it", "two", "three", "one"]);
    life.close().await;
}

/// Prompts that were written into the turn were lost with it: all are offered again, and the agent answers each.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_crash_cut_off_is_offered_again_and_heard_when_it_is_sent() {
    let mut life = at_work(Setup::demo(), TOOL).await;
    life.prompt("SAY afterwards").await;
    life.give("SAY joined", Delivery::IntoTurn).await;
    process::kill(life.snapshot().await.session.pid.unwrap()).unwrap();
    assert_eq!(life.turn_end().await.outcome, Outcome::Crashed);
    let session = life.facts("the end of the turn", |session| session.queue.len() == 3).await;
    let known: Vec<_> = session.queue.iter().map(|prompt| (prompt.held, prompt.cut_off)).collect();
    assert_eq!(known, [(true, true), (true, true), (false, false)]);
    life.turn_end().await;

    // The agent has the first of them on disk, and would not react to the same id again.
    for prompt in &session.queue[..2] {
        life.command(Command::Resend { prompt_id: prompt.id.clone() }).await.unwrap();
        assert_eq!(life.turn_end().await.prompt_ids, std::slice::from_ref(&prompt.id));
    }
    let answers = life.answers().await;
    assert_eq!(answers, ["on it", "afterwards", "on it", "rest", "joined"]);
    life.close().await;
}

/// The same when the app crashed too, repeatedly: each time the prompt has a new id.
#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_is_heard_however_often_it_was_cut_off() {
    let mut setup = Setup::demo();
    let prompt = "SAY on it\nPAUSE 300\nSAY hello";
    for n in 0..3 {
        let mut life = setup.open().await;
        if n == 0 {
            life.turn("SAY first").await;
            life.prompt(prompt).await;
        } else {
            let queue = life.snapshot().await.session.queue;
            assert_eq!((texts(&queue), queue[0].cut_off), (vec![prompt], true));
            life.command(Command::Resend { prompt_id: queue[0].id.clone() }).await.unwrap();
        }
        life.turn_started().await;
        let record = life.setup.record();
        // The agent reports a turn before it has written its prompt, and answers after that.
        life.answer().await;
        setup = life.close().await;
        setup.memory = serde_json::from_value(record["memory"].clone()).unwrap();
    }
    let mut life = setup.open().await;
    let prompt_id = life.snapshot().await.session.queue[0].id.clone();
    life.command(Command::Resend { prompt_id: prompt_id.clone() }).await.unwrap();
    let turn = life.turn_end().await;
    assert_eq!((turn.outcome, turn.prompt_ids), (Outcome::Done, vec![prompt_id]));
    let items = life.snapshot().await.items;
    assert_eq!(items.iter().filter_map(answer).next_back().as_deref(), Some("hello"));
    life.close().await;
}
