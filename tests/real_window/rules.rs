//! The dialog of permission rules: a rule is removed from its file and put back, by mouse and by keyboard.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, ensure};
use deskbell_tests::window::{SHORT, eventually};
use serde_json::json;

use crate::stage::Stage;

const DIALOG: &str = "Permission rules";
const RULES: &str = "{\n    \"model\": \"opus\",\n    \"permissions\": {\n        \"allow\": [\n            \"Bash(touch *)\",\n            \
                     \"Bash(make *)\"\n        ]\n    }\n}\n";

/// The user's own settings of the demo agent, with two rules.
fn settings(stage: &Stage) -> Result<PathBuf> {
    let path = stage.desktop.home().join(".local/share/deskbell/demo/settings.json");
    fs::create_dir_all(path.parent().context("it is in a folder")?)?;
    fs::write(&path, RULES)?;
    Ok(path)
}

async fn open(stage: &Stage) -> Result<()> {
    stage.pointer.key("ctrl+k").await?;
    stage.window.find("combobox", "Search commands and sessions").await?;
    stage.pointer.type_text(DIALOG).await?;
    stage.window.wait_text("listbox", "Results", DIALOG, SHORT).await?;
    stage.pointer.key("Return").await?;
    stage.window.find("dialog", DIALOG).await.map(drop)
}

pub async fn a_rule_is_removed_from_its_file_by_mouse_and_put_back_by_keyboard() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("rules", async |stage| {
            let (window, keys) = (&stage.window, &stage.pointer);
            let path = settings(stage)?;
            window.prompt("SAY Ready.").await?;
            window.wait_said("Ready.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            open(stage).await?;
            window.point_at("button", "Remove Bash(touch *)").await?;
            window.wait_text("dialog", DIALOG, "Removed: Bash(touch *)", SHORT).await?;
            let removed = RULES.replace("\"Bash(touch *)\",\n            ", "");
            ensure!(fs::read_to_string(&path)? == removed, "{}", fs::read_to_string(&path)?);
            window.wait_focus("button “Undo”").await?;
            window.screenshot("rules-removed").await?;
            keys.key("Return").await?;
            window.wait_without("dialog", DIALOG, "Removed:").await?;
            ensure!(fs::read_to_string(&path)? == RULES);

            // By keyboard alone. What another program wrote in the meantime is kept.
            fs::write(&path, RULES.replace("opus", "sonnet"))?;
            window.tab_to("button “Remove Bash(make *)”").await?;
            keys.key("Return").await?;
            window.wait_text("dialog", DIALOG, "Removed: Bash(make *)", SHORT).await?;
            let text = fs::read_to_string(&path)?;
            ensure!(text.contains("sonnet") && !text.contains("make") && text.contains("touch"), "{text}");

            // A file that is not JSON is refused with its place, and left alone.
            fs::write(&path, "{\n  // mine\n}\n")?;
            window.find("button", "Remove Bash(touch *)").await?;
            window.point_at("button", "Remove Bash(touch *)").await?;
            let refused = async || Ok(window.all_text().await?.contains("line 2, column 3").then_some(()));
            eventually("the reason for the refusal", SHORT, refused).await?;
            ensure!(fs::read_to_string(&path)? == "{\n  // mine\n}\n");
            Ok(())
        })
        .await
}

pub async fn a_rule_that_denies_is_removed_only_by_the_dialog() -> Result<()> {
    const TITLE: &str = "Remove a rule that denies?";
    let stage = Stage::demo().await?;
    stage
        .play("rules-denies", async |stage| {
            let window = &stage.window;
            let dialogs = stage.dialogs().await?;
            let path = settings(stage)?;
            let denies = "{\"permissions\": {\"deny\": [\"Bash(rm *)\"], \"allow\": [\"Bash(ls)\"]}}\n";
            fs::write(&path, denies)?;
            let session = window.invoke("create_session", json!({"agent": "demo", "withoutAsking": false}));
            let session = session.await?.map_err(|error| anyhow!("no session: {error}"))?;
            let removal = |effect: &str, rule: &str| {
                let place = json!({"path": path.display().to_string(), "effect": effect, "rule": rule});
                json!({"sessionId": session["id"], "place": place})
            };
            for (button, is_removed) in [("Cancel", false), ("Remove", true)] {
                let asking = window.invoke("remove_rule", removal("deny", "Bash(rm *)"));
                let (asked, answered) = tokio::join!(asking, async {
                    let dialog = dialogs.with(TITLE).await?;
                    let text = dialog.text().await;
                    ensure!(text.contains("Rule: Bash(rm *)"), "the rule is not named:\n{text}");
                    ensure!(!dialog.armed("Remove").await?, "the dialog is armed as it appears");
                    ensure!(fs::read_to_string(&path)? == denies, "removed before the answer");
                    dialog.press(button).await?;
                    dialog.gone().await
                });
                answered?;
                ensure!(asked?.is_ok() == is_removed, "“{button}” gave the wrong answer");
                ensure!((fs::read_to_string(&path)? != denies) == is_removed, "after “{button}”");
            }
            // A rule that allows only narrows what runs.
            let narrowed = window.invoke("remove_rule", removal("allow", "Bash(ls)")).await?;
            narrowed.map_err(|error| anyhow!("the rule was not removed: {error}"))?;
            dialogs.none().await
        })
        .await
}
