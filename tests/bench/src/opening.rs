//! Reading a long conversation on disk: time to its last screen, and to the whole.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use deskbell_engine::history::{self, Additions, Kept};
use serde_json::json;

use crate::statistics::median;

const ROUNDS: usize = 5;

/// Reads conversations of this many items.
pub fn bench(counts: &[usize]) -> Result<()> {
    let counts = if counts.is_empty() { &[1_000, 10_000, 100_000][..] } else { counts };
    println!(
        "{:>8} {:>8} {:>10} {:>18} {:>16} {:>10} {:>10}",
        "items", "MiB", "read, ms", "parsed as JSON, ms", "last screen, ms", "all, ms", "× parsed"
    );
    let folder = tempfile::tempdir()?;
    for n in counts {
        let file = folder.path().join(format!("{n}.jsonl"));
        write(&file, *n)?;
        let mib = file.metadata()?.len() as f64 / (1024.0 * 1024.0);
        let [mut reads, mut parses, mut ends, mut wholes] = [(); 4].map(|()| Vec::new());
        for _ in 0..ROUNDS {
            let (bytes, took) = timed(|| std::fs::read(&file))?;
            reads.push(ms(took));
            let (_, took) = timed(|| parse(&bytes))?;
            parses.push(ms(took));
            drop(bytes);
            let (end, took) = timed(|| history::read_end(&file, folder.path(), &Additions::default()))?;
            let (whole, took_all) =
                timed(|| Ok(Kept::load(&file)?.transcript(folder.path(), &Additions::default())))?;
            ensure!(whole.items().count() == *n, "{} items were read", whole.items().count());
            // A short file is read whole at once.
            ends.push(ms(if end.is_some() { took } else { took + took_all }));
            wholes.push(ms(took_all));
        }
        let (parsed, whole) = (median(&parses), median(&wholes));
        println!(
            "{n:>8} {mib:>8.1} {:>10.0} {parsed:>18.0} {:>16.1} {whole:>10.0} {:>10.2}",
            median(&reads),
            median(&ends),
            whole / parsed
        );
    }
    Ok(())
}

/// Parses each line as JSON and keeps nothing.
fn parse(bytes: &[u8]) -> std::io::Result<()> {
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        serde_json::from_slice::<serde_json::Value>(line)?;
    }
    Ok(())
}

/// Questions and answers, in the agent's format.
fn write(path: &Path, n: usize) -> Result<()> {
    let mut file = BufWriter::new(File::create(path).with_context(|| format!("making {}", path.display()))?);
    for nr in 0..n {
        let parent = nr.checked_sub(1).map(|parent| format!("u{parent}"));
        let text = format!("Item {nr} of the conversation, with *some* words and `code` in it. ").repeat(5);
        let line = if nr % 2 == 0 {
            let message = json!({"role": "user", "content": text});
            json!({"type": "user", "uuid": format!("u{nr}"), "parentUuid": parent, "message": message})
        } else {
            let content = json!([{"type": "text", "text": text}]);
            let message = json!({"id": format!("m{nr}"), "role": "assistant", "content": content});
            json!({"type": "assistant", "uuid": format!("u{nr}"), "parentUuid": parent, "message": message})
        };
        writeln!(file, "{line}")?;
    }
    Ok(file.flush()?)
}

fn timed<T>(work: impl FnOnce() -> std::io::Result<T>) -> Result<(T, Duration)> {
    let started_at = Instant::now();
    let done = work()?;
    Ok((done, started_at.elapsed()))
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
