//! Mode, model, effort and thinking, changed while the process lives; the next request shows the effect.

use anyhow::{Context, Result, ensure};
use deskbell_engine::api::{Command, Decision, Outcome, PermissionMode};
use deskbell_tests::real_cli::World;
use deskbell_tests::relay::{DEADLINE, Relay, outcome};
use serde_json::{Value, json};

pub async fn accept_edits_writes_unasked() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY hello").await?;
    let pid = relay.session()?["pid"].clone();
    relay.send(&Command::SetMode { mode: PermissionMode::AcceptEdits }).await?;
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
    relay.send_line(&json!({"type": "setMode", "mode": "whatever"})).await?;
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
        // 2.1.197 accepts any name.
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

/// The API request for the answer to a prompt.
async fn request_of(world: &World, relay: &mut Relay, prompt: &str) -> Result<Value> {
    relay.turn(prompt).await?;
    Ok(world.api.wait_for_prompt(prompt, DEADLINE).await?.body)
}

pub async fn another_effort_is_in_the_next_request() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    let before = request_of(&world, &mut relay, "SAY before").await?;
    let session = relay.session()?;
    ensure!(before["output_config"]["effort"] == session["effort"], "{} {before}", session["effort"]);
    let model = &session["models"][0];
    let levels: Vec<&str> =
        model["effortLevels"].as_array().context("no levels")?.iter().filter_map(Value::as_str).collect();
    ensure!(levels.len() > 1, "only {levels:?}");
    for level in levels {
        relay.send(&Command::SetEffort { effort: Some(level.to_owned()) }).await?;
        let after = request_of(&world, &mut relay, &format!("SAY {level}")).await?;
        ensure!(after["output_config"]["effort"] == level, "{level}: {}", after["output_config"]);
        ensure!(relay.session()?["effort"] == level, "{level}: {}", relay.session()?["effort"]);
    }
    relay.send(&Command::SetEffort { effort: None }).await?;
    let own = request_of(&world, &mut relay, "SAY own").await?;
    ensure!(own["output_config"] == before["output_config"], "{}", own["output_config"]);
    ensure!(relay.session()?["pid"] == session["pid"], "the effort cost a new process");
    relay.close().await
}

pub async fn an_effort_that_does_not_exist_is_refused() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY hello").await?;
    let before = relay.session()?["effort"].clone();
    relay.send(&Command::SetEffort { effort: Some("heroic".to_owned()) }).await?;
    let failed = relay.event("commandFailed").await?;
    ensure!(failed["error"]["code"] == "badCommand", "{failed}");
    ensure!(relay.session()?["effort"] == before, "{}", relay.session()?["effort"]);
    relay.close().await
}

/// Of the models of 2.1.329 only earlier ones can be used without thinking.
pub async fn thinking_is_switched_off_and_on_where_the_model_can() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &["--model=claude-sonnet-4-5"])?;
    let before = request_of(&world, &mut relay, "SAY before").await?;
    ensure!(before["thinking"]["type"] == "enabled", "{}", before["thinking"]);
    relay.send(&Command::SetThinking { on: false }).await?;
    let off = request_of(&world, &mut relay, "SAY off").await?;
    ensure!(off["thinking"]["type"] == "disabled", "{}", off["thinking"]);
    ensure!(relay.session()?["thinking"] == false);
    relay.send(&Command::SetThinking { on: true }).await?;
    let on = request_of(&world, &mut relay, "SAY on").await?;
    ensure!(on["thinking"] == before["thinking"], "{}", on["thinking"]);
    relay.close().await
}

pub async fn a_model_that_always_thinks_is_not_told_to_stop() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    let before = request_of(&world, &mut relay, "SAY before").await?;
    ensure!(relay.session()?["models"][0]["canStopThinking"] == false);
    relay.send(&Command::SetThinking { on: false }).await?;
    relay.event("commandFailed").await?;
    let after = request_of(&world, &mut relay, "SAY after").await?;
    ensure!(after["thinking"] == before["thinking"], "{}", after["thinking"]);
    ensure!(relay.session()?["thinking"] == true);
    relay.close().await
}

/// With no turn between the change and the prompt: the next request carries the requested settings.
pub async fn a_prompt_right_after_a_change_carries_it() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY before").await?;
    for (nr, level) in ["low", "xhigh", "medium", "max", "high", "low", "max", "xhigh"].iter().enumerate() {
        let model = if nr % 2 == 0 { "sonnet" } else { "opus" };
        relay.send(&Command::SetModel { model: model.to_owned() }).await?;
        relay.send(&Command::SetEffort { effort: Some((*level).to_owned()) }).await?;
        let request = request_of(&world, &mut relay, &format!("SAY {nr}")).await?;
        ensure!(request["output_config"]["effort"] == *level, "{level}: {}", request["output_config"]);
        ensure!(request["model"].as_str().is_some_and(|name| name.contains(model)), "{}", request["model"]);
    }
    // A mode has no field in the request: it shows in whether the write needs permission.
    for nr in 0..4 {
        relay.send(&Command::SetMode { mode: PermissionMode::AcceptEdits }).await?;
        let file = world.file(&format!("{nr}.txt"));
        relay.turn(&format!("WRITE {} unasked\nSAY written", file.display())).await?;
        ensure!(file.exists(), "the mode came too late");
        relay.send(&Command::SetMode { mode: PermissionMode::Default }).await?;
        relay.prompt(&format!("WRITE {} asked\nSAY written", file.display())).await?;
        let asked = relay.request().await?;
        let decision = Decision::Deny { message: "no".to_owned(), interrupt: false };
        relay.decide(&asked, decision).await?;
        relay.turn_end().await?;
    }
    relay.close().await
}
