//! Turns under the engine: one process for all of them, their text, their end.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use deskbell_engine::api::{Command, Outcome};
use deskbell_tests::real_cli::World;
use deskbell_tests::relay::{DEADLINE, Relay, outcome, text_of};
use serde_json::Value;

pub async fn one_process_serves_every_turn() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    let began = relay.turn("SAY one").await?;
    let first = relay.session()?;
    let went_on = relay.turn("SAY two").await?;
    let second = relay.session()?;
    for turn in [&began, &went_on] {
        let told = |of: &str| turn["timing"][of].as_u64().with_context(|| format!("no {of}: {turn}"));
        let (line, text) = (told("firstLineMs")?, told("firstTextMs")?);
        ensure!(line <= text && text <= turn["durationMs"].as_u64().unwrap_or(0), "{turn}");
    }
    // Only the first turn waited for the process.
    ensure!(
        began["timing"]["spawnMs"].is_u64() && went_on["timing"]["spawnMs"].is_null(),
        "{began} {went_on}"
    );
    ensure!(first["pid"].is_u64() && first["pid"] == second["pid"], "{} and {}", first["pid"], second["pid"]);
    ensure!(first["agentSessionId"].is_string() && first["agentSessionId"] == second["agentSessionId"]);
    ensure!(relay.answers() == ["one", "two"], "{:?}", relay.answers());
    relay.close().await
}

/// The agent's models and commands are not sent again.
pub async fn a_turn_with_a_call_sends_what_changed() -> Result<()> {
    const MOST: usize = 12_000;
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY hello").await?;
    let n_before = relay.lengths().len();
    relay.turn_allowing_all(&format!("WRITE {} hello\nSAY done", world.file("a.txt").display())).await?;
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for (kind, length) in relay.lengths().split_off(n_before) {
        *kinds.entry(kind).or_default() += length;
    }
    let n_bytes: usize = kinds.values().sum();
    println!("{n_bytes} bytes: {kinds:?}");
    ensure!(n_bytes <= MOST, "{n_bytes} bytes of events for a turn with one call: {kinds:?}");
    relay.close().await
}

pub async fn a_later_turn_is_sent_with_the_earlier_ones() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY one").await?;
    relay.turn("plain words").await?;
    relay.turn("RECALL").await?;
    ensure!(relay.answers().last().is_some_and(|answer| answer == "SAY one / plain words"));
    relay.close().await
}

pub async fn a_stream_arrives_whole() -> Result<()> {
    const N: usize = 3_000;
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn(&format!("STREAM {N} 0 w")).await?;
    let expected: Vec<String> = (1..=N).map(|number| format!("w{number}")).collect();
    let answer = relay.answers().pop().context("no answer")?;
    ensure!(answer.split_whitespace().eq(&expected), "{} of {N} words", answer.split_whitespace().count());
    relay.close().await
}

pub async fn thinking_and_answer_are_items_of_their_own() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("THINK let me see | the answer").await?;
    let items = relay.items();
    let kinds: Vec<&Value> = items.iter().map(|item| &item["body"]["type"]).collect();
    ensure!(kinds == ["prompt", "thinking", "text", "turnEnd"], "{kinds:?}");
    ensure!(items[1]["body"]["text"] == "let me see", "{}", items[1]);
    relay.close().await
}

pub async fn an_interrupt_in_mid_text_keeps_text_and_process() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.prompt("HANG the first half of it").await?;
    // The first text can be in the same event as the item's beginning.
    let shows_text = |event: &Value| {
        let blocks = [&event["blocks"], &event["item"]["body"]["blocks"]];
        blocks.into_iter().any(|blocks| blocks.is_array() && text_of(blocks).contains("first half"))
    };
    relay.next_event("the first half of the text", DEADLINE, shows_text).await?;
    let pid = relay.session()?["pid"].clone();
    relay.send(&Command::Interrupt).await?;
    let turn = relay.turn_end().await?;
    ensure!(outcome(&turn)? == Outcome::Interrupted, "{turn}");
    relay.turn("SAY still here").await?;
    ensure!(relay.session()?["pid"] == pid, "another process answered after the interrupt");
    let answers = relay.answers();
    ensure!(
        answers.len() == 2 && answers[0].contains("the first half") && answers[1] == "still here",
        "{answers:?}"
    );
    relay.close().await
}

pub async fn an_interrupt_right_behind_the_prompt_counts() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY hello").await?;
    for _ in 0..3 {
        relay.prompt("HANG the first").await?;
        relay.send(&Command::Interrupt).await?;
        let turn = relay.turn_end().await?;
        ensure!(outcome(&turn)? == Outcome::Interrupted, "{turn}");
    }
    relay.turn("SAY still here").await?;
    relay.close().await
}

/// A stop before a turn has begun applies to the prompt that would begin it: its turn ends, or it never starts.
pub async fn an_interrupt_counts_while_the_process_comes_up() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.prompt("HANG the first").await?;
    relay.send(&Command::Interrupt).await?;
    relay.prompt("SAY the second").await?;
    let answers = |event: &Value| text_of(&event["item"]["body"]["blocks"]) == "the second";
    relay.next_event("the answer to the second prompt", DEADLINE, answers).await?;
    relay.close().await
}

#[cfg(target_os = "linux")]
pub async fn an_interrupt_in_a_tool_ends_the_tool() -> Result<()> {
    use deskbell_engine::api::Decision;
    use deskbell_tests::real_cli::process::ended;

    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.prompt(&format!("BASH {}\nSAY not reached", world.long_command())).await?;
    let asked = relay.request().await?;
    relay.decide(&asked, Decision::AllowOnce { updated_input: None }).await?;
    let tool = world.long_command_pid(DEADLINE).await?;
    relay.send(&Command::Interrupt).await?;
    let turn = relay.turn_end().await?;
    ensure!(outcome(&turn)? == Outcome::Interrupted, "{turn}");
    ended(tool, DEADLINE).await?;
    relay.turn("SAY still here").await?;
    relay.close().await
}

pub async fn a_failure_of_the_api_ends_the_turn_by_its_name() -> Result<()> {
    // 2.1.197 retries after a 529 whatever the header says.
    let world = World::new().await?.with_env("CLAUDE_CODE_MAX_RETRIES", "1");
    let mut relay = Relay::spawn(&world, &[])?;
    let cases = [
        ("FAIL 429 no-retry", Outcome::RateLimited),
        ("FAIL 529 no-retry", Outcome::ApiError { status: Some(529) }),
        ("FAIL 500 no-retry", Outcome::ApiError { status: Some(500) }),
        ("FAIL 400", Outcome::ApiError { status: Some(400) }),
    ];
    for (prompt, expected) in cases {
        relay.prompt(prompt).await?;
        let turn = relay.turn_end().await?;
        ensure!(outcome(&turn)? == expected, "{prompt}: {turn}");
    }
    relay.turn("SAY well again").await?;
    relay.close().await
}

pub async fn a_stream_that_broke_off_is_shown_once() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("TIMES 1 DROP all of it, and more that is lost\nSAY all of it").await?;
    ensure!(relay.answers() == ["all of it"], "{:?}", relay.answers());
    relay.turn("STREAMERR overloaded_error the whole text").await?;
    ensure!(relay.answers() == ["all of it", "the whole text"], "{:?}", relay.answers());
    relay.close().await
}
