//! Queued prompts, and the end of input after them.

use anyhow::{Context, Result, ensure};
use deskbell_engine::api::{Command, Decision, Delivery, Outcome, PromptId};
use deskbell_tests::real_cli::{World, process};
use deskbell_tests::relay::{DEADLINE, Relay, outcome};
use serde_json::Value;

const FIRST: &str = "GATE first\nSAY one";

/// A relay with a first prompt in flight, which waits for its gate, and these in the queue.
async fn with_queue(world: &World, waiting: &[&str]) -> Result<Relay> {
    let mut relay = Relay::spawn(world, &[])?;
    for prompt in std::iter::once(&FIRST).chain(waiting) {
        relay.prompt(prompt).await?;
    }
    let is_queued = |event: &Value| {
        let queue = event["session"]["queue"].as_array().map(Vec::as_slice).unwrap_or_default();
        queue.iter().map(|prompt| &prompt["text"]).eq(waiting)
    };
    relay.next_event("the prompts in the queue", DEADLINE, is_queued).await?;
    world.api.wait_for_prompt(FIRST, DEADLINE).await?;
    Ok(relay)
}

/// The prompts sent to the model, in order.
fn sent(world: &World) -> Vec<String> {
    world.api.messages().iter().filter_map(|request| request.prompt()).collect()
}

pub async fn five_prompts_go_in_order_one_at_a_time() -> Result<()> {
    let world = World::new().await?;
    let waiting = ["SAY two", "SAY three", "SAY four", "SAY five"];
    let mut relay = with_queue(&world, &waiting).await?;
    ensure!(sent(&world) == [FIRST], "{:?}", sent(&world));
    world.api.open("first");
    for _ in 0..=waiting.len() {
        let turn = relay.turn_end().await?;
        ensure!(
            turn["promptIds"].as_array().is_some_and(|ids| ids.len() == 1),
            "prompts were merged: {turn}"
        );
    }
    let all: Vec<&str> = std::iter::once(FIRST).chain(waiting).collect();
    ensure!(sent(&world) == all, "{:?}", sent(&world));
    ensure!(relay.answers() == ["one", "two", "three", "four", "five"], "{:?}", relay.answers());
    relay.close().await
}

pub async fn a_queued_prompt_is_edited_or_withdrawn() -> Result<()> {
    let world = World::new().await?;
    let mut relay = with_queue(&world, &["SAY two", "SAY three"]).await?;
    let queue = relay.session()?["queue"].clone();
    let id = |idx: usize| -> Result<PromptId> {
        Ok(PromptId::new(queue[idx]["id"].as_str().context("a queued prompt has an id")?))
    };
    relay.send(&Command::Withdraw { prompt_id: id(0)? }).await?;
    relay.send(&Command::EditQueued { prompt_id: id(1)?, text: "SAY edited".to_owned() }).await?;
    let is_edited = |event: &Value| {
        event["session"]["queue"].as_array().is_some_and(|queue| queue.len() == 1)
            && event["session"]["queue"][0]["text"] == "SAY edited"
    };
    relay.next_event("the queue edited", DEADLINE, is_edited).await?;
    world.api.open("first");
    for _ in 0..2 {
        relay.turn_end().await?;
    }
    ensure!(sent(&world) == [FIRST, "SAY edited"], "{:?}", sent(&world));
    relay.close().await
}

pub async fn the_end_of_input_finishes_the_queue() -> Result<()> {
    let world = World::new().await?;
    let mut relay = with_queue(&world, &["SAY two", "SAY three"]).await?;
    let agent = u32::try_from(relay.session()?["pid"].as_u64().context("no process")?)?;
    relay.close_input();
    world.api.open("first");
    let finished = relay.ended().await?;
    ensure!(finished.status.code() == Some(0), "{:?}: {}", finished.status, finished.stderr);
    let turns = finished.events.iter().filter(|event| event["type"] == "turnEnded");
    let outcomes = turns.map(|event| outcome(&event["turn"])).collect::<Result<Vec<_>>>()?;
    ensure!(outcomes == vec![Outcome::Done; 3], "{outcomes:?}");
    ensure!(!process::is_running(agent), "the agent is still running");
    Ok(())
}

fn given(text: &str, delivery: Delivery) -> Command {
    Command::Prompt { text: text.to_owned(), attachments: Vec::new(), delivery }
}

pub async fn a_prompt_that_goes_now_ends_the_turn() -> Result<()> {
    let world = World::new().await?;
    let mut relay = with_queue(&world, &["SAY two", "SAY three"]).await?;
    relay.send(&given("SAY urgent", Delivery::Now)).await?;
    let turn = relay.turn_end().await?;
    ensure!(outcome(&turn)? == Outcome::Interrupted, "{turn}");
    for _ in 0..3 {
        relay.turn_end().await?;
    }
    ensure!(relay.answers() == ["urgent", "two", "three"], "{:?}", relay.answers());
    relay.close().await
}

