//! Permission requests: the native dialog and the card show the same request.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{Notification, SHORT, eventually, holds_for};
use serde_json::json;

use crate::stage::{Gate, PROJECT, Stage};

const CARD: &str = "Permission request";
const COMMAND: &str = "git push --force origin main";

fn script() -> String {
    format!("TOOL Bash {{\"command\":\"{COMMAND}\"}}\nSAY The tool is done.")
}

pub async fn the_dialog_names_what_would_run() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("dialog", async |stage| {
            stage.window.prompt(&script()).await?;
            let _elsewhere = stage.step_aside().await?;
            let dialog = stage.dialogs().await?.one().await?;
            let text = dialog.text().await;
            for part in [PROJECT, "Bash", COMMAND] {
                ensure!(text.contains(part), "the dialog does not name “{part}”:\n{text}");
            }
            let buttons = dialog.buttons().await;
            for button in ["Deny", "Allow once", "Review…"] {
                ensure!(buttons.iter().any(|name| name == button), "no “{button}” among {buttons:?}");
            }
            let card = stage.window.text("group", CARD).await?;
            ensure!(card.contains(COMMAND), "the card does not show the command:\n{card}");
            stage.window.drawn().await?;
            stage.desktop.screenshot("permission").await.map(drop)
        })
        .await
}

pub async fn a_subagent_that_asks_is_named_wherever_it_asks() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("subagent-asks", async |stage| {
            let started = json!({
                "type": "system", "subtype": "task_started", "task_id": "a1", "tool_use_id": "t",
                "description": "Chart”\u{202e} the <b>harbour</b>", "task_type": "local_agent",
            });
            let asked = json!({
                "type": "control_request", "request_id": "r",
                "request": {
                    "subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": COMMAND}, "agent_id": "a1",
                },
            });
            let file = stage.desktop.home().join("asks.jsonl");
            fs::write(&file, format!("{started}\n{asked}\n"))?;
            let script = format!("LINES {}\nWAIT", file.display());
            let _elsewhere = stage.prompt_out_of_sight(&script).await?;
            let subagent = "the subagent “Chart'\\u{202E} the <b>harbour</b>”";
            let dialog = stage.dialogs().await?.one().await?;
            let text = dialog.text().await;
            ensure!(text.contains(&format!("Asked by {subagent}")), "the dialog does not name it:\n{text}");
            let names = |seen: &Notification| seen.body.contains("Chart'\\u{202E} the &lt;b&gt;harbour&lt;/b&gt;");
            stage.notifications.wait_for(names, SHORT).await?;
            stage.desktop.screenshot("subagent-asks").await?;
            dialog.press("Review…").await?;
            let card = stage.window.text("group", CARD).await?;
            ensure!(card.contains(&format!("Asked by {subagent}")), "the card does not name it:\n{card}");
            stage.window.drawn().await?;
            stage.desktop.screenshot("subagent-asks-card").await.map(drop)
        })
        .await
}

pub async fn allowed_in_the_dialog_by_pointer() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("allow-dialog", async |stage| {
            let window = &stage.window;
            window.prompt(&script()).await?;
            let _elsewhere = stage.step_aside().await?;
            let dialog = stage.dialogs().await?.one().await?;
            window.find("group", CARD).await?;
            dialog.click("Allow once").await?;
            dialog.gone().await?;
            window.gone("group", CARD).await?;
            window.wait_said("The tool is done.", SHORT).await?;
            window.wait_idle(SHORT).await
        })
        .await
}

pub async fn allowed_in_the_card() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("allow-card", async |stage| {
            let window = &stage.window;
            window.prompt(&script()).await?;
            let dialogs = stage.dialogs().await?;
            let elsewhere = stage.step_aside().await?;
            let dialog = dialogs.one().await?;
            // A user who returns to the card needs no dialog.
            stage.pointer.activate(window.frame()).await?;
            dialog.gone().await?;
            drop(elsewhere);
            window.point_at("button", "Allow once").await?;
            window.gone("group", CARD).await?;
            window.wait_said("The tool is done.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            dialogs.none().await
        })
        .await
}

