//! Permission rules that the user removes from a file while the agent runs: it asks from the next call on.

use std::fs;

use anyhow::{Context, Result, ensure};
use deskbell_claude::request::rules_kept_locally;
use deskbell_engine::api::{Command, Decision, RuleEffect, RuleOrigin, RulePlace, TrustDecision};
use deskbell_engine::rule_files::{RuleFiles, RuleRemoval};
use deskbell_engine::trust::{TrustState, TrustStore};
use deskbell_tests::real_cli::World;
use deskbell_tests::relay::{DEADLINE, Relay, program_without_windows};
use deskbell_tests::wait::{LONG, eventually};
use serde_json::{Value, json};

const RULE: &str = "Bash(touch *)";

fn store(world: &World) -> Result<TrustStore> {
    Ok(TrustStore::open(world.home.join(".local/share/deskbell/trust"))?)
}

fn files(world: &World) -> Result<RuleFiles> {
    Ok(RuleFiles::new(&world.project, &world.config, store(world)?)?)
}

fn trust(world: &World) -> Result<()> {
    let store = store(world)?;
    let shown = store.view(&world.project)?.fingerprint;
    Ok(store.decide(&world.project, TrustDecision::Trust, shown.as_deref())?)
}

/// A world whose settings of this origin allow the rule, and forbid another command.
async fn world(origin: RuleOrigin) -> Result<(World, RulePlace)> {
    let world = World::new().await?;
    fs::create_dir_all(world.file(".claude"))?;
    let path = match origin {
        RuleOrigin::Local => world.file(".claude/settings.local.json"),
        RuleOrigin::Project => world.file(".claude/settings.json"),
        _ => world.config.join("settings.json"),
    };
    let rules = json!({"permissions": {"allow": ["Bash(mkdir *)", RULE], "deny": ["Bash(rm *)"]}});
    fs::write(&path, serde_json::to_string_pretty(&rules)?)?;
    trust(&world)?;
    let place =
        RulePlace { path: path.display().to_string(), effect: RuleEffect::Allow, rule: RULE.to_owned() };
    Ok((world, place))
}

async fn suspend(relay: &mut Relay, removal: &RuleRemoval, suspended: bool) -> Result<()> {
    relay.send(&Command::SuspendRules { rules: removal.forms.clone(), suspended }).await
}

/// A turn with one command. Returns whether it was asked about.
async fn asks(relay: &mut Relay, command: &str) -> Result<bool> {
    relay.prompt(&format!("BASH {command}\nSAY done")).await?;
    ended(relay).await
}

/// Denies all requests until the turn has ended. Returns whether there was one.
async fn ended(relay: &mut Relay) -> Result<bool> {
    let mut is_asked = false;
    loop {
        let is_next = |event: &Value| event["type"] == "turnEnded" || event["type"] == "permissionRequested";
        let event = relay.next_event("the end of the turn", DEADLINE, is_next).await?;
        if event["type"] == "turnEnded" {
            return Ok(is_asked);
        }
        is_asked = true;
        relay.decide(&event, Decision::Deny { message: "no".to_owned(), interrupt: false }).await?;
    }
}

pub async fn a_removed_rule_is_asked_about_from_the_next_call() -> Result<()> {
    for origin in [RuleOrigin::Local, RuleOrigin::Project, RuleOrigin::User] {
        removed(origin).await.with_context(|| format!("{origin:?}"))?;
    }
    Ok(())
}

async fn removed(origin: RuleOrigin) -> Result<()> {
    let (world, place) = world(origin).await?;
    let before = fs::read(&place.path)?;
    let mut relay = Relay::spawn(&world, &[])?;
    ensure!(!asks(&mut relay, "touch one").await?, "the rule does not allow");
    ensure!(world.file("one").exists());

    // Also within the running turn.
    relay.prompt("BASH touch two\nGATE removed\nBASH touch three\nSAY done").await?;
    world.api.wait_for_prompt("BASH touch two\nGATE removed\nBASH touch three\nSAY done", DEADLINE).await?;
    let removal = files(&world)?.remove(&place)?;
    suspend(&mut relay, &removal, true).await?;
    relay.send(&Command::ListRules).await?;
    let lists = |session: &Value| session["rules"]["rules"].as_array().is_some_and(|rules| !rules.is_empty());
    relay.session_where("the rules", lists).await?;
    world.api.open("removed");
    ensure!(ended(&mut relay).await?, "the call after the removal was not asked about");
    ensure!(!world.file("three").exists());
    ensure!(!asks(&mut relay, "mkdir other").await?, "another rule was removed as well");
    ensure!(!asks(&mut relay, "rm one").await? && world.file("one").exists(), "the rule that denies is gone");

    // The next process reads the files. The folder is trusted with them.
    ensure!(store(&world)?.state(&world.project)? == TrustState::Trusted);
    relay.send(&Command::Stop).await?;
    relay.session_where("a stopped agent", |session| session["alive"] == false).await?;
    ensure!(asks(&mut relay, "touch four").await?, "the next process allows it");
    ensure!(relay.session()?["restricted"] == false, "the folder is restricted");

    files(&world)?.restore(&removal)?;
    ensure!(fs::read(&place.path)? == before, "the file is not what it was");
    ensure!(store(&world)?.state(&world.project)? == TrustState::Trusted);
    relay.send(&Command::Stop).await?;
    relay.session_where("a stopped agent", |session| session["alive"] == false).await?;
    ensure!(!asks(&mut relay, "touch five").await?, "the rule was not put back");

    // The undo within one process.
    suspend(&mut relay, &removal, true).await?;
    ensure!(asks(&mut relay, "touch six").await?);
    suspend(&mut relay, &removal, false).await?;
    ensure!(!asks(&mut relay, "touch seven").await?, "the undo is not in effect");
    relay.close().await
}

