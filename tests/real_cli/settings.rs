//! Mode and model, changed while the process lives.

use anyhow::{Context, Result, ensure};
use deskbell_engine::api::{Command, Outcome};
use deskbell_tests::real_cli::World;
use deskbell_tests::relay::{DEADLINE, Relay, outcome};
use serde_json::Value;

pub async fn accept_edits_writes_unasked() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY hello").await?;
    let pid = relay.session()?["pid"].clone();
    relay.send(&Command::SetMode { mode: "acceptEdits".to_owned() }).await?;
    relay.next_event("the new mode", DEADLINE, |event| event["session"]["mode"] == "acceptEdits").await?;
    let file = world.file("a.txt");
    relay.turn(&format!("WRITE {} unasked\nSAY written", file.display())).await?;
    ensure!(std::fs::read_to_string(&file)? == "unasked");
    ensure!(relay.session()?["pid"] == pid, "the mode cost a new process");
    relay.close().await
}

pub async fn a_mode_that_does_not_exist_is_refused() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY hello").await?;
    relay.send(&Command::SetMode { mode: "whatever".to_owned() }).await?;
    relay.event("commandFailed").await?;
    ensure!(relay.session()?["mode"] == "default", "{}", relay.session()?["mode"]);
    relay.close().await
}

pub async fn another_model_answers_the_next_prompt() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY before").await?;
    let before = world.api.wait_for_prompt("SAY before", DEADLINE).await?;
    let session = relay.session()?;
    let models = session["models"].as_array().context("no models")?;
    let names: Vec<&str> = models.iter().filter_map(|model| model["name"].as_str()).collect();
    let other = ["sonnet", "opus"].into_iter().find(|name| before.model().is_some_and(|m| !m.contains(name)));
    let other = other.filter(|name| names.contains(name)).with_context(|| format!("not among {names:?}"))?;
    relay.send(&Command::SetModel { model: other.to_owned() }).await?;
    relay.turn("SAY after").await?;
    let after = world.api.wait_for_prompt("SAY after", DEADLINE).await?;
    ensure!(after.model() != before.model(), "still {:?}, not {other}", after.model());
    ensure!(relay.session()?["pid"] == session["pid"], "the model cost a new process");
    relay.close().await
}

pub async fn a_model_that_does_not_exist_is_refused_or_fails_the_turn() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY hello").await?;
    let before = relay.session()?["model"].clone();
    relay.send(&Command::SetModel { model: "claude-no-such".to_owned() }).await?;
    relay.prompt("SAY still here").await?;
    let ends = |event: &Value| event["type"] == "commandFailed" || event["type"] == "turnEnded";
    let event = relay.next_event("a refusal or the end of the turn", DEADLINE, ends).await?;
    if event["type"] == "commandFailed" {
        ensure!(event["error"]["code"] == "refused", "{event}");
        let turn = relay.turn_end().await?;
        ensure!(outcome(&turn)? == Outcome::Done, "{turn}");
        ensure!(relay.session()?["model"] == before, "{}", relay.session()?["model"]);
    } else {
        // 2.1.197 takes any name.
        ensure!(outcome(&event["turn"])? == Outcome::UnknownModel, "{event}");
    }
    relay.close().await
}

pub async fn model_and_mode_are_given_at_the_start() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &["--model=claude-sonnet-4-6", "--mode=acceptEdits"])?;
    let file = world.file("a.txt");
    relay.turn(&format!("WRITE {} unasked\nSAY written", file.display())).await?;
    ensure!(file.exists());
    let requests = world.api.messages();
    ensure!(requests.iter().all(|request| request.model() == Some("claude-sonnet-4-6")));
    relay.close().await
}
