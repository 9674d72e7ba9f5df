//! Keys and the right mouse button in a real window: text typed outside any field reaches the prompt.

use anyhow::{Result, ensure};
use deskbell_tests::window::{SHORT, Window, eventually};

use crate::stage::Stage;

pub async fn after_an_answer_by_mouse_the_prompt_has_the_focus() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("focus-after-answer", async |stage| {
            let window = &stage.window;
            for (request, card, answer, typed) in [
                ("QUESTION", "Question", "Skip", "after a question"),
                ("PLAN", "Plan", "Keep planning", "after a plan"),
            ] {
                window.prompt(request).await?;
                window.find("group", card).await?;
                window.point_at("button", answer).await?;
                window.gone("group", card).await?;
                window.wait_focus("textbox “Prompt”").await?;
                stage.pointer.type_text(typed).await?;
                wrote(window, typed).await?;
                window.wait_idle(SHORT).await?;
                window.key("ctrl+a").await?;
                window.key("BackSpace").await?;
            }
            Ok(())
        })
        .await
}

pub async fn typing_outside_of_any_field_goes_to_the_prompt() -> Result<()> {
    const TYPED: &str = "From the first letter on";
    let stage = Stage::demo().await?;
    stage
        .play("typing-anywhere", async |stage| {
            let window = &stage.window;
            window.prompt("SAY Read this.").await?;
            window.wait_said("Read this.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            // The text is not focusable, so a click on it leaves the page without focus.
            window.point_at("article", "Answer").await?;
            eventually("the prompt lost the focus", SHORT, async || {
                Ok((!window.focus().await?.contains("Prompt")).then_some(()))
            })
            .await?;
            stage.pointer.type_text(TYPED).await?;
            wrote(window, TYPED).await
        })
        .await
}

/// By GTK's own input method, which composes a letter of its number after Ctrl+Shift+U.
pub async fn what_an_input_method_composes_is_in_the_box() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("composing", async |stage| {
            let window = &stage.window;
            window.type_into("Prompt", "caf").await?;
            stage.pointer.key("ctrl+shift+u").await?;
            window.wait_typed("Prompt", "cafu").await?;
            stage.pointer.type_text("e9").await?;
            window.wait_typed("Prompt", "cafue9").await?;
            window.drawn().await?;
            stage.desktop.screenshot("composing").await?;
            // This ends the composition, and does not send the prompt.
            stage.pointer.key("Return").await?;
            window.wait_typed("Prompt", "caf\u{e9}").await?;
            window.reload().await?;
            window.type_into("Prompt", "x").await?;
            stage.pointer.key("ctrl+shift+u").await?;
            window.wait_typed("Prompt", "xu").await
        })
        .await
}

pub async fn what_was_cleared_is_undone_and_redone_by_key() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("undo", async |stage| {
            let window = &stage.window;
            let has = async |text: &str| {
                eventually(&format!("the box has “{text}”"), SHORT, async || {
                    Ok((window.value("Prompt").await? == text).then_some(()))
                })
                .await
            };
            window.click("textbox", "Prompt").await?;
            stage.pointer.type_text("harbour").await?;
            has("harbour").await?;
            stage.pointer.key("ctrl+a").await?;
            stage.pointer.key("BackSpace").await?;
            has("").await?;
            stage.pointer.key("ctrl+z").await?;
            has("harbour").await?;
            stage.pointer.key("ctrl+shift+z").await?;
            has("").await
        })
        .await
}

pub async fn the_right_button_opens_no_menu_of_the_browser() -> Result<()> {
    const TYPED: &str = "No menu holds the keys";
    let stage = Stage::demo().await?;
    stage
        .play("right-button", async |stage| {
            let window = &stage.window;
            window.prompt("SAY Read this.").await?;
            window.wait_said("Read this.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            window.right_click_at("log", "Conversation").await?;
            // A menu of the toolkit grabs the keys of the whole desktop, and would not pass these to the page.
            stage.pointer.type_text(TYPED).await?;
            wrote(window, TYPED).await?;
            ensure!(window.names("menu").await?.is_empty(), "nothing is selected, but there is a menu");

            window
                .run("getSelection().selectAllChildren(document.querySelector('article'));", Vec::new())
                .await?;
            window.right_click_at("article", "Answer").await?;
            window.point_at("menuitem", "Copy").await?;
            window.gone("menu", "Message").await?;
            eventually("the selected text is pasted", SHORT, async || {
                window.click("textbox", "Prompt").await?;
                window.key("ctrl+a").await?;
                window.key("ctrl+v").await?;
                Ok(window.value("Prompt").await?.contains("Read this.").then_some(()))
            })
            .await
        })
        .await
}

/// Waits until the prompt contains exactly these words.
async fn wrote(window: &Window, words: &str) -> Result<()> {
    eventually("the prompt holds what was typed", SHORT, async || {
        Ok((window.value("Prompt").await? == words).then_some(()))
    })
    .await
}

pub async fn a_key_is_changed_by_keyboard_and_stays_after_a_restart() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("change-key", async |stage| {
            let window = &stage.window;
            window.prompt("SAY Aye.").await?;
            window.wait_said("Aye.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            stage.pointer.key("ctrl+k").await?;
            window.wait_focus("combobox “Search commands and sessions”").await?;
            stage.pointer.type_text("change keys").await?;
            stage.pointer.key("Return").await?;
            window.find("dialog", "Change keys").await?;
            window.tab_to("searchbox “Search actions”").await?;
            stage.pointer.type_text("doctor").await?;
            window.tab_to("button “Change Doctor”").await?;
            stage.pointer.key("Return").await?;
            window.wait_focus("button “Press the new key. Esc cancels.”").await?;
            stage.pointer.key("ctrl+alt+d").await?;
            let file = stage.desktop.home().join(".config/deskbell/settings.json");
            eventually("the key is in the settings", SHORT, async || {
                let text = std::fs::read_to_string(&file).unwrap_or_default();
                Ok((text.contains("\"doctor\"") && text.contains("Ctrl+Alt+D")).then_some(()))
            })
            .await?;
            window.find("button", "Reset Doctor").await?;
            stage.pointer.key("Escape").await?;
            window.gone("dialog", "Change keys").await?;
            stage.pointer.key("ctrl+alt+d").await?;
            window.find("dialog", "Doctor").await?;
            stage.pointer.key("Escape").await?;
            window.gone("dialog", "Doctor").await?;

            stage.restart().await?;
            let window = &stage.window;
            window.wait_said("Aye.", SHORT).await?;
            stage.pointer.activate(window.frame()).await?;
            stage.pointer.key("ctrl+alt+d").await?;
            window.find("dialog", "Doctor").await.map(drop)
        })
        .await
}

/// The keys follow “New session” at once, before any answer of the app.
pub async fn what_is_typed_right_after_new_session_is_for_the_new_one() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("typed-after-new", async |stage| {
            let window = &stage.window;
            window.prompt("SAY Ready.").await?;
            window.wait_said("Ready.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            window.type_into("Prompt", "for the old one").await?;
            stage.pointer.many(&["key", "ctrl+n", "type", "--delay", "0", "for the new one"]).await?;
            window.wait_shows("What do you want to do in", SHORT).await?;
            eventually("every key is in the new session", SHORT, async || {
                Ok((window.value("Prompt").await? == "for the new one").then_some(()))
            })
            .await?;
            window.wait_focus("textbox “Prompt”").await?;
            window.key("alt+Down").await?;
            eventually("the old session has its own text", SHORT, async || {
                Ok((window.value("Prompt").await? == "for the old one").then_some(()))
            })
            .await
        })
        .await
}
