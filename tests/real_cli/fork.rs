//! Forks and titles: what the CLI makes of them, and that the original is never written to.

use anyhow::{Context, Result, ensure};
use deskbell_engine::api::Command;
use deskbell_tests::real_cli::World;
use deskbell_tests::relay::{DEADLINE, Relay};
use deskbell_tests::wait::{LONG, eventually};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// Every file of the store with its content.
fn store(world: &World) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for folder in fs::read_dir(world.config.join("projects"))? {
        for file in fs::read_dir(folder?.path())? {
            let path = file?.path();
            if path.extension().is_some_and(|extension| extension == "jsonl") {
                files.insert(path.clone(), fs::read(&path)?);
            }
        }
    }
    Ok(files)
}

/// A conversation of three turns. Returns its id and the ids of its prompts.
async fn original(world: &World) -> Result<(String, Vec<String>)> {
    let mut relay = Relay::spawn(world, &[])?;
    for text in ["SAY apple", "SAY banana", "SAY cherry"] {
        relay.turn(text).await?;
    }
    let id = relay.session()?["agentSessionId"].as_str().context("no id")?.to_owned();
    ensure!(relay.finish().await?.status.success());
    let is_prompt = |line: &&Value| line["type"] == "user" && line["message"]["content"].is_string();
    let lines = world.session_file(&id)?;
    let prompts = lines.iter().filter(is_prompt).filter_map(|line| line["uuid"].as_str());
    Ok((id, prompts.map(str::to_owned).collect()))
}

/// Runs one turn in a fork. Returns its answer, its own id, and the texts that it began with.
async fn fork(world: &World, arguments: &[&str]) -> Result<(String, String, Vec<String>)> {
    let mut relay = Relay::spawn(world, arguments)?;
    relay.turn("RECALL").await?;
    let id = relay.session()?["agentSessionId"].as_str().context("no id")?.to_owned();
    let answer = relay.answers().pop().context("no answer")?;
    ensure!(relay.finish().await?.status.success());
    let lines = world.session_file(&id)?;
    let prompts = lines.iter().filter(|line| line["type"] == "user");
    let texts = prompts.filter_map(|line| line["message"]["content"].as_str()).map(str::to_owned);
    Ok((answer, id, texts.collect()))
}

pub async fn a_fork_goes_its_own_way_and_leaves_the_original_as_it_was() -> Result<()> {
    let world = World::new().await?;
    let (id, prompts) = original(&world).await?;
    ensure!(prompts.len() == 3, "{prompts:?}");
    let before = store(&world)?;
    let of = format!("--fork={id}");

    let (answer, own, texts) = fork(&world, &[&of]).await?;
    ensure!(own != id, "the fork has the original's id");
    ensure!(answer.contains("apple") && answer.contains("cherry"), "{answer}");
    ensure!(texts == ["SAY apple", "SAY banana", "SAY cherry", "RECALL"], "{texts:?}");

    let (answer, own, texts) = fork(&world, &[&of, &format!("--before={}", prompts[2])]).await?;
    ensure!(own != id && answer.contains("banana") && !answer.contains("cherry"), "{answer}");
    ensure!(texts == ["SAY apple", "SAY banana", "RECALL"], "{texts:?}");

    let after = store(&world)?;
    ensure!(after.len() == before.len() + 2, "{:?}", after.keys());
    for (path, bytes) in &before {
        ensure!(after.get(path) == Some(bytes), "{} was written", path.display());
    }
    // A prompt that the conversation does not have, and one with nothing before it.
    for (prompt, words) in
        [(uuid::Uuid::new_v4().to_string(), "not stored"), (prompts[0].clone(), "first prompt")]
    {
        let mut relay = Relay::spawn(&world, &[&of, &format!("--before={prompt}")])?;
        relay.close_input();
        let finished = relay.ended().await?;
        ensure!(!finished.status.success() && finished.stderr.contains(words), "{}", finished.stderr);
    }
    Ok(())
}

/// Two processes in one conversation lose each other's messages, so it cannot be resumed; a fork only reads it.
pub async fn a_conversation_that_is_open_elsewhere_can_be_forked() -> Result<()> {
    let world = World::new().await?;
    let mut owner = Relay::spawn(&world, &[])?;
    owner.turn("SAY the word is banana").await?;
    let id = owner.session()?["agentSessionId"].as_str().context("no id")?.to_owned();
    world.saved(&id, "banana").await?;
    let (answer, own, _) = fork(&world, &[&format!("--fork={id}")]).await?;
    ensure!(own != id && answer.contains("banana"), "{answer}");
    owner.turn("SAY still mine").await?;
    owner.close().await?;
    ensure!(!world.session_file(&id)?.iter().any(|line| line.to_string().contains("RECALL")));
    Ok(())
}

pub async fn a_title_is_written_by_the_agent() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY hello").await?;
    let id = relay.session()?["agentSessionId"].as_str().context("no id")?.to_owned();
    relay.send(&Command::Rename { title: "A name for it".to_owned() }).await?;
    eventually("the name in the agent's file", LONG, async || {
        let is_name = |line: &Value| line["type"] == "custom-title" && line["customTitle"] == "A name for it";
        Ok(world.session_file(&id)?.iter().any(is_name).then_some(()))
    })
    .await?;
    relay.turn("SAY again").await?;
    ensure!(relay.session()?["title"] == "A name for it", "{}", relay.session()?["title"]);
    relay.close().await?;

    // Resumed, the agent says the name itself.
    let mut relay = Relay::spawn(&world, &[&format!("--resume={id}")])?;
    relay.turn("SAY resumed").await?;
    ensure!(relay.session()?["title"] == "A name for it", "{}", relay.session()?["title"]);
    relay.close().await
}

/// The mock API answers in words, and the agent wants a title in JSON from its model: then it reports none.
pub async fn a_title_that_the_agent_cannot_make_is_said() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY hello").await?;
    relay.send(&Command::GenerateTitle).await?;
    let is_refused = |event: &Value| event["type"] == "commandFailed";
    let refused = relay.next_event("refusal", DEADLINE, is_refused).await?;
    ensure!(refused["error"]["code"] == "refused", "{refused}");
    ensure!(relay.session()?["title"] == "SAY hello", "{}", relay.session()?["title"]);
    relay.close().await
}

/// The agent wants a title in JSON from its model: here the model is given it as its directive.
pub async fn a_title_is_generated_once_and_is_in_the_agents_file() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    let prompt = r#"SAY {"title": "Harbour lights"}"#;
    relay.turn(prompt).await?;
    let session = relay.session()?;
    ensure!(session["title"] == prompt && session["hasPromptTitle"] == true, "{session}");
    let id = session["agentSessionId"].as_str().context("no id")?.to_owned();
    relay.send(&Command::GenerateTitle).await?;
    let is_titled = |event: &Value| event["session"]["title"] == "Harbour lights";
    relay.next_event("generated title", DEADLINE, is_titled).await?;
    ensure!(relay.session()?["hasPromptTitle"] == false, "{}", relay.session()?);
    eventually("the title in the agent's file", LONG, async || {
        let is_title = |line: &Value| line["type"] == "ai-title" && line["aiTitle"] == "Harbour lights";
        Ok(world.session_file(&id)?.iter().any(is_title).then_some(()))
    })
    .await?;
    relay.close().await
}
