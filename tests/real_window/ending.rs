//! No process is left behind, however the app ends.

use anyhow::{Result, ensure};
use deskbell_tests::window::{LONG, SHORT};

use crate::stage::Stage;

/// A turn in full swing, with a tool that has gone off into a session of its own.
const BUSY: &str = "CHILD 600\nSLOW 50 600 oar";

pub async fn closing_the_window_leaves_no_process() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("close", async |stage| {
            busy(stage).await?;
            stage.app.close(stage.window.frame()).await?;
            stage.app.ended(&stage.desktop, LONG).await
        })
        .await
}

pub async fn closing_right_after_a_prompt_leaves_no_process() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("close-early", async |stage| {
            stage.window.prompt(BUSY).await?;
            stage.app.close(stage.window.frame()).await?;
            stage.app.ended(&stage.desktop, LONG).await
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

pub async fn an_open_request_is_denied_by_closing() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("denied-by-closing", async |stage| {
            stage.window.prompt("TOOL Bash {\"command\":\"rm -rf harbour\"}\nSAY Gone.").await?;
            stage.dialogs().await?.one().await?;
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

/// Brings the agent to work, and makes sure that there is something to leave behind.
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
