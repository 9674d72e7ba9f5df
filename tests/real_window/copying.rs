//! Copying: the agent's own text is on the clipboard, shown by pasting it back.

use anyhow::Result;
use deskbell_tests::window::{SHORT, Window, eventually};

use crate::stage::Stage;

pub async fn a_message_is_copied_as_markdown() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("copy-message", async |stage| {
            let window = &stage.window;
            window.prompt("SAY A **bold** word.").await?;
            window.wait_said("A bold word.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            window.point_at("button", "Copy message").await?;
            pasted(window, "A **bold** word.").await
        })
        .await
}

pub async fn a_session_is_copied_as_markdown() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("copy-session", async |stage| {
            let window = &stage.window;
            window.prompt("SAY The *whole* of it.").await?;
            window.wait_said("The whole of it.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            window.click("button", "More").await?;
            window.point_at("menuitem", "Copy as Markdown").await?;
            pasted(window, "The *whole* of it.").await
        })
        .await
}

/// Pastes into the composer until the words are there: the text may still be on its way to the clipboard.
pub async fn pasted(window: &Window, words: &str) -> Result<()> {
    eventually("the pasted words", SHORT, async || {
        window.click("textbox", "Prompt").await?;
        window.key("ctrl+a").await?;
        window.key("ctrl+v").await?;
        Ok(window.value("Prompt").await?.contains(words).then_some(()))
    })
    .await
}
