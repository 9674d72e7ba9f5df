//! A session of a hundred thousand items, opened and scrolled from end to end.

use anyhow::{Context, Result, ensure};
use deskbell_tests::screen::said;
use deskbell_tests::window::{Frames, Window};
use serde_json::{Value, json};

use super::{DEADLINE, HANG, memory_mib, rest};
use crate::stage::Stage;

/// Limit for the rows in a window's document.
const MOST_ROWS: u64 = 240;
/// Frames of one pass from end to end.
const STEPS: usize = 200;

/// Measurements of an opened session.
pub struct Opened {
    /// Time from the click to its last row, in milliseconds.
    took: f64,
    /// The highest number of rows in the document.
    rows: u64,
    pub scroll: Frames,
    /// Memory of the page, in MiB.
    memory: f64,
}

pub async fn a_large_session_is_a_few_rows() -> Result<()> {
    let (_, opened) = play(&[10_000]).await?;
    for Opened { rows, scroll, .. } in opened {
        ensure!(rows <= MOST_ROWS, "{rows} rows are in the document");
        ensure!(scroll.longest() < HANG, "the page hung: {scroll}");
    }
    Ok(())
}

pub async fn bench_a_large_session() -> Result<()> {
    let sizes = [100, 100_000];
    let (plain, opened) = play(&sizes).await?;
    println!("\nplain text, a line a frame: {plain}");
    for (n, Opened { took, rows, scroll, memory }) in sizes.iter().zip(opened) {
        println!(
            "{n} items: last screen in {took:.0} ms, at most {rows} rows, {memory:.0} MiB\n  scrolled: {scroll}"
        );
    }
    Ok(())
}

/// Sessions of this many items, each left and opened again.
async fn play(sizes: &[usize]) -> Result<(Frames, Vec<Opened>)> {
    let stage = Stage::demo().await?;
    let (mut plain, mut opened) = (None, Vec::new());
    stage
        .play("many", async |stage| {
            plain = Some(rest(&stage.window).await?);
            for n in sizes {
                let file = stage.desktop.scratch().join(format!("many-{n}.ndjson"));
                std::fs::write(&file, items(*n))?;
                let window = &stage.window;
                stage.new_session(DEADLINE).await?;
                let name = format!("SAY many {n}");
                window.paste_prompt(&format!("{name}\nLINES {}\nSAY that was all", file.display())).await?;
                Frames::wait_said(window, "that was all", DEADLINE).await?;
                stage.new_session(DEADLINE).await?;
                opened.push(open(stage, &name).await.with_context(|| name)?);
            }
            Ok(())
        })
        .await?;
    Ok((plain.context("nothing was measured")?, opened))
}

pub fn items(n: usize) -> String {
    let item = |nr: usize| {
        let text = format!("Item {nr} of the conversation, with *some* words and `code` in it.");
        format!("{}\n", said(&format!("many-{nr}"), json!({"type": "text", "text": text})))
    };
    (0..n).map(item).collect()
}

pub async fn open(stage: &Stage, name: &str) -> Result<Opened> {
    let script = "const [name, done] = arguments;
        const find = () => [...document.querySelectorAll('nav button')].find((button) => button.textContent.includes(name));
        const go = () => {
            const row = find();
            if (!row) return done({ problem: 'no such session: ' + document.querySelector('nav')?.innerText });
            const begun = performance.now();
            row.click();
            const look = () => {
                const last = [...document.querySelectorAll('[role=log] article')].at(-1);
                if (last?.textContent.includes('that was all')) return done({ took: performance.now() - begun });
                if (performance.now() - begun > 60000) return done({ problem: 'it does not open' });
                requestAnimationFrame(look);
            };
            requestAnimationFrame(look);
        };
        go();";
    let window = &stage.window;
    let found = window.call(script, vec![json!(name)]).await?;
    let took = found["took"].as_f64().with_context(|| format!("{found}"))?;
    Frames::watch(window).await?;
    let rows = scroll(window).await?;
    let scroll = Frames::watched(window).await?;
    Ok(Opened { took, rows, scroll, memory: memory_mib(stage.page_process()?.pid)? })
}

/// Scrolls from the end to the beginning, a step per frame; returns the highest number of rows in the document.
async fn scroll(window: &Window) -> Result<u64> {
    let script = "const [steps, done] = arguments;
        const log = document.querySelector('[role=log]');
        const step = Math.max(1, (log.scrollHeight - log.clientHeight) / steps);
        let left = steps;
        let most = 0;
        const next = () => {
            most = Math.max(most, log.querySelectorAll('[data-item]').length);
            log.scrollTop -= step;
            if (left-- > 0) requestAnimationFrame(next);
            else done(most);
        };
        requestAnimationFrame(next);";
    let most: Value = window.call(script, vec![json!(STEPS)]).await?;
    most.as_u64().context("a number of rows")
}
