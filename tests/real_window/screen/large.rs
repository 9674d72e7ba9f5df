//! Items too large to draw at once: an output, a thought, and answers of ten megabytes.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use deskbell_tests::screen::{command, said};
use deskbell_tests::window::{Frames, Window};
use serde_json::json;

use super::{DEADLINE, HANG, rest};
use crate::stage::Stage;

const TEN_MB: usize = 10_000_000;
/// Limit for the elements of the conversation in the page.
const MOST_ELEMENTS: u64 = 4_000;

/// The content of a scene.
struct Scene {
    name: &'static str,
    lines: String,
    /// It is folded until the user opens it.
    folded: bool,
}

pub async fn ten_megabytes_are_harmless() -> Result<()> {
    for (name, frames) in play(TEN_MB).await? {
        ensure!(frames.nodes <= MOST_ELEMENTS, "{name}: {} elements", frames.nodes);
        ensure!(frames.longest() < HANG, "{name}: the page hung: {frames}");
    }
    Ok(())
}

pub async fn bench_ten_megabytes() -> Result<()> {
    for (name, frames) in play(TEN_MB).await? {
        println!("\n{name}, {} elements:\n  {frames}", frames.nodes);
    }
    Ok(())
}

fn scenes(bytes: usize) -> Vec<Scene> {
    let text = |text: String| format!("{}\n", said("large", json!({"type": "text", "text": text})));
    let thinking =
        |text: String| said("large", json!({"type": "thinking", "thinking": text, "signature": "x"}));
    let numbered: String =
        (0..bytes / 50).map(|nr| format!("line {nr:>8} of an output that is very long\n")).collect();
    vec![
        Scene { name: "an output in lines", lines: command("lines", "make", &numbered), folded: true },
        Scene {
            name: "an output in one line",
            lines: command("line", "make", &"x".repeat(bytes)),
            folded: true,
        },
        Scene {
            name: "a thought",
            lines: format!("{}\n", thinking("A line of a thought.\n".repeat(bytes / 21))),
            folded: true,
        },
        Scene { name: "an answer of one word", lines: text("x".repeat(bytes)), folded: false },
        Scene { name: "an answer of many words", lines: text("word ".repeat(bytes / 5)), folded: false },
        Scene {
            name: "an answer of code",
            lines: text(format!("```rust\n{}```", "let a = \"b\"; // c\n".repeat(bytes / 18))),
            folded: false,
        },
    ]
}

/// Shows each, opened, in a session of its own.
async fn play(bytes: usize) -> Result<Vec<(&'static str, Frames)>> {
    let stage = Stage::demo().await?;
    let mut all = Vec::new();
    stage
        .play("large", async |stage| {
            let plain = rest(&stage.window).await?;
            all.push(("plain text, a line a frame", plain));
            for Scene { name, lines, folded } in scenes(bytes) {
                stage.new_session(DEADLINE).await?;
                let file = stage.desktop.scratch().join("large.ndjson");
                std::fs::write(&file, lines)?;
                let window = &stage.window;
                Frames::watch(window).await?;
                let end = format!("that was {name}");
                window.paste_prompt(&format!("LINES {}\nSAY {end}", file.display())).await?;
                Frames::wait_said(window, &end, DEADLINE).await.context(name)?;
                look(window, folded).await.context(name)?;
                all.push((name, Frames::watched(window).await?));
            }
            Ok(())
        })
        .await?;
    Ok(all)
}

/// Scrolls to the large item, opens it, and goes through it.
pub async fn look(window: &Window, folded: bool) -> Result<()> {
    let script = "const [folded, done] = arguments;
        const log = document.querySelector('[role=log]');
        const frames = async (count) => { while (count-- > 0) await new Promise((next) => requestAnimationFrame(next)); };
        const until = async (found) => {
            for (let tries = 0; tries < 300; tries += 1) {
                const element = found();
                if (element) return element;
                await frames(1);
            }
            throw new Error(`nothing is there: ${found}`);
        };
        const go = async () => {
            log.scrollTop = 0;
            await frames(5);
            if (folded) (await until(() => log.querySelector('[aria-expanded=false]'))).click();
            // An output offers more of its lines; a thought becomes many rows.
            const more = () => log.querySelector('button.more');
            if (folded && await until(() => more() ? 'output' : log.scrollHeight > 100_000) === 'output') {
                const lines = () => log.querySelectorAll('.line').length;
                const before = lines();
                more().click();
                await until(() => lines() > before);
            } else {
                // Its beginning, its middle and its end, each in rows of the same text.
                const words = () => log.querySelector('article, [role=article]')?.textContent.length > 1_000;
                await until(words);
                log.scrollTop = log.scrollHeight / 2;
                await frames(5);
                await until(words);
                log.scrollTop = log.scrollHeight;
                await frames(5);
                await until(words);
            }
            await frames(10);
        };
        go().then(() => done(null), (error) => done(`${error}`));";
    let found = window.call(script, vec![json!(folded)]).await?;
    ensure!(found.is_null(), "{found}");
    tokio::time::timeout(Duration::from_secs(30), window.drawn()).await?
}
