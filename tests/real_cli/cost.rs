//! Cost of turns, compared with the agent's own counter: it restarts, goes back and continues, and no turn pays for
//! another.

use anyhow::{Context, Result, ensure};
use deskbell_engine::api::{Command, Outcome};
use deskbell_tests::real_cli::World;
use deskbell_tests::real_cli::process::kill;
use deskbell_tests::relay::{Relay, outcome};
use serde_json::Value;
use std::path::Path;

/// Picodollars, so that sums are exact.
fn pico(dollars: &Value) -> Result<i64> {
    let dollars = dollars.as_f64().with_context(|| format!("{dollars} is no amount"))?;
    Ok((dollars * 1e12).round() as i64)
}

async fn turn(relay: &mut Relay, prompt: &str) -> Result<i64> {
    relay.prompt(prompt).await?;
    let turn = relay.turn_end().await?;
    ensure!(outcome(&turn)? == Outcome::Done, "{turn}");
    pico(&turn["costUsd"])
}

async fn usage(relay: &mut Relay) -> Result<Value> {
    let session =
        relay.session_where("the end of a turn", |session| session["turnStartedAt"].is_null()).await?;
    Ok(session["usage"].clone())
}

pub async fn every_turn_pays_for_itself() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    let mut sum = 0;
    for prompt in ["SAY one", "SAY two", "/compact", "SAY three"] {
        let cost = turn(&mut relay, prompt).await?;
        ensure!(cost > 0, "{prompt} cost nothing");
        sum += cost;
    }
    relay.send(&Command::SetModel { model: "sonnet".to_owned() }).await?;
    sum += turn(&mut relay, "SAY four").await?;
    let told = usage(&mut relay).await?;
    ensure!(pico(&told["costUsd"])? == sum, "{sum} is not {told}");
    ensure!(told["contextTokens"].as_u64() > Some(0), "{told}");

    sum += turn(&mut relay, "/clear").await?;
    let told = usage(&mut relay).await?;
    ensure!(told["contextTokens"] == 0, "the context is empty: {told}");
    let after = turn(&mut relay, "SAY five").await?;
    ensure!(after > 0, "the first turn after /clear cost nothing");
    sum += after;
    let told = usage(&mut relay).await?;
    ensure!(pico(&told["costUsd"])? == sum, "{sum} is not {told}");

    // Killed, and resumed: the agent saved less of its counter than it had reported.
    let session = relay.session()?;
    let id = session["agentSessionId"].as_str().context("no id")?.to_owned();
    world.saved(&id, "five").await?;
    kill(u32::try_from(session["pid"].as_u64().context("no process")?)?)?;
    relay.event("agentExited").await?;
    let after = turn(&mut relay, "SAY six").await?;
    ensure!(after > 0, "the first turn after a kill cost nothing");
    sum += after;
    let told = usage(&mut relay).await?;
    ensure!(pico(&told["costUsd"])? == sum, "{sum} is not {told}");
    relay.close().await
}

/// The agent's last report in a recording.
fn last_result(recording: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(recording)?;
    let lines = text.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
    let last = lines.into_iter().rfind(|line| line["line"]["type"] == "result");
    Ok(last.context("no result")?["line"].take())
}

/// The agent's own counters, of everything and of each model, are the sums of the turns to the last digit.
pub async fn turns_with_several_models_add_up_to_what_the_agent_says() -> Result<()> {
    let world = World::new().await?;
    let recording = world.file("models.ndjson");
    let mut relay = Relay::spawn(&world, &[&format!("--record={}", recording.display())])?;
    let mut sum = turn(&mut relay, "SAY one").await?;
    for (model, prompt) in [("haiku", "SAY two"), ("opus", "SAY three"), ("haiku", "SAY four")] {
        relay.send(&Command::SetModel { model: model.to_owned() }).await?;
        sum += turn(&mut relay, prompt).await?;
    }
    let told = usage(&mut relay).await?;
    relay.close().await?;

    let agent = last_result(&recording)?;
    let total = pico(&agent["total_cost_usd"])?;
    ensure!(sum == total && pico(&told["costUsd"])? == total, "{sum} and {told} are not {agent}");
    let of = |cost: i64, usage: &Value, names: [&str; 4]| {
        (cost, names.map(|name| usage[name].as_u64().unwrap_or_default()))
    };
    let in_agent = ["inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"];
    let models = agent["modelUsage"].as_object().context("no models")?.values();
    let mut expected =
        models.map(|model| Ok(of(pico(&model["costUSD"])?, model, in_agent))).collect::<Result<Vec<_>>>()?;
    let shown = told["byModel"].as_array().context("no models")?.iter();
    let mut shown = shown
        .map(|model| {
            let cost: f64 = model["cost"].as_str().context("no amount")?.parse()?;
            let names = ["input", "output", "cacheRead", "cacheWrite"];
            Ok(of((cost * 1e12).round() as i64, &model["tokens"], names))
        })
        .collect::<Result<Vec<_>>>()?;
    expected.sort_unstable();
    shown.sort_unstable();
    ensure!(expected.len() >= 2 && shown == expected, "{told} is not {agent}");
    Ok(())
}

pub async fn a_resumed_conversation_is_not_billed_for_its_past() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    let mut past = 0;
    for prompt in ["SAY one", "SAY two", "SAY three"] {
        past += turn(&mut relay, prompt).await?;
    }
    let id = relay.session()?["agentSessionId"].as_str().context("no id")?.to_owned();
    ensure!(relay.finish().await?.status.success());

    let mut relay = Relay::spawn(&world, &[&format!("--resume={id}")])?;
    // Sent at once: it waits until the agent has reported its counter.
    let now = turn(&mut relay, "SAY four").await?;
    ensure!(now > 0 && now < past, "{now} after {past}");
    let told = pico(&usage(&mut relay).await?["costUsd"])?;
    // 2.1.197 forgets the cost of a conversation when its process exits.
    ensure!(told == past + now || told == now, "{told} is not {past} + {now}");
    relay.close().await
}

/// 2.1.329 continues the counter of the original in its fork. That past belongs to no turn of the fork, and is no cost of
/// its session.
pub async fn a_fork_pays_for_its_own_turns() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    let mut past = 0;
    for prompt in ["SAY one", "SAY two"] {
        past += turn(&mut relay, prompt).await?;
    }
    let id = relay.session()?["agentSessionId"].as_str().context("no id")?.to_owned();
    ensure!(relay.finish().await?.status.success());

    let recording = world.file("fork.ndjson");
    let record = format!("--record={}", recording.display());
    let mut relay = Relay::spawn(&world, &[&format!("--fork={id}"), &record])?;
    let mut own = 0;
    for prompt in ["SAY three", "SAY four"] {
        own += turn(&mut relay, prompt).await?;
    }
    let told = pico(&usage(&mut relay).await?["costUsd"])?;
    ensure!(own > 0 && told == own, "{told} is not {own}");
    relay.close().await?;

    let agent = pico(&last_result(&recording)?["total_cost_usd"])?;
    // 2.1.197 starts a fork at 0.
    ensure!(agent == past + own || agent == own, "{agent} is not {past} + {own}");
    Ok(())
}
