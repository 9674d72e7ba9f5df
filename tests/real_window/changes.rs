//! The changes page: what happened to the working tree, and nothing that git's configuration runs.

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{Manners, SHORT};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::stage::Stage;

fn git(folder: &Path, args: &[&str]) -> Result<()> {
    let own = ["-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgSign=false"];
    let output = Command::new("git").args(own).args(args).current_dir(folder).output()?;
    ensure!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// A repository with a commit, whose configuration runs `canary` when its index is read.
fn repository(folder: &Path) -> Result<()> {
    fs::write(folder.join("beam.txt"), "slow\nturning\n")?;
    git(folder, &["init", "--quiet"])?;
    git(folder, &["add", "--all"])?;
    git(folder, &["commit", "--quiet", "--message=x"])?;
    let canary = folder.join(".git/canary");
    fs::write(&canary, "#!/bin/sh\n: >\"$(dirname \"$0\")/ran\"\n")?;
    fs::set_permissions(&canary, fs::Permissions::from_mode(0o755))?;
    git(folder, &["config", "core.fsmonitor", canary.to_str().context("the path is text")?])?;
    git(folder, &["ls-files", "--stage"])?;
    // It runs with plain git.
    Ok(fs::remove_file(folder.join(".git/ran"))?)
}

pub async fn a_file_that_a_command_changed_is_shown_with_its_diff() -> Result<()> {
    let stage = Stage::with_folder(Manners::Polite, repository, |launch| launch).await?;
    stage
        .play("changes", async |stage| {
            let window = &stage.window;
            window.prompt("TOOL Bash {\"command\":\"sed -i s/slow/fast/ beam.txt\"}\nSAY Turned.").await?;
            window.find("button", "Deny").await?;
            // The demo agent only says that it ran the command.
            fs::write(stage.folder.join("beam.txt"), "fast\nturning\n")?;
            fs::write(stage.folder.join("lamp.txt"), "new\n")?;
            window.click("button", "Deny").await?;
            window.wait_said("Turned.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            window.key("ctrl+shift+j").await?;
            window.wait_shows("2 files, 2 lines added, 1 removed", SHORT).await?;
            window.find("group", "Changes in beam.txt").await?;
            window.find("group", "Changes in lamp.txt").await?;
            stage.desktop.screenshot("changes").await?;
            window.click("checkbox", "Side by side").await?;
            window.find("group", "Changes in beam.txt, side by side").await?;
            stage.desktop.screenshot("changes-side-by-side").await?;
            ensure!(!stage.folder.join(".git/ran").exists(), "the repository's file system monitor ran");
            Ok(())
        })
        .await
}
