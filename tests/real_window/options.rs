//! The options of a session: set by mouse and by keyboard, and in force.

use anyhow::{Result, ensure};
use deskbell_tests::window::{SHORT, Window, eventually};

use crate::stage::Stage;

const DIALOG: &str = "Session options";
const LIMITED: &str = "Stopped after 1 turn of the model";

/// Waits until the preview of the start has this argument.
async fn shown(window: &Window, argument: &str) -> Result<()> {
    window.wait_text("list", "Program and arguments", argument, SHORT).await.map(drop)
}

pub async fn chosen_by_mouse_they_are_in_force() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("options-mouse", async |stage| {
            let window = &stage.window;
            window.point_at("button", "New session").await?;
            window.find("button", "Session options…").await?;
            window.point_at("button", "Session options…").await?;
            window.find("dialog", DIALOG).await?;
            window.type_into("System prompt", "Answer briefly.").await?;
            window.type_into("Arguments", "--dangerously-skip-permissions").await?;
            window.wait_shows("--dangerously-skip-permissions is not possible", SHORT).await?;
            ensure!(
                !window.find("button", "Apply").await?.is_enabled().await?,
                "a refused argument can be applied"
            );
            window.screenshot("options-refused").await?;
            for _ in 0.."--dangerously-skip-permissions".len() {
                window.key("BackSpace").await?;
            }
            window.type_into("Max turns", "1").await?;
            shown(window, "--max-turns=1").await?;
            window.screenshot("options").await?;
            // It may have to be scrolled to.
            window.click("button", "Apply").await?;
            window.gone("dialog", DIALOG).await?;

            window.prompt("ARGS").await?;
            window.wait_said("--append-system-prompt=Answer briefly.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            window.prompt("TOOL Read {\"file_path\":\"a\"}\nSAY not reached").await?;
            window.wait_text("log", "Conversation", LIMITED, SHORT).await.map(drop)
        })
        .await
}

pub async fn chosen_by_keyboard_they_count_from_the_next_start_on() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("options-keyboard", async |stage| {
            let (window, keys) = (&stage.window, &stage.pointer);
            window.prompt("SAY Ready.").await?;
            window.wait_said("Ready.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            keys.key("ctrl+k").await?;
            window.find("combobox", "Search commands and sessions").await?;
            keys.type_text("Session options").await?;
            window.wait_text("listbox", "Results", "Session options", SHORT).await?;
            keys.key("Return").await?;
            window.find("dialog", DIALOG).await?;
            window.tab_to("textbox “System prompt”").await?;
            keys.type_text("Answer briefly.").await?;
            window.tab_to("textbox “Max turns”").await?;
            keys.type_text("1").await?;
            shown(window, "--max-turns=1").await?;
            keys.key("Return").await?;
            window.gone("dialog", DIALOG).await?;

            // The agent that runs was started without them.
            window.prompt("TOOL Read {\"file_path\":\"a\"}\nSAY without a limit").await?;
            window.wait_said("without a limit", SHORT).await?;
            window.wait_idle(SHORT).await?;
            let pid = stage.agent()?.pid;
            keys.key("ctrl+k").await?;
            keys.type_text("Stop the agent").await?;
            window.wait_text("listbox", "Results", "Stop the agent", SHORT).await?;
            keys.key("Return").await?;
            eventually("the agent stops", SHORT, async || {
                Ok(stage.agent().map_or(true, |agent| agent.pid != pid).then_some(()))
            })
            .await?;
            window.prompt("ARGS").await?;
            window.wait_said("--append-system-prompt=Answer briefly.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            window.prompt("TOOL Read {\"file_path\":\"a\"}\nSAY not reached").await?;
            window.wait_text("log", "Conversation", LIMITED, SHORT).await.map(drop)
        })
        .await
}
