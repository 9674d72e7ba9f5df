//! Ownership of a conversation, and its cost.

use anyhow::{Context, Result, ensure};
use deskbell_tests::real_cli::World;
use deskbell_tests::relay::{DEADLINE, Relay};

/// The CLI lists its live processes, including those in terminals. That list is enough to find the owner, without a
/// lock of our own.
pub async fn a_live_conversation_is_not_resumed() -> Result<()> {
    let world = World::new().await?;
    let mut first = Relay::spawn(&world, &[])?;
    first.turn("SAY the word is banana").await?;
    let session = first.session()?;
    let id = session["agentSessionId"].as_str().context("no id")?;
    let pid = session["pid"].as_u64().context("no process")?;

    let resume = format!("--resume={id}");
    let mut second = Relay::spawn(&world, &[&resume])?;
    let is_refused = |event: &serde_json::Value| event["type"] == "commandFailed";
    let refused = second.next_event("refusal", DEADLINE, is_refused).await?;
    ensure!(refused["error"]["code"] == "openElsewhere", "{refused}");
    let message = refused["error"]["message"].as_str().unwrap_or_default();
    ensure!(message.contains(&format!("process {pid} ")), "{message}");

    first.turn("SAY still mine").await?;
    first.close().await?;
    second.turn("RECALL").await?;
    let answers = second.answers();
    ensure!(answers.last().is_some_and(|answer| answer.contains("banana")), "{answers:?}");
    second.close().await
}

/// Cost of the turn and of the session; the context is relative to the model's own window.
pub async fn a_turn_tells_what_it_cost() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    let mut before = (0, 0.0);
    for text in ["SAY one", "SAY two"] {
        relay.prompt(text).await?;
        let turn = relay.turn_end().await?;
        for field in ["durationMs", "outputTokens", "costUsd"] {
            ensure!(turn[field].as_f64().is_some_and(|amount| amount > 0.0), "{field} of {turn}");
        }
        let usage = relay.session_where("usage", |session| session["turnStartedAt"].is_null()).await?;
        let usage = &usage["usage"];
        let now = (
            usage["outputTokens"].as_u64().context("a count")?,
            usage["costUsd"].as_f64().context("an amount")?,
        );
        ensure!(now.0 > before.0 && now.1 > before.1, "{before:?} grew to {now:?}");
        before = now;
        let (used, window) = (usage["contextTokens"].as_u64(), usage["contextWindow"].as_u64());
        ensure!(used.is_some_and(|used| used > 0) && window >= Some(100_000), "{usage}");
    }
    relay.close().await
}
