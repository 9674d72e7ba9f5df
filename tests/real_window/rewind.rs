//! Rewinding in the window, with Claude Code against the mock API: files, conversation and both, and the undo of each.

use anyhow::{Result, ensure};
use deskbell_tests::real_cli::World;
use deskbell_tests::window::{Desktop, LONG, Launch, Manners, SHORT, Window, eventually};
use std::fs;
use std::path::Path;

use crate::stage::{PROJECT, Stage};

const DIALOG: &str = "Rewind to before this prompt";

/// Asks for a rewind to the last prompt and chooses what goes back.
async fn rewind(stage: &Stage, choice: &str) -> Result<()> {
    let window = &stage.window;
    window.key("ctrl+k").await?;
    window.find("combobox", "Search commands and sessions").await?;
    stage.pointer.type_text("Rewind to the last prompt").await?;
    window.wait_text("listbox", "Results", "Rewind to the last prompt…", SHORT).await?;
    stage.pointer.key("Return").await?;
    window.find("dialog", DIALOG).await?;
    window.find("radio", choice).await?;
    window.click("radio", choice).await?;
    stage.desktop.screenshot(&format!("rewind-{}", choice.replace(' ', "-"))).await?;
    window.click("button", "Rewind").await?;
    window.gone("dialog", DIALOG).await?;
    window.find("note", "Rewind").await.map(drop)
}

async fn undo(window: &Window) -> Result<()> {
    window.click("button", "Undo").await?;
    window.gone("note", "Rewind").await
}

async fn is_content(path: &Path, text: &str) -> Result<()> {
    eventually(&format!("the file says {text:?}"), SHORT, async || {
        Ok(fs::read_to_string(path).is_ok_and(|now| now == text).then_some(()))
    })
    .await
}

/// Claude Code in a folder with `a.txt`, of one line: `one`. It edits without asking.
pub async fn editing(world: &World, desktop: Desktop) -> Result<Stage> {
    let folder = desktop.project(PROJECT)?;
    fs::write(folder.join("a.txt"), "one\n")?;
    let mut launch = Launch::folder(&folder).agent(&world.agent).env("DESKBELL_MODE", "acceptEdits");
    let of_desktop = ["HOME", "XDG_RUNTIME_DIR"];
    for (name, value) in world.env().into_iter().filter(|(name, _)| of_desktop.iter().all(|own| name != own))
    {
        launch = launch.env(name, value);
    }
    Stage::on(desktop, folder, Manners::Polite, launch).await
}

pub async fn files_conversation_and_both_go_back_and_come_back() -> Result<()> {
    let world = World::new().await?;
    let stage = editing(&world, Desktop::start().await?).await?;
    let file = stage.folder.join("a.txt");
    stage
        .play("rewind", async |stage| {
            let window = &stage.window;
            window.click("button", "Open restricted").await?;
            window.find("textbox", "Prompt").await?;
            window.prompt("SAY hello").await?;
            window.wait_said("hello", LONG).await?;
            window.wait_idle(LONG).await?;
            let path = file.display();
            window.prompt(&format!("READ {path}\nEDIT {path} one => two\nSAY finished")).await?;
            window.wait_said("finished", LONG).await?;
            window.wait_idle(LONG).await?;
            is_content(&file, "two\n").await?;

            rewind(stage, "Files only").await?;
            is_content(&file, "one\n").await?;
            window.wait_said("finished", SHORT).await?;
            undo(window).await?;
            is_content(&file, "two\n").await?;

            rewind(stage, "Conversation only").await?;
            is_content(&file, "two\n").await?;
            window.wait_without("log", "Conversation", "EDIT").await?;
            let draft = window.value("Prompt").await?;
            ensure!(draft.contains("SAY finished"), "the prompt is not in the box again: {draft}");
            undo(window).await?;
            window.wait_text("log", "Conversation", "finished", SHORT).await?;

            rewind(stage, "Files and conversation").await?;
            is_content(&file, "one\n").await?;
            window.wait_without("log", "Conversation", "EDIT").await?;
            stage.desktop.screenshot("rewind-done").await?;
            undo(window).await?;
            is_content(&file, "two\n").await?;
            window.wait_text("log", "Conversation", "finished", SHORT).await.map(drop)
        })
        .await
}
