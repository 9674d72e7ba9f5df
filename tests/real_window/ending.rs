//! No process is left running, however the app ends.

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{App, LONG, Launch, Notification, SHORT, eventually};

use crate::projects::start_again;
use crate::stage::{PROJECT, Stage};

/// A running turn, with a tool that has started a session of its own.
const BUSY: &str = "CHILD 600\nSLOW 50 600 oar";

pub async fn closing_the_window_leaves_no_process() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("close", async |stage| {
            busy(stage).await?;
            stage.app.stop_and_close(stage.window.frame()).await?;
            stage.app.ended(&stage.desktop, LONG).await
        })
        .await
}

pub async fn work_is_not_stopped_unasked() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("close-cancelled", async |stage| {
            busy(stage).await?;
            let frame = stage.window.frame();
            stage.app.close(frame).await?;
            let question = stage.pointer.window("Close ").await?;
            stage.desktop.screenshot("close-question").await?;
            // Again: the same question comes to the front, and there is no second one.
            stage.app.close(frame).await?;
            stage.pointer.wait_active(question).await?;
            ensure!(stage.pointer.windows("Close ").await?.len() == 1, "it is asked twice");
            // Return is Cancel.
            stage.pointer.key("Return").await?;
            eventually("the question is closed", SHORT, async || {
                Ok(stage.pointer.windows("Close ").await?.is_empty().then_some(()))
            })
            .await?;
            stage.agent()?;
            stage.window.find("button", "Stop").await?;

            // It is asked again, and Escape is Cancel too.
            stage.app.close(frame).await?;
            let question = stage.pointer.window("Close ").await?;
            stage.pointer.activate(question).await?;
            stage.pointer.key("Escape").await?;
            eventually("the question is closed", SHORT, async || {
                Ok(stage.pointer.windows("Close ").await?.is_empty().then_some(()))
            })
            .await?;
            stage.app.stop_and_close(frame).await?;
            stage.app.ended(&stage.desktop, LONG).await
        })
        .await
}

pub async fn work_goes_on_in_the_background() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("close-background", async |stage| {
            busy(stage).await?;
            let agent = stage.agent()?.pid;
            // The driver needs a window.
            let other = stage.desktop.project("windmill")?;
            start_again(&stage.desktop, &Launch::demo(&other)).await?;
            let second = stage.app.window("windmill").await?;
            send_to_background(stage).await?;
            let said = |seen: &Notification| seen.summary.contains("works in the background");
            let seen = stage.notifications.wait_for(said, SHORT).await?;
            ensure!(seen.summary.contains(PROJECT), "{seen:?}");
            ensure!(stage.agent()?.pid == agent, "another agent runs");
            // A click brings the window back, with the turn that went on.
            stage.notifications.click(seen.id).await?;
            stage.window = stage.app.window(PROJECT).await?;
            stage.window.wait_said("oar9 ", LONG).await?;
            ensure!(stage.agent()?.pid == agent, "the agent was started again");

            // A second start brings it back too.
            send_to_background(stage).await?;
            start_again(&stage.desktop, &stage.launch().again().argument("--open")).await?;
            stage.window = stage.app.window(PROJECT).await?;
            stage.app.stop_and_close(stage.window.frame()).await?;
            stage.app.close(second.frame()).await?;
            stage.app.ended(&stage.desktop, LONG).await
        })
        .await
}

/// Closes the window and lets its work go on.
async fn send_to_background(stage: &Stage) -> Result<()> {
    stage.app.close(stage.window.frame()).await?;
    let question = stage.pointer.window("Close ").await?;
    stage.pointer.activate(question).await?;
    stage.pointer.key("alt+k").await?;
    eventually("the window is gone", SHORT, async || {
        Ok(stage.pointer.windows(PROJECT).await?.is_empty().then_some(()))
    })
    .await
}

/// Checks “Do not ask again”, then presses a key of the question.
async fn remember_and(stage: &Stage, key: &str) -> Result<()> {
    stage.app.close(stage.window.frame()).await?;
    let question = stage.pointer.window("Close ").await?;
    stage.pointer.activate(question).await?;
    stage.pointer.key("alt+d").await?;
    stage.pointer.key(key).await?;
    eventually("the question is closed", LONG, async || {
        Ok(stage.pointer.windows("Close ").await?.is_empty().then_some(()))
    })
    .await
}

pub async fn an_answer_to_remember_is_the_setting_and_is_not_asked_again() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("close-remembered", async |stage| {
            let file = stage.desktop.home().join(".config/deskbell/settings.json");
            let settings = || std::fs::read_to_string(&file).unwrap_or_default();
            busy(stage).await?;
            // A cancelled question remembers nothing.
            remember_and(stage, "Escape").await?;
            ensure!(!settings().contains("closing"), "{}", settings());
            stage.agent()?;

            remember_and(stage, "alt+s").await?;
            stage.app.ended(&stage.desktop, LONG).await?;
            ensure!(settings().contains("\"closing\": \"stop\""), "{}", settings());
            stage.app = App::start(&stage.desktop, &stage.launch().again()).await?;
            stage.window = stage.app.window(PROJECT).await?;
            // The conversation of the session that was open has the words that `busy` waits for.
            stage.window.click("button", "New session").await?;
            stage.window.wait_shows("What do you want to do in", LONG).await?;
            busy(stage).await?;
            stage.app.close(stage.window.frame()).await?;
            // A question would keep it open.
            stage.app.ended(&stage.desktop, LONG).await
        })
        .await
}

