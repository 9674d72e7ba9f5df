//! Failures are explained in words, and nothing hangs.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use deskbell_tests::suite::Requirement;
use deskbell_tests::window::{AgentStub, App, Desktop, LONG, Launch, Manners, SHORT, Window, eventually};

use crate::stage::{PROJECT, Stage};

/// Whether the app can be started without finding an agent: not where one is installed for every user.
pub fn no_agent_installed() -> Requirement {
    let installed = ["/usr/local/bin", "/opt/homebrew/bin", "/usr/bin", "/bin", "/snap/bin"]
        .map(|folder| Path::new(folder).join("claude"))
        .into_iter()
        .find(|file| file.exists());
    match installed {
        Some(file) => Requirement::Missing(format!("a machine without {}", file.display())),
        None => Requirement::Met,
    }
}

/// The page lists the searched places.
pub async fn no_agent_anywhere_lists_what_was_tried() -> Result<()> {
    let desktop = Desktop::start().await?;
    let folder = desktop.project(PROJECT)?;
    let nothing = desktop.project("empty-path")?;
    let launch = Launch::folder(&folder).env("PATH", &nothing);
    let app = App::start(&desktop, &launch).await?;
    let window = app.window(PROJECT).await?;
    let text = window.wait_shows(&nothing.to_string_lossy(), SHORT).await?;
    ensure!(text.contains("claude"), "the page does not say what it looked for:\n{text}");
    let home = desktop.home();
    ensure!(text.contains(&*home.to_string_lossy()) || text.contains('~'), "home was not tried:\n{text}");
    window.screenshot("no-agent").await.map(drop)
}

pub async fn an_agent_that_prints_garbage_is_told() -> Result<()> {
    misbehaving("garbage", AgentStub::garbage, &["cannot read", "Segmentation fault (core dumped)"]).await
}

pub async fn an_agent_that_exits_at_once_is_told() -> Result<()> {
    misbehaving("exits", AgentStub::exits, &["127", "libshim.so.4"]).await
}

pub async fn an_agent_that_cannot_be_run_is_told() -> Result<()> {
    misbehaving("not-a-program", AgentStub::not_a_program, &["not-a-program"]).await
}

/// Prompts a program that is not an agent, and waits for each of the words that explain it.
async fn misbehaving(
    name: &str,
    stub: fn(&Desktop) -> Result<std::path::PathBuf>,
    words: &[&str],
) -> Result<()> {
    let desktop = Desktop::start().await?;
    let folder = desktop.project(PROJECT)?;
    let launch = Launch::folder(&folder).env("CLAUDE_CODE_COMMAND", stub(&desktop)?);
    let app = App::start(&desktop, &launch).await?;
    let window = app.window(PROJECT).await?;
    // There is no trust decision for the folder yet; but a missing agent is reported first.
    let is_asked = eventually("the first page", SHORT, async || {
        let is_missing = window.has("button", "Search again").await?;
        let is_asked = window.has("button", "Open restricted").await?;
        Ok((is_missing || is_asked).then_some(is_asked))
    });
    if is_asked.await? {
        window.click("button", "Open restricted").await?;
    }
    let told = told(&window, words).await;
    window.drawn().await?;
    desktop.screenshot(name).await?;
    told.with_context(|| format!("the app wrote:\n{}", app.log()))
}

async fn told(window: &Window, words: &[&str]) -> Result<()> {
    // The failure may be known before a prompt: then there is no composer to type into.
    let known = eventually("a composer, or words", SHORT, async || {
        let known = window.all_text().await?.contains(words[0]);
        Ok((known || window.has("textbox", "Prompt").await?).then_some(known))
    });
    if !known.await? {
        window.prompt("Is anybody there?").await?;
    }
    let (headline, details) = words.split_first().context("a failure has words")?;
    window.wait_shows(headline, LONG).await?;
    if window.has("button", "Details").await? {
        window.click("button", "Details").await?;
    }
    for word in details {
        window.wait_shows(word, SHORT).await?;
    }
    Ok(())
}

pub async fn an_agent_that_crashes_can_be_prompted_again() -> Result<()> {
    let stage = Stage::with(Manners::Polite, |launch| launch).await?;
    stage
        .play("crash", async |stage| {
            let window = &stage.window;
            window.prompt("SAY Before the fall.\nSTDERR the mast is broken\nCRASH 9").await?;
            window.wait_said("Before the fall.", SHORT).await?;
            window.wait_idle(LONG).await?;
            window.wait_shows("9", SHORT).await?;
            window.prompt("SAY Afloat again.\nRECALL").await?;
            window.wait_said("Afloat again.", LONG).await?;
            window.wait_idle(SHORT).await
        })
        .await
}

pub async fn a_folder_that_does_not_exist_is_told() -> Result<()> {
    let desktop = Desktop::start().await?;
    let folder = desktop.scratch().join("no-such-harbour");
    let text = opened_or_told(&desktop, &folder).await?;
    ensure!(text.contains("no-such-harbour"), "the folder is not named:\n{text}");
    let plain = text.to_lowercase();
    ensure!(
        plain.contains("exist") || plain.contains("no such") || plain.contains("not found"),
        "why?\n{text}"
    );
    Ok(())
}

pub async fn a_file_in_place_of_a_folder_is_told() -> Result<()> {
    let desktop = Desktop::start().await?;
    let file = desktop.scratch().join("harbour.txt");
    std::fs::write(&file, "a file\n")?;
    let text = opened_or_told(&desktop, &file).await?;
    ensure!(text.contains("harbour.txt"), "the file is not named:\n{text}");
    let plain = text.to_lowercase();
    ensure!(plain.contains("not a folder") || plain.contains("not a directory"), "why?\n{text}");
    Ok(())
}

/// The text that a user reads after opening `folder`: the page, or the error output of a start that failed.
async fn opened_or_told(desktop: &Desktop, folder: &Path) -> Result<String> {
    let launch = Launch::demo(folder);
    let mut command = tokio::process::Command::from(launch.command(desktop));
    let started = command.kill_on_drop(true).output();
    if let Ok(output) = tokio::time::timeout(SHORT, started).await {
        let output = output?;
        ensure!(!output.status.success(), "a start that opens nothing fails: {output:?}");
        return Ok(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let app = App::start(desktop, &launch).await?;
    let name = folder.file_name().context("a path has a name")?.to_string_lossy();
    let window = app.window("").await?;
    window.wait_shows(&name, SHORT).await
}
