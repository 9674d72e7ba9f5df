//! A form that an MCP server asks the user to fill in: with the keyboard only, and with the mouse only. A dialog of the agent
//! itself.

use std::fs;

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{SHORT, eventually};
use serde_json::{Value, json};

use crate::stage::Stage;

const CARD: &str = "Form";

/// The request as Claude Code 2.1.329 writes it.
fn request() -> Value {
    let schema = json!({"type": "object", "required": ["room"], "properties": {
        "name": {"type": "string", "title": "Name on the door"},
        "seats": {"type": "integer", "title": "Seats", "minimum": 1, "maximum": 4, "default": 2},
        "room": {"type": "string", "title": "Room", "enum": ["north", "south"]},
        "window": {"type": "boolean", "title": "At the window"},
    }});
    json!({"type": "control_request", "request_id": "f1", "request": {
        "subtype": "elicitation", "mcp_server_name": "desk", "message": "Which desk shall it be?", "mode": "form",
        "requested_schema": schema, "property_order": ["name", "seats", "room", "window"],
    }})
}

/// Has the agent ask, and waits for the card.
async fn ask(stage: &Stage) -> Result<()> {
    ask_for(stage, &request(), "Which desk shall it be?").await
}

async fn ask_for(stage: &Stage, request: &Value, words: &str) -> Result<()> {
    let file = stage.desktop.scratch().join("form.ndjson");
    fs::write(&file, format!("{request}\n"))?;
    stage.window.paste_prompt(&format!("LINES {}\nWAIT", file.display())).await?;
    stage.window.wait_text("group", CARD, words, SHORT).await.map(drop)
}

/// The answer that the agent gets.
async fn answer(stage: &Stage) -> Result<Value> {
    let ids = stage.session_ids()?;
    let session_id = ids.first().context("a session is saved")?;
    eventually("the agent gets an answer", SHORT, async || {
        let arguments = json!({"sessionId": session_id, "query": {"type": "rawLines", "after": 0}});
        let lines = stage.window.invoke("ask", arguments).await?.unwrap_or_default();
        let texts = lines["lines"].as_array().into_iter().flatten().filter_map(|line| line["text"].as_str());
        let mut parsed = texts.filter_map(|text| serde_json::from_str::<Value>(text).ok());
        Ok(parsed.find(|line| line["type"] == "control_response" && line["response"]["request_id"] == "f1"))
    })
    .await
}

pub async fn it_is_filled_in_with_the_keyboard_only() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("form-keyboard", async |stage| {
            let (window, keys) = (&stage.window, &stage.pointer);
            ask(stage).await?;
            keys.activate(window.frame()).await?;
            keys.key("shift+F6").await?;
            window.wait_focus("group “Form”").await?;
            window.tab_to("Name on the door").await?;
            keys.type_text("Ines").await?;
            window.tab_to("Seats").await?;
            // What was there is selected, as in every form.
            keys.key("ctrl+a").await?;
            keys.type_text("9").await?;
            window.wait_text("group", CARD, "4", SHORT).await?;
            window.screenshot("form-wrong").await?;
            ensure!(disabled(stage).await?, "a form that does not fit can be sent");
            keys.key("BackSpace").await?;
            keys.type_text("3").await?;
            window.tab_to("radio “north”").await?;
            keys.key("space").await?;
            keys.key("Down").await?;
            window.tab_to("radio “No answer”").await?;
            keys.key("Down").await?;
            window.drawn().await?;
            window.screenshot("form-keyboard").await?;
            window.tab_to("button “Send”").await?;
            keys.key("space").await?;
            was_sent(stage, &json!({"name": "Ines", "seats": 3, "room": "south", "window": true})).await
        })
        .await
}

/// The agent got this content, and the card is gone.
async fn was_sent(stage: &Stage, content: &Value) -> Result<()> {
    let answer = answer(stage).await?;
    let sent = &answer["response"]["response"];
    ensure!((&sent["action"], &sent["content"]) == (&json!("accept"), content), "{answer}");
    stage.window.gone("group", CARD).await
}

async fn disabled(stage: &Stage) -> Result<bool> {
    let button = stage.window.find("button", "Send").await?;
    Ok(!button.is_enabled().await?
        || stage.window.attribute("button", "Send", "aria-disabled").await?.as_deref() == Some("true"))
}

pub async fn it_is_filled_in_with_the_mouse_only() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("form-mouse", async |stage| {
            let window = &stage.window;
            ask(stage).await?;
            ensure!(disabled(stage).await?, "a form without a required value can be sent");
            window.drawn().await?;
            window.screenshot("form-empty").await?;
            window.point_at("radio", "south").await?;
            window.point_at("radio", "Yes").await?;
            window.point_at("radio", "north").await?;
            window.drawn().await?;
            window.screenshot("form-mouse").await?;
            window.point_at("button", "Send").await?;
            was_sent(stage, &json!({"seats": 2, "room": "north", "window": true})).await
        })
        .await
}

/// As Claude Code 2.1.329 asks when a model has declined a message.
pub async fn a_dialog_of_the_agent_is_answered_with_a_choice() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("form-dialog", async |stage| {
            let window = &stage.window;
            let payload = json!({"originalModel": "claude-fable-5", "fallbackModel": "claude-opus-5",
                "apiRefusalCategory": "bio", "retractedMessageUuids": []});
            let dialog = json!({"type": "control_request", "request_id": "f1", "request": {
                "subtype": "request_user_dialog", "dialog_kind": "refusal_fallback_prompt", "payload": payload}});
            ask_for(stage, &dialog, "claude-fable-5 declined to answer").await?;
            ensure!(disabled(stage).await?, "a dialog without a choice can be sent");
            let choices = window.names("radio").await?;
            let go_on = choices.iter().find(|name| name.starts_with("Continue with claude-opus-5"));
            window.point_at("radio", go_on.with_context(|| format!("{choices:?}"))?).await?;
            window.drawn().await?;
            window.screenshot("form-dialog").await?;
            window.point_at("button", "Send").await?;
            let sent = answer(stage).await?["response"]["response"].clone();
            ensure!(sent == json!({"behavior": "completed", "result": "retry_fallback"}), "{sent}");
            Ok(())
        })
        .await
}
