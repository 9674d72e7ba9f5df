//! The panels at both sides of the conversation: their widths, by mouse and by keyboard.

use anyhow::{Context, Result, ensure};
use deskbell_tests::window::{SHORT, Window, eventually};

use crate::stage::{Stage, numbered};

const EDGE: &str = "Width of the session list";

pub async fn the_session_list_is_as_wide_as_it_was_made_also_after_a_restart() -> Result<()> {
    let stage = Stage::demo().await?;
    stage
        .play("sides", async |stage| {
            let window = &stage.window;
            for word in ["ebb", "flow", "slack", "spring"] {
                window.paste_prompt(&format!("SAY {}", numbered(word, 250))).await?;
                window.wait_said(&format!("{word}249"), SHORT).await?;
                window.wait_idle(SHORT).await?;
            }
            let usual = width(window).await?;
            window.drag("separator", EDGE, 80).await?;
            wide(window, usual + 80).await?;
            ensure!(from_end(window).await? < 2, "the conversation left its end");

            // A reader who has scrolled up sees the same item on top.
            window.wheel_up("log", "Conversation", 8).await?;
            eventually("it was scrolled up", SHORT, async || {
                Ok((from_end(window).await? > 200).then_some(()))
            })
            .await?;
            window.drawn().await?;
            let read = on_top(window).await?;
            window.drag("separator", EDGE, -40).await?;
            wide(window, usual + 40).await?;
            window.drawn().await?;
            let now = on_top(window).await?;
            ensure!(now == read, "“{read}” was on top, and then “{now}”");

            window.tab_to(&format!("separator “{EDGE}”")).await?;
            stage.pointer.key("Right").await?;
            wide(window, usual + 56).await?;
            stage.restart().await?;
            wide(&stage.window, usual + 56).await
        })
        .await
}

/// The drawn width of the session list, in pixels.
async fn width(window: &Window) -> Result<i64> {
    let script = "return Math.round(document.querySelector('[data-part=sessions]')?.getBoundingClientRect().width ?? 0);";
    window.run(script, Vec::new()).await?.as_i64().context("a width is a number")
}

async fn wide(window: &Window, wanted: i64) -> Result<()> {
    let mut last = 0;
    let reached = eventually("the list has its width", SHORT, async || {
        last = width(window).await?;
        Ok((last == wanted).then_some(()))
    });
    reached.await.with_context(|| format!("it is {last} wide, not {wanted}"))
}

/// How far the conversation is from its end, in pixels.
async fn from_end(window: &Window) -> Result<i64> {
    let script = "const log = document.querySelector('[role=log]');
        return Math.round(log.scrollHeight - log.scrollTop - log.clientHeight);";
    window.run(script, Vec::new()).await?.as_i64().context("a distance is a number")
}

/// The first visible item of the conversation.
async fn on_top(window: &Window) -> Result<String> {
    let script = "const log = document.querySelector('[role=log]').getBoundingClientRect();
        const items = [...document.querySelectorAll('[role=log] [data-item]')];
        return items.find((item) => item.getBoundingClientRect().bottom > log.top + 40)?.dataset.item ?? '';";
    Ok(window.run(script, Vec::new()).await?.as_str().context("an item has an id")?.to_owned())
}
