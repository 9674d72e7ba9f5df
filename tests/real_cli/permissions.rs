//! Permission requests under the engine: asked, answered, and their effects.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use deskbell_engine::api::{Command, Decision, InputChange, Outcome};
use deskbell_tests::real_cli::World;
use deskbell_tests::relay::{DEADLINE, Relay, outcome};
use serde_json::{Value, json};

fn allow_once() -> Decision {
    Decision::AllowOnce { updated_input: None }
}

fn deny(message: &str) -> Decision {
    Decision::Deny { message: message.to_owned(), interrupt: false }
}

pub async fn an_allowed_write_is_on_disk() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    let file = world.file("a.txt");
    relay.prompt(&format!("WRITE {} hello file\nSAY written", file.display())).await?;
    let asked = relay.request().await?;
    ensure!(asked["request"]["tool"] == "Write" && asked["request"]["kind"]["type"] == "edit", "{asked}");
    let input: Value = serde_json::from_str(asked["request"]["inputText"].as_str().context("an input")?)?;
    ensure!(input["content"] == "hello file", "{asked}");
    ensure!(!file.exists(), "it was written before it was allowed");
    relay.decide(&asked, allow_once()).await?;
    let resolved = relay.event("permissionResolved").await?;
    ensure!(resolved["resolution"] == json!({"type": "allowed", "always": null}), "{resolved}");
    relay.turn_end().await?;
    ensure!(fs::read_to_string(&file)? == "hello file");
    relay.close().await
}

pub async fn what_was_edited_in_the_request_is_what_runs() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.prompt("BASH touch original.txt\nSAY done").await?;
    let asked = relay.request().await?;
    let change = InputChange::Field { name: "command".into(), text: "touch edited.txt".into() };
    relay.decide(&asked, Decision::AllowOnce { updated_input: Some(change) }).await?;
    relay.turn_end().await?;
    ensure!(world.file("edited.txt").exists() && !world.file("original.txt").exists());
    let items = relay.items();
    let call = items.iter().find(|item| item["body"]["type"] == "toolCall").context("no tool call")?;
    ensure!(call["body"]["verb"] == "Ran" && call["body"]["subject"] == "touch edited.txt", "{call}");
    ensure!(call["body"]["originalInput"] == "touch original.txt", "{call}");
    relay.close().await
}

pub async fn a_denied_command_does_not_run_and_the_model_hears_why() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.prompt("BASH touch b.txt\nHEARD").await?;
    let asked = relay.request().await?;
    ensure!(asked["request"]["subject"] == "touch b.txt", "{asked}");
    relay.decide(&asked, deny("not on a Friday")).await?;
    let resolved = relay.event("permissionResolved").await?;
    ensure!(resolved["resolution"] == json!({"type": "denied", "message": "not on a Friday"}), "{resolved}");
    let turn = relay.turn_end().await?;
    ensure!(outcome(&turn)? == Outcome::Done, "the turn goes on after a denial: {turn}");
    let answer = relay.answers().pop().context("no answer")?;
    ensure!(answer.contains("not on a Friday"), "the model heard {answer:?}");
    ensure!(!world.file("b.txt").exists(), "the denied command ran");
    let items = relay.items();
    let call = items.iter().find(|item| item["body"]["type"] == "toolCall").context("no tool call")?;
    ensure!(call["body"]["verb"] == "Did not run" && call["body"]["state"] == "denied", "{call}");
    relay.close().await
}

pub async fn a_denial_can_end_the_turn() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.prompt("BASH touch b.txt\nSAY not reached").await?;
    let asked = relay.request().await?;
    relay.decide(&asked, Decision::Deny { message: "stop".to_owned(), interrupt: true }).await?;
    let turn = relay.turn_end().await?;
    ensure!(outcome(&turn)? == Outcome::Interrupted, "{turn}");
    relay.turn("SAY still here").await?;
    ensure!(relay.answers() == ["still here"], "{:?}", relay.answers());
    relay.close().await
}

pub async fn an_allowed_rule_is_not_asked_again() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.prompt("BASH touch one.txt\nBASH touch one.txt\nBASH touch two.txt\nSAY done").await?;
    let asked = relay.request().await?;
    let suggestions = asked["request"]["suggestions"].as_array().context("no suggestions")?;
    let rule = suggestions.iter().find(|suggestion| suggestion["raw"]["type"] == "addRules");
    let rule = rule.with_context(|| format!("no rule among {suggestions:?}"))?;
    relay.decide(&asked, Decision::AllowAlways { suggestion: rule["id"].clone() }).await?;
    let resolved = relay.event("permissionResolved").await?;
    let always = resolved["resolution"]["always"].as_str().context("no rule was applied")?;
    ensure!(rule["rule"].as_str().is_some_and(|rule| always.contains(rule)), "{always}");

    // If the same command needed permission again, that would be the next request. No other suggestion was applied,
    // so the other command needs it.
    let next = relay.request().await?;
    ensure!(next["request"]["subject"] == "touch two.txt", "{next}");
    relay.decide(&next, deny("no")).await?;
    relay.turn_end().await?;
    ensure!(world.file("one.txt").exists() && !world.file("two.txt").exists());
    relay.close().await
}

