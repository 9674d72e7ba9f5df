//! A project with ten thousand stored sessions: listed, scrolled, filtered and walked through by keys.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use deskbell_engine::history;
use deskbell_tests::window::{Desktop, Frames, LONG, SHORT, eventually};
use serde_json::{Value, json};

use crate::stage::{PROJECT, Stage};

const SESSIONS: usize = 10_000;
/// Limit for the rows in the list's document.
const MOST_ROWS: u64 = 120;
/// Frames of one pass from end to end.
const STEPS: usize = 40;
/// A frame that takes this many milliseconds is a hang, on a busy machine as well.
const HANG: f64 = 5_000.0;
/// The height of a row in pixels, which has two lines.
const ROW: u64 = 44;

const LIST: &str = "document.querySelector('nav[aria-label=\"Sessions\"]')";

/// Writes the sessions into the agent's store, the first one last in the list.
fn furnish(desktop: &Desktop, project: &Path) -> Result<()> {
    let store = history::project_folder(&desktop.home().join(".claude"), project);
    fs::create_dir_all(&store)?;
    let line = |kind: &str, uuid: &str, parent: Option<&str>, message: Value| {
        let line = json!({"type": kind, "uuid": uuid, "parentUuid": parent, "message": message, "cwd": project,
            "gitBranch": "fix/BRANCH", "timestamp": "TIME", "sessionId": "s", "version": "2.1.329", "isSidechain": false});
        format!("{line}\n")
    };
    let prompt = json!({"role": "user", "content": "Session NR begins"});
    let content = json!([{"type": "text", "text": "Done."}]);
    let reply = json!({"id": "m", "role": "assistant", "model": "claude-opus-5-5", "content": content,
        "stop_reason": "end_turn"});
    let session = line("user", "u", None, prompt) + &line("assistant", "a", Some("u"), reply);
    for nr in 0..SESSIONS {
        let (month, day, hour, minute) = (1 + nr / 1_200, 1 + nr / 48 % 25, nr / 2 % 24, nr % 2 * 30);
        let session = session
            .replace("NR", &nr.to_string())
            .replace("BRANCH", &(nr % 7).to_string())
            .replace("TIME", &format!("2026-{month:02}-{day:02}T{hour:02}:{minute:02}:00.000Z"));
        fs::write(store.join(format!("00000000-0000-4000-8000-{nr:012}.jsonl")), session)?;
    }
    Ok(())
}

/// The text of the row that has the focus and shows it.
async fn focused(stage: &Stage) -> Result<String> {
    let script = "return document.querySelector(':focus-visible')?.closest('li')?.textContent ?? '';";
    let text = stage.window.run(script, Vec::new()).await?;
    Ok(text.as_str().context("a text")?.to_owned())
}

async fn focus_comes_to(stage: &Stage, words: &str) -> Result<()> {
    let what = format!("the focus is on {words}");
    eventually(&what, SHORT, async || Ok(focused(stage).await?.contains(words).then_some(()))).await
}

/// The number of rows in the document, which is bounded.
async fn n_rows(stage: &Stage) -> Result<u64> {
    let rows = stage.window.run(&format!("return {LIST}.querySelectorAll('li').length;"), Vec::new()).await?;
    let n = rows.as_u64().context("a number of rows")?;
    ensure!(n <= MOST_ROWS, "{n} rows are in the document");
    Ok(n)
}

/// Waits until the list has room for all of them.
async fn all_are_listed(stage: &Stage) -> Result<()> {
    let height = format!("return {LIST}?.scrollHeight ?? 0;");
    eventually("all are listed", LONG, async || {
        let height = stage.window.run(&height, Vec::new()).await?.as_u64().unwrap_or(0);
        Ok((height > ROW * SESSIONS as u64).then_some(()))
    })
    .await
}

/// Scrolls from one end to the other, a step per frame. Returns the highest number of rows in the document.
async fn scroll(stage: &Stage) -> Result<u64> {
    let script = format!(
        "const [steps, done] = arguments;
        const list = {LIST};
        const step = (list.scrollHeight - list.clientHeight) / steps;
        let left = steps;
        let most = 0;
        const next = () => {{
            most = Math.max(most, list.querySelectorAll('li').length);
            list.scrollTop += step;
            if (left-- > 0) requestAnimationFrame(next);
            else done(most);
        }};
        list.scrollTop = 0;
        requestAnimationFrame(next);"
    );
    let most = stage.window.call(&script, vec![json!(STEPS)]).await?;
    most.as_u64().context("a number of rows")
}

pub async fn ten_thousand_sessions_are_scrolled_filtered_and_walked_through() -> Result<()> {
    let desktop = Desktop::start().await?;
    let folder = desktop.project(PROJECT)?;
    furnish(&desktop, &folder)?;
    let stage = Stage::claude_on(desktop, folder).await?;
    stage
        .play("many-sessions", async |stage| {
            let (window, keys) = (&stage.window, &stage.pointer);
            all_are_listed(stage).await?;
            window.drawn().await?;
            window.screenshot("many-sessions").await?;
            Frames::watch(window).await?;
            let most = scroll(stage).await?;
            let scrolled = Frames::watched(window).await?;
            ensure!(most <= MOST_ROWS, "{most} rows were in the document");
            window.wait_text("navigation", "Sessions", "Session 0 begins", SHORT).await?;

            // One is found by typing, and reached with an arrow key.
            keys.activate(window.frame()).await?;
            window.point_at("searchbox", "Filter sessions").await?;
            Frames::watch(window).await?;
            keys.type_text("session 4321").await?;
            eventually("one is left", LONG, async || Ok((n_rows(stage).await? == 1).then_some(()))).await?;
            let filtered = Frames::watched(window).await?;
            keys.key("Down").await?;
            focus_comes_to(stage, "Session 4321 begins").await?;
            // By branch there are more than the screen has.
            window.point_at("searchbox", "Filter sessions").await?;
            keys.key("ctrl+a").await?;
            keys.type_text("fix/3").await?;
            window.wait_shows("1,429 sessions", SHORT).await?;
            ensure!(n_rows(stage).await? > 10);

            // All of them by keys: from the filter into the list, down, to the end and back.
            keys.key("Escape").await?;
            keys.key("Down").await?;
            focus_comes_to(stage, "Session 9999 begins").await?;
            keys.many(&[&["key"][..], &["Down"; 40]].concat()).await?;
            focus_comes_to(stage, "Session 9959 begins").await?;
            keys.key("End").await?;
            focus_comes_to(stage, "Session 0 begins").await?;
            keys.key("Up").await?;
            focus_comes_to(stage, "Session 1 begins").await?;
            n_rows(stage).await?;
            window.drawn().await?;
            window.screenshot("many-sessions-end").await?;
            let script = "const row = document.activeElement.closest('li');
                return [row.getAttribute('aria-posinset'), row.getAttribute('aria-setsize')];";
            let [nr, of]: [String; 2] = serde_json::from_value(window.run(script, Vec::new()).await?)?;
            let (nr, of): (usize, usize) = (nr.parse()?, of.parse()?);
            ensure!(nr + 1 == of && of > 100, "a screen reader reads {nr} of {of}");
            keys.key("Home").await?;
            focus_comes_to(stage, "Session 9999 begins").await?;

            println!("10,000 sessions scrolled: {scrolled}\n10,000 sessions filtered: {filtered}");
            for frames in [scrolled, filtered] {
                ensure!(frames.longest() < HANG, "the page hung: {frames}");
            }
            Ok(())
        })
        .await
}
