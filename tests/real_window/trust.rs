//! Trust: a folder's settings are shown before an agent starts in it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{AgentStub, LONG, Launch, Manners, SHORT, Window, eventually};

use crate::stage::Stage;

const HOOK: &str = "touch ran-at-session-start";
const RESTRICTION: &str = "--strict-mcp-config";

/// A folder with a hook, and an agent that logs its arguments.
async fn hostile() -> Result<Stage> {
    let stage = Stage::claude(|folder| write_hook(folder, HOOK)).await?;
    stage.window.wait_shows("Do you trust lighthouse?", SHORT).await?;
    Ok(stage)
}

fn settings(folder: &Path) -> PathBuf {
    folder.join(".claude/settings.json")
}

fn write_hook(folder: &Path, command: &str) -> Result<()> {
    let text = format!(
        r#"{{ "hooks": {{ "SessionStart": [{{ "hooks": [{{ "type": "command", "command": "{command}" }}] }}] }} }}"#
    );
    fs::create_dir_all(folder.join(".claude"))?;
    fs::write(settings(folder), text).context("writing the folder's settings")
}

/// Trusts by a real pointer, as soon as the button is armed.
pub async fn trust(window: &Window) -> Result<()> {
    eventually("the button is armed", SHORT, async || {
        let armed = window.attribute("button", "Trust this folder", "aria-disabled").await?;
        Ok((armed.as_deref() == Some("false")).then_some(()))
    })
    .await?;
    window.click("button", "Trust this folder").await
}

/// Prompts, and waits for the answer.
async fn answered(stage: &Stage, words: &str) -> Result<()> {
    stage.window.prompt(&format!("SAY {words}")).await?;
    stage.window.wait_said(words, LONG).await?;
    stage.window.wait_idle(SHORT).await
}

fn n_starts(stage: &Stage) -> usize {
    AgentStub::arguments(&stage.desktop).lines().filter(|argument| *argument == "-p").count()
}

pub async fn nothing_starts_before_the_folder_is_trusted() -> Result<()> {
    let stage = hostile().await?;
    stage
        .play("trust", async |stage| {
            stage.window.wait_shows(HOOK, SHORT).await?;
            stage.window.wait_shows(".claude/settings.json", SHORT).await?;
            ensure!(!stage.window.has("textbox", "Prompt").await?, "a prompt can be given before the answer");
            stage.window.drawn().await?;
            stage.desktop.screenshot("trust").await?;
            // The page cannot be bypassed.
            let created =
                stage.window.invoke("create_session", serde_json::json!({ "agent": "claude" })).await?;
            let refused = created.err().context("a session was begun")?;
            ensure!(refused["code"] == "notTrusted", "{refused}");
            ensure!(n_starts(stage) == 0, "an agent was started");

            trust(&stage.window).await?;
            answered(stage, "Trusted.").await?;
            let arguments = AgentStub::arguments(&stage.desktop);
            ensure!(!arguments.contains(RESTRICTION), "a trusted folder is restricted: {arguments}");
            ensure!(arguments.contains("--settings="), "the folder's own files are loaded: {arguments}");
            ensure!(!stage.window.all_text().await?.contains("Restricted"), "the header says restricted");
            Ok(())
        })
        .await
}

pub async fn a_trusted_folder_is_asked_about_again_when_it_changes() -> Result<()> {
    let stage = hostile().await?;
    stage
        .play("changed", async |stage| {
            trust(&stage.window).await?;
            answered(stage, "Before.").await?;
            // Unchanged: no second question.
            stage.restart().await?;
            answered(stage, "As before.").await?;

            // One byte changes while the app runs: the next start needs an answer, and sent prompts are kept.
            stage.window.click("button", "More").await?;
            stage.window.click("menuitem", "Stop the agent").await?;
            stage.window.wait_shows("Stopped", SHORT).await?;
            let before = n_starts(stage);
            write_hook(&stage.folder, "touch ran-at-session-stare")?;
            stage.window.prompt("SAY After.").await?;
            stage.window.wait_shows("changed since you trusted it", SHORT).await?;
            stage.window.wait_shows("ran-at-session-stare", SHORT).await?;
            stage.window.wait_shows("Removed since you trusted it", SHORT).await?;
            stage.window.drawn().await?;
            stage.desktop.screenshot("trust-changed").await?;
            ensure!(n_starts(stage) == before, "an agent was started in a folder that changed");

            trust(&stage.window).await?;
            stage.window.click("button", "Send now").await?;
            stage.window.wait_said("After.", LONG).await?;
            ensure!(!AgentStub::arguments(&stage.desktop).contains(RESTRICTION), "it was restricted");
            Ok(())
        })
        .await
}