pub async fn denied_in_the_dialog_with_a_reason() -> Result<()> {
    const REASON: &str = "Not on a Friday; open a pull request.";
    let stage = Stage::demo().await?;
    stage
        .play("deny", async |stage| {
            let window = &stage.window;
            window.prompt(&script()).await?;
            let _elsewhere = stage.step_aside().await?;
            let dialog = stage.dialogs().await?.one().await?;
            dialog.fill(REASON).await?;
            dialog.press("Deny").await?;
            dialog.gone().await?;
            window.gone("group", CARD).await?;
            window.wait_idle(SHORT).await?;
            // The log of the agent is what it read.
            let read = transcripts(stage)?;
            ensure!(read.contains(REASON), "the agent did not read the reason:\n{read}");
            ensure!(!read.contains("\"content\":\"ok\""), "the tool ran all the same:\n{read}");
            Ok(())
        })
        .await
}

pub async fn stray_keys_and_early_clicks_decide_nothing() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("stray", async |stage| {
            let window = &stage.window;
            window.prompt(&script()).await?;
            let _elsewhere = stage.step_aside().await?;
            let dialog = stage.dialogs().await?.one().await?;
            ensure!(!dialog.armed("Allow once").await?, "“Allow once” can be pressed as the dialog appears");
            dialog.click_early("Allow once").await?;
            window.find("group", CARD).await?;
            let frame = stage.pointer.window(&dialog.title().await?).await?;
            stage.pointer.activate(frame).await?;
            // The default button is “Review…”: Enter can close the dialog, and decides nothing.
            stage.pointer.key("Return").await?;
            stage.pointer.key("space").await?;
            stage.pointer.key("Return").await?;
            holds_for("the request stays open", Duration::from_secs(1), async || {
                window.has("group", CARD).await
            })
            .await
        })
        .await
}

pub async fn escape_leaves_the_card() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("escape-dialog", async |stage| {
            let window = &stage.window;
            window.prompt(&script()).await?;
            let _elsewhere = stage.step_aside().await?;
            let dialogs = stage.dialogs().await?;
            let dialog = dialogs.one().await?;
            let frame = stage.pointer.window(&dialog.title().await?).await?;
            stage.pointer.activate(frame).await?;
            stage.pointer.key("Escape").await?;
            dialog.gone().await?;
            window.find("group", CARD).await?;
            let names = window.names("button").await?;
            ensure!(names.iter().any(|name| name == "Stop"), "the turn goes on; buttons: {names:?}");
            stage.pointer.activate(window.frame()).await?;
            window.click("button", "Deny").await?;
            window.gone("group", CARD).await?;
            window.wait_idle(SHORT).await?;
            dialogs.none().await
        })
        .await
}

pub async fn review_brings_the_card_up() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("review", async |stage| {
            let window = &stage.window;
            window.prompt(&script()).await?;
            let _elsewhere = stage.step_aside().await?;
            let dialogs = stage.dialogs().await?;
            let dialog = dialogs.one().await?;
            dialog.click("Review…").await?;
            dialog.gone().await?;
            stage.pointer.wait_active(window.frame()).await?;
            window.find("group", CARD).await?;
            window.click("button", "Allow once").await?;
            window.wait_said("The tool is done.", SHORT).await?;
            window.wait_idle(SHORT).await
        })
        .await
}

pub async fn two_requests_are_asked_one_after_the_other() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("two", async |stage| {
            let window = &stage.window;
            window.prompt("ASK_TWICE\nSAY Both are done.").await?;
            let _elsewhere = stage.step_aside().await?;
            let dialogs = stage.dialogs().await?;
            let first = dialogs.one().await?;
            let first_text = first.text().await;
            first.press("Allow once").await?;
            first.gone().await?;
            let second = dialogs.one().await?;
            ensure!(second.text().await != first_text, "the same request is asked again:\n{first_text}");
            second.press("Allow once").await?;
            second.gone().await?;
            window.wait_said("Both are done.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            dialogs.none().await
        })
        .await
}

pub async fn what_a_dialog_cannot_show_plainly_is_for_the_card() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("not-plain", async |stage| {
            let window = &stage.window;
            window.prompt("TOOL Bash {\"command\":\"echo \\u202e tac; rm -rf .\"}\nSAY Done.").await?;
            let _elsewhere = stage.step_aside().await?;
            let dialog = stage.dialogs().await?.one().await?;
            let buttons = dialog.buttons().await;
            ensure!(
                !buttons.iter().any(|name| name == "Allow once"),
                "it can be allowed unseen: {buttons:?}"
            );
            let card = window.text("group", CARD).await?;
            ensure!(
                card.to_lowercase().contains("202e"),
                "the card does not show the hidden character:\n{card}"
            );
            dialog.press("Deny").await?;
            window.gone("group", CARD).await?;
            window.wait_idle(SHORT).await
        })
        .await
}

