//! Side questions to the real agent: during a turn, before one, cancelled, and failed.

use anyhow::{Context, Result, ensure};
use deskbell_engine::api::{Command, SidePurpose};
use deskbell_tests::real_cli::World;
use deskbell_tests::relay::{DEADLINE, Relay};
use serde_json::Value;

fn ask(id: &str, question: &str) -> Command {
    let (id, question) = (id.to_owned(), question.to_owned());
    Command::AskSide { id, question, purpose: SidePurpose::Reading }
}

/// Waits until a side question is over.
async fn outcome(relay: &mut Relay, id: &str) -> Result<Value> {
    let over = |session: &Value| {
        let all = session["sideQuestions"].as_array()?;
        let one = all.iter().find(|one| one["id"] == id)?;
        (one["outcome"]["type"] != "waiting").then(|| one["outcome"].clone())
    };
    let session = relay.session_where("an outcome", |session| over(session).is_some()).await?;
    over(&session).context("it was awaited")
}

pub async fn a_side_question_is_answered_during_a_turn_and_leaves_the_conversation_as_it_is() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("SAY the word is banana").await?;
    relay.prompt("GATE side\nSAY the end").await?;
    world.api.wait_for_prompt("GATE side\nSAY the end", DEADLINE).await?;
    relay.send(&ask("1", "SAY it is **42**")).await?;
    let answer = outcome(&mut relay, "1").await?;
    ensure!(answer["type"] == "answered" && answer["text"] == "it is **42**", "{answer}");
    ensure!(answer["blocks"].as_array().is_some_and(|blocks| blocks.len() == 1), "{answer}");
    relay.send(&ask("2", "SAY again")).await?;
    let answer = outcome(&mut relay, "2").await?;
    ensure!(answer["text"] == "again", "{answer}");
    let asked = world.api.messages().pop().context("no request")?.body.to_string();
    ensure!(asked.contains("banana"), "it does not know the conversation: {asked}");
    // 2.1.197 leaves the earlier questions out.
    ensure!(asked.contains("it is **42**") != relay.is_old_cli()?, "{asked}");
    world.api.open("side");
    relay.turn_end().await?;
    ensure!(relay.answers() == ["the word is banana", "the end"], "{:?}", relay.answers());
    ensure!(relay.notices().is_empty(), "{:?}", relay.notices());
    relay.turn("SAY after it").await?;
    let sent = world.api.messages().pop().context("no request")?.body.to_string();
    ensure!(!sent.contains("it is **42**"), "the model was told of the question");
    let id = relay.session()?["agentSessionId"].as_str().context("no id")?.to_owned();
    let stored = world.session_file(&id)?;
    ensure!(!stored.iter().any(|line| line.to_string().contains("it is **42**")), "it was stored");
    relay.close().await
}

/// The first one is asked before any turn.
pub async fn a_side_question_is_cancelled_and_one_that_fails_says_why() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.send(&ask("1", "SAY early")).await?;
    let answer = outcome(&mut relay, "1").await?;
    ensure!(answer["text"] == "early", "{answer}");
    relay.send(&ask("2", "FAIL 400 invalid_request_error | it is bad")).await?;
    let answer = outcome(&mut relay, "2").await?;
    let message = answer["message"].as_str().unwrap_or_default().to_lowercase();
    ensure!(answer["type"] == "failed" && message.starts_with("api error: 400"), "{answer}");
    relay.send(&ask("3", "HANG")).await?;
    world.api.wait_for_prompt("HANG", DEADLINE).await?;
    relay.send(&Command::CancelSide { id: "3".to_owned() }).await?;
    let answer = outcome(&mut relay, "3").await?;
    ensure!(answer["type"] == "cancelled", "{answer}");
    relay.turn("SAY still here").await?;
    ensure!(relay.answers() == ["still here"], "{:?}", relay.answers());
    relay.close().await
}
