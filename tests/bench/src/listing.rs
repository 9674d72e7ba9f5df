//! Listing a project's stored sessions, next to reading the first and the last part of the same files.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use deskbell_engine::stored::{Catalogue, Place};
use serde_json::json;

use crate::statistics::median;

const ROUNDS: usize = 5;

/// Bytes of each session, so that 10,000 have 1 GB.
const SIZE: usize = 100_000;

/// Bytes that a listing reads at each end of a file.
const END: u64 = 64 << 10;

/// Makes this many sessions and lists them.
pub fn bench(n_sessions: usize) -> Result<()> {
    let root = tempfile::tempdir()?;
    let project = root.path().join("project");
    fs::create_dir(&project)?;
    let place = Place::new(root.path().join("config"), &project);
    let folder = place.folder.clone();
    fs::create_dir_all(&folder)?;
    let bytes = write(&folder, &project, n_sessions)?;
    let caches = root.path().join("caches");
    let [mut ends, mut first, mut again] = [(); 3].map(|()| Vec::new());
    for _ in 0..ROUNDS {
        ends.push(read_ends(&folder)?);
        first.push(listed(place.clone(), None, n_sessions)?);
        // The first of these fills the cache.
        listed(place.clone(), Some(&caches), n_sessions)?;
        again.push(listed(place.clone(), Some(&caches), n_sessions)?);
    }
    let (ends, first, again) = (median(&ends), median(&first), median(&again));
    println!("{n_sessions} sessions, {:.0} MB, medians of {ROUNDS} rounds in ms", bytes as f64 / 1e6);
    println!(
        "{:>24} {:>12} {:>14} {:>22}",
        "heads and tails, read", "listed", "× reading", "listed from the cache"
    );
    println!("{ends:>24.0} {first:>12.0} {:>14.2} {again:>22.0}", first / ends);
    Ok(())
}

/// Milliseconds until the whole list has arrived.
fn listed(place: Place, caches: Option<&Path>, n_sessions: usize) -> Result<f64> {
    let runtime = crate::runtime()?;
    let started_at = Instant::now();
    let n = runtime.block_on(async {
        let mut catalogue = Catalogue::open(place, caches);
        let (sender, mut changes) = tokio::sync::mpsc::channel(16);
        let list = async {
            catalogue.list(&sender).await;
            drop(sender);
        };
        let count = async {
            let mut n = 0;
            while let Some(change) = changes.recv().await {
                n += change.changed.len();
            }
            n
        };
        tokio::join!(list, count).1
    });
    ensure!(n == n_sessions, "{n} of {n_sessions} sessions were listed");
    Ok(started_at.elapsed().as_secs_f64() * 1e3)
}

/// Milliseconds to open each file and read its ends, on one thread.
fn read_ends(folder: &Path) -> Result<f64> {
    let started_at = Instant::now();
    let mut buffer = Vec::new();
    for entry in fs::read_dir(folder)? {
        let mut file = File::open(entry?.path())?;
        let size = file.metadata()?.len();
        buffer.clear();
        (&mut file).take(END).read_to_end(&mut buffer)?;
        file.seek(SeekFrom::Start(size.saturating_sub(END).max(END.min(size))))?;
        (&mut file).take(END).read_to_end(&mut buffer)?;
    }
    Ok(started_at.elapsed().as_secs_f64() * 1e3)
}

/// Writes sessions of prompts and answers, in the agent's format.
fn write(folder: &Path, project: &Path, n_sessions: usize) -> Result<u64> {
    let mut bytes = 0;
    for n in 0..n_sessions {
        let id = format!("00000000-0000-4000-8000-{n:012}");
        let path: PathBuf = folder.join(format!("{id}.jsonl"));
        let mut file =
            BufWriter::new(File::create(&path).with_context(|| format!("making {}", path.display()))?);
        let (mut written, mut nr) = (0, 0_usize);
        while written < SIZE {
            let text = format!("Item {nr} of session {n}, with *some* words and `code` in it. ").repeat(20);
            let content = json!([{"type": "text", "text": text}]);
            let (kind, message) = if nr % 2 == 0 {
                ("user", json!({"role": "user", "content": text}))
            } else {
                (
                    "assistant",
                    json!({"id": format!("m{nr}"), "role": "assistant", "model": "claude-sonnet-4-5", "content": content}),
                )
            };
            let line = json!({
                "parentUuid": nr.checked_sub(1).map(|parent| format!("u{parent}")), "isSidechain": false,
                "type": kind, "message": message, "uuid": format!("u{nr}"), "sessionId": id, "gitBranch": "main",
                "timestamp": "2026-11-21T07:13:20.750Z", "cwd": project, "version": "2.1.329",
            })
            .to_string();
            writeln!(file, "{line}")?;
            written += line.len() + 1;
            nr += 1;
        }
        file.flush()?;
        bytes += written as u64;
    }
    Ok(bytes)
}
