//! State that survives when a process is killed.

use anyhow::{Context, Result, ensure};
use deskbell_engine::api::{Command, Decision, Outcome, PromptId};
use deskbell_tests::real_cli::World;
use deskbell_tests::real_cli::process::kill;
use deskbell_tests::relay::{DEADLINE, Relay, outcome, text_of};
use serde_json::Value;

fn pid_of(session: &Value) -> Result<u32> {
    let pid = session["pid"].as_u64().with_context(|| format!("no process in {session}"))?;
    Ok(u32::try_from(pid)?)
}

pub async fn a_killed_agent_resumes_the_session_with_the_next_prompt() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY the word is banana").await?;
    let before = saved(&world, &relay, "banana").await?;
    kill(pid_of(&before)?)?;
    let exited = relay.event("agentExited").await?;
    ensure!(exited["report"]["signal"] == 9 && exited["report"]["expected"] == false, "{exited}");
    relay.turn("RECALL").await?;
    let after = relay.session()?;
    ensure!(after["agentSessionId"] == before["agentSessionId"], "another session: {after}");
    ensure!(after["pid"] != before["pid"], "the killed process still has its number");
    ensure!(relay.answers().last().is_some_and(|answer| answer.contains("banana")), "{:?}", relay.answers());
    let request = world.api.wait_for_prompt("RECALL", DEADLINE).await?;
    ensure!(request.prompts()[0] == "SAY the word is banana", "{:?}", request.prompts());
    relay.close().await
}

pub async fn a_prompt_cut_off_is_held_and_sent_again_only_when_asked() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY hello").await?;
    saved(&world, &relay, "hello").await?;
    let cut_off = "GATE go\nSAY whole";
    relay.prompt(cut_off).await?;
    let started = relay.next_event("the turn", DEADLINE, |event| event["type"] == "turnStarted").await?;
    world.api.wait_for_prompt(cut_off, DEADLINE).await?;
    kill(pid_of(&relay.session()?)?)?;
    let turn = relay.turn_end().await?;
    ensure!(outcome(&turn)? == Outcome::Crashed, "{turn}");
    let held = |event: &Value| event["item"]["body"]["state"] == "held";
    if !relay.items().iter().any(|item| item["body"]["state"] == "held") {
        relay.next_event("the prompt held back", DEADLINE, held).await?;
    }
    world.api.open("go");

    let prompt_id = started["promptIds"][0].as_str().context("the turn answers a prompt")?;
    relay.send(&Command::Resend { prompt_id: PromptId::new(prompt_id) }).await?;
    let turn = relay.turn_end().await?;
    ensure!(outcome(&turn)? == Outcome::Done, "{turn}");
    ensure!(relay.answers().last().is_some_and(|answer| answer == "whole"), "{:?}", relay.answers());
    let requests = world.api.messages();
    let n_sent = requests.iter().filter(|request| request.prompt().as_deref() == Some(cut_off)).count();
    ensure!(n_sent == 2, "sent {n_sent} times");
    relay.close().await
}

pub async fn a_killed_agent_withdraws_its_request() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY hello").await?;
    saved(&world, &relay, "hello").await?;
    relay.prompt("BASH touch b.txt\nSAY not reached").await?;
    let asked = relay.request().await?;
    kill(pid_of(&relay.session()?)?)?;
    let resolved = relay.event("permissionResolved").await?;
    ensure!(resolved["requestId"] == asked["request"]["id"], "{resolved}");
    ensure!(resolved["resolution"]["type"] == "withdrawn", "{resolved}");
    let turn = relay.turn_end().await?;
    ensure!(outcome(&turn)? == Outcome::Crashed, "{turn}");
    relay.turn("SAY well again").await?;
    ensure!(!world.file("b.txt").exists());
    relay.close().await
}

/// The agent has no file of the session yet (2.1.329): Deskbell keeps the prompt, and the conversation begins again.
pub async fn a_prompt_is_kept_when_the_agent_is_killed_at_its_first_request() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    let prompt = "BASH touch b.txt\nSAY touched";
    relay.prompt(prompt).await?;
    relay.request().await?;
    kill(pid_of(&relay.session()?)?)?;
    let turn = relay.turn_end().await?;
    ensure!(outcome(&turn)? == Outcome::Crashed, "{turn}");
    let words = turn["words"].as_str().context("no words")?;
    ensure!(words == "The agent was killed (signal 9)", "{words}");
    let held = held_prompt(&mut relay).await?;

    relay.send(&Command::Resend { prompt_id: held }).await?;
    let asked = relay.request().await?;
    ensure!(asked["request"]["subject"] == "touch b.txt", "{asked}");
    relay.decide(&asked, Decision::AllowOnce { updated_input: None }).await?;
    let turn = relay.turn_end().await?;
    ensure!(outcome(&turn)? == Outcome::Done && world.file("b.txt").exists(), "{turn}");
    ensure!(relay.answers() == ["touched"], "{:?}", relay.answers());
    relay.close().await
}

