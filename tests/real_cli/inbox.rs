//! Messages between the user's sessions: none leaves a restricted folder, and none arrives in a session of Deskbell.
//!
//! The canary is a CLI that Deskbell did not start, and that accepts messages.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use deskbell_engine::api::Decision;
use deskbell_tests::real_cli::{CliChild, World};
use deskbell_tests::relay::{self, Relay};
use deskbell_tests::wait::{LONG, eventually};
use serde_json::{Value, json};

/// The prompt that writes to another session.
fn message_to(name: &str) -> String {
    let message = json!({"to": name, "message": "the canary sings", "summary": "sing"});
    format!("TOOL SendMessage {message}\nSAY sent")
}

/// Did the model of any session get a message of another one? The first words are those with which the CLI passes it on.
fn is_passed_on(world: &World) -> bool {
    world.api.messages().iter().any(|request| {
        let body = request.body.to_string();
        body.contains("Another Claude session sent a message") && body.contains("the canary sings")
    })
}

/// The name of the session with this process in the CLI's list of live sessions.
async fn name_of(world: &World, is_it: impl Fn(&Value) -> bool) -> Result<String> {
    let folder = world.config.join("sessions");
    eventually("the name of a session", LONG, async || {
        let Ok(entries) = fs::read_dir(&folder) else { return Ok(None) };
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "json")
                && let Ok(session) = serde_json::from_str::<Value>(&fs::read_to_string(&path)?)
                && is_it(&session)
                && let Some(name) = session["name"].as_str()
            {
                return Ok(Some(name.to_owned()));
            }
        }
        Ok(None)
    })
    .await
}

async fn canary(world: &World) -> Result<(CliChild, String)> {
    let mut canary = CliChild::spawn(world, &[])?;
    canary.prompt("SAY ready").await?;
    canary.result().await?;
    let pid = canary.pid().context("it runs")?;
    let name = name_of(world, |session| session["pid"] == pid).await?;
    Ok((canary, name))
}

/// Accepts what other sessions send, as a user and as a folder.
fn accept(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("settings.json"), json!({"crossSessionInbound": "accept"}).to_string())?;
    Ok(())
}

pub async fn a_restricted_session_neither_lists_nor_messages_others() -> Result<()> {
    let world = World::new().await?;
    let (mut canary, name) = canary(&world).await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn("TOOL ListAgents {}\nSAY listed").await?;
    relay.turn(&message_to(&name)).await?;
    let said: String = world.api.messages().iter().filter_map(|request| request.tool_result()).collect();
    ensure!(said.contains("No such tool available: ListAgents"), "{said}");
    ensure!(said.contains("No such tool available: SendMessage"), "{said}");
    relay.close().await?;

    // A session that nothing restricts writes to it, and no permission is requested.
    let mut other = CliChild::spawn(&world, &[])?;
    other.prompt(&message_to(&name)).await?;
    canary.result().await?;
    let n_turns = canary.heard.iter().filter(|line| line["subtype"] == "init").count();
    ensure!(n_turns == 2, "the canary had {n_turns} turns: {:?}", canary.heard);
    ensure!(is_passed_on(&world), "the message of another session did not arrive");
    other.close().await?;
    canary.close().await.map(drop)
}

/// The session of the options receives messages.
fn receiving(world: &World) -> Result<String> {
    let path = world.home.join("options.json");
    fs::write(&path, json!({"receivesMessages": true}).to_string())?;
    Ok(format!("--options={}", path.display()))
}