pub async fn a_rule_of_the_session_is_taken_back() -> Result<()> {
    let world = World::new().await?;
    trust(&world)?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.prompt("BASH touch one\nSAY done").await?;
    let asked = relay.request().await?;
    let suggestion = suggested(&asked)?;
    let content = suggestion["rules"][0]["ruleContent"].as_str().context("it is about a command")?.to_owned();
    relay.decide(&asked, Decision::AllowAlways { suggestion }).await?;
    relay.turn_end().await?;
    let command = content.replace('*', "two");
    ensure!(!asks(&mut relay, &command).await?, "the session has no rule");
    let rules = vec![format!("Bash({content})")];
    relay.send(&Command::SuspendRules { rules: rules.clone(), suspended: true }).await?;
    ensure!(asks(&mut relay, &command).await?, "the rule was not taken back");
    relay.send(&Command::SuspendRules { rules: rules.clone(), suspended: false }).await?;
    ensure!(!asks(&mut relay, &command).await?, "the rule was not given again");

    // Where a rule asks, the agent suggests none (2.1.197 and 2.1.332).
    relay.send(&Command::SuspendRules { rules, suspended: true }).await?;
    relay.prompt(&format!("BASH {command}\nSAY done")).await?;
    let asked = relay.request().await?;
    ensure!(suggested(&asked).is_err(), "it suggests a rule: {asked}");
    relay.decide(&asked, Decision::Deny { message: "no".to_owned(), interrupt: false }).await?;
    relay.turn_end().await?;
    relay.close().await
}

/// The first rule that a request suggests.
fn suggested(asked: &Value) -> Result<Value> {
    let raw = asked["request"]["suggestions"].as_array().context("it has suggestions")?;
    let is_rule = |one: &&Value| one["raw"]["type"] == "addRules";
    Ok(raw.iter().find(is_rule).with_context(|| format!("it suggests no rule: {asked}"))?["raw"].clone())
}

pub async fn a_rule_that_an_answer_saved_is_found_and_its_undo_removes_exactly_that() -> Result<()> {
    for folder in ["", "part"] {
        saved_below(folder).await.with_context(|| format!("in the folder “{folder}” of a repository"))?;
    }
    Ok(())
}

/// 2.1.332 saves the rules of a folder in a repository at its root, and 2.1.197 in the folder.
async fn saved_below(folder: &str) -> Result<()> {
    let mut world = World::new().await?;
    fs::create_dir_all(world.file(".git"))?;
    world.project = world.file(folder).components().collect();
    fs::create_dir_all(&world.project)?;
    trust(&world)?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.prompt("BASH touch one\nSAY done").await?;
    let asked = relay.request().await?;
    let all = asked["request"]["suggestions"].as_array().context("it has suggestions")?;
    let rules = |one: &Value| rules_kept_locally(&one["raw"]);
    let suggestion = all.iter().find(|one| !rules(one).is_empty()).context("none is saved here")?;
    let wanted = rules(suggestion);
    let files = files(&world)?;
    ensure!(files.saved(&wanted).is_none(), "it is there before the answer");
    relay.decide(&asked, Decision::AllowAlways { suggestion: suggestion["raw"].clone() }).await?;
    let places = eventually("the saved rule", LONG, async || Ok(files.saved(&wanted))).await?;
    relay.turn_end().await?;
    let command = wanted[0].trim_start_matches("Bash(").trim_end_matches(')').replace('*', "two");
    ensure!(!asks(&mut relay, &command).await?, "{command} is asked about although {wanted:?} was saved");
    for place in &places {
        let removal = files.remove(place)?;
        suspend(&mut relay, &removal, true).await?;
    }
    ensure!(files.saved(&wanted).is_none(), "it is still in a file");
    ensure!(asks(&mut relay, &command).await?, "the undo is not in effect");
    relay.close().await
}

pub async fn the_commands_list_and_remove_rules() -> Result<()> {
    let (world, place) = world(RuleOrigin::Local).await?;
    let run = async |arguments: &[&str]| -> Result<String> {
        let mut command = world.command(&program_without_windows()?);
        let output = command.arg("rules").args(arguments).output().await?;
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.success(), "{error}");
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let listed: Value = serde_json::from_str(&run(&["--json"]).await?)?;
    ensure!(listed["folder"] == "inEffect" && listed["files"][0]["rules"][2]["rule"] == RULE, "{listed}");
    let removed = run(&["remove", RULE, "--from=local"]).await?;
    ensure!(removed.contains(&place.path) && removed.contains("Running agents keep it"), "{removed}");
    ensure!(!run(&[]).await?.contains(RULE) && !fs::read_to_string(&place.path)?.contains(RULE));
    let again = run(&["remove", RULE]).await.err().context("it was removed twice")?.to_string();
    ensure!(again.contains("no file has the rule"), "{again}");
    ensure!(store(&world)?.state(&world.project)? == TrustState::Trusted);
    let mut relay = Relay::spawn(&world, &[])?;
    ensure!(asks(&mut relay, "touch one").await?);
    relay.close().await
}
