//! Two sessions side by side: their places, drafts and focus, also after a restart.

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{SHORT, Window, eventually};

use crate::stage::{PROJECT, Stage};

const SECOND: &str = "Prompt of the second session";

/// The sessions in the two places.
type Shown = [Option<String>; 2];

/// The sessions of the two panes; `None` in a place without one.
async fn shown(window: &Window) -> Result<Shown> {
    let script = "return ['first', 'second'].map((place) =>
        document.querySelector(`[data-pane=${place}] header`)?.dataset.session ?? null);";
    serde_json::from_value(window.run(script, Vec::new()).await?).context("the sessions of two panes")
}

async fn wait_shown(window: &Window, wanted: &Shown) -> Result<()> {
    let mut last = None;
    let reached = eventually("the panes have their sessions", SHORT, async || {
        let now = shown(window).await?;
        let is_reached = now == *wanted;
        last = Some(now);
        Ok(is_reached.then_some(()))
    });
    reached.await.with_context(|| format!("{last:?}, not {wanted:?}"))
}

/// The text of a pane.
async fn text_in(window: &Window, place: &str) -> Result<String> {
    let script = format!("return document.querySelector('[data-pane={place}]')?.innerText ?? '';");
    Ok(window.run(&script, Vec::new()).await?.as_str().context("a pane has a text")?.to_owned())
}

async fn wait_in(window: &Window, place: &str, words: &str) -> Result<()> {
    eventually("the pane has its conversation", SHORT, async || {
        Ok(text_in(window, place).await?.contains(words).then_some(()))
    })
    .await
    .with_context(|| format!("“{words}” in the {place} pane"))
}

pub async fn two_sessions_are_in_their_places_after_a_restart_and_one_moves_up_when_the_first_is_closed()
-> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("panes", async |stage| {
            let window = &stage.window;
            window.prompt("SAY The east light.").await?;
            window.wait_said("The east light.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            let east = shown(window).await?[0].clone();
            stage.new_session(SHORT).await?;
            window.prompt("SAY The west light.").await?;
            window.wait_said("The west light.", SHORT).await?;
            window.wait_idle(SHORT).await?;
            let west = shown(window).await?[0].clone();
            ensure!(east.is_some() && west.is_some() && east != west, "two sessions: {east:?} and {west:?}");
            window.key("ctrl+k").await?;
            window.find("combobox", "Search commands and sessions").await?;
            stage.pointer.type_text("Show side by side: east").await?;
            window.wait_text("listbox", "Results", "The east light", SHORT).await?;
            window.key("Return").await?;
            let both = [west, east.clone()];
            wait_shown(window, &both).await?;
            wait_in(window, "second", "The east light.").await?;

            // The focus moves, and the sessions keep their places.
            window.key("F8").await?;
            window.wait_focus(&format!("textbox “{SECOND}”")).await?;
            window.key("F8").await?;
            window.wait_focus("textbox “Prompt”").await?;
            wait_shown(window, &both).await?;
            // Both are before the user, so the title names the failure of neither.
            window.type_into(SECOND, "FAIL 529 overloaded").await?;
            window.key("Return").await?;
            wait_in(window, "second", "overloaded").await?;
            let mut title = String::new();
            eventually("the title names no failure", SHORT, async || {
                title = stage.pointer.title(window.frame()).await?;
                Ok((title == format!("{PROJECT} — Deskbell")).then_some(()))
            })
            .await
            .with_context(|| title.clone())?;
            window.type_into(SECOND, "half a thought").await?;
            window.wait_typed(SECOND, "half a thought").await?;

            stage.restart().await?;
            let window = &stage.window;
            wait_shown(window, &both).await?;
            wait_in(window, "first", "The west light.").await?;
            wait_in(window, "second", "The east light.").await?;
            window.wait_typed(SECOND, "half a thought").await?;
            window.screenshot("panes-restarted").await?;

            // The first button of that name is in the first pane.
            window.click("button", "Close this side").await?;
            let one = [east, None];
            wait_shown(window, &one).await?;
            window.wait_typed("Prompt", "half a thought").await?;
            stage.restart().await?;
            wait_shown(&stage.window, &one).await?;
            wait_in(&stage.window, "first", "The east light.").await
        })
        .await
}
