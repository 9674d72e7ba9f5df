//! Accessibility: the screen reader's view, and a whole conversation without a pointer.

use anyhow::{Result, ensure};
use deskbell_tests::window::{Accessibility, LONG, Listener, Role, SHORT, eventually};

use crate::stage::{PROJECT, Stage};

pub async fn a_screen_reader_finds_the_names() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("names", async |stage| {
            let script = "SAY Read this aloud.\nTOOL Bash {\"command\":\"ring the-bell\"}\nSAY Rung.";
            stage.window.prompt(script).await?;
            stage.window.find("group", "Permission request").await?;
            let accessibility = Accessibility::on(&stage.desktop).await?;
            // WebKit's own accessibility tree, not the test's reading of the DOM.
            for (role, name) in [
                (Role::LOG, "Conversation"),
                (Role::ENTRY, "Prompt"),
                (Role::LANDMARK, "Sessions"),
                (Role::BUTTON, "Stop"),
                (Role::PANEL, "Permission request"),
                (Role::BUTTON, "Allow once"),
                (Role::BUTTON, "Always allow…"),
                (Role::BUTTON, "Deny"),
            ] {
                eventually(&format!("{role:?} “{name}” in the page"), SHORT, async || {
                    for program in accessibility.programs().await? {
                        for window in program.children().await? {
                            let page = window.name().await?.contains(PROJECT);
                            if page && let Some(found) = window.find(role, name).await {
                                return Ok(Some(found));
                            }
                        }
                    }
                    Ok(None)
                })
                .await?;
            }
            Ok(())
        })
        .await
}

/// From the first prompt to another session, with the keyboard only.
pub async fn everything_by_keyboard() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("keyboard", async |stage| {
            let window = &stage.window;
            let keys = &stage.pointer;
            keys.activate(window.frame()).await?;
            window.wait_focus("textbox “Prompt”").await?;
            let prompt = "TOOL Bash {\"command\":\"ring the-bell\"}\nSAY It has rung.";
            keys.type_text(prompt).await?;
            window.wait_typed("Prompt", prompt).await?;
            keys.key("Return").await?;

            // F6 goes to the request; Enter does not allow, Space does once the button is armed.
            window.find("group", "Permission request").await?;
            keys.activate(window.frame()).await?;
            keys.key("shift+F6").await?;
            window.wait_focus("group “Permission request”").await?;
            window.tab_to("button “Allow once”").await?;
            eventually("the button is armed", SHORT, async || {
                Ok((window.attribute("button", "Allow once", "aria-disabled").await?.as_deref()
                    == Some("false"))
                .then_some(()))
            })
            .await?;
            keys.key("Return").await?;
            ensure!(window.has("group", "Permission request").await?, "Enter allowed it");
            keys.key("space").await?;
            window.wait_said("It has rung.", SHORT).await?;
            window.wait_idle(SHORT).await?;

            // Up in an empty box recalls the last prompt, Down removes it again.
            keys.key("ctrl+l").await?;
            window.wait_focus("textbox “Prompt”").await?;
            keys.key("Up").await?;
            eventually("the last prompt is recalled", SHORT, async || {
                Ok(window.value("Prompt").await?.ends_with("SAY It has rung.").then_some(()))
            })
            .await?;
            keys.key("Down").await?;
            eventually("the box is empty", SHORT, async || {
                Ok(window.value("Prompt").await?.is_empty().then_some(()))
            })
            .await?;

            // The tool's output is unfolded in place.
            keys.key("shift+F6").await?;
            window.wait_focus("ring the-bell").await?;
            ensure!(!window.has("group", "Output").await?, "the output is open already");
            keys.key("Return").await?;
            window.find("group", "Output").await?;

            // Find finds words, and Esc returns to the box.
            keys.key("ctrl+f").await?;
            window.wait_focus("Find in the conversation").await?;
            keys.type_text("has rung").await?;
            window.wait_shows("2 of 2", SHORT).await?;
            keys.key("Escape").await?;
            window.wait_focus("textbox “Prompt”").await?;

            // Two prompts wait after a turn; the second is sent before the first.
            for text in ["WAIT", "SAY one of them", "SAY the other"] {
                keys.type_text(text).await?;
                window.wait_typed("Prompt", text).await?;
                keys.key("Return").await?;
                match text {
                    "WAIT" => drop(window.find("button", "Stop").await?),
                    text => drop(window.wait_text("list", "Queued prompts", text, SHORT).await?),
                }
            }
            keys.key("shift+F6").await?;
            window.tab_to("button “Move down”").await?;
            keys.key("alt+Down").await?;
            window.wait_focus("button “Move up”").await?;
            window.wait_text("list", "Queued prompts", "the other Then: SAY one of them", SHORT).await?;

            // The mode is switched in the box. Esc holds the queue, and the palette continues it.
            keys.key("ctrl+l").await?;
            window.wait_focus("textbox “Prompt”").await?;
            keys.key("shift+Tab").await?;
            window.find("button", "Permission mode: Accept edits").await?;
            keys.key("Escape").await?;
            window.wait_shows("2 not sent", SHORT).await?;
            keys.key("ctrl+k").await?;
            keys.type_text("Continue the queue").await?;
            keys.key("Return").await?;
            let said = window.wait_said("one of them", SHORT).await?;
            ensure!(
                said.find("the other") < said.find("one of them"),
                "the order of the queue is that of the answers: {said}"
            );
            window.wait_idle(SHORT).await?;

            // Another session, and back.
            keys.key("ctrl+n").await?;
            window.wait_without("log", "Conversation", "It has rung.").await?;
            window.wait_focus("textbox “Prompt”").await?;
            keys.key("alt+Down").await?;
            window.wait_said("It has rung.", SHORT).await.map(drop)
        })
        .await
}

/// A screen reader announces whose turn it is, once for each change, however many tokens arrive.
pub async fn a_turn_is_read_out_and_its_tokens_are_not() -> Result<()> {
    const TOKENS: usize = 5_000;
    let stage = Stage::demo().await?;
    stage
        .play("heard", async |stage| {
            let window = &stage.window;
            window.prompt("SAY Ready.").await?;
            window.wait_said("Ready.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            let listener = Listener::on(&stage.desktop).await?;
            window.prompt(&format!("STREAM {TOKENS} token\\n\nSAY All of them.")).await?;
            window.wait_said("All of them.", LONG).await?;
            window.wait_idle(LONG).await?;
            // Events of one program keep their order: no event of this turn follows the last word.
            let heard = eventually("the end of the turn is read out", SHORT, async || {
                let heard = listener.read_out();
                Ok((heard.last().map(String::as_str) == Some("Done")).then_some(heard))
            })
            .await?;
            ensure!(heard == ["Working", "Done"], "read out: {heard:?}");
            // Events that are not read out, such as the keys of the prompt, do not grow with the tokens either.
            let silent = listener.silent();
            ensure!(silent < TOKENS / 10, "{silent} changes were told");
            Ok(())
        })
        .await
}
