//! Prompts and answers.

use anyhow::{Result, ensure};
use deskbell_tests::window::{LONG, SHORT};

use crate::stage::{Stage, numbered};

pub async fn a_prompt_by_keyboard_is_answered() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("prompt", async |stage| {
            let window = &stage.window;
            window.prompt("STREAM 3 tick\nSAY The bell has rung.").await?;
            window.wait_said("tickticktick", SHORT).await?;
            window.wait_said("The bell has rung.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            ensure!(window.value("Prompt").await?.is_empty(), "the composer is empty after sending");
            let names = window.names("button").await?;
            ensure!(!names.iter().any(|name| name == "Stop"), "no turn runs, yet “Stop” is offered");
            Ok(())
        })
        .await
}

pub async fn a_turn_is_stopped_by_escape() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("escape", async |stage| {
            let window = &stage.window;
            window.prompt("SAY Here I wait.\nWAIT").await?;
            window.wait_said("Here I wait.", SHORT).await?;
            window.find("button", "Stop").await?;
            window.click("textbox", "Prompt").await?;
            window.key("Escape").await?;
            window.wait_idle(SHORT).await?;
            // The session lives on in the same process.
            window.prompt("SAY Still here.").await?;
            window.wait_said("Still here.", SHORT).await?;
            window.wait_idle(SHORT).await
        })
        .await
}

pub async fn a_reload_in_mid_stream_loses_and_doubles_nothing() -> Result<()> {
    const WORDS: usize = 150;
    let stage = Stage::demo().await?;
    stage
        .play("reload", async |stage| {
            let window = &stage.window;
            window.prompt(&format!("SLOW 20 {WORDS} chime\nSAY That was all.")).await?;
            for mark in ["chime10 ", "chime50 ", "chime90 "] {
                let said = window.wait_said(mark, LONG).await?;
                ensure!(!said.contains("That was all."), "the stream was over before the reload");
                window.reload().await?;
            }
            window.wait_said("That was all.", LONG).await?;
            window.wait_idle(SHORT).await?;
            let said = window.wait_said(&numbered("chime", WORDS), SHORT).await?;
            let words = said.matches("chime").count();
            ensure!(words == WORDS, "{words} words instead of {WORDS}:\n{said}");
            ensure!(said.matches("That was all.").count() == 1, "the end is said more than once:\n{said}");
            Ok(())
        })
        .await
}

pub async fn a_prompt_while_busy_waits_its_turn() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("queue", async |stage| {
            let window = &stage.window;
            window.prompt("SLOW 20 100 early").await?;
            window.wait_said("early3 ", SHORT).await?;
            window.prompt("SAY Second in line.").await?;
            window.wait_said("early99", LONG).await?;
            let said = window.wait_said("Second in line.", LONG).await?;
            window.wait_idle(SHORT).await?;
            let (last, second) = (said.find("early99"), said.rfind("Second in line."));
            ensure!(last < second, "the queued prompt was answered too soon:\n{said}");
            Ok(())
        })
        .await
}
