//! Tools that are shown in their own way, live and from the agent's own transcript.

use crate::attachments;
use anyhow::{Context, Result, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use deskbell_engine::api::Decision;
use deskbell_engine::history::{Additions, Kept, project_folder};
use deskbell_tests::real_cli::World;
use deskbell_tests::relay::Relay;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The body of the last call of this tool.
fn call(items: &[Value], tool: &str) -> Result<Value> {
    let mut calls = items.iter().map(|item| &item["body"]).rev();
    calls
        .find(|body| body["tool"] == tool)
        .cloned()
        .with_context(|| format!("no call of {tool} in {items:?}"))
}

/// The body of the last call of this tool, read from the agent's own transcript.
async fn stored(world: &World, relay: Relay, tool: &str) -> Result<Value> {
    let id = relay.session()?["agentSessionId"].as_str().context("no id")?.to_owned();
    relay.close().await?;
    let file = project_folder(&world.config, &world.project).join(format!("{id}.jsonl"));
    let transcript = Kept::load(&file)?.transcript(&world.project, &Additions::default());
    let items: Vec<Value> = transcript.items().map(serde_json::to_value).collect::<Result<_, _>>()?;
    call(&items, tool)
}

pub async fn an_answered_question_shows_its_answers_live_and_stored() -> Result<()> {
    let world = World::new().await?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.prompt("QUESTION Which colour? | Red | Green").await?;
    let asked = relay.request().await?;
    let answers = BTreeMap::from([("Which colour?".to_owned(), "Green".to_owned())]);
    relay.decide(&asked, Decision::Answer { answers }).await?;
    relay.turn_end().await?;
    let live = call(&relay.items(), "AskUserQuestion")?;
    let question = &live["detail"]["questions"][0];
    ensure!(question["text"] == "Which colour?" && question["isAnswered"] == true, "{live}");
    let chosen = |at: usize| question["options"][at]["isChosen"] == true;
    ensure!(!chosen(0) && chosen(1), "{live}");
    let stored = stored(&world, relay, "AskUserQuestion").await?;
    ensure!(stored["detail"] == live["detail"], "{stored}\n{live}");
    Ok(())
}

/// The smallest PNG: one pixel.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The model sees such a file itself; the user sees what it was.
pub async fn an_image_and_a_pdf_that_were_read_are_named() -> Result<()> {
    let world = World::new().await?;
    let (image, pdf) = (world.file("a.png"), world.file("a.pdf"));
    std::fs::write(&image, BASE64_STANDARD.decode(PNG)?)?;
    std::fs::write(&pdf, attachments::PDF)?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.turn(&format!("READ {}\nSAY seen", image.display())).await?;
    let live = call(&relay.items(), "Read")?;
    ensure!(live["detail"].to_string().contains("Image (image/png, "), "{live}");
    relay.turn(&format!("READ {}\nSAY read", pdf.display())).await?;
    let live = call(&relay.items(), "Read")?;
    ensure!(live["state"] == "succeeded" && live["detail"].to_string().contains("PDF"), "{live}");
    let stored = stored(&world, relay, "Read").await?;
    ensure!(stored["detail"] == live["detail"], "{stored}\n{live}");
    Ok(())
}

/// A notebook whose cells have ids, as the format has had since 4.5.
fn notebook() -> String {
    let cell = |id: &str, kind: &str, source: &str| json!({"cell_type": kind, "id": id, "metadata": {}, "source": [source]});
    let mut code = cell("c1", "code", "print(1)");
    code["outputs"] = json!([]);
    code["execution_count"] = Value::Null;
    let cells = json!([code, cell("m1", "markdown", "# Totals")]);
    let language = json!({"language_info": {"name": "python"}});
    json!({"cells": cells, "metadata": language, "nbformat": 4, "nbformat_minor": 5}).to_string()
}

pub async fn a_notebook_edit_shows_its_cell_and_the_difference() -> Result<()> {
    let world = World::new().await?;
    let path = world.file("n.ipynb");
    std::fs::write(&path, notebook())?;
    let mut relay = Relay::spawn(&world, &[])?;
    let edit = |more: Value| {
        let mut input = json!({"notebook_path": path});
        if let (Some(input), Some(more)) = (input.as_object_mut(), more.as_object()) {
            input.extend(more.clone());
        }
        format!("TOOL NotebookEdit {input}")
    };
    relay.turn_allowing_all(&format!("TOOL Read {}\nSAY read", path.display())).await?;
    let replace = json!({"cell_id": "c1", "new_source": "print(2)", "edit_mode": "replace"});
    relay.turn_allowing_all(&format!("{}\nSAY done", edit(replace))).await?;
    let replaced = call(&relay.items(), "NotebookEdit")?;
    ensure!(replaced["detail"]["cell"] == "Replaced cell c1", "{replaced}");
    ensure!(
        (&replaced["detail"]["diff"]["removed"], &replaced["detail"]["diff"]["added"])
            == (&json!(1), &json!(1)),
        "{replaced}"
    );
    let insert =
        json!({"cell_id": "m1", "new_source": "print(3)", "cell_type": "code", "edit_mode": "insert"});
    relay.turn_allowing_all(&format!("{}\nSAY done", edit(insert))).await?;
    let inserted = call(&relay.items(), "NotebookEdit")?;
    ensure!(inserted["detail"]["cell"] == "Inserted a code cell after m1", "{inserted}");
    let stored = stored(&world, relay, "NotebookEdit").await?;
    ensure!(stored["detail"] == inserted["detail"], "{stored}\n{inserted}");
    Ok(())
}

/// A server with one tool, as a script: a line in, a line out.
#[cfg(unix)]
pub const SERVER: &str = r#"while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"clock","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[TOOL]}' ;;
    *'"tools/call"'*) result='{"content":[{"type":"text","text":"It is noon."}]}' ;;
    *) continue ;;
  esac
  [ -n "$id" ] && printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

/// The world with a server `clock`, which has this tool.
#[cfg(unix)]
pub fn with_clock(world: World, tool: &str) -> Result<World> {
    let server = world.root().join("server.sh");
    std::fs::write(&server, SERVER.replace("TOOL", tool))?;
    let config = world.root().join("mcp.json");
    let servers = json!({"mcpServers": {"clock": {"command": "sh", "args": [server]}}});
    std::fs::write(&config, servers.to_string())?;
    world.with_arguments(&[&format!("--mcp-config={}", config.display())])
}

#[cfg(unix)]
pub async fn a_servers_tool_is_shown_by_its_display_name() -> Result<()> {
    let world = World::new().await?;
    let tool = r#"{"name":"get_now","description":"Tells the time","inputSchema":{"type":"object"}}"#;
    let world = with_clock(world, tool)?;
    let mut relay = Relay::spawn(&world, &[])?;
    relay.prompt("TOOL mcp__clock__get_now {}\nHEARD").await?;
    let asked = relay.request().await?;
    ensure!(asked["request"]["question"] == "Let clock run Get Now?", "{asked}");
    relay.decide(&asked, Decision::AllowOnce { updated_input: None }).await?;
    relay.turn_end().await?;
    let live = call(&relay.items(), "mcp__clock__get_now")?;
    ensure!((&live["verb"], &live["subject"]) == (&json!("Used"), &json!("clock: Get Now")), "{live}");
    let stored = stored(&world, relay, "mcp__clock__get_now").await?;
    // The transcript on disk has the tool's own name only.
    ensure!(stored["subject"] == "clock: get_now", "{stored}");
    Ok(())
}