pub async fn quitting_asks_once() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("quit", async |stage| {
            busy(stage).await?;
            stage.window.key("ctrl+q").await?;
            let question = stage.pointer.window("Quit Deskbell").await?;
            stage.desktop.screenshot("quit-question").await?;
            stage.pointer.activate(question).await?;
            // Return is Cancel.
            stage.pointer.key("Return").await?;
            eventually("the question is closed", SHORT, async || {
                Ok(stage.pointer.windows("Quit Deskbell").await?.is_empty().then_some(()))
            })
            .await?;
            stage.agent()?;
            stage.window.key("ctrl+q").await?;
            let question = stage.pointer.window("Quit Deskbell").await?;
            stage.app.answer_close(question).await?;
            stage.app.ended(&stage.desktop, LONG).await
        })
        .await
}

pub async fn closing_right_after_a_prompt_leaves_no_process() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("close-early", async |stage| {
            stage.window.prompt(BUSY).await?;
            // It asks if it has heard of the prompt already.
            stage.end().await
        })
        .await
}

pub async fn sigterm_leaves_no_process() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("sigterm", async |stage| {
            busy(stage).await?;
            stage.app.process(&stage.desktop)?.terminate()?;
            stage.app.ended(&stage.desktop, LONG).await
        })
        .await
}

pub async fn sigkill_leaves_no_process() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("sigkill", async |stage| {
            busy(stage).await?;
            stage.app.process(&stage.desktop)?.kill()?;
            stage.app.ended(&stage.desktop, LONG).await
        })
        .await
}

/// The guard is killed too, so nothing ends the agent's tool: the next start finds it, and offers to end it.
pub async fn what_a_killed_guard_leaves_is_offered_at_the_next_start() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("orphans", async |stage| {
            busy(stage).await?;
            let processes = stage.app.processes(&stage.desktop);
            let guard = processes.iter().find(|process| process.command_line.contains(" guard "));
            guard.context("the app has a guard")?.kill()?;
            stage.app.process(&stage.desktop)?.kill()?;
            let left = eventually("all but the tool is gone", LONG, async || {
                let left = stage.app.processes(&stage.desktop);
                Ok((left.len() == 1).then_some(left))
            });
            let tool = left.await?.remove(0);
            ensure!(tool.command_line == "sleep 600", "{tool:?}");

            stage.app = App::start(&stage.desktop, &stage.launch().again()).await?;
            stage.window = stage.app.window(PROJECT).await?;
            let window = &stage.window;
            let banner = ("region", "Processes of an earlier run");
            let said = window.wait_text(banner.0, banner.1, "1 process", LONG).await?;
            ensure!(said.contains("sleep 600") && said.contains(&tool.pid.to_string()), "{said}");
            window.screenshot("orphans").await?;
            window.click("button", "End it").await?;
            window.gone(banner.0, banner.1).await?;
            let processes = stage.app.processes(&stage.desktop);
            ensure!(!processes.iter().any(|process| process.pid == tool.pid), "{processes:#?}");
            let runs = stage.desktop.home().join(".local/share/deskbell/runs");
            ensure!(
                std::fs::read_dir(&runs)?.count() == 1,
                "the file of the run that is over is still there"
            );
            Ok(())
        })
        .await
}

pub async fn an_open_request_is_denied_by_closing() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("denied-by-closing", async |stage| {
            stage.window.prompt("TOOL Bash {\"command\":\"rm -rf harbour\"}\nSAY Gone.").await?;
            stage.window.find("group", "Permission request").await?;
            stage.restart().await?;
            let window = &stage.window;
            window.wait_text("log", "Conversation", "rm -rf harbour", SHORT).await?;
            let said = window.text("log", "Conversation").await?.to_lowercase();
            ensure!(!window.has("group", "Permission request").await?, "a request nobody waits for is shown");
            let told = ["denied", "interrupted", "stopped", "ended"].iter().any(|word| said.contains(word));
            ensure!(told, "the conversation does not say how it ended:\n{said}");
            Ok(())
        })
        .await
}

/// Makes the agent work, and checks that it has processes that could be left over.
async fn busy(stage: &Stage) -> Result<()> {
    stage.window.prompt(BUSY).await?;
    stage.window.wait_said("oar3 ", SHORT).await?;
    let processes = stage.app.processes(&stage.desktop);
    for part in [" demo-agent ", "sleep 600"] {
        let there = processes.iter().any(|process| process.command_line.contains(part));
        ensure!(there, "no process “{part}” among {processes:#?}");
    }
    Ok(())
}
