//! Prompts and answers.

use std::fs;

use anyhow::{Result, ensure};
use deskbell_tests::screen::{answer, streamed};
use deskbell_tests::window::{LONG, SHORT, Window};
use serde_json::json;

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
            // The session continues in the same process.
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

pub async fn the_wheel_leaves_the_end_while_much_streams() -> Result<()> {
    const WORDS: usize = 1_500;
    // Where the view is in the frames to come, as they are drawn: the observer is younger than the page's own, which
    // scrolls to the end in the frame of a change, and so is called after it.
    let drawn = "const [n, done] = arguments;
        const log = document.querySelector('[role=log]');
        const places = [];
        const look = () => new ResizeObserver((_, observer) => {
            observer.disconnect();
            places.push([log.scrollTop, log.scrollHeight - log.clientHeight - log.scrollTop].map(Math.round));
            if (places.length < n) requestAnimationFrame(look);
            else done(places);
        }).observe(log);
        look();";
    let place = async |window: &Window| -> Result<[i64; 2]> {
        let places = window.call(drawn, vec![json!(1)]).await?;
        Ok(serde_json::from_value(places[0].clone())?)
    };
    let stage = Stage::demo().await?;
    stage
        .play("wheel", async |stage| {
            let window = &stage.window;
            window.prompt(&format!("SLOW 4 {WORDS} chime\nSAY That was all.")).await?;
            window.wait_said("chime700 ", LONG).await?;
            let places: Vec<[i64; 2]> = serde_json::from_value(window.call(drawn, vec![json!(60)]).await?)?;
            ensure!(places.iter().all(|[_, below]| *below == 0), "the end is not followed: {places:?}");
            ensure!(places[0] != places[59], "no line was added meanwhile");
            window.wheel_up("log", "Conversation", 4).await?;
            window.find("button", "Latest").await?;
            let left = place(window).await?;
            let said = window.wait_said(&format!("chime{}", WORDS - 1), LONG).await?;
            ensure!(said.contains("chime700 "), "the answer is not drawn any more");
            window.wait_idle(LONG).await?;
            let stayed = place(window).await?;
            // Late wheel events can still move it up.
            ensure!(stayed[0] <= left[0], "the reader was moved: {left:?} to {stayed:?}");
            ensure!(stayed[1] > left[1], "nothing came below the reader: {left:?} to {stayed:?}");
            Ok(())
        })
        .await
}

/// Content that arrived too fast to be drawn appears as soon as the user scrolls to it, and the text being read does
/// not move.
pub async fn a_reader_who_leaves_a_flood_finds_all_of_it() -> Result<()> {
    // Once scrolling has stopped: the element at the top of the view and its place, and the gap before the drawn
    // content.
    let script = "const [done] = arguments;
        const log = document.querySelector('[role=log]');
        const { left, top, width } = log.getBoundingClientRect();
        let last = null;
        let still = 0;
        const look = () => {
            still = log.scrollTop === last ? still + 1 : 0;
            last = log.scrollTop;
            if (still < 20) return requestAnimationFrame(look);
            const at = document.elementFromPoint(left + width / 2, top + 60);
            const block = at.closest('.line, li, p, h2, h3, tr, figure') ?? at;
            const answer = [...log.querySelectorAll('article')].find((article) => article.contains(block));
            const gap = answer && parseFloat(getComputedStyle(answer).marginTop);
            done([block.textContent, Math.round(block.getBoundingClientRect().top), gap]);
        };
        requestAnimationFrame(look);";
    let stage = Stage::demo().await?;
    let file = stage.desktop.scratch().join("flood.ndjson");
    fs::write(&file, streamed("flood", &answer(400_000), 50))?;
    stage
        .play("leaving", async |stage| {
            let window = &stage.window;
            let play = format!("PACE 15 {}\nSAY That was all.", file.display());
            window.paste_prompt(&play).await?;
            let is_long = "const [done] = arguments;
                const log = () => document.querySelector('[role=log]');
                const look = () => log()?.scrollHeight > 30_000 ? done(true) : requestAnimationFrame(look);
                look();";
            window.call(is_long, vec![]).await?;
            window.wheel_up("log", "Conversation", 4).await?;
            window.find("button", "Latest").await?;
            let left = window.call(script, vec![]).await?;
            window.wait_idle(LONG).await?;
            let stayed = window.call(script, vec![]).await?;
            ensure!(left[2] == json!(0), "something is not drawn: {left}");
            ensure!(stayed == left, "the reader was moved: {left} to {stayed}");
            Ok(())
        })
        .await
}
