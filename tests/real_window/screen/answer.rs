//! A long answer that streams into a window.

use anyhow::{Context, Result, ensure};
use deskbell_document::{self as document, Stream};
use deskbell_tests::screen::{answer, streamed};
use deskbell_tests::window::Frames;

use super::{DEADLINE, HANG, rest};
use crate::stage::Stage;

/// Limit for the bytes parsed per byte received while an answer streams.
const PARSES: f64 = 4.0;
/// Limit for the nodes per run of text: its element, its text, and a share of the elements around both; and all of it
/// once more, now and then.
const MAKES: f64 = 4.0;

/// The way an answer is streamed.
#[derive(Clone, Copy)]
struct Streaming {
    bytes: usize,
    pieces: usize,
    seconds: u32,
}

/// The cost of an answer.
struct Cost {
    /// Bytes parsed per byte received.
    parsed: f64,
    /// Nodes added to the page per run of text in the whole answer.
    made: f64,
    /// The same page with plain text.
    plain: Frames,
    frames: Frames,
}

pub async fn a_long_answer_is_drawn_as_it_comes() -> Result<()> {
    let cost = play(Streaming { bytes: 60_000, pieces: 600, seconds: 2 }).await?;
    ensure!(cost.parsed <= PARSES, "a byte was parsed {:.2} times", cost.parsed);
    ensure!(cost.made <= MAKES, "{:.2} nodes were made for each run of text", cost.made);
    ensure!(cost.frames.longest() < HANG, "the page hung: {}", cost.frames);
    Ok(())
}

pub async fn bench_a_long_answer() -> Result<()> {
    for pieces in [1_000, 10_000] {
        let cost = play(Streaming { bytes: 200_000, pieces, seconds: 5 }).await?;
        println!("\n200 KB in {pieces} pieces within 5 s:\n{cost}");
        ensure!(cost.made <= MAKES, "{:.2} nodes were made for each run of text", cost.made);
        ensure!(cost.parsed <= PARSES, "a byte was parsed {:.2} times", cost.parsed);
    }
    Ok(())
}

/// Streams an answer to a window that follows it.
async fn play(streaming: Streaming) -> Result<Cost> {
    let Streaming { bytes, pieces, seconds } = streaming;
    let text = answer(bytes);
    let stage = Stage::demo().await?;
    let file = stage.desktop.scratch().join("answer.ndjson");
    std::fs::write(&file, streamed("answer", &text, pieces))?;
    let mut cost = None;
    stage
        .play("answer", async |stage| {
            let window = &stage.window;
            let plain = rest(window).await?;
            Frames::watch(window).await?;
            let pace = pieces / seconds as usize;
            window.paste_prompt(&format!("PACE {pace} {}\nSAY that was all", file.display())).await?;
            Frames::wait_said(window, "that was all", DEADLINE).await?;
            let frames = Frames::watched(window).await?;
            let made = frames.created as f64 / runs(&text)? as f64;
            cost = Some(Cost { parsed: parsed(&text, pieces), made, plain, frames });
            Ok(())
        })
        .await?;
    cost.context("nothing was measured")
}

/// The number of runs of text in all of it.
fn runs(text: &str) -> Result<usize> {
    let mut blocks = document::markdown(text);
    document::colour_all(&mut blocks);
    Ok(serde_json::to_string(&blocks)?.matches("\"text\":").count())
}

/// The bytes that the engine parses per byte received, with the text cut into this many pieces.
fn parsed(text: &str, pieces: usize) -> f64 {
    let mut stream = Stream::default();
    let step = text.len().div_ceil(pieces);
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(rest.ceil_char_boundary(step));
        stream.push(piece);
        rest = behind;
    }
    stream.finish();
    stream.bytes_parsed() as f64 / text.len() as f64
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "  a byte is parsed {:.2} times", self.parsed)?;
        writeln!(f, "  {} elements, {:.2} nodes made for each run of text", self.frames.nodes, self.made)?;
        writeln!(f, "  {}", self.frames)?;
        writeln!(f, "  plain text, a line a frame: {}", self.plain)?;
        let ratio = self.frames.quantile(0.5) / self.plain.quantile(0.5);
        write!(f, "  a frame takes {ratio:.2} times that of plain text")
    }
}
