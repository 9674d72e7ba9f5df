//! Drawing speed: long answers, floods and large sessions in a window.
//!
//! Each scene runs short as a test, where only counts and hangs can fail, and in full length by
//! `cargo xtask bench window`, which reports all times. `cargo xtask bench busy` plays some of them beside busy processes.

mod answer;
mod busy;
mod flood;
mod large;
mod many;
mod start;

use std::time::Duration;

use anyhow::{Context, Result};
use deskbell_tests::suite::Test;
use deskbell_tests::tests;
use deskbell_tests::window::{Frames, Window};

pub use answer::a_long_answer_is_drawn_as_it_comes;
pub use flood::a_flood_loses_nothing;
pub use large::ten_megabytes_are_harmless;
pub use many::a_large_session_is_a_few_rows;

/// For one turn: generous, because only a hang is a failure.
const DEADLINE: Duration = Duration::from_secs(100);
/// A frame that takes this many milliseconds is a hang, on a busy machine as well.
const HANG: f64 = 5_000.0;

/// The scenes of `cargo xtask bench window`, or of `busy`.
pub fn benchmarks() -> Vec<Test> {
    let busy = tests![busy: bench_beside_busy_processes];
    let all = tests![
        answer: bench_a_long_answer;
        flood: bench_a_steady_stream, bench_a_flood;
        large: bench_ten_megabytes;
        many: bench_a_large_session;
        start: bench_a_start
    ];
    let is_busy = std::env::var_os("DESKBELL_BENCH").is_some_and(|which| which == "busy");
    let chosen = if is_busy { busy } else { all };
    chosen.into_iter().map(|test| test.within(Duration::from_secs(1_800)).alone()).collect()
}

/// An idle window with a running agent, and the baseline measured in it.
async fn rest(window: &Window) -> Result<Frames> {
    window.paste_prompt("SAY ready").await?;
    window.wait_said("ready", DEADLINE).await?;
    window.wait_idle(DEADLINE).await?;
    Frames::plain(window, 60).await
}

/// A process's memory, shared pages by its part, in MiB.
fn memory_mib(pid: u32) -> Result<f64> {
    let file = format!("/proc/{pid}/smaps_rollup");
    let text = std::fs::read_to_string(&file).with_context(|| format!("reading {file}"))?;
    let kib = text
        .lines()
        .find_map(|line| line.strip_prefix("Pss:")?.trim().strip_suffix("kB")?.trim().parse::<f64>().ok());
    Ok(kib.with_context(|| format!("{file} tells no sum"))? / 1024.0)
}
