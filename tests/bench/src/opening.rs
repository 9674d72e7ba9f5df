//! Reading a long conversation on disk: time to its last screen, time and memory to the whole.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use deskbell_engine::Transcript;
use deskbell_engine::history::{self, Additions, Kept};
use serde_json::json;

use crate::statistics::median;
use crate::status::Status;

const ROUNDS: usize = 5;

/// Bytes of the conversation with calls.
const WORK: u64 = 100_000_000;

/// Reads conversations of this many questions and answers, and one with calls and their outputs.
pub fn bench(counts: &[usize]) -> Result<()> {
    let is_all = counts.is_empty();
    let counts = if is_all { &[1_000, 10_000, 100_000][..] } else { counts };
    println!(
        "{:>22} {:>8} {:>9} {:>19} {:>16} {:>8} {:>8} {:>10} {:>15} {:>10}",
        "items",
        "MiB",
        "read, ms",
        "parsed as JSON, ms",
        "last screen, ms",
        "all, ms",
        "× read",
        "× parsed",
        "peak, × its MiB",
        "kept"
    );
    let folder = tempfile::tempdir()?;
    for n in counts {
        let file = folder.path().join(format!("{n}.jsonl"));
        write(&file, *n)?;
        measure(&file, "", Some(*n))?;
    }
    if is_all {
        let file = folder.path().join("work.jsonl");
        write_work(&file)?;
        measure(&file, " with calls", None)?;
    }
    Ok(())
}

fn measure(file: &Path, kind: &str, n: Option<usize>) -> Result<()> {
    let project = file.parent().context("a file is in a folder")?;
    let mib = file.metadata()?.len() as f64 / (1024.0 * 1024.0);
    let [mut reads, mut parses, mut ends, mut wholes] = [(); 4].map(|()| Vec::new());
    let mut n_items = 0;
    for _ in 0..ROUNDS {
        let (bytes, took) = timed(|| std::fs::read(file))?;
        reads.push(ms(took));
        let (_, took) = timed(|| parse(&bytes))?;
        parses.push(ms(took));
        drop(bytes);
        let (end, took) = timed(|| history::read_end(file, project, &Additions::default()))?;
        // As a window opens it.
        let (whole, took_all) = timed(|| read_whole(file))?;
        n_items = whole.items().len();
        ensure!(n.is_none_or(|n| n == n_items), "{n_items} items were read");
        // A short file is read whole at once.
        ends.push(ms(if end.is_some() { took } else { took + took_all }));
        wholes.push(ms(took_all));
    }
    let (read, parsed, whole) = (median(&reads), median(&parses), median(&wholes));
    let (peak, kept) = memory(file)?;
    println!(
        "{:>22} {mib:>8.1} {read:>9.1} {parsed:>19.0} {:>16.1} {whole:>8.0} {:>8.1} {:>10.2} {:>15.2} {:>10.2}",
        format!("{n_items}{kind}"),
        median(&ends),
        whole / read,
        whole / parsed,
        peak / mib,
        kept / mib
    );
    Ok(())
}

/// As a window opens it.
fn read_whole(file: &Path) -> io::Result<Transcript> {
    let project = file.parent().unwrap_or(file);
    Ok(Kept::load(file)?.transcript_with_last_colours(project, &Additions::default()))
}

/// Reads a conversation and prints the memory that this took, in MiB: the most, and what is kept.
pub fn open(file: &Path) -> Result<()> {
    let before = Status::read()?.memory_kib;
    let transcript = read_whole(file)?;
    let after = Status::read()?;
    let mib = |kib: u64| kib.saturating_sub(before) as f64 / 1024.0;
    println!("{} {}", mib(after.peak_kib), mib(after.memory_kib));
    drop(transcript);
    Ok(())
}

/// The same in a process of its own.
fn memory(file: &Path) -> Result<(f64, f64)> {
    let program = std::env::current_exe().context("this program")?;
    let output = Command::new(program).arg("open").arg(file).output().context("starting this program")?;
    let printed = String::from_utf8(output.stdout)?;
    let (peak, kept) = printed.trim().split_once(' ').context("no figures were printed")?;
    Ok((peak.parse()?, kept.parse()?))
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

/// Prompts, answers with code, calls, and their outputs, which the agent stores twice.
fn write_work(path: &Path) -> Result<()> {
    let mut file = BufWriter::new(File::create(path).with_context(|| format!("making {}", path.display()))?);
    let (mut written, mut nr) = (0, 0);
    while written < WORK {
        let line = work_line(nr).to_string();
        writeln!(file, "{line}")?;
        written += line.len() as u64 + 1;
        nr += 1;
    }
    Ok(file.flush()?)
}

/// One prompt, then seven rounds of an answer, a call and its output of 0.2 to 12 KB.
fn work_line(nr: usize) -> serde_json::Value {
    let mut line = json!({
        "parentUuid": nr.checked_sub(1).map(uuid), "isSidechain": false, "uuid": uuid(nr), "userType": "external",
        "timestamp": "2026-11-21T07:13:20.750Z", "cwd": "/project", "version": "2.1.329", "gitBranch": "main",
        "sessionId": "8e4285f3-a032-4402-87cc-01c84c119f23", "requestId": format!("req_{nr}"),
    });
    let reply = |content| {
        let usage = json!({"input_tokens": 100, "output_tokens": 2, "cache_read_input_tokens": 90_000});
        json!({"id": format!("msg_{nr:024}"), "type": "message", "role": "assistant", "model": "claude-opus-5-5",
            "content": [content], "stop_reason": null, "usage": usage})
    };
    let (kind, message) = match (nr % 22, nr % 22 % 3) {
        (0, _) => {
            ("user", json!({"role": "user", "content": "Round half to even in totals, and add a test."}))
        }
        (_, 1) => {
            let code =
                "    let total = lines.iter().map(|line| line.amount).sum::<Money>();\n".repeat(nr % 9);
            let text = format!(
                "The sum of **{nr}** lines is in `total`.\n\n```rust\nfn total() {{\n{code}}}\n```\n\n- Next: the test."
            );
            ("assistant", reply(json!({"type": "text", "text": text})))
        }
        (_, 2) => {
            let input = json!({"command": format!("cargo test total_{nr}"), "description": "Run the test"});
            let call =
                json!({"type": "tool_use", "id": format!("toolu_{nr}"), "name": "Bash", "input": input});
            ("assistant", reply(call))
        }
        _ => {
            let output =
                format!("test money::rounds_half_to_even_{nr} ... ok, in 0.01 s\n").repeat(4 + nr * 37 % 230);
            line["toolUseResult"] =
                json!({"stdout": output, "stderr": "", "interrupted": false, "isImage": false});
            let result = json!({"type": "tool_result", "tool_use_id": format!("toolu_{}", nr - 1),
                "content": output, "is_error": false});
            ("user", json!({"role": "user", "content": [result]}))
        }
    };
    (line["type"], line["message"]) = (kind.into(), message);
    line
}

fn uuid(nr: usize) -> String {
    format!("00000000-0000-4000-8000-{nr:012}")
}

fn timed<T>(work: impl FnOnce() -> std::io::Result<T>) -> Result<(T, Duration)> {
    let started_at = Instant::now();
    let done = work()?;
    Ok((done, started_at.elapsed()))
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
