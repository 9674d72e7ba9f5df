//! Every kind of answer: each suggestion alone, each kind of question, each end of a plan.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use deskbell_engine::api::{Command, Decision, Outcome};
use deskbell_tests::mock_api::Request;
use deskbell_tests::real_cli::World;
use deskbell_tests::relay::{DEADLINE, Relay, outcome};
use serde_json::{Value, json};

fn deny(message: &str) -> Decision {
    Decision::Deny { message: message.to_owned(), interrupt: false }
}

/// Applies one suggestion to `touch one.txt`; returns which of the four following calls still need permission.
async fn asked_after(suggestion: &str) -> Result<Vec<String>> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    let file = world.file("a.txt");
    let calls =
        format!("BASH touch one.txt\nBASH touch one.txt\nBASH touch two.txt\nWRITE {} x", file.display());
    relay.prompt(&format!("{calls}\nBASH mkdir sub\nSAY done")).await?;
    let first = relay.request().await?;
    let suggestions = first["request"]["suggestions"].as_array().context("no suggestions")?;
    let chosen = suggestions.iter().find(|offered| offered["raw"]["type"] == suggestion);
    let chosen = chosen.with_context(|| format!("no {suggestion} among {suggestions:?}"))?["id"].clone();
    relay.decide(&first, Decision::AllowAlways { suggestion: chosen }).await?;
    let mut asked = Vec::new();
    loop {
        let next = |event: &Value| event["type"] == "permissionRequested" || event["type"] == "turnEnded";
        let event = relay.next_event("a request or the end of the turn", DEADLINE, next).await?;
        if event["type"] == "turnEnded" {
            break;
        }
        let request = &event["request"];
        let subject = request["subject"].as_str().unwrap_or_default();
        let is_file = subject == file.display().to_string();
        asked.push(if is_file { "write".to_owned() } else { subject.to_owned() });
        relay.decide(&event, Decision::AllowOnce { updated_input: None }).await?;
    }
    ensure!(world.file("one.txt").exists() && world.file("two.txt").exists() && file.exists());
    ensure!(relay.session()?["missedPrompt"] == Value::Null, "{}", relay.session()?["missedPrompt"]);
    relay.close().await?;
    Ok(asked)
}

pub async fn a_rule_alone_lets_its_own_command_through() -> Result<()> {
    let asked = asked_after("addRules").await?;
    ensure!(asked == ["touch two.txt", "write", "mkdir sub"], "{asked:?}");
    Ok(())
}

pub async fn a_folder_alone_lets_nothing_through() -> Result<()> {
    let asked = asked_after("addDirectories").await?;
    ensure!(asked == ["touch one.txt", "touch two.txt", "write", "mkdir sub"], "{asked:?}");
    Ok(())
}

pub async fn the_mode_alone_lets_edits_through() -> Result<()> {
    let asked = asked_after("setMode").await?;
    ensure!(asked.is_empty(), "{asked:?}");
    Ok(())
}

/// Two questions; the second accepts several answers.
fn questions() -> String {
    let option = |label: &str| json!({"label": label, "description": format!("It is {label}")});
    let input = json!({"questions": [
        {"question": "Which colour?", "header": "Colour", "multiSelect": false,
         "options": [option("Red"), option("Green")]},
        {"question": "Which sizes?", "header": "Sizes", "multiSelect": true,
         "options": [option("Small"), option("Large")]},
    ]});
    format!("TOOLS {}\nHEARD", json!([{"name": "AskUserQuestion", "input": input}]))
}

/// The model's tool result for an answer to both questions.
async fn heard(decision: Decision) -> Result<String> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.prompt(&questions()).await?;
    let asked = relay.request().await?;
    let kind = &asked["request"]["kind"];
    ensure!(kind["questions"][1]["multiSelect"] == true, "{kind}");
    relay.decide(&asked, decision).await?;
    let turn = relay.turn_end().await?;
    ensure!(outcome(&turn)? == Outcome::Done, "{turn}");
    let answer = relay.answers().pop().context("no answer")?;
    relay.close().await?;
    Ok(answer)
}