pub async fn always_allowed_is_not_asked_again() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("always", async |stage| {
            let window = &stage.window;
            let dialogs = stage.dialogs().await?;
            window.prompt(&script()).await?;
            window.click("button", "Always allow…").await?;
            let rules = window.names("radio").await?;
            let rule = rules.first().context("a rule is offered")?;
            ensure!(rule.contains(COMMAND), "the exact rule is shown: {rules:?}");
            window.click("radio", rule).await?;
            window.click("button", "Always allow").await?;
            window.wait_said("The tool is done.", SHORT).await?;
            window.wait_idle(SHORT).await?;

            window.prompt(&script().replace("is done", "is done again")).await?;
            window.wait_said("The tool is done again.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            dialogs.none().await
        })
        .await
}

pub async fn the_only_rule_is_saved_by_one_press() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("always-at-once", async |stage| {
            let window = &stage.window;
            let write = |name: &str| {
                format!("TOOL Write {{\"file_path\":\"{name}.txt\",\"content\":\"One line.\"}}\nSAY {name} is written.")
            };
            window.prompt(&write("first")).await?;
            let elsewhere = stage.step_aside().await?;
            let dialog = stage.dialogs().await?.one().await?;
            for button in ["Deny", "Allow once", "Always allow", "Review…"] {
                ensure!(dialog.buttons().await.iter().any(|name| name == button), "{button} is missing");
            }
            stage.desktop.screenshot("always-at-once").await?;
            dialog.press("Always allow").await?;
            dialog.gone().await?;
            drop(elsewhere);
            window.wait_said("first is written.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            // Edits are accepted from now on.
            window.prompt(&write("second")).await?;
            window.wait_said("second is written.", SHORT).await?;
            window.wait_idle(SHORT).await
        })
        .await
}

pub async fn the_dialog_takes_the_keyboard_from_nobody() -> Result<()> {
    const TYPED: &str = "I was in the middle of a sentence when it rang";
    let stage = Stage::demo().await?;
    stage
        .play("keyboard-kept", async |stage| {
            let window = &stage.window;
            window.prompt("SAY Ready.").await?;
            window.wait_said("Ready.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            let gate = Gate::closed(&stage.desktop)?;
            window.prompt(&gate.before(&script())).await?;
            // Another session is open when the request arrives.
            stage.new_session(SHORT).await?;
            window.type_into("Prompt", "So: ").await?;
            gate.open()?;
            let dialogs = stage.dialogs().await?;
            let dialog = dialogs.one().await?;
            ensure!(stage.pointer.active().await? == Some(window.frame()), "the dialog took the front");
            stage.pointer.type_text(TYPED).await?;
            eventually("every key went where it was meant", SHORT, async || {
                Ok((window.value("Prompt").await? == format!("So: {TYPED}")).then_some(()))
            })
            .await?;
            let still = dialogs.one().await.context("typing decided the request")?;
            still.press("Deny").await?;
            dialog.gone().await
        })
        .await
}

pub async fn a_card_in_sight_has_no_dialog_over_it() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("card-only", async |stage| {
            let window = &stage.window;
            let dialogs = stage.dialogs().await?;
            window.prompt("SAY Ready.").await?;
            window.wait_said("Ready.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            // A session in the background also sends a request, while the card of this one is in sight.
            let gate = Gate::closed(&stage.desktop)?;
            window.prompt(&gate.before(&script().replace(COMMAND, "make elsewhere"))).await?;
            stage.new_session(SHORT).await?;
            window.prompt(&script()).await?;
            window.find("group", CARD).await?;
            gate.open()?;
            holds_for("no dialog covers the card", Duration::from_secs(3), async || {
                Ok(dialogs.list().await?.is_empty())
            })
            .await?;
            stage.desktop.screenshot("card-in-sight").await?;
            // Once it is answered, the other request is shown, beginning with its session and project.
            window.click("button", "Deny").await?;
            window.gone("group", CARD).await?;
            let dialog = dialogs.with("make elsewhere").await?;
            let title = dialog.title().await?;
            ensure!(title.starts_with("SAY Ready.") && title.contains(PROJECT), "its title is “{title}”");
            stage.desktop.screenshot("dialog-of-another-session").await?;
            dialog.press("Deny").await?;
            dialogs.none().await
        })
        .await
}

/// All log lines of the agents of this desktop.
fn transcripts(stage: &Stage) -> Result<String> {
    let mut all = String::new();
    let mut open = vec![stage.desktop.home()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "jsonl") {
                all += &fs::read_to_string(&path)?;
            }
        }
    }
    ensure!(!all.is_empty(), "the agent wrote no transcript");
    Ok(all)
}
