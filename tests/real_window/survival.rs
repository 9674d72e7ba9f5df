//! Nothing is lost when a process is killed: the app, its webview, or an agent.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{
    Accessibility, App, Desktop, LONG, Launch, Manners, Pointer, Process, Role, SHORT, Window, eventually,
    holds_for,
};

use crate::board::BOARD;
use crate::other_agents;
use crate::stage::{PROJECT, Stage, numbered};

pub async fn a_killed_app_offers_the_cut_prompt() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("killed-app", async |stage| {
            let window = &stage.window;
            window.prompt("SAY Before the storm.").await?;
            window.wait_said("Before the storm.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            window.prompt("SLOW 50 600 wave").await?;
            window.wait_said("wave5 ", SHORT).await?;
            window.prompt("SAY Waiting in line.").await?;
            window.wait_shows("Waiting in line.", SHORT).await?;
            window.type_into("Prompt", "half a word").await?;

            stage.app.process(&stage.desktop)?.kill()?;
            stage.app.ended(&stage.desktop, LONG).await?;
            stage.app = App::start(&stage.desktop, &stage.launch().again()).await?;
            stage.window = stage.app.window(PROJECT).await?;

            let window = &stage.window;
            window.wait_said("Before the storm.", SHORT).await?;
            window.wait_shows("SLOW 50 600 wave", SHORT).await.context("the cut prompt")?;
            window.wait_shows("Waiting in line.", SHORT).await.context("the queued prompt")?;
            eventually("the draft is there", SHORT, async || {
                Ok((window.value("Prompt").await? == "half a word").then_some(()))
            })
            .await?;
            window.drawn().await?;
            stage.desktop.screenshot("killed-app").await?;
            holds_for("nothing is sent again by itself", Duration::from_secs(2), async || {
                Ok(!window.has("button", "Stop").await?)
            })
            .await
        })
        .await
}

pub async fn a_killed_agent_is_told_and_starts_again() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("killed-agent", async |stage| {
            let window = &stage.window;
            window.prompt("SAY I live.").await?;
            window.wait_said("I live.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            window.prompt("SAY In the middle.\nWAIT").await?;
            window.wait_said("In the middle.", SHORT).await?;
            stage.agent()?.kill()?;
            window.wait_idle(LONG).await?;
            window.wait_text("log", "Conversation", "was killed (signal 9)", SHORT).await?;
            window.prompt("RECALL").await?;
            window.wait_said("SAY I live.", LONG).await.context("the session goes on")?;
            window.wait_idle(SHORT).await
        })
        .await
}

/// Everything on the screen is counted: header, transcript, waiting prompts, list of sessions, what the desktop shows, and the
/// board.
pub async fn a_crash_is_said_once_with_one_button() -> Result<()> {
    const SAYING_IT: [&str; 5] = ["killed", "crash", "process ended", "exited", "signal"];
    /// The announcement for screen readers, which is not drawn.
    const ANNOUNCED: &str = "Failed: The agent was killed (signal 9)";
    const GOING_ON: [&str; 5] = ["again", "Retry", "Restart", "Start", "Continue"];
    let stage = Stage::demo().await?;
    stage
        .play("crash-once", async |stage| {
            let window = &stage.window;
            window.prompt("SAY In the middle.\nWAIT").await?;
            window.wait_said("In the middle.", SHORT).await?;
            stage.agent()?.kill()?;
            window.wait_shows("was killed (signal 9)", LONG).await?;
            window.find("button", "Send again").await?;
            window.wait_idle(LONG).await?;
            window.drawn().await?;
            stage.desktop.screenshot("crash-once").await?;
            let text = window.all_text().await?;
            let mut lines: Vec<&str> =
                text.lines().filter(|line| SAYING_IT.iter().any(|word| line.contains(word))).collect();
            lines.retain(|line| *line != ANNOUNCED);
            ensure!(!text.contains("another program"), "its own dead agent is another program:\n{text}");
            ensure!(lines.len() == 1, "{} lines say it: {lines:#?} in:\n{text}", lines.len());
            let mut buttons = window.names("button").await?;
            buttons.retain(|name| GOING_ON.iter().any(|word| name.contains(word)));
            ensure!(buttons.len() == 1, "the buttons that go on: {buttons:?}");
            let said: Vec<_> = stage.notifications.all();
            ensure!(said.len() <= 1, "{said:#?}");

            stage.pointer.key("ctrl+shift+b").await?;
            let board = stage.app.window(BOARD).await?;
            board.wait_shows("killed", SHORT).await?;
            board.drawn().await?;
            stage.desktop.screenshot("crash-once-board").await?;
            let text = board.all_text().await?;
            let lines: Vec<&str> =
                text.lines().filter(|line| SAYING_IT.iter().any(|word| line.contains(word))).collect();
            ensure!(lines.len() == 1, "{} lines of the board say it: {lines:#?} in:\n{text}", lines.len());
            let mut buttons = board.names("button").await?;
            buttons.retain(|name| GOING_ON.iter().any(|word| name.contains(word)));
            ensure!(buttons.len() <= 1, "the buttons of the board that go on: {buttons:?}");
            Ok(())
        })
        .await
}

