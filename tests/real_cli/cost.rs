//! Cost of turns, compared with the agent's own counter: it restarts, goes back and continues, and no turn pays for
//! another.

use anyhow::{Context, Result, ensure};
use deskbell_engine::api::{Command, Outcome};
use deskbell_tests::real_cli::process::kill;
use deskbell_tests::real_cli::{CliChild, World};
use deskbell_tests::relay::{Relay, outcome};
use serde_json::Value;
use std::path::{Path, PathBuf};

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

/// A recording of this name in a world, and the argument that writes it.
fn recording(world: &World, name: &str) -> (PathBuf, String) {
    let file = world.root().join(name);
    let argument = format!("--record={}", file.display());
    (file, argument)
}

/// The turns of `/clear`, a compaction, a switch of the model and a crash: each costs what the agent says that was spent
/// since its last report, and the session costs their sum.
pub async fn every_turn_pays_for_itself() -> Result<()> {
    let world = World::new().await?;
    let (file, record) = recording(&world, "turns.ndjson");
    let mut relay = Relay::spawn(&world, &[&record])?;
    let mut turns = Vec::new();
    for prompt in ["SAY one", "SAY two", "/compact", "SAY three"] {
        let cost = turn(&mut relay, prompt).await?;
        ensure!(cost > 0, "{prompt} cost nothing");
        turns.push(cost);
    }
    relay.send(&Command::SetModel { model: "sonnet".to_owned() }).await?;
    turns.push(turn(&mut relay, "SAY four").await?);
    let told = usage(&mut relay).await?;
    ensure!(pico(&told["costUsd"])? == turns.iter().sum::<i64>(), "{turns:?} are not {told}");
    ensure!(told["contextTokens"].as_u64() > Some(0), "{told}");

    turns.push(turn(&mut relay, "/clear").await?);
    let told = usage(&mut relay).await?;
    ensure!(told["contextTokens"] == 0, "the context is empty: {told}");
    let after = turn(&mut relay, "SAY five").await?;
    ensure!(after > 0, "the first turn after /clear cost nothing");
    turns.push(after);
    let told = usage(&mut relay).await?;
    ensure!(pico(&told["costUsd"])? == turns.iter().sum::<i64>(), "{turns:?} are not {told}");

    // Killed, and resumed: the agent saved less of its counter than it had reported.
    let session = relay.session()?;
    let id = session["agentSessionId"].as_str().context("no id")?.to_owned();
    world.saved(&id, "five").await?;
    kill(u32::try_from(session["pid"].as_u64().context("no process")?)?)?;
    relay.event("agentExited").await?;
    let after = turn(&mut relay, "SAY six").await?;
    ensure!(after > 0, "the first turn after a kill cost nothing");
    turns.push(after);
    let told = usage(&mut relay).await?;
    ensure!(pico(&told["costUsd"])? == turns.iter().sum::<i64>(), "{turns:?} are not {told}");
    relay.close().await?;
    agree(&turns, &results(&file)?)
}

/// The agent's reports in a recording.
fn results(recording: &Path) -> Result<Vec<Value>> {
    let text = std::fs::read_to_string(recording)?;
    let lines = text.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
    Ok(lines
        .into_iter()
        .map(|mut line| line["line"].take())
        .filter(|line| line["type"] == "result")
        .collect())
}

/// The agent's last report in a recording.
fn last_result(recording: &Path) -> Result<Value> {
    results(recording)?.pop().context("no result")
}

/// What the agent itself says that was spent since its report before this one; the engine does not read it. `None` for
/// 2.1.197, which does not say it.
fn spent_since_the_last(result: &Value) -> Option<Result<i64>> {
    let models = result["model_usage_since_last_result"].as_object()?;
    Some(models.values().map(|model| pico(&model["costUSD"])).sum())
}

/// The agent's own figure of each turn is this.
fn agree(turns: &[i64], reports: &[Value]) -> Result<()> {
    let Some(agent) = reports.iter().map(spent_since_the_last).collect::<Option<Result<Vec<_>>>>() else {
        return Ok(());
    };
    let agent = agent?;
    ensure!(turns == agent, "{turns:?} are not {agent:?}");
    Ok(())
}

