//! Permission requests of the real CLI as the engine relies on them: the permission channel, its rules, and running
//! without asking.

use std::fs;

use anyhow::{Context, Result, ensure};
use deskbell_engine::api::{Command, Decision, PermissionMode};
use deskbell_tests::real_cli::{CliChild, World};
use deskbell_tests::relay::{DEADLINE, Relay};
use serde_json::{Value, json};

fn allow_once() -> Decision {
    Decision::AllowOnce { updated_input: None }
}

/// The user's own settings, which every session loads.
fn user_settings(world: &World, settings: &Value) -> Result<()> {
    Ok(fs::write(world.config.join("settings.json"), settings.to_string())?)
}

pub async fn an_agent_that_asks_is_not_accused() -> Result<()> {
    let world = World::new().await?;
    user_settings(&world, &json!({"permissions": {"allow": ["Bash(mkdir *)"]}}))?;
    let mut relay = Relay::spawn(&world, &[])?;
    let file = world.file("a.txt");
    // Harmless, allowed by a rule, and two that need a request.
    let prompt = format!("BASH ls\nBASH mkdir sub\nBASH touch b.txt\nWRITE {} x\nSAY done", file.display());
    relay.prompt(&prompt).await?;
    for tool in ["Bash", "Write"] {
        let asked = relay.request().await?;
        ensure!(asked["request"]["tool"] == tool, "{asked}");
        relay.decide(&asked, allow_once()).await?;
    }
    relay.turn_end().await?;
    ensure!(world.file("sub").is_dir() && world.file("b.txt").exists() && file.exists());
    ensure!(relay.session()?["missedPrompt"] == Value::Null, "{}", relay.session()?["missedPrompt"]);
    relay.send(&Command::SetMode { mode: PermissionMode::AcceptEdits }).await?;
    relay.turn(&format!("WRITE {} y\nBASH touch c.txt\nSAY done", world.file("d.txt").display())).await?;
    ensure!(world.file("d.txt").exists() && world.file("c.txt").exists());
    ensure!(relay.session()?["missedPrompt"] == Value::Null, "{}", relay.session()?["missedPrompt"]);
    relay.close().await
}

async fn rules(relay: &mut Relay) -> Result<Value> {
    relay.send(&Command::ListRules).await?;
    let told = |event: &Value| event["type"] == "sessionChanged" && event["session"]["rules"].is_object();
    Ok(relay.next_event("the rules", DEADLINE, told).await?["session"]["rules"].clone())
}

pub async fn only_the_rules_that_count_are_listed() -> Result<()> {
    let world = World::new().await?;
    let allow = |rule: &str| json!({"permissions": {"allow": [rule]}}).to_string();
    user_settings(&world, &json!({"permissions": {"allow": ["Bash(mkdir *)"], "deny": ["Read(./secret)"]}}))?;
    fs::create_dir(world.file(".claude"))?;
    fs::write(world.file(".claude/settings.json"), allow("Bash(touch *)"))?;
    fs::write(world.file(".claude/settings.local.json"), allow("Bash(rmdir *)"))?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY hello").await?;
    let mine = json!([
        {"effect": "deny", "rule": "Read(./secret)", "origin": "user"},
        {"effect": "allow", "rule": "Bash(mkdir *)", "origin": "user"},
        {"effect": "deny", "rule": "ListAgents", "origin": "arguments"},
        {"effect": "deny", "rule": "SendMessage", "origin": "arguments"},
    ]);
    let found = rules(&mut relay).await?;
    if found["basis"] == "agent" {
        ensure!(
            found["rules"] == mine,
            "a restricted session has the user's rules and the two of Deskbell: {found}"
        );
    }
    // A command without a rule needs a request; the rule that the answer adds is listed afterwards.
    relay.prompt("BASH touch one.txt\nBASH touch one.txt\nSAY done").await?;
    let asked = relay.request().await?;
    let suggestions = asked["request"]["suggestions"].as_array().context("no suggestions")?;
    let rule = suggestions.iter().find(|suggestion| suggestion["raw"]["type"] == "addRules");
    let suggestion = rule.context("no rule is suggested")?["id"].clone();
    relay.decide(&asked, Decision::AllowAlways { suggestion }).await?;
    relay.turn_end().await?;
    let found = rules(&mut relay).await?;
    let given = json!({"effect": "allow", "rule": "Bash(touch one.txt)", "origin": "session"});
    ensure!(found["rules"].as_array().is_some_and(|rules| rules.contains(&given)), "{found}");
    relay.close().await
}