pub async fn a_change_while_an_agent_runs_is_shown_and_waits_for_the_answer() -> Result<()> {
    let stage = hostile().await?;
    stage
        .play("changed-running", async |stage| {
            trust(&stage.window).await?;
            answered(stage, "Before.").await?;
            write_hook(&stage.folder, "touch ran-later")?;
            stage.window.wait_shows("settings changed", SHORT).await?;
            stage.window.wait_shows("They are not in effect", SHORT).await?;
            answered(stage, "As before.").await?;
            stage.desktop.screenshot("trust-changed-running").await?;
            stage.window.click("button", "Review…").await?;
            stage.window.wait_shows("touch ran-later", SHORT).await?;
            stage.window.click("button", "Keep the earlier settings").await?;
            answered(stage, "Kept.").await?;
            ensure!(!stage.window.all_text().await?.contains("settings changed"), "it is asked again");
            ensure!(n_starts(stage) == 1, "an agent was started");

            write_hook(&stage.folder, "touch ran-at-last")?;
            stage.window.wait_shows("They are not in effect", SHORT).await?;
            stage.window.click("button", "Review…").await?;
            stage.window.wait_shows("touch ran-at-last", SHORT).await?;
            trust(&stage.window).await?;
            eventually("the agent starts again", LONG, async || Ok((n_starts(stage) == 2).then_some(())))
                .await?;
            answered(stage, "After.").await?;
            let arguments = AgentStub::arguments(&stage.desktop);
            let copies = arguments.lines().filter(|argument| argument.starts_with("--settings="));
            let copies: std::collections::BTreeSet<&str> = copies.collect();
            ensure!(copies.len() == 2, "the settings are {copies:?}");
            Ok(())
        })
        .await
}

pub async fn a_restricted_folder_is_never_asked_about_again() -> Result<()> {
    let stage = hostile().await?;
    stage
        .play("restricted", async |stage| {
            stage.window.click("button", "Open restricted").await?;
            answered(stage, "Restricted.").await?;
            let arguments = AgentStub::arguments(&stage.desktop);
            ensure!(arguments.contains(RESTRICTION), "the arguments are {arguments}");
            ensure!(arguments.contains("--strict-mcp-config"), "the arguments are {arguments}");
            stage.window.wait_shows("Restricted", SHORT).await?;

            write_hook(&stage.folder, "touch ran-something-else")?;
            stage.restart().await?;
            answered(stage, "Still restricted.").await?;
            ensure!(n_starts(stage) == 2, "it was started {} times", n_starts(stage));
            // The decision can be changed in the settings.
            stage.window.key("ctrl+comma").await?;
            stage.window.wait_shows("settings are not loaded", SHORT).await?;
            stage.window.click("button", "Review…").await?;
            stage.window.wait_shows("touch ran-something-else", SHORT).await?;
            stage.window.click("button", "Back").await
        })
        .await
}

pub async fn an_answer_to_what_is_no_longer_so_is_refused() -> Result<()> {
    let stage = hostile().await?;
    stage
        .play("outdated", async |stage| {
            write_hook(&stage.folder, "touch ran-unseen")?;
            // The page follows the folder, and an answer to an earlier version is refused.
            stage.window.wait_shows("touch ran-unseen", SHORT).await?;
            let outdated = serde_json::json!({ "decision": "trust", "fingerprint": "outdated", "load": [] });
            let refused =
                stage.window.invoke("decide_trust", outdated).await?.err().context("it was taken")?;
            let message = refused["message"].as_str().unwrap_or_default();
            ensure!(message.contains("changed while they were shown"), "{refused}");
            ensure!(n_starts(stage) == 0, "an agent was started");
            trust(&stage.window).await?;
            answered(stage, "Seen.").await
        })
        .await
}

pub async fn a_first_prompt_waits_for_the_answer() -> Result<()> {
    // The window knows its sessions by then, and must receive this one.
    let stage = hostile().await?;
    stage
        .play("first-prompt", async |stage| {
            let launch = Launch::folder(&stage.folder).argument("--prompt=SAY Patient.");
            let mut second = launch.command(&stage.desktop);
            ensure!(second.status()?.success(), "the second start failed");
            stage.window.wait_shows("Do you trust lighthouse?", SHORT).await?;
            stage.window.click("button", "Open restricted").await?;
            // The prompt of a second start is a draft: only the user sends it.
            eventually("the prompt is a draft", SHORT, async || {
                Ok((stage.window.value("Prompt").await? == "SAY Patient.").then_some(()))
            })
            .await?;
            ensure!(n_starts(stage) == 0, "an agent was started");
            stage.pointer.activate(stage.window.frame()).await?;
            stage.window.wait_focus("textbox “Prompt”").await?;
            stage.pointer.key("Return").await?;
            stage.window.wait_said("Patient.", LONG).await.map(drop)
        })
        .await
}

pub async fn the_demo_agent_needs_no_trust() -> Result<()> {
    let stage =
        Stage::with_folder(Manners::Polite, |folder| write_hook(folder, HOOK), |launch| launch).await?;
    stage
        .play("demo", async |stage| {
            answered(stage, "Only a demo.").await?;
            ensure!(!stage.window.all_text().await?.contains("Do you trust"), "it asks for trust");
            Ok(())
        })
        .await
}
