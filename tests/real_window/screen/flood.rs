//! Floods: streams at a fixed pace and at full speed, while the user types.

use std::fs;

use anyhow::{Context, Result, ensure};
use deskbell_tests::screen::{answer, streamed};
use deskbell_tests::window::{Frames, Window};
use serde_json::{Value, json};

use super::{DEADLINE, HANG, memory_mib, rest};
use crate::stage::Stage;

/// Pieces in a message.
const PIECES: usize = 1_000;
/// The text of a message.
const BYTES: usize = 20_000;

/// The result of a flood.
struct Flood {
    plain: Frames,
    frames: Frames,
    /// From each key to the frame that shows it, in milliseconds.
    keys: Vec<f64>,
    /// Memory of the page and of the app, before and after, in MiB.
    page: [f64; 2],
    app: [f64; 2],
}

pub async fn a_flood_loses_nothing() -> Result<()> {
    let flood = play(20, None, 0).await?;
    ensure!(flood.frames.longest() < HANG, "the page hung: {}", flood.frames);
    ensure!(flood.frames.nodes < 16_000, "{} elements", flood.frames.nodes);
    Ok(())
}

pub async fn bench_a_steady_stream() -> Result<()> {
    let flood = play(30, Some(1_000), 30).await?;
    println!("\n1,000 pieces a second for 30 s, and somebody types:\n{flood}");
    Ok(())
}

pub async fn bench_a_flood() -> Result<()> {
    let flood = play(200, None, 0).await?;
    println!("\n200,000 pieces at full speed:\n{flood}");
    Ok(())
}

/// Sends this many messages at this many pieces a second, while a key is pressed with each of the first `keys`. Each
/// message must be complete in the end.
async fn play(messages: usize, pace: Option<usize>, keys: usize) -> Result<Flood> {
    let stage = Stage::demo().await?;
    let text = answer(BYTES);
    let file = stage.desktop.scratch().join("flood.ndjson");
    let lines: String = (0..messages).map(|nr| streamed(&format!("flood-{nr}"), &text, PIECES)).collect();
    fs::write(&file, lines)?;
    let mut flood = None;
    stage
        .play("flood", async |stage| {
            let window = &stage.window;
            let plain = rest(window).await?;
            let (page, app) = (stage.page_process()?.pid, stage.app.process(&stage.desktop)?.pid);
            let before = [memory_mib(page)?, memory_mib(app)?];
            Frames::watch(window).await?;
            watch_keys(window).await?;
            let play = match pace {
                Some(pace) => format!("PACE {pace} {}", file.display()),
                None => format!("LINES {}", file.display()),
            };
            window.paste_prompt(&format!("{play}\nSAY that was all")).await?;
            // The pace of the stream is also the pace of typing.
            for nr in 0..keys {
                Frames::wait_shown(window, &format!("flood-{nr}.0"), DEADLINE).await?;
                window.key("a").await?;
            }
            Frames::wait_said(window, "that was all", DEADLINE).await?;
            let frames = Frames::watched(window).await?;
            let after = [memory_mib(page)?, memory_mib(app)?];
            let keys: Vec<f64> =
                serde_json::from_value(window.run("return window.keys_kept", vec![]).await?)?;
            whole(stage, messages, &text).await?;
            flood =
                Some(Flood { plain, frames, keys, page: [before[0], after[0]], app: [before[1], after[1]] });
            Ok(())
        })
        .await?;
    flood.context("nothing was measured")
}

/// Checks that every message is complete, to its last letter.
async fn whole(stage: &Stage, messages: usize, text: &str) -> Result<()> {
    let ids = stage.session_ids()?;
    for nr in 0..messages {
        let copy = json!({"type": "message", "itemId": format!("flood-{nr}.0")});
        let query = json!({"type": "copy", "copy": copy});
        let said = stage.window.invoke("ask", json!({"sessionId": ids[0], "query": query})).await?;
        ensure!(said == Ok(Value::from(text)), "message {nr} is not what was said");
    }
    Ok(())
}

/// Measures the time from each key to the frame after the one that shows it.
pub async fn watch_keys(window: &Window) -> Result<()> {
    let script = "if (window.keys_kept === undefined) {
            addEventListener('keydown', (event) => {
                const pressed = event.timeStamp;
                requestAnimationFrame(() => {
                    const drawn = new MessageChannel();
                    drawn.port1.onmessage = () => {
                        window.keys_kept.push(performance.now() - pressed);
                        drawn.port1.close();
                    };
                    drawn.port2.postMessage(null);
                });
            }, { capture: true });
        }
        window.keys_kept = [];
        document.querySelector('textarea[aria-label=Prompt]').focus();";
    window.run(script, Vec::new()).await.map(drop)
}

/// How long keys took to be drawn, in words; `None` if there was none.
pub fn keys_drawn(keys: &[f64]) -> Option<String> {
    let mut keys = keys.to_vec();
    keys.sort_by(f64::total_cmp);
    let last = keys.len().checked_sub(1)?;
    let at = |part: f64| keys[(last as f64 * part).round() as usize];
    Some(format!("{} keys, p50 {:.0} ms, p95 {:.0} ms", keys.len(), at(0.5), at(0.95)))
}

impl std::fmt::Display for Flood {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "  {}", self.frames)?;
        let within = 1.0 - self.frames.over(34.0) as f64 / self.frames.frames.len() as f64;
        writeln!(f, "  {:.1} % of the frames within 34 ms; {} elements", within * 100.0, self.frames.nodes)?;
        writeln!(f, "  plain text, a line a frame: {}", self.plain)?;
        if let Some(drawn) = keys_drawn(&self.keys) {
            writeln!(f, "  keys drawn: {drawn}")?;
        }
        let ([page, page_after], [app, app_after]) = (self.page, self.app);
        write!(
            f,
            "  memory of the page {page:.0} → {page_after:.0} MiB, of the app {app:.0} → {app_after:.0} MiB; nothing lost"
        )
    }
}