fn answers(colour: &str, sizes: &str) -> Decision {
    let answers = [("Which colour?", colour), ("Which sizes?", sizes)];
    Decision::Answer {
        answers: BTreeMap::from(answers.map(|(question, answer)| (question.to_owned(), answer.to_owned()))),
    }
}

pub async fn several_choices_reach_the_model() -> Result<()> {
    let heard = heard(answers("Red", "Small, Large")).await?;
    ensure!(heard.contains("Red") && heard.contains("Small, Large"), "{heard:?}");
    ensure!(!heard.contains("did not answer"), "{heard:?}");
    Ok(())
}

pub async fn words_instead_of_a_choice_reach_the_model() -> Result<()> {
    let heard = heard(answers("the colour of a duck", "Large")).await?;
    ensure!(heard.contains("the colour of a duck") && heard.contains("Large"), "{heard:?}");
    Ok(())
}

pub async fn a_skipped_question_is_told_to_the_model() -> Result<()> {
    let heard = heard(deny("The user skipped the question.")).await?;
    ensure!(heard.contains("The user skipped the question."), "{heard:?}");
    Ok(())
}

/// Shows a plan in plan mode, and answers it.
async fn planned(relay: &mut Relay, after: &str, decision: Decision) -> Result<()> {
    relay.prompt(&format!("PLAN\nHEARD\n{after}")).await?;
    let asked = relay.request().await?;
    ensure!(asked["request"]["kind"]["type"] == "plan", "{asked}");
    relay.decide(&asked, decision).await
}

pub async fn an_approved_plan_asks_for_each_edit() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &["--mode=plan"])?;
    planned(&mut relay, "", Decision::ApprovePlan { accept_edits: false }).await?;
    relay.turn_end().await?;
    let file = world.file("a.txt");
    relay.prompt(&format!("WRITE {} x\nSAY done", file.display())).await?;
    let asked = relay.request().await?;
    ensure!(asked["request"]["tool"] == "Write" && !file.exists(), "{asked}");
    relay.decide(&asked, deny("no")).await?;
    relay.turn_end().await?;
    ensure!(relay.session()?["mode"] == "default", "{}", relay.session()?["mode"]);
    relay.close().await
}

pub async fn an_approved_plan_with_edits_accepted_asks_for_none() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &["--mode=plan"])?;
    planned(&mut relay, "", Decision::ApprovePlan { accept_edits: true }).await?;
    relay.turn_end().await?;
    let file = world.file("a.txt");
    relay.turn(&format!("WRITE {} x\nSAY done", file.display())).await?;
    ensure!(file.exists());
    ensure!(relay.session()?["mode"] == "acceptEdits", "{}", relay.session()?["mode"]);
    relay.close().await
}

pub async fn a_plan_sent_back_stays_a_plan_and_the_comments_are_heard() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &["--mode=plan"])?;
    let comments = "Smaller steps\n\n> 2. Add the cases\n\nWhich cases?";
    planned(&mut relay, "", deny(comments)).await?;
    relay.turn_end().await?;
    let heard = world.api.messages().last().and_then(Request::tool_result).context("no result")?;
    ensure!(heard.contains(comments), "{heard:?}");
    ensure!(relay.session()?["mode"] == "plan", "{}", relay.session()?["mode"]);
    relay.close().await
}

pub async fn only_a_plan_can_be_approved() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.prompt("BASH touch a.txt\nSAY done").await?;
    let asked = relay.request().await?;
    relay.decide(&asked, Decision::ApprovePlan { accept_edits: true }).await?;
    let failed = relay.event("commandFailed").await?;
    ensure!(failed["error"]["code"] == "badCommand", "{failed}");
    ensure!(!world.file("a.txt").exists());
    relay.send(&Command::Interrupt).await?;
    relay.turn_end().await?;
    relay.close().await
}
