//! Worktrees in the window: one is created and opened, kept while anything in it would be lost, and removed.

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{LONG, Manners, SHORT, Window, eventually};
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::other_agents::{AGENT, offer_another};
use crate::stage::{PROJECT, Stage};

const KEPT: &str = "This worktree cannot be removed now";

pub fn git(folder: &Path, args: &[&str]) -> Result<String> {
    let own = ["-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgSign=false"];
    let output = Command::new("git").args(own).args(args).current_dir(folder).output()?;
    ensure!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn repository(folder: &Path) -> Result<()> {
    fs::write(folder.join("beam.txt"), "slow\n")?;
    git(folder, &["init", "--quiet", "--initial-branch=main"])?;
    git(folder, &["add", "--all"])?;
    git(folder, &["commit", "--quiet", "--message=x"])?;
    Ok(())
}

/// Picks an entry of the menu next to “New session”.
pub async fn pick(window: &Window, entry: &str) -> Result<()> {
    window.click("button", "Choose an agent").await?;
    let item = eventually("the menu has worktrees", SHORT, async || {
        let items = window.names("menuitem").await?;
        Ok(items.into_iter().find(|item| item.starts_with(entry)))
    })
    .await?;
    window.click("menuitem", &item).await
}

/// Replaces the suggested name.
async fn name_branch(stage: &Stage, name: &str) -> Result<()> {
    stage.window.click("textbox", "Branch").await?;
    stage.window.key("ctrl+a").await?;
    stage.pointer.type_text(name).await
}

/// Asks to remove the only worktree that can be, and waits for this reason against it.
async fn is_kept(window: &Window, why: &str) -> Result<()> {
    window.click("button", "Remove…").await?;
    window.wait_text("dialog", KEPT, why, LONG).await?;
    window.key("Escape").await?;
    window.gone("dialog", KEPT).await
}

pub async fn one_is_created_opened_kept_while_in_use_or_changed_and_removed() -> Result<()> {
    let stage = Stage::with_folder(Manners::Polite, repository, |launch| launch).await?;
    stage
        .play("worktrees", async |stage| {
            let window = &stage.window;
            let root = stage.folder.with_file_name(format!("{PROJECT}-fix-beam"));
            pick(window, "In a worktree…").await?;
            window.wait_shows("A new branch from main", LONG).await?;
            name_branch(stage, "main").await?;
            window.wait_shows("is already checked out in", LONG).await?;
            name_branch(stage, "fix/beam").await?;
            window.wait_shows(&root.to_string_lossy(), LONG).await?;
            stage.desktop.screenshot("new-worktree").await?;
            window.key("Return").await?;

            let name = root.file_name().context("it has a name")?.to_string_lossy().into_owned();
            let other = stage.app.window(&name).await?;
            ensure!(stage.app.count().await? == 2, "a worktree has its own window");
            ensure!(git(&root, &["branch", "--show-current"])?.trim() == "fix/beam");
            other.prompt("CWD").await?;
            other.wait_said(&root.to_string_lossy(), SHORT).await?;
            other.wait_idle(SHORT).await?;
            fs::write(root.join("lamp.txt"), "new\n")?;

            pick(window, "Worktrees…").await?;
            window.wait_shows("1 changed file not committed", LONG).await?;
            window.wait_shows("1 session runs", SHORT).await?;
            stage.desktop.screenshot("worktrees").await?;
            is_kept(window, "a session runs in it").await?;
            stage.app.close(other.frame()).await?;
            eventually("its window is closed", LONG, async || {
                Ok(stage.pointer.windows(&name).await?.is_empty().then_some(()))
            })
            .await?;
            eventually("its agent has ended", LONG, async || Ok(stage.agent().is_err().then_some(())))
                .await?;
            // The list is read again after each of the two, and its buttons move then.
            window.wait_without("dialog", "Worktrees", "window open").await?;
            window.wait_without("dialog", "Worktrees", "1 session runs").await?;
            is_kept(window, "it has changes that are not committed: lamp.txt").await?;
            ensure!(root.join("lamp.txt").exists(), "nothing is lost");

            git(&root, &["add", "--all"])?;
            git(&root, &["commit", "--quiet", "--message=y"])?;
            window.click("button", "Remove…").await?;
            window.wait_shows("The branch fix/beam stays with all its commits", LONG).await?;
            stage.desktop.screenshot("remove-worktree").await?;
            window.click("button", "Remove worktree").await?;
            window.wait_shows("The branch fix/beam is still there.", LONG).await?;
            ensure!(!root.exists(), "its folder is gone");
            ensure!(git(&stage.folder, &["log", "--format=%s", "fix/beam"])?.starts_with("y\n"));
            ensure!(stage.folder.join("beam.txt").exists());
            Ok(())
        })
        .await
}

/// Another agent gets the prompt in a worktree: it waits in the prompt box of the other window.
pub async fn a_prompt_for_another_agent_waits_in_the_window_of_its_worktree() -> Result<()> {
    let stage = Stage::with_folder(Manners::Polite, repository, |launch| launch).await?;
    stage
        .play("asked apart", async |stage| {
            let window = &stage.window;
            offer_another(window).await?;
            window.click("checkbox", "In a worktree of its own").await?;
            window.wait_shows("open in their own window", SHORT).await?;
            stage.desktop.screenshot("ask-in-worktree").await?;
            window.click("button", AGENT).await?;
            window.wait_shows("The prompt waits there in a new session", LONG).await?;
            window.wait_shows("A new branch from main", LONG).await?;
            name_branch(stage, "even").await?;
            window.wait_shows(&format!("{PROJECT}-even"), LONG).await?;
            window.key("Return").await?;

            let other = stage.app.window(&format!("{PROJECT}-even")).await?;
            other.find("textbox", "Prompt").await?;
            eventually("the prompt waits", LONG, async || {
                Ok((other.value("Prompt").await? == "SAY Round to even.").then_some(()))
            })
            .await?;
            stage.desktop.screenshot("asked-in-worktree").await?;
            // It is sent by the user, to the agent that was chosen.
            ensure!(!other.has("article", "Answer").await?, "it was sent by itself");
            other.click("button", "Send").await?;
            other.wait_said("Round to even.", LONG).await?;
            ensure!(
                other.names("button").await?.iter().any(|name| name.contains(AGENT)),
                "it is another agent"
            );
            Ok(())
        })
        .await
}
