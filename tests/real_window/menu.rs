//! The menu of the window, with the mouse and with keys.

use anyhow::{Result, ensure};
use deskbell_tests::window::{SHORT, eventually};

use crate::stage::Stage;

pub async fn it_is_used_by_mouse_and_by_keyboard() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("menu", async |stage| {
            let window = &stage.window;
            window.point_at("button", "Menu").await?;
            window.point_at("menuitem", "Help").await?;
            window.drawn().await?;
            stage.desktop.screenshot("menu").await?;
            window.point_at("menuitem", "Doctor").await?;
            window.find("dialog", "Doctor").await?;
            window.gone("menu", "Menu").await?;
            stage.pointer.key("Escape").await?;
            window.gone("dialog", "Doctor").await?;

            // The focus goes back to the prompt, and what was typed in the menu is not in it.
            window.click("textbox", "Prompt").await?;
            window.wait_focus("textbox “Prompt”").await?;
            stage.pointer.key("F10").await?;
            window.find("menu", "Menu").await?;
            stage.pointer.type_text("view").await?;
            stage.pointer.key("Right").await?;
            window.find("menu", "View").await?;
            stage.pointer.key("Escape").await?;
            window.gone("menu", "View").await?;
            stage.pointer.key("Escape").await?;
            window.gone("menu", "Menu").await?;
            window.wait_focus("textbox “Prompt”").await?;
            ensure!(window.value("Prompt").await?.is_empty(), "the keys of the menu reached the prompt");

            stage.pointer.key("F10").await?;
            window.find("menu", "Menu").await?;
            stage.pointer.type_text("v").await?;
            stage.pointer.key("Return").await?;
            window.find("menu", "View").await?;
            stage.pointer.type_text("zoom in").await?;
            stage.pointer.key("Return").await?;
            window.gone("menu", "Menu").await?;
            let file = stage.desktop.home().join(".local/share/deskbell/windows.json");
            eventually("the zoom is remembered for the project", SHORT, async || {
                let text = std::fs::read_to_string(&file).unwrap_or_default();
                Ok(text.contains("\"zoom\": 110").then_some(()))
            })
            .await
        })
        .await
}
