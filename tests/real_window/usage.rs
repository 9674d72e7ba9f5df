//! The usage page: what turns cost, for this project and for all, by keyboard.

use anyhow::{Result, ensure};
use deskbell_tests::window::SHORT;

use crate::stage::{PROJECT, Stage};

const DIALOG: &str = "Usage";

/// Opens the page by the palette.
async fn open(stage: &Stage) -> Result<()> {
    let (window, keys) = (&stage.window, &stage.pointer);
    keys.key("ctrl+k").await?;
    window.find("combobox", "Search commands and sessions").await?;
    keys.type_text("Usage and cost").await?;
    window.wait_text("listbox", "Results", "Usage and cost", SHORT).await?;
    keys.key("Return").await?;
    window.find("dialog", DIALOG).await.map(drop)
}

pub async fn it_adds_up_the_turns_of_the_project_and_of_all_projects() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("usage", async |stage| {
            let (window, keys) = (&stage.window, &stage.pointer);
            keys.activate(window.frame()).await?;
            window.wait_focus("textbox “Prompt”").await?;
            open(stage).await?;
            window.wait_shows("Nothing was spent yet.", SHORT).await?;
            stage.desktop.screenshot("usage-empty").await?;
            keys.key("Escape").await?;
            window.gone("dialog", DIALOG).await?;
            window.wait_focus("textbox “Prompt”").await?;

            for words in ["First harbour.", "Second harbour."] {
                window.prompt(&format!("SAY {words}")).await?;
                window.wait_said(words, SHORT).await?;
                window.wait_idle(SHORT).await?;
            }
            open(stage).await?;
            let text = window.wait_text("dialog", DIALOG, "1 session", SHORT).await?;
            ensure!(text.contains("output tokens"), "{text}");
            window.find("table", "Usage by model").await?;
            window.find("table", "Usage by session").await?;
            ensure!(!window.has("table", "Usage by project").await?, "it is about one project");
            window.drawn().await?;
            stage.desktop.screenshot("usage").await?;
            window.tab_to("All projects").await?;
            keys.key("space").await?;
            window.wait_text("table", "Usage by project", PROJECT, SHORT).await?;
            window.drawn().await?;
            stage.desktop.screenshot("usage-all").await?;
            keys.key("Escape").await?;
            window.gone("dialog", DIALOG).await?;
            window.wait_focus("textbox “Prompt”").await
        })
        .await
}
