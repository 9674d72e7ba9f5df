//! Frame times of the page, and the number of nodes that it makes.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use super::page::Window;

const FRAMES: &str = include_str!("frames.js");

/// Measurements of the page between two moments.
#[derive(Debug, Deserialize)]
pub struct Frames {
    /// Times from the start of each frame to the start of the next, in milliseconds.
    pub frames: Vec<f64>,
    /// Nodes added to the conversation.
    pub created: u64,
    /// Elements in it at the end.
    pub nodes: u64,
}

impl Frames {
    /// Begins to measure with the next frame.
    pub async fn watch(window: &Window) -> Result<()> {
        let script = format!("{FRAMES}\nconst [done] = arguments;\nwatch(() => done(null));");
        window.call(&script, Vec::new()).await.map(drop)
    }

    /// The measurements since then.
    pub async fn watched(window: &Window) -> Result<Self> {
        Self::sorted(window.run(&format!("{FRAMES}\nreturn watched();"), Vec::new()).await?)
    }

    /// The baseline: plain text that gets a line per frame and is scrolled.
    pub async fn plain(window: &Window, count: usize) -> Result<Self> {
        let script = format!("{FRAMES}\nconst [count, done] = arguments;\nplain(count, done);");
        Self::sorted(window.call(&script, vec![json!(count)]).await?)
    }

    fn sorted(found: Value) -> Result<Self> {
        let mut found: Self = serde_json::from_value(found)?;
        ensure!(!found.frames.is_empty(), "the page drew nothing at all");
        found.frames.sort_by(f64::total_cmp);
        Ok(found)
    }

    /// Waits until the last rows of the conversation contain `words`, without disturbing the measurement.
    pub async fn wait_said(window: &Window, words: &str, deadline: Duration) -> Result<()> {
        let said = Self::when(window, "says", words, deadline).await?;
        ensure!(said, "the conversation did not say “{words}” within {deadline:?}");
        Ok(())
    }

    /// Waits until an item was added since the measurement began, without disturbing it.
    pub async fn wait_shown(window: &Window, item_id: &str, deadline: Duration) -> Result<()> {
        let shown = Self::when(window, "showed", item_id, deadline).await?;
        ensure!(shown, "the conversation did not show {item_id} within {deadline:?}");
        Ok(())
    }

    async fn when(window: &Window, met: &str, of: &str, deadline: Duration) -> Result<bool> {
        let script = format!("{FRAMES}\nconst [of, limit, done] = arguments;\nwhen({met}(of), limit, done);");
        let limit = u64::try_from(deadline.as_millis())?;
        Ok(window.call(&script, vec![json!(of), json!(limit)]).await? == true)
    }

    /// The frame time that this share of the frames did not exceed.
    pub fn quantile(&self, part: f64) -> f64 {
        let last = self.frames.len().saturating_sub(1);
        self.frames.get((last as f64 * part).round() as usize).copied().unwrap_or(f64::NAN)
    }

    pub fn longest(&self) -> f64 {
        self.frames.last().copied().unwrap_or(f64::NAN)
    }

    /// The number of frames that took longer than this, in milliseconds.
    pub fn over(&self, limit: f64) -> usize {
        self.frames.iter().filter(|frame| **frame > limit).count()
    }
}

impl std::fmt::Display for Frames {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} frames: p50 {:.0} ms, p99 {:.0} ms, longest {:.0} ms, {} over 50 ms",
            self.frames.len(),
            self.quantile(0.5),
            self.quantile(0.99),
            self.longest(),
            self.over(50.0),
        )
    }
}