pub async fn a_message_of_another_session_is_shown_with_its_sender() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &["--trust", &receiving(&world)?])?;
    relay.turn("SAY ready").await?;
    let name = name_of(&world, |_| true).await?;
    let mut sender = CliChild::spawn(&world, &[])?;
    sender.prompt("SAY ready").await?;
    sender.result().await?;
    let pid = sender.pid().context("it runs")?;
    let sender_name = name_of(&world, |session| session["pid"] == pid).await?;
    sender.prompt(&message_to(&name)).await?;
    let turn = relay.turn_end().await?;
    ensure!(turn["promptIds"] == json!([]), "no prompt began it: {turn}");
    let items = relay.items();
    let message = items.iter().find(|item| item["body"]["type"] == "message").context("no message")?;
    let body = &message["body"];
    ensure!(body["text"] == "the canary sings", "{body}");
    ensure!(body["sender"]["name"] == sender_name, "{body}");
    ensure!(body["sender"]["agentSessionId"].is_string(), "{body}");
    // It is the head of its turn: the reply is below it, and the end of the turn before is above.
    let kinds: Vec<&str> = items.iter().filter_map(|item| item["body"]["type"].as_str()).collect();
    let at = kinds.iter().position(|kind| *kind == "message").context("it is there")?;
    ensure!(kinds[at - 1] == "turnEnd" && kinds[at + 1] == "text", "{kinds:?}");
    ensure!(is_passed_on(&world), "the model did not get it");
    sender.close().await?;
    relay.close().await?;

    // It is the same in the stored conversation.
    let id = session_id(&world)?;
    let mut export = world.command(&relay::app()?);
    let exported = export.args(["sessions", "export", &id, "--format=md"]).output().await?;
    let exported = String::from_utf8(exported.stdout)?;
    ensure!(exported.contains(&format!("Message of the session “{sender_name}”")), "{exported}");
    ensure!(exported.contains("> the canary sings"), "{exported}");
    Ok(())
}

/// The conversation of the relay: the only one whose model got a message.
fn session_id(world: &World) -> Result<String> {
    let folder = fs::read_dir(world.config.join("projects"))?.next().context("no project")??.path();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if fs::read_to_string(&path).is_ok_and(|text| text.contains("\"turnOrigin\":\"peer\"")) {
            return Ok(path.file_stem().context("a name")?.to_string_lossy().into_owned());
        }
    }
    anyhow::bail!("no conversation has the message")
}

pub async fn a_held_message_is_let_in_or_refused() -> Result<()> {
    // Without it the CLI does not let root act without asking.
    let world = World::new().await?.with_env("IS_SANDBOX", "1");
    let mut relay = Relay::spawn(&world, &["--trust", &receiving(&world)?])?;
    relay.turn("SAY ready").await?;
    let name = name_of(&world, |_| true).await?;
    // A sender that acts without asking is of another kind than the session.
    let mut sender = CliChild::spawn(&world, &["--dangerously-skip-permissions"])?;
    for (decision, n_messages) in [
        (Decision::Deny { message: String::new(), interrupt: false }, 0),
        (Decision::AllowOnce { updated_input: None }, 1),
    ] {
        sender.prompt(&message_to(&name)).await?;
        let asked = relay.request().await?;
        ensure!(asked["request"]["subject"] == "the canary sings", "{asked}");
        ensure!(!is_passed_on(&world), "it arrived before it was let in");
        relay.decide(&asked, decision).await?;
        // The CLI would add the next prompt to a turn that goes on.
        sender.result().await?;
        if n_messages == 1 {
            relay.turn_end().await?;
        }
        let n_shown = relay.items().iter().filter(|item| item["body"]["type"] == "message").count();
        ensure!(n_shown == n_messages, "{n_shown} messages");
    }
    sender.close().await?;
    relay.close().await
}

pub async fn no_session_receives_a_message() -> Result<()> {
    for arguments in [&[][..], &["--trust"]] {
        let world = World::new().await?;
        accept(&world.config)?;
        accept(&world.project.join(".claude"))?;
        let mut relay = Relay::spawn(&world, arguments)?;
        relay.turn("SAY ready").await?;
        let name = name_of(&world, |_| true).await?;
        let mut sender = CliChild::spawn(&world, &[])?;
        sender.prompt(&message_to(&name)).await?;
        let is_refusal =
            |line: &Value| line["content"].as_str().is_some_and(|text| text.contains("message refused"));
        sender.next("the refusal", is_refusal).await?;
        relay.turn("SAY still here").await?;
        let turns = relay.events().iter().filter(|event| event["type"] == "turnEnded").count();
        ensure!(turns == 2, "{arguments:?}: {turns} turns");
        ensure!(!is_passed_on(&world), "{arguments:?}: the message arrived");
        sender.close().await?;
        relay.close().await?;
    }
    Ok(())
}
