//! Slash commands that change the conversation itself.

use anyhow::{Context, Result, ensure};
use deskbell_engine::api::{Command, Outcome};
use deskbell_tests::real_cli::World;
use deskbell_tests::relay::{Relay, outcome};

pub async fn compacting_is_told_and_the_conversation_goes_on() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY the word is banana").await?;
    // For 2.1.197 one turn is not enough to compact.
    relay.turn("SAY more").await?;
    let before = relay.session()?;
    relay.turn("/compact").await?;
    let notices = relay.notices();
    let is_compaction = |notice: &&String| notice.starts_with("info: The conversation was compacted: ");
    let n_compactions = notices.iter().filter(is_compaction).count();
    ensure!(n_compactions == 1 && notices.len() == 1, "{notices:?}");
    let items = relay.items();
    let notice = items.iter().find(|item| item["body"]["type"] == "notice").context("a notice")?;
    let summary = notice["body"]["detail"].as_str().unwrap_or_default();
    ensure!(summary.contains("continued from a previous conversation"), "{notice}");
    // The summary is the agent's own text, not the user's and not an answer.
    ensure!(relay.answers() == ["the word is banana", "more"], "{:?}", relay.answers());
    relay.turn("SAY after it").await?;
    let after = relay.session()?;
    ensure!(after["agentSessionId"] == before["agentSessionId"], "another conversation: {after}");
    ensure!(after["pid"] == before["pid"], "another process: {after}");
    relay.close().await
}

/// The window of 100,000 tokens is the smallest that the CLI accepts; it compacts at a share of it.
pub async fn a_full_context_is_compacted_by_itself() -> Result<()> {
    let world = World::new().await?;
    let world = world.with_env("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "100000");
    let world = world.with_env("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "5");
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY the word is banana").await?;
    ensure!(relay.notices().is_empty(), "too early: {:?}", relay.notices());
    relay.turn("BIG 40000").await?;
    relay.turn("SAY after it").await?;
    let notices = relay.notices();
    let is_automatic =
        |notice: &String| notice.starts_with("info: The conversation was compacted automatically: from ");
    ensure!(notices.len() == 1 && notices.iter().all(is_automatic), "{notices:?}");
    let shown: Vec<String> = relay.events().iter().map(ToString::to_string).collect();
    ensure!(shown.iter().any(|event| event.contains("Compacting")), "it was not shown while it ran");
    let items = relay.items();
    let notice = items.iter().find(|item| item["body"]["type"] == "notice").context("a notice")?;
    let summary = notice["body"]["detail"].as_str().unwrap_or_default();
    ensure!(summary.contains("continued from a previous conversation"), "{notice}");
    relay.close().await
}

pub async fn the_agent_says_what_fills_its_context() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY hello").await?;
    ensure!(relay.session()?["capabilities"]["context"] == true);
    relay.send(&Command::ReadContext).await?;
    let session =
        relay.session_where("the context", |session| session["context"]["report"].is_object()).await?;
    let report = &session["context"]["report"];
    let categories = report["categories"].as_array().context("no categories")?;
    let kinds: Vec<_> = categories.iter().filter_map(|category| category["kind"].as_str()).collect();
    ensure!(kinds.contains(&"used") && kinds.contains(&"free"), "{report}");
    ensure!(report["windowTokens"].as_u64() > report["totalTokens"].as_u64(), "{report}");
    relay.close().await
}

pub async fn clearing_begins_another_conversation_in_the_same_process() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY the word is banana").await?;
    let before = relay.session()?;
    relay.turn("/clear").await?;
    let expected = ["info: The conversation was cleared. The agent no longer knows the messages above"];
    ensure!(relay.notices() == expected, "{:?}", relay.notices());
    ensure!(relay.answers() == ["the word is banana"], "{:?}", relay.answers());
    relay.turn("RECALL").await?;
    let answer = relay.answers().pop().context("no answer")?;
    ensure!(!answer.contains("banana"), "it still knows: {answer}");
    let after = relay.session()?;
    ensure!(after["agentSessionId"] != before["agentSessionId"], "the same conversation: {after}");
    ensure!(after["pid"] == before["pid"], "another process: {after}");

    // After a restart the conversation that began with `/clear` is resumed.
    relay.turn("SAY the new word is cherry").await?;
    let id = after["agentSessionId"].as_str().context("no id")?.to_owned();
    ensure!(relay.finish().await?.status.success());
    let mut relay = Relay::spawn(&world, &[&format!("--resume={id}")])?;
    relay.turn("RECALL").await?;
    let answer = relay.answers().pop().context("no answer")?;
    ensure!(answer.contains("cherry") && !answer.contains("banana"), "{answer}");
    relay.close().await
}

/// The command is answered without the model: the answer is the agent's own text.
pub async fn a_command_that_the_agent_answers_itself_is_shown() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("/context").await?;
    ensure!(world.api.messages().is_empty(), "the model was asked");
    let answers = relay.answers();
    ensure!(answers.len() == 1 && !answers[0].trim().is_empty(), "{answers:?}");
    relay.close().await
}

/// The agent reports success, and did nothing.
pub async fn a_command_that_works_only_in_a_terminal_is_said_to_be_unavailable() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.prompt("/login").await?;
    let turn = relay.turn_end().await?;
    ensure!(outcome(&turn)? == Outcome::Unavailable, "{turn}");
    let expected = ["warning: “/login” is not available here. Log in with `claude` in a terminal."];
    ensure!(relay.notices() == expected, "{:?}", relay.notices());
    ensure!(relay.answers().is_empty(), "{:?}", relay.answers());
    relay.turn("SAY hello").await?;
    relay.close().await
}