pub async fn what_was_written_before_a_kill_stays_and_the_session_goes_on() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY the word is banana").await?;
    let before = saved(&world, &relay, "banana").await?;
    relay.prompt("HANG the first half of it").await?;
    let shows_text =
        |event: &Value| event["type"] == "blocksChanged" && text_of(&event["blocks"]).contains("first half");
    relay.next_event("the first half of the text", DEADLINE, shows_text).await?;
    kill(pid_of(&before)?)?;
    let turn = relay.turn_end().await?;
    ensure!(outcome(&turn)? == Outcome::Crashed, "{turn}");
    held_prompt(&mut relay).await?;
    ensure!(relay.answers().last().is_some_and(|text| text.contains("the first half")));

    relay.turn("RECALL").await?;
    let after = relay.session()?;
    ensure!(after["agentSessionId"] == before["agentSessionId"], "another session: {after}");
    ensure!(relay.answers().last().is_some_and(|answer| answer.contains("banana")), "{:?}", relay.answers());
    relay.close().await
}

/// A tool has a session of its own: it survives its dead agent, so Deskbell ends it.
#[cfg(target_os = "linux")]
pub async fn a_tool_ends_with_its_killed_agent_and_is_shown_as_cut_off() -> Result<()> {
    use deskbell_tests::real_cli::process::ended;

    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY the word is banana").await?;
    saved(&world, &relay, "banana").await?;
    relay.prompt(&format!("BASH {}\nSAY not reached", world.long_command())).await?;
    let asked = relay.request().await?;
    relay.decide(&asked, Decision::AllowOnce { updated_input: None }).await?;
    let tool = world.long_command_pid(DEADLINE).await?;
    kill(pid_of(&relay.session()?)?)?;
    let turn = relay.turn_end().await?;
    ensure!(outcome(&turn)? == Outcome::Crashed, "{turn}");
    ended(tool, DEADLINE).await?;
    let items = relay.items();
    let call = items.iter().find(|item| item["body"]["type"] == "toolCall").context("no tool call")?;
    ensure!(call["body"]["state"] == "interrupted", "{call}");
    relay.turn("RECALL").await?;
    ensure!(relay.answers().last().is_some_and(|answer| answer.contains("banana")), "{:?}", relay.answers());
    relay.close().await
}

/// The session, once one of its answers is on disk.
async fn saved(world: &World, relay: &Relay, text: &str) -> Result<Value> {
    let session = relay.session()?;
    world.saved(session["agentSessionId"].as_str().context("a session has an id")?, text).await?;
    Ok(session)
}

/// The prompt that is offered again after a crash.
async fn held_prompt(relay: &mut Relay) -> Result<PromptId> {
    let is_held = |queue: &Value| queue[0]["held"] == true;
    if !is_held(&relay.session()?["queue"]) {
        relay.next_event("a held prompt", DEADLINE, |event| is_held(&event["session"]["queue"])).await?;
    }
    let id = relay.session()?["queue"][0]["id"].as_str().context("a prompt has an id")?.to_owned();
    Ok(PromptId::new(id))
}

pub async fn a_session_is_resumed_by_its_id() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY the word is banana").await?;
    let id = relay.session()?["agentSessionId"].as_str().context("no id")?.to_owned();
    ensure!(relay.finish().await?.status.success());
    ensure!(!world.session_file(&id)?.is_empty());

    let mut relay = Relay::spawn(&world, &[&format!("--resume={id}")])?;
    relay.turn("RECALL").await?;
    ensure!(relay.session()?["agentSessionId"] == id.as_str());
    ensure!(relay.answers().last().is_some_and(|answer| answer.contains("banana")), "{:?}", relay.answers());
    relay.close().await
}

/// The agent exits at once for an unknown id. Whatever happens to the prompt, nothing waits forever, and no other
/// conversation silently replaces the lost one.
pub async fn an_unknown_session_is_told() -> Result<()> {
    let world = World::new().await?;
    let id = uuid::Uuid::new_v4();
    let mut relay = Relay::spawn(&world, &[&format!("--resume={id}")])?;
    relay.prompt("SAY hello").await?;
    relay.close_input();
    let finished = relay.ended().await?;
    let is_told = |event: &Value| {
        let level = &event["item"]["body"]["level"];
        event["type"] == "itemAdded" && (level == "warning" || level == "error")
    };
    ensure!(finished.events.iter().any(is_told), "nothing was said about it");
    ensure!(finished.status.success(), "{}: {}", finished.status, finished.stderr);
    Ok(())
}

/// A tool runs in a session of its own, so only an orderly end of the agent ends it.
#[cfg(target_os = "linux")]
pub async fn nothing_outlives_a_killed_relay() -> Result<()> {
    use deskbell_tests::real_cli::process::{ended, is_running};

    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.prompt(&format!("BASH {}\nSAY not reached", world.long_command())).await?;
    let asked = relay.request().await?;
    relay.decide(&asked, Decision::AllowOnce { updated_input: None }).await?;
    let tool = world.long_command_pid(DEADLINE).await?;
    let agent = pid_of(&relay.session()?)?;
    ensure!(is_running(tool) && is_running(agent));
    kill(relay.pid().context("the relay runs")?)?;
    ended(agent, DEADLINE).await?;
    ended(tool, DEADLINE).await?;
    Ok(())
}
