//! Screenshots of the window, light and dark, for inspection; a check that the two differ as they should.

use anyhow::{Result, ensure};
use deskbell_tests::screen::streamed;
use deskbell_tests::window::{Manners, SHORT, Window, eventually};

use crate::stage::Stage;

pub async fn light_and_dark() -> Result<()> {
    let light = brightness("light", "Adwaita").await?;
    let dark = brightness("dark", "Adwaita:dark").await?;
    ensure!(light > 0.8, "the light window's ground is not light: {light}");
    ensure!(dark < 0.2, "the dark window's ground is not dark: {dark}");
    Ok(())
}

/// Streams lists character by character. WebKit (2.50) permanently leaves its own list mark on a line by itself where
/// the text of an item begins with code.
pub async fn the_mark_of_an_item_stays_in_its_line() -> Result<()> {
    const LISTS: &str = "- `one` begins with code\n- two\n- **`three`** is strong\n\n1. `four`\n2. five\n";
    let stage = Stage::demo().await?;
    let file = stage.desktop.scratch().join("lists.ndjson");
    std::fs::write(&file, streamed("lists", LISTS, LISTS.chars().count()))?;
    stage
        .play("marks", async |stage| {
            let window = &stage.window;
            window.paste_prompt(&format!("PACE 60 {}\nSAY That was all.", file.display())).await?;
            window.wait_said("That was all.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            window.screenshot("marks").await?;
            // Each of these items has one line of words.
            let script = "return [...document.querySelectorAll('article li')].map((item) =>
                item.getBoundingClientRect().height / parseFloat(getComputedStyle(item).lineHeight));";
            let lines: Vec<f64> = serde_json::from_value(window.run(script, Vec::new()).await?)?;
            ensure!(lines.len() == 5, "not five items: {lines:?}");
            ensure!(lines.iter().all(|lines| *lines < 1.5), "an item takes more than one line: {lines:?}");
            Ok(())
        })
        .await
}

/// WebKit gives a fieldset with a legend the height of the legend twice until the next layout: the buttons below it stood
/// too low, and moved while the user aimed at them.
pub async fn the_buttons_of_a_question_follow_its_last_choice() -> Result<()> {
    const QUESTION: &str = r#"TOOL AskUserQuestion {"questions":[{"question":"Which tide?","header":"Tide","multiSelect":false,"options":[{"label":"Ebb","description":"Out"},{"label":"Flow","description":"In"}]}]}"#;
    let stage = Stage::demo().await?;
    stage
        .play("question", async |stage| {
            let window = &stage.window;
            window.prompt(QUESTION).await?;
            window.find("group", "Question").await?;
            window.screenshot("question").await?;
            let script = "const box = document.querySelector('[aria-label^=\"Your own answer\"]');
                const skip = document.querySelector('[data-answer=deny]');
                return skip.getBoundingClientRect().top - box.getBoundingClientRect().bottom;";
            let gap: f64 = serde_json::from_value(window.run(script, Vec::new()).await?)?;
            ensure!((0.0..20.0).contains(&gap), "the buttons are {gap} px below the last choice");
            Ok(())
        })
        .await
}

/// The preview of an option is plain text beside the options, and what lies below does not move when another one is shown.
/// A number key chooses an option, also in a window without a pointer.
pub async fn a_question_with_previews_is_answered_by_number_keys() -> Result<()> {
    const QUESTION: &str = r#"TOOL AskUserQuestion {"questions":[{"question":"Which tide?","header":"Tide","multiSelect":false,"options":[{"label":"Ebb","description":"Out","preview":"+--+\n| <b>Out</b> |\n1\n2\n3"},{"label":"Flow","description":"In","preview":"IN"}]}]}"#;
    const PREVIEW: &str = "const preview = document.querySelector('[aria-label^=\"Preview of\"]');
        const skip = document.querySelector('[data-answer=deny]');
        return [preview.innerText, preview.querySelectorAll('b').length, skip.getBoundingClientRect().top];";
    let stage = Stage::demo().await?;
    stage
        .play("question-previews", async |stage| {
            let window = &stage.window;
            window.prompt(QUESTION).await?;
            window.find("group", "Question").await?;
            window.screenshot("question-previews").await?;
            let shown = async || -> Result<(String, u64, f64)> {
                Ok(serde_json::from_value(window.run(PREVIEW, Vec::new()).await?)?)
            };
            let (first, marked_up, place) = shown().await?;
            ensure!(first.contains("| <b>Out</b> |") && marked_up == 0, "the preview is {first:?}");
            window.key("alt+r").await?;
            window.key("2").await?;
            eventually("the preview of the chosen option", SHORT, async || {
                Ok(shown().await?.0.contains("IN").then_some(()))
            })
            .await?;
            ensure!((shown().await?.2 - place).abs() < 0.5, "the buttons moved");
            eventually("the button is armed", SHORT, async || {
                let armed = window.attribute("button", "Answer", "data-armed").await?;
                Ok((armed.as_deref() == Some("true")).then_some(()))
            })
            .await?;
            window.key("alt+a").await?;
            window.wait_text("log", "Conversation", "Asked Which tide?", SHORT).await.map(drop)
        })
        .await
}

/// Takes the screenshots under a desktop theme and returns the brightness of the page's background, 0 to 1.
async fn brightness(name: &str, theme: &str) -> Result<f64> {
    let stage = Stage::with(Manners::Polite, |launch| launch.env("GTK_THEME", theme)).await?;
    let mut ground = 0.0;
    stage
        .play(name, async |stage| {
            let window = &stage.window;
            window.screenshot(&format!("{name}-empty")).await?;
            window
                .prompt("SAY # Tides\\n\\nHigh water at **six**; see `tides.rs`.\\n\\n- ebb\\n- flow")
                .await?;
            window.wait_said("High water at", SHORT).await?;
            window.wait_idle(SHORT).await?;
            window.screenshot(&format!("{name}-conversation")).await?;
            window.prompt("TOOL Bash {\"command\":\"cargo test -p tides\"}\nSAY Done.").await?;
            window.find("group", "Permission request").await?;
            let _elsewhere = stage.step_aside().await?;
            let dialog = stage.dialogs().await?.one().await?;
            window.screenshot(&format!("{name}-asking")).await?;
            stage.desktop.screenshot(&format!("{name}-desktop")).await?;
            ground = ground_of(window).await?;
            dialog.press("Deny").await
        })
        .await?;
    Ok(ground)
}

async fn ground_of(window: &Window) -> Result<f64> {
    let script = "let element = document.body;
        for (; element; element = element.parentElement) {
            const parts = getComputedStyle(element).backgroundColor.match(/[\\d.]+/g).map(Number);
            if (parts.length < 4 || parts[3] > 0) return (parts[0] + parts[1] + parts[2]) / 765;
        }
        return 1;";
    Ok(window.run(script, Vec::new()).await?.as_f64().unwrap_or(-1.0))
}
