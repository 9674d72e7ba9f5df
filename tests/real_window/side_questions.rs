//! Side questions in a real window, by key, while a turn runs.

use anyhow::{Result, ensure};
use deskbell_tests::window::SHORT;

use crate::stage::{Gate, Stage};

pub async fn one_is_asked_and_answered_beside_a_turn() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("side-question", async |stage| {
            let gate = Gate::closed(&stage.desktop)?;
            stage.window.prompt(&gate.before("SAY Built.")).await?;
            stage.window.find("button", "Stop").await?;
            stage.window.key("alt+s").await?;
            stage.window.find("textbox", "Side question").await?;
            stage.window.type_into("Side question", "SAY Half to even.").await?;
            stage.pointer.key("Return").await?;
            stage.window.wait_text("region", "Side questions", "Half to even.", SHORT).await?;
            stage.desktop.screenshot("side-question").await?;
            stage.window.key("Escape").await?;
            stage.window.wait_focus("Prompt").await?;
            ensure!(!stage.window.has("region", "Side questions").await?, "the panel is open");
            gate.open()?;
            let said = stage.window.wait_said("Built.", SHORT).await?;
            ensure!(!said.contains("Half to even."), "it is in the conversation: {said}");
            Ok(())
        })
        .await
}
