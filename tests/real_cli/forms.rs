//! Forms that an MCP server asks the user to fill in, and dialogs of the CLI itself, through the real CLI.

use anyhow::{Result, ensure};
use deskbell_engine::api::{Decision, Outcome};
use deskbell_tests::real_cli::World;
use deskbell_tests::relay::{Relay, outcome};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A server whose tool asks the user before it answers: a line in, a line out. The tool's answer is what the server got.
const SERVER: &str = r#"while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"desk","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"book","description":"Books a desk","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*)
      printf '%s\n' '{"jsonrpc":"2.0","id":900,"method":"elicitation/create","params":PARAMS}'
      while read -r answer; do case "$answer" in *'"id":900'*) break ;; esac; done
      text=$(printf '%s' "$answer" | sed 's/\\/\\\\/g; s/"/\\"/g')
      result='{"content":[{"type":"text","text":"'$text'"}]}' ;;
    *) continue ;;
  esac
  [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

async fn world(params: &Value) -> Result<World> {
    let world = World::new().await?;
    let server = world.root().join("server.sh");
    std::fs::write(&server, SERVER.replace("PARAMS", &params.to_string()))?;
    let config = world.root().join("mcp.json");
    let servers = json!({"mcpServers": {"desk": {"command": "sh", "args": [server]}}});
    std::fs::write(&config, servers.to_string())?;
    world.with_arguments(&[&format!("--mcp-config={}", config.display())])
}

/// Lets the server's tool run, and returns its form.
async fn form(relay: &mut Relay) -> Result<Value> {
    relay.prompt("TOOL mcp__desk__book {}\nHEARD").await?;
    let asked = relay.request().await?;
    ensure!(asked["request"]["tool"] == "mcp__desk__book", "{asked}");
    relay.decide(&asked, Decision::AllowOnce { updated_input: None }).await?;
    relay.request().await
}

/// What the server got: the answer that the tool returned as its text.
fn received(relay: &Relay) -> Result<Value> {
    let answers = relay.answers();
    ensure!(answers.len() == 1, "{answers:?}");
    let answer: Value = serde_json::from_str(&answers[0])?;
    Ok(answer["result"].clone())
}

pub async fn a_servers_form_is_filled_in_and_checked() -> Result<()> {
    let schema = json!({"type": "object", "required": ["room"], "properties": {
        "when": {"type": "string", "format": "date", "title": "Day"},
        "room": {"type": "string", "title": "Room", "enum": ["north", "south"]},
        "seats": {"type": "integer", "minimum": 1, "maximum": 4, "default": 2},
        "window": {"type": "boolean"},
    }});
    let world = world(&json!({"message": "Which desk?", "requestedSchema": schema})).await?;
    let mut relay = Relay::spawn(&world, &[])?;
    let asked = form(&mut relay).await?;
    let request = &asked["request"];
    ensure!(request["question"] == "desk asks you to fill in a form", "{asked}");
    ensure!(request["kind"]["type"] == "form", "{asked}");
    let form = &request["kind"]["form"];
    ensure!((&form["server"], &form["message"]) == (&json!("desk"), &json!("Which desk?")), "{form}");
    let names: Vec<&str> =
        form["fields"].as_array().into_iter().flatten().filter_map(|field| field["name"].as_str()).collect();
    ensure!(names == ["when", "room", "seats", "window"], "{form}");

    let values = |values: Value| Decision::Fill {
        values: serde_json::from_value::<BTreeMap<String, Value>>(values).unwrap_or_default(),
    };
    for wrong in [
        json!({}),
        json!({"room": "west"}),
        json!({"room": "north", "seats": 9}),
        json!({"room": "north", "x": 1}),
    ] {
        relay.decide(&asked, values(wrong)).await?;
        ensure!(relay.event("commandFailed").await?["error"]["code"] == "badCommand");
    }
    for unfit in [
        Decision::AllowOnce { updated_input: None },
        Decision::Deny { message: String::new(), interrupt: true },
    ] {
        relay.decide(&asked, unfit).await?;
        ensure!(relay.event("commandFailed").await?["error"]["code"] == "badCommand");
    }
    relay
        .decide(&asked, values(json!({"room": "south", "seats": 3, "window": true, "when": "2026-11-30"})))
        .await?;
    relay.turn_end().await?;
    let content = json!({"when": "2026-11-30", "room": "south", "seats": 3, "window": true});
    let got = received(&relay)?;
    ensure!((&got["action"], &got["content"]) == (&json!("accept"), &content), "{got}");
    Ok(())
}

pub async fn a_servers_form_is_declined() -> Result<()> {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let world = world(&json!({"message": "Who?\u{202e}", "requestedSchema": schema})).await?;
    let mut relay = Relay::spawn(&world, &[])?;
    let asked = form(&mut relay).await?;
    ensure!(asked["request"]["kind"]["form"]["message"] == "Who?\\u{202E}", "{asked}");
    relay.decide(&asked, Decision::Deny { message: String::new(), interrupt: false }).await?;
    relay.turn_end().await?;
    ensure!(received(&relay)?["action"] == "decline", "{:?}", relay.answers());
    Ok(())
}

pub async fn a_servers_page_is_shown_and_agreed_to() -> Result<()> {
    let url = "https://pages.example/consent?for=desk";
    let world =
        world(&json!({"mode": "url", "elicitationId": "e1", "message": "Sign in.", "url": url})).await?;
    let mut relay = Relay::spawn(&world, &[])?;
    let asked = form(&mut relay).await?;
    let request = &asked["request"];
    ensure!(request["question"] == "desk asks you to open a page", "{asked}");
    ensure!((&request["subject"], &request["host"]) == (&json!(url), &json!("pages.example")), "{asked}");
    ensure!(request["kind"]["form"]["url"] == url, "{asked}");
    relay.decide(&asked, Decision::Fill { values: BTreeMap::new() }).await?;
    relay.turn_end().await?;
    ensure!(received(&relay)?["action"] == "accept", "{:?}", relay.answers());
    Ok(())
}

/// A model declines, and the user has the CLI ask before another one continues.
async fn declined(answer: Decision) -> Result<(World, Relay, Value)> {
    let world = World::new().await?;
    std::fs::write(world.config.join("settings.json"), json!({"switchModelsOnFlag": false}).to_string())?;
    let mut relay = Relay::spawn(&world, &["--model=claude-fable-5"])?;
    // The CLI tries once more by itself.
    relay.prompt("TIMES 2 REFUSE bio\nSAY from another").await?;
    let asked = relay.request().await?;
    let request = &asked["request"];
    ensure!(request["question"] == "The agent asks you to choose", "{asked}");
    let form = &request["kind"]["form"];
    ensure!(form["server"].is_null() && form["fields"][0]["name"] == "choice", "{form}");
    let message = form["message"].as_str().unwrap_or_default();
    ensure!(message.starts_with("claude-fable-5 declined") && message.contains("(bio)"), "{form}");
    let wrong = Decision::Fill { values: BTreeMap::from([("choice".to_owned(), json!("other"))]) };
    relay.decide(&asked, wrong).await?;
    ensure!(relay.event("commandFailed").await?["error"]["code"] == "badCommand");
    relay.decide(&asked, answer).await?;
    let turn = relay.turn_end().await?;
    Ok((world, relay, turn))
}

pub async fn a_dialog_of_the_agent_is_answered() -> Result<()> {
    let choose =
        |choice: &str| Decision::Fill { values: BTreeMap::from([("choice".to_owned(), json!(choice))]) };
    let (_world, relay, turn) = declined(choose("retry_fallback")).await?;
    ensure!(outcome(&turn)? == Outcome::Done, "{turn}");
    let texts = relay.answers();
    ensure!(texts.iter().any(|text| text.contains("from another")), "{texts:?}");
    let notices = relay.notices();
    ensure!(notices.iter().any(|notice| notice.contains("Switched to")), "{notices:?}");
    for answer in [choose("edit_prompt"), Decision::Deny { message: String::new(), interrupt: false }] {
        let (_world, relay, turn) = declined(answer).await?;
        ensure!(outcome(&turn)? != Outcome::Done, "{turn}");
        ensure!(!relay.answers().iter().any(|text| text.contains("another")));
    }
    Ok(())
}