pub async fn a_second_answer_is_refused() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.prompt("BASH touch b.txt\nSAY done").await?;
    let asked = relay.request().await?;
    relay.decide(&asked, deny("no")).await?;
    relay.decide(&asked, allow_once()).await?;
    let failed = relay.event("commandFailed").await?;
    ensure!(failed["error"]["code"] == "noSuchRequest", "{failed}");
    ensure!(!world.file("b.txt").exists(), "the second answer counted");
    relay.close().await
}

pub async fn an_interrupt_withdraws_the_request() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.prompt("BASH touch b.txt\nSAY not reached").await?;
    let asked = relay.request().await?;
    relay.send(&Command::Interrupt).await?;
    let resolved = relay.event("permissionResolved").await?;
    ensure!(resolved["requestId"] == asked["request"]["id"], "{resolved}");
    ensure!(resolved["resolution"]["type"] == "withdrawn", "{resolved}");
    let turn = relay.turn_end().await?;
    ensure!(outcome(&turn)? == Outcome::Interrupted, "{turn}");
    ensure!(relay.session()?["requests"] == json!([]), "{}", relay.session()?["requests"]);
    ensure!(!world.file("b.txt").exists());
    relay.close().await
}

pub async fn requests_in_one_reply_are_all_answered() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    let call = |name: &str| json!({"name": "Bash", "input": {"command": format!("touch {name}")}});
    relay.prompt(&format!("TOOLS {}\nSAY done", json!([call("a.txt"), call("b.txt")]))).await?;
    for _ in 0..2 {
        let asked = relay.request().await?;
        relay.decide(&asked, allow_once()).await?;
    }
    relay.turn_end().await?;
    ensure!(world.file("a.txt").exists() && world.file("b.txt").exists());
    relay.close().await
}

pub async fn a_request_of_a_subagent_names_it() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    let input = json!({
        "description": "Explore the parser",
        "prompt": "TOOL Bash {\"command\":\"touch inside.txt\"}\nSAY Explored.",
        "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    relay
        .prompt(&format!("TOOL Agent {input}\nTOOL Bash {{\"command\":\"touch after.txt\"}}\nSAY done"))
        .await?;
    let asked = relay.request().await?;
    let subagent = &asked["request"]["subagent"];
    ensure!(subagent["words"] == "Asked by the subagent “Explore the parser”", "{asked}");
    let call = &subagent["itemId"];
    let is_call = |item: &Value| item["id"] == *call && item["body"]["tool"] == "Agent";
    ensure!(relay.items().iter().any(is_call), "{call} is not its call");
    relay.decide(&asked, allow_once()).await?;
    let asked = relay.request().await?;
    ensure!(asked["request"]["subject"] == "touch after.txt", "{asked}");
    ensure!(asked["request"]["subagent"].is_null(), "the agent itself asks: {asked}");
    relay.decide(&asked, allow_once()).await?;
    relay.turn_end().await?;
    ensure!(world.file("inside.txt").exists() && world.file("after.txt").exists());
    relay.close().await
}

pub async fn the_models_question_is_answered() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.prompt("QUESTION Which colour? | Red | Green\nHEARD").await?;
    let asked = relay.request().await?;
    let kind = &asked["request"]["kind"];
    ensure!(kind["type"] == "questions" && kind["questions"][0]["text"] == "Which colour?", "{asked}");
    let labels: Vec<&Value> = kind["questions"][0]["options"]
        .as_array()
        .context("no options")?
        .iter()
        .map(|o| &o["label"])
        .collect();
    ensure!(labels == ["Red", "Green"], "{labels:?}");
    let answers = BTreeMap::from([("Which colour?".to_owned(), "Green".to_owned())]);
    relay.decide(&asked, Decision::Answer { answers }).await?;
    relay.turn_end().await?;
    let answer = relay.answers().pop().context("no answer")?;
    ensure!(answer.contains("Green"), "the model heard {answer:?}");
    relay.close().await
}

pub async fn a_plan_is_approved() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &["--mode=plan"])?;
    relay.prompt("PLAN\nHEARD").await?;
    let asked = relay.request().await?;
    ensure!(asked["request"]["kind"]["type"] == "plan", "{asked}");
    relay.decide(&asked, allow_once()).await?;
    relay.turn_end().await?;
    let is_default = |event: &Value| event["session"]["mode"] == "default";
    if !is_default(&json!({"session": relay.session()?})) {
        relay.next_event("the default mode", DEADLINE, is_default).await?;
    }
    relay.close().await
}