pub async fn a_killed_webview_comes_back() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("killed-webview", async |stage| {
            stage.window.prompt("SLOW 20 200 oar").await?;
            stage.window.wait_said("oar5 ", SHORT).await?;
            stage.window.type_into("Prompt", "half a word").await?;
            let processes = stage.app.processes(&stage.desktop);
            let webview = processes.iter().find(|process| process.program.ends_with("WebKitWebProcess"));
            webview.context("the page has a process of its own")?.kill()?;

            // The driver's session ends with the page it drove; a screen reader finds the new page.
            let accessibility = Accessibility::on(&stage.desktop).await?;
            eventually("the page is there again", SHORT, async || {
                for program in accessibility.programs().await? {
                    for window in program.children().await? {
                        let Some(_) = window.find(Role::LOG, "Conversation").await else { continue };
                        let Some(prompt) = window.find(Role::ENTRY, "Prompt").await else { continue };
                        return Ok((prompt.text().await? == "half a word").then_some(()));
                    }
                }
                Ok(None)
            })
            .await
            .context("the page is there with what was typed")?;
            stage.desktop.painted(stage.pointer.extents(stage.window.frame()).await?).await?;
            stage.threads_are_ordinary(2).await
        })
        .await
}

/// Turns on the setting that keeps sessions running.
pub fn keep_running(desktop: &Desktop) -> Result<()> {
    let config = desktop.home().join(".config/deskbell");
    std::fs::create_dir_all(&config)?;
    Ok(std::fs::write(config.join("settings.json"), "{\"keepRunning\": true, \"asking\": \"card\"}")?)
}

/// The app with the setting that keeps sessions running.
async fn keeping() -> Result<Stage> {
    let desktop = Desktop::start().await?;
    let folder = desktop.project(PROJECT)?;
    keep_running(&desktop)?;
    let launch = Launch::demo(&folder);
    Stage::on(desktop, folder, Manners::Polite, launch).await
}

/// Waits until the killed app and its pages are gone. Only then has the bus noticed that it is; the server goes on.
async fn is_gone(stage: &Stage, pid: u32) -> Result<()> {
    eventually("the app has ended", LONG, async || {
        let processes = stage.app.processes(&stage.desktop);
        let is_left = |process: &Process| process.pid == pid || process.command_line.contains("WebKit");
        Ok((!processes.iter().any(is_left)).then_some(()))
    })
    .await
}

/// Kills the app while its server goes on, and starts it again.
async fn kill_and_start_again(stage: &mut Stage) -> Result<()> {
    let app = stage.app.process(&stage.desktop)?;
    app.kill()?;
    is_gone(stage, app.pid).await?;
    stage.app = App::start(&stage.desktop, &stage.launch().again()).await?;
    stage.window = stage.app.window(PROJECT).await?;
    Ok(())
}

/// Nothing is left when the user says so. The app has to be gone: it starts the server again.
pub async fn end_server(stage: &mut Stage) -> Result<()> {
    let app = stage.app.process(&stage.desktop)?;
    stage.app.close(stage.window.frame()).await?;
    is_gone(stage, app.pid).await?;
    let left = stage.app.processes(&stage.desktop);
    let server = left.iter().find(|process| process.command_line.contains("--serve"));
    server.context("the server goes on")?.terminate()?;
    stage.app.ended(&stage.desktop, LONG).await
}

