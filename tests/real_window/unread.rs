//! A named pipe or a folder in place of a file: windows answer, the problem is reported, and SIGTERM ends the app.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{App, Desktop, LONG, Launch, Manners, SHORT};

use crate::stage::{PROJECT, Stage};

fn pipe(path: &Path) -> Result<()> {
    fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
    let made = std::process::Command::new("mkfifo").arg(path).status()?;
    ensure!(made.success(), "no pipe was made at {}", path.display());
    Ok(())
}

/// A prompt is answered, and then SIGTERM ends the app.
async fn works_and_ends(stage: &Stage) -> Result<()> {
    stage.window.prompt("SAY All the same.").await?;
    stage.window.wait_said("All the same.", LONG).await?;
    stage.app.process(&stage.desktop)?.terminate()?;
    stage.app.ended(&stage.desktop, LONG).await
}

pub async fn a_pipe_in_place_of_the_branch_holds_nothing_up() -> Result<()> {
    let furnish = |folder: &Path| {
        pipe(&folder.join(".git/HEAD"))?;
        pipe(&folder.join(".gitignore"))?;
        Ok(fs::write(folder.join("beacon.txt"), "")?)
    };
    let stage = Stage::with_folder(Manners::Polite, furnish, |launch| launch).await?;
    stage
        .play("unread-branch", async |stage| {
            let window = &stage.window;
            let text = window.wait_shows("The branch could not be read.", SHORT).await?;
            ensure!(text.contains("named pipe"), "what was found?\n{text}");
            stage.desktop.screenshot("unread-branch").await?;
            // Completion reads the ignore files.
            window.type_into("Prompt", "@beac").await?;
            window.wait_shows("beacon.txt", SHORT).await?;
            stage.pointer.key("ctrl+a").await?;
            stage.pointer.key("BackSpace").await?;
            works_and_ends(stage).await
        })
        .await
}

pub async fn what_is_in_place_of_files_of_our_own_is_said_and_kept() -> Result<()> {
    let desktop = Desktop::start().await?;
    let data = desktop.home().join(".local/share/deskbell");
    pipe(&data.join("sessions/a.json"))?;
    fs::create_dir_all(data.join("sessions/b.json"))?;
    fs::create_dir_all(data.join("windows.json"))?;
    pipe(&data.join("runs/c.json"))?;
    let folder = desktop.project(PROJECT)?;
    let launch = Launch::demo(&folder);
    let stage = Stage::on(desktop, folder, Manners::Polite, launch).await?;
    stage
        .play("unread-own", async |stage| {
            let text =
                stage.window.wait_shows("The places of your windows could not be read.", SHORT).await?;
            for words in ["folder, not a file", "windows.json.unreadable", "a.json.unreadable", "named pipe"]
            {
                ensure!(text.contains(words), "“{words}” is not said:\n{text}");
            }
            stage.desktop.screenshot("unread-own").await?;
            for kept in
                ["windows.json.unreadable", "sessions/a.json.unreadable", "sessions/b.json.unreadable"]
            {
                ensure!(data.join(kept).exists(), "{kept} is lost");
            }
            works_and_ends(stage).await?;
            ensure!(data.join("windows.json").is_file(), "the new places were not written");

            // The file is a pipe now, and the previous run's are kept.
            fs::rename(data.join("windows.json"), data.join("mine"))?;
            pipe(&data.join("windows.json"))?;
            stage.app = App::start(&stage.desktop, stage.launch()).await?;
            stage.window = stage.app.window(PROJECT).await?;
            stage.window.wait_shows("windows.json.unreadable-2", SHORT).await?;
            works_and_ends(stage).await
        })
        .await
}