/// The agent's own counters, of everything and of each model, are the sums of the turns to the last digit.
pub async fn turns_with_several_models_add_up_to_what_the_agent_says() -> Result<()> {
    let world = World::new().await?;
    let (file, record) = recording(&world, "models.ndjson");
    let mut relay = Relay::spawn(&world, &[&record])?;
    let mut sum = turn(&mut relay, "SAY one").await?;
    for (model, prompt) in [("haiku", "SAY two"), ("opus", "SAY three"), ("haiku", "SAY four")] {
        relay.send(&Command::SetModel { model: model.to_owned() }).await?;
        sum += turn(&mut relay, prompt).await?;
    }
    let told = usage(&mut relay).await?;
    relay.close().await?;

    let agent = last_result(&file)?;
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

    let (file, record) = recording(&world, "resumed.ndjson");
    let mut relay = Relay::spawn(&world, &[&format!("--resume={id}"), &record])?;
    // Sent at once: it waits until the agent has reported its counter.
    let now = turn(&mut relay, "SAY four").await?;
    ensure!(now > 0 && now < past, "{now} after {past}");
    let told = pico(&usage(&mut relay).await?["costUsd"])?;
    relay.close().await?;
    let reports = results(&file)?;
    agree(&[now], &reports)?;
    let total = pico(&reports[0]["total_cost_usd"])?;
    // 2.1.197 forgets the cost of a conversation when its process exits.
    ensure!(told == total && (told == past + now || told == now), "{told} is not {past} + {now}, {total}");
    Ok(())
}

/// Another process continues the conversation while the one of the session does not run. No turn pays for it, and it is
/// counted once: the session costs what the agent says, to the last digit.
pub async fn what_another_process_spent_is_counted_once() -> Result<()> {
    let world = World::new().await?;
    let (file, record) = recording(&world, "two.ndjson");
    let mut relay = Relay::spawn(&world, &[&record])?;
    let mut turns = vec![turn(&mut relay, "SAY one").await?, turn(&mut relay, "SAY two").await?];
    let id = relay.session()?["agentSessionId"].as_str().context("no id")?.to_owned();
    relay.send(&Command::Stop).await?;
    relay.event("agentExited").await?;

    let mut terminal = CliChild::spawn(&world, &["--resume", &id])?;
    terminal.prompt("SAY three and a half").await?;
    let there = pico(&terminal.result().await?["total_cost_usd"])?;
    terminal.close().await?;

    turns.push(turn(&mut relay, "SAY four").await?);
    turns.push(turn(&mut relay, "SAY five").await?);
    let told = pico(&usage(&mut relay).await?["costUsd"])?;
    relay.close().await?;
    let reports = results(&file)?;
    agree(&turns, &reports)?;
    let total = pico(&reports.last().context("no result")?["total_cost_usd"])?;
    let before: i64 = turns[..2].iter().sum();
    ensure!(there > before && total > there, "{before}, {there} and {total} do not grow");
    ensure!(
        told == turns.iter().sum::<i64>() + there - before && told == total,
        "{told}: {turns:?}, {there}, {total}"
    );
    Ok(())
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

    let (file, record) = recording(&world, "fork.ndjson");
    let mut relay = Relay::spawn(&world, &[&format!("--fork={id}"), &record])?;
    let turns = [turn(&mut relay, "SAY three").await?, turn(&mut relay, "SAY four").await?];
    let own: i64 = turns.iter().sum();
    let told = pico(&usage(&mut relay).await?["costUsd"])?;
    ensure!(own > 0 && told == own, "{told} is not {own}");
    relay.close().await?;

    let reports = results(&file)?;
    agree(&turns, &reports)?;
    let total = pico(&reports.last().context("no result")?["total_cost_usd"])?;
    // 2.1.197 starts a fork at 0.
    ensure!(total == past + own || total == own, "{total} is not {past} + {own}");
    Ok(())
}
