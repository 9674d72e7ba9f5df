//! Reach: what a screen reader meets, and a whole conversation without a pointer.

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{Accessibility, Role, SHORT, eventually};

use crate::stage::{PROJECT, Stage};

pub async fn a_screen_reader_finds_the_names() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("names", async |stage| {
            let script = "SAY Read this aloud.\nTOOL Bash {\"command\":\"ring the-bell\"}\nSAY Rung.";
            stage.window.prompt(script).await?;
            stage.dialogs().await?.one().await?;
            let accessibility = Accessibility::on(&stage.desktop).await?;
            // WebKit's own accessibility tree, not the test's reading of the DOM.
            for (role, name) in [
                (Role::LOG, "Conversation"),
                (Role::ENTRY, "Prompt"),
                (Role::LANDMARK, "Sessions"),
                (Role::BUTTON, "Stop"),
                (Role::PANEL, "Permission request"),
                (Role::BUTTON, "Allow once"),
                (Role::BUTTON, "Always allow"),
                (Role::BUTTON, "Deny"),
            ] {
                eventually(&format!("{role:?} “{name}” in the page"), SHORT, async || {
                    for program in accessibility.programs().await? {
                        for window in program.children().await? {
                            let page = window.name().await?.contains(PROJECT);
                            if page && let Some(found) = window.find(role, name).await {
                                return Ok(Some(found));
                            }
                        }
                    }
                    Ok(None)
                })
                .await?;
            }
            Ok(())
        })
        .await
}

pub async fn everything_by_keyboard() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("keyboard", async |stage| {
            let window = &stage.window;
            // A fresh window is ready to be typed into.
            stage.pointer.activate(window.frame()).await?;
            window.find("textbox", "Prompt").await?;
            eventually("the composer has the focus", SHORT, async || {
                let focused = "return document.activeElement?.tagName === 'TEXTAREA' || \
                               document.activeElement?.getAttribute('role') === 'textbox';";
                Ok(window.run(focused, Vec::new()).await?.as_bool().context("a truth")?.then_some(()))
            })
            .await?;
            stage.pointer.type_text("SAY No pointer needed.").await?;
            stage.pointer.key("Return").await?;
            window.wait_said("No pointer needed.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            // Up in an empty box recalls the last prompt.
            window.key("Up").await?;
            eventually("the last prompt is recalled", SHORT, async || {
                Ok((window.value("Prompt").await? == "SAY No pointer needed.").then_some(()))
            })
            .await?;
            ensure!(window.focused().await?, "the page keeps the focus");
            Ok(())
        })
        .await
}