/// The CLI refuses to bypass permissions as root unless a variable says that it runs in a sandbox.
fn may_bypass(world: World) -> World {
    world.with_env("IS_SANDBOX", "1")
}

pub async fn settings_do_not_turn_asking_off() -> Result<()> {
    let world = may_bypass(World::new().await?);
    user_settings(&world, &json!({"permissions": {"defaultMode": "bypassPermissions"}}))?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.prompt("BASH touch a.txt\nSAY done").await?;
    let asked = relay.request().await?;
    ensure!(!world.file("a.txt").exists(), "it ran before it was allowed");
    relay.decide(&asked, allow_once()).await?;
    relay.turn_end().await?;
    ensure!(relay.session()?["mode"] == "default", "{}", relay.session()?["mode"]);
    relay.close().await
}

pub async fn no_switch_leads_to_running_without_asking() -> Result<()> {
    let world = may_bypass(World::new().await?);
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY hello").await?;
    relay.send_line(&json!({"type": "setMode", "mode": "bypassPermissions"})).await?;
    let failed = relay.event("commandFailed").await?;
    ensure!(failed["error"]["code"] == "badCommand", "{failed}");
    relay.prompt("BASH touch a.txt\nSAY done").await?;
    let asked = relay.request().await?;
    relay.decide(&asked, allow_once()).await?;
    relay.turn_end().await?;
    relay.close().await
}

/// The arguments of a session whose user chose to run without asking: the mode alone, and no other flag.
pub async fn the_mode_alone_runs_without_asking() -> Result<()> {
    let world = may_bypass(World::new().await?);
    let mut child = CliChild::spawn(&world, &["--permission-mode=bypassPermissions"])?;
    let reply = child.ask("req_1", json!({"subtype": "initialize"})).await?;
    // 2.1.197 does not report it.
    let mode = &reply["response"]["current_permission_mode"];
    ensure!(*mode == "bypassPermissions" || mode.is_null(), "{mode}");
    child.prompt("BASH touch a.txt\nSAY done").await?;
    child.result().await?;
    ensure!(world.file("a.txt").exists());
    ensure!(!child.heard.iter().any(|line| line["request"]["subtype"] == "can_use_tool"), "it asked");
    child.close().await.map(drop)
}

/// A conversation that began with requests continues without them, for one process; the next process asks again.
pub async fn the_mode_lasts_for_one_process_of_a_conversation() -> Result<()> {
    let world = may_bypass(World::new().await?);
    let mut child = CliChild::spawn(&world, &[])?;
    child.ask("req_1", json!({"subtype": "initialize"})).await?;
    child.prompt("SAY hello").await?;
    let begun = child.result().await?;
    let resume = format!("--resume={}", begun["session_id"].as_str().context("a session has an id")?);
    child.close().await?;

    let mut child = CliChild::spawn(&world, &[&resume, "--permission-mode=bypassPermissions"])?;
    child.ask("req_1", json!({"subtype": "initialize"})).await?;
    child.prompt("BASH touch a.txt\nSAY done").await?;
    let result = child.result().await?;
    ensure!(result["session_id"] == begun["session_id"], "it is another conversation: {result}");
    ensure!(world.file("a.txt").exists());
    ensure!(!child.heard.iter().any(|line| line["request"]["subtype"] == "can_use_tool"), "it asked");
    child.close().await?;

    let mut child = CliChild::spawn(&world, &[&resume])?;
    child.ask("req_1", json!({"subtype": "initialize"})).await?;
    child.prompt("BASH touch b.txt\nSAY done").await?;
    let asked = child
        .next("a request", |line| line["request"]["subtype"] == "can_use_tool")
        .await
        .context("it asks again")?;
    child.answer(&asked["request_id"], json!({"behavior": "deny", "message": "no"})).await?;
    child.result().await?;
    ensure!(!world.file("b.txt").exists(), "it ran before it was allowed");
    child.close().await.map(drop)
}