/// The agent takes it up after its next tool and reports that. 2.1.197 would not report it, so there the prompt waits.
pub async fn a_prompt_goes_into_the_turn() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.prompt("BASH touch a.txt\nBASH touch b.txt\nSAY rest").await?;
    let first = relay.request().await?;
    let joins = relay.session()?["takesIntoTurn"] == true;
    ensure!(joins != relay.is_old_cli()?, "a prompt can join the turn: {joins}");
    relay.send(&given("SAY joined", Delivery::IntoTurn)).await?;
    let is_sent = |event: &Value| {
        let body = &event["item"]["body"];
        body["type"] == "prompt" && body["text"] == "SAY joined" && body["state"] == "sent"
    };
    if joins {
        relay.next_event("the second prompt on its way", DEADLINE, is_sent).await?;
    }
    relay.decide(&first, Decision::AllowOnce { updated_input: None }).await?;
    let second = relay.request().await?;
    relay.decide(&second, Decision::AllowOnce { updated_input: None }).await?;
    let turn = relay.turn_end().await?;
    let n_prompts = turn["promptIds"].as_array().context("a turn has prompts")?.len();
    if joins {
        ensure!(n_prompts == 2, "{turn}");
        let joined = world.api.messages().iter().flat_map(|request| request.joined()).collect::<Vec<_>>();
        ensure!(joined.iter().any(|text| text == "SAY joined"), "{joined:?}");
        ensure!(relay.answers() == ["rest"], "{:?}", relay.answers());
    } else {
        ensure!(n_prompts == 1, "{turn}");
        relay.turn_end().await?;
        ensure!(relay.answers() == ["rest", "joined"], "{:?}", relay.answers());
    }
    relay.close().await
}

/// No step follows that it could join: it is the next turn, at once, and before queued prompts.
pub async fn a_prompt_into_a_turn_without_a_tool_is_the_next_turn() -> Result<()> {
    let world = World::new().await?;
    let mut relay = with_queue(&world, &["SAY two", "SAY three"]).await?;
    relay.send(&given("SAY joined", Delivery::IntoTurn)).await?;
    world.api.open("first");
    for _ in 0..4 {
        let turn = relay.turn_end().await?;
        ensure!(turn["promptIds"].as_array().is_some_and(|ids| ids.len() == 1), "{turn}");
    }
    let expected = match relay.is_old_cli()? {
        true => ["one", "two", "three", "joined"],
        false => ["one", "joined", "two", "three"],
    };
    ensure!(relay.answers() == expected, "{:?}", relay.answers());
    relay.close().await
}

/// All waiting prompts are held: those in the queue, and those written into the turn and not taken up.
pub async fn an_interrupt_holds_the_queue_until_it_is_continued() -> Result<()> {
    let world = World::new().await?;
    let mut relay = with_queue(&world, &["SAY two", "SAY three"]).await?;
    relay.send(&given("SAY joined", Delivery::IntoTurn)).await?;
    let is_given = |session: &Value| session["queue"].as_array().is_some_and(|queue| queue.len() == 3);
    let is_old = relay.is_old_cli()?;
    if is_old {
        relay.session_where("three prompts that wait", is_given).await?;
    }
    relay.send(&Command::Interrupt).await?;
    let turn = relay.turn_end().await?;
    ensure!(outcome(&turn)? == Outcome::Interrupted, "{turn}");
    // If the agent did not give the joined prompt back, its turn begins and is interrupted as well.
    let is_over = |session: &Value| is_given(session) && session["turnStartedAt"].is_null();
    let session = relay.session_where("three prompts that wait, and no turn", is_over).await?;
    let queue = session["queue"].as_array().context("a queue")?;
    ensure!(queue.iter().all(|prompt| prompt["held"] == true && prompt["cutOff"] == false), "{session}");
    ensure!(session["turnStartedAt"].is_null() && session["alive"] == true, "{session}");
    // The agent keeps none of them either: otherwise they would run with this one.
    relay.turn("SAY something else").await?;
    ensure!(relay.session()?["queue"].as_array().is_some_and(|queue| queue.len() == 3));
    relay.send(&Command::ContinueQueue).await?;
    for _ in 0..3 {
        let turn = relay.turn_end().await?;
        ensure!(turn["promptIds"].as_array().is_some_and(|ids| ids.len() == 1), "{turn}");
    }
    let expected = match is_old {
        true => ["something else", "two", "three", "joined"],
        false => ["something else", "joined", "two", "three"],
    };
    ensure!(relay.answers() == expected, "{:?}", relay.answers());
    relay.close().await
}

pub async fn identical_prompts_stay_two() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    for _ in 0..2 {
        relay.prompt("SAY the same").await?;
    }
    for _ in 0..2 {
        relay.turn_end().await?;
    }
    ensure!(relay.answers() == ["the same", "the same"], "{:?}", relay.answers());
    let prompts = relay.items().iter().filter(|item| item["body"]["type"] == "prompt").count();
    ensure!(prompts == 2, "{prompts} prompts in the transcript");
    relay.close().await
}