pub async fn a_killed_app_finds_the_turn_that_kept_running() -> Result<()> {
    let stage = keeping().await?;
    stage
        .play("kept-running", async |stage| {
            let window = &stage.window;
            window.prompt("SAY Before the storm.").await?;
            window.wait_shows("Keeps running", SHORT).await?;
            window.wait_said("Before the storm.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            window.prompt("SLOW 50 200 wave").await?;
            window.wait_said("wave5 ", SHORT).await?;
            let agent = stage.agent()?;

            kill_and_start_again(stage).await?;

            let window = &stage.window;
            window.wait_said(&numbered("wave", 200), LONG).await.context("the end of the turn")?;
            window.wait_said("Before the storm.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            ensure!(stage.agent()?.pid == agent.pid, "the agent is another process");
            window.drawn().await?;
            stage.desktop.screenshot("kept-running").await?;

            // A request that waits while the app is gone is asked again, and its answer counts.
            window.prompt("TOOL Bash {\"command\": \"touch kept.txt\"}\nSAY Allowed.").await?;
            window.wait_shows("touch kept.txt", SHORT).await?;
            kill_and_start_again(stage).await?;
            let window = &stage.window;
            window.point_at("button", "Allow once").await?;
            window.wait_said("Allowed.", LONG).await?;

            end_server(stage).await
        })
        .await
}

/// Chooses in the palette whether the sessions of the window's project keep running.
async fn choose_to_keep(window: &Window, keys: &Pointer, choice: &str) -> Result<()> {
    keys.key("ctrl+k").await?;
    window.find("combobox", "Search commands and sessions").await?;
    let entry = format!("Keep sessions of this project running: {choice}");
    keys.type_text(&entry).await?;
    window.wait_text("listbox", "Results", &entry, SHORT).await?;
    window.drawn().await?;
    keys.key("Return").await
}

pub async fn a_project_keeps_running_by_its_own_choice() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("own-choice-to-keep", async |stage| {
            let window = &stage.window;
            window.prompt("SAY It ends with the app.").await?;
            window.wait_said("It ends with the app.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            ensure!(!window.all_text().await?.contains("Keeps running"), "the setting is off");
            choose_to_keep(window, &stage.pointer, "always").await?;
            let projects = stage.desktop.home().join(".local/share/deskbell/projects.json");
            eventually("the choice is saved", SHORT, async || {
                Ok(std::fs::read_to_string(&projects)?.contains("\"keepRunning\": true").then_some(()))
            })
            .await?;
            ensure!(std::fs::read_dir(&stage.folder)?.count() == 0, "the folder is left alone");

            stage.pointer.key("ctrl+n").await?;
            // Until the new session is open, keys go to the one before.
            window.wait_shows("Keeps running", SHORT).await?;
            window.prompt("SLOW 50 200 wave").await?;
            window.wait_said("wave5 ", SHORT).await?;
            kill_and_start_again(stage).await?;
            let window = &stage.window;
            window.wait_said(&numbered("wave", 200), LONG).await.context("the end of the turn")?;
            window.wait_idle(SHORT).await?;
            end_server(stage).await
        })
        .await
}

pub async fn a_killed_app_finds_the_request_of_another_agent_that_kept_running() -> Result<()> {
    let stage = keeping().await?;
    stage
        .play("kept-other-agent", async |stage| {
            other_agents::begin(stage).await?;
            stage.window.gone("button", other_agents::AGENT).await?;
            stage.window.prompt("RUN ls -l\nSAY It is listed.").await?;
            stage.window.wait_shows("Keeps running", SHORT).await?;
            stage.window.wait_shows("ls -l", SHORT).await?;
            let agent = stage.agent()?;
            ensure!(agent.command_line.contains(" --acp"), "{}", agent.command_line);

            kill_and_start_again(stage).await?;
            let window = &stage.window;
            window.wait_shows(other_agents::AGENT, SHORT).await?;
            window.point_at("button", "Allow once").await?;
            window.wait_said("It is listed.", LONG).await?;
            window.wait_idle(SHORT).await?;
            ensure!(stage.agent()?.pid == agent.pid, "the agent is another process");
            end_server(stage).await
        })
        .await
}
