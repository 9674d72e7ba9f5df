//! Frames and keys while other processes keep the processors busy: an agent often compiles while it talks.

use std::time::Duration;

use anyhow::{Context, Result};
use deskbell_tests::screen::{answer, command, streamed};
use deskbell_tests::window::{Desktop, Frames, Launch, Manners};

use super::flood::{keys_drawn, watch_keys};
use super::{DEADLINE, large, many, rest};
use crate::stage::{PROJECT, Stage};

/// Processes that never wait.
const BUSY: usize = 2;
const RUNS: usize = 10;
/// The limit of a frame, in milliseconds.
const FRAME: f64 = 50.0;
/// 200 KB in 5 s, at 1,000 pieces a second.
const BYTES: usize = 200_000;
const PIECES: usize = 5_000;
const PACE: usize = 1_000;
/// Keys of a run, at the speed of a fast typist.
const KEYS: usize = 25;
const KEY: Duration = Duration::from_millis(180);

/// The value of the setting `agent.priority`.
fn priority() -> String {
    std::env::var("DESKBELL_BENCH_PRIORITY").unwrap_or_else(|_| "low".to_owned())
}

/// The runs of one kind of input.
struct Runs {
    name: &'static str,
    frames: Vec<Frames>,
}

pub async fn bench_beside_busy_processes() -> Result<()> {
    let desktop = Desktop::start().await?;
    let folder = desktop.project(PROJECT)?;
    let config = desktop.home().join(".config/deskbell");
    std::fs::create_dir_all(&config)?;
    let settings = serde_json::json!({ "agent": { "priority": priority() } });
    std::fs::write(config.join("settings.json"), settings.to_string())?;
    let launch = Launch::demo(&folder);
    Stage::on(desktop, folder, Manners::Polite, launch)
        .await?
        .play("busy", async |stage| {
            let quiet = rest(&stage.window).await?;
            let many = stage.desktop.scratch().join("many.ndjson");
            std::fs::write(&many, many::items(100_000))?;
            fill(stage, "SAY many", &many).await?;
            // As an agent's compilers are: children of an agent, each in a session of its own.
            stage.new_session(DEADLINE).await?;
            stage.window.prompt(&format!("BUSY {BUSY}\nSAY they are busy")).await?;
            stage.window.wait_said("they are busy", DEADLINE).await?;
            println!("\n{BUSY} busy processes of {} priority, {RUNS} runs each:", priority());
            println!("  plain text, a line a frame: alone {quiet}");
            println!("  plain text, a line a frame: {}", Frames::plain(&stage.window, 120).await?);
            let mut keys = Vec::new();
            let mut runs = [
                Runs::new("200 KB at 1,000 pieces a second, with keys"),
                Runs::new("100,000 items, opened and scrolled"),
                Runs::new("an output of 10 MB, opened"),
            ];
            for nr in 0..RUNS {
                let (frames, drawn) = streams(stage, nr).await?;
                runs[0].frames.push(frames);
                keys.extend(drawn);
                stage.new_session(DEADLINE).await?;
                runs[1].frames.push(many::open(stage, "SAY many").await?.scroll);
                // A session opens where it was left.
                stage.window.click("button", "Latest").await?;
                stage.window.wait_said("that was all", DEADLINE).await?;
                runs[2].frames.push(opens_output(stage, nr).await?);
            }
            runs.iter().for_each(|one| println!("{one}"));
            println!("  keys drawn: {}", keys_drawn(&keys).context("no key was drawn")?);
            Ok(())
        })
        .await
}

/// A new session with the lines of a file.
async fn fill(stage: &Stage, name: &str, file: &std::path::Path) -> Result<()> {
    stage.new_session(DEADLINE).await?;
    let lines = format!("{name}\nLINES {}\nSAY that was all", file.display());
    stage.window.paste_prompt(&lines).await?;
    Frames::wait_said(&stage.window, "that was all", DEADLINE).await
}

/// An answer that streams while the user types.
async fn streams(stage: &Stage, nr: usize) -> Result<(Frames, Vec<f64>)> {
    let window = &stage.window;
    stage.new_session(DEADLINE).await?;
    let file = stage.desktop.scratch().join("busy.ndjson");
    std::fs::write(&file, streamed(&format!("busy-{nr}"), &answer(BYTES), PIECES))?;
    window.paste_prompt(&format!("SAY ready\nPACE {PACE} {}\nSAY that was all", file.display())).await?;
    Frames::wait_said(window, "ready", DEADLINE).await?;
    watch_keys(window).await?;
    Frames::watch(window).await?;
    window.type_at(&"a".repeat(KEYS), KEY).await?;
    Frames::wait_said(window, "that was all", DEADLINE).await?;
    let frames = Frames::watched(window).await?;
    Ok((frames, serde_json::from_value(window.run("return window.keys_kept", vec![]).await?)?))
}

async fn opens_output(stage: &Stage, nr: usize) -> Result<Frames> {
    stage.new_session(DEADLINE).await?;
    let numbered: String =
        (0..200_000).map(|nr| format!("line {nr:>8} of an output that is very long\n")).collect();
    let file = stage.desktop.scratch().join("output.ndjson");
    std::fs::write(&file, command(&format!("output-{nr}"), "make", &numbered))?;
    let window = &stage.window;
    Frames::watch(window).await?;
    window.paste_prompt(&format!("LINES {}\nSAY that was all", file.display())).await?;
    Frames::wait_said(window, "that was all", DEADLINE).await?;
    large::look(window, true).await?;
    Frames::watched(window).await
}

impl Runs {
    fn new(name: &'static str) -> Self {
        Self { name, frames: Vec::new() }
    }
}

impl std::fmt::Display for Runs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let n_good = self.frames.iter().filter(|run| run.over(FRAME) == 0).count();
        let n_over: usize = self.frames.iter().map(|run| run.over(FRAME)).sum();
        let n_all: usize = self.frames.iter().map(|run| run.frames.len()).sum();
        let median = |of: &dyn Fn(&Frames) -> f64| {
            let mut all: Vec<f64> = self.frames.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
        };
        let longest: Vec<String> = self.frames.iter().map(|run| format!("{:.0}", run.longest())).collect();
        write!(
            f,
            "  {}: {n_good} of {} runs without a frame over {FRAME} ms, {n_over} of {n_all} frames; medians of the runs: \
             p50 {:.0} ms, p99 {:.0} ms, longest {:.0} ms (each: {})",
            self.name,
            self.frames.len(),
            median(&|run| run.quantile(0.5)),
            median(&|run| run.quantile(0.99)),
            median(&Frames::longest),
            longest.join(", "),
        )
    }
}
