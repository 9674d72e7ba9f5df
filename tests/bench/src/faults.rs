//! Faults in output, and the readers that survive them: the line after a fault must arrive.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use deskbell_agent::AgentEvent;
use deskbell_engine::LocalHost;
use deskbell_engine::launch::Start;
use deskbell_engine::process::{Output, Process};
use deskbell_engine::recorder::Recorder;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::time::timeout;

use crate::reader::agent;

/// Far longer than any reader takes: one that is not done by then hangs.
const HANGS: Duration = Duration::from_secs(20);
const FLOOD: usize = 10_000_000;

struct Fault {
    name: &'static str,
    /// Bytes between a line before and a line after.
    line: Vec<u8>,
    /// Written to stderr first.
    stderr: usize,
}

#[derive(Clone, Copy)]
enum Reader {
    Deskbell,
    /// Lines as `String`s, each a `Value`; the first error ends it. stderr is not read.
    Strings,
    /// Lines of limited length, as scanners of other languages have by default.
    Bounded(usize),
    /// `buffer += chunk` as strict UTF-8.
    StrictText,
}

const READERS: [(Reader, &str); 5] = [
    (Reader::Deskbell, "Deskbell"),
    (Reader::Strings, "lines as strings"),
    (Reader::Bounded(64 * 1024), "64 KiB a line"),
    (Reader::Bounded(1024 * 1024), "1 MiB a line"),
    (Reader::StrictText, "strict UTF-8"),
];

/// Prints for each reader and fault whether the line after the fault arrives.
pub fn bench() -> Result<()> {
    let runtime = crate::runtime()?;
    let folder = tempfile::tempdir()?;
    print!("{:<22}", "");
    READERS.iter().for_each(|(_, name)| print!(" {name:>17}"));
    println!();
    for fault in faults() {
        let path = folder.path().join("output");
        let before = b"{\"type\":\"before\"}\n";
        fs::write(&path, [before.as_slice(), &fault.line, b"\n{\"type\":\"behind\"}\n"].concat())?;
        print!("{:<22}", fault.name);
        for (reader, _) in READERS {
            let script = format!("head -c {} /dev/zero | tr '\\0' e >&2; exec cat \"$0\"", fault.stderr);
            let outcome = runtime.block_on(async { timeout(HANGS, reader.survives(&script, &path)).await });
            let word = match outcome {
                Ok(Ok(true)) => "yes",
                Ok(Ok(false) | Err(_)) => "no",
                Err(_) => "hangs",
            };
            print!(" {word:>17}");
        }
        println!();
    }
    Ok(())
}

fn faults() -> Vec<Fault> {
    let text = |n: usize| {
        let around = r#"{"type":"text","text":""}"#.len();
        format!(r#"{{"type":"text","text":"{}"}}"#, "x".repeat(n - around)).into_bytes()
    };
    let line = |name, line| Fault { name, line, stderr: 0 };
    vec![
        line("64 KiB - 1", text((64 << 10) - 1)),
        line("64 KiB", text(64 << 10)),
        line("64 KiB + 1", text((64 << 10) + 1)),
        line("1 MiB", text(1 << 20)),
        line("8 MiB", text(8 << 20)),
        line("a byte that is no UTF-8", b"{\"type\":\"text\",\"text\":\"a\xffb\"}".to_vec()),
        line("half a surrogate pair", br#"{"type":"text","text":"a\ud83db"}"#.to_vec()),
        line("not JSON", b"Warning: this is no JSON".to_vec()),
        Fault { name: "10 MB of stderr", line: text(100), stderr: FLOOD },
    ]
}

impl Reader {
    async fn survives(self, script: &str, path: &Path) -> Result<bool> {
        if let Self::Deskbell = self {
            return deskbell(script, path).await;
        }
        let mut command = tokio::process::Command::new("/bin/sh");
        command
            .args(["-c", script])
            .arg(path)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn().context("starting the script")?;
        // Kept open to the end, and never read: that causes the hang.
        let _stderr = child.stderr.take();
        let stdout = child.stdout.take().context("its stdout is a pipe")?;
        match self {
            Self::Strings => strings(stdout).await,
            Self::Bounded(limit) => bounded(stdout, limit).await,
            Self::StrictText | Self::Deskbell => strict_text(stdout).await,
        }
    }
}

async fn deskbell(script: &str, path: &Path) -> Result<bool> {
    let launch = agent(script, path);
    let mut process =
        Process::spawn(Arc::new(LocalHost), &launch, &Start::default(), Recorder::default()).await?;
    let mut kinds = Vec::new();
    loop {
        match process.next_output().await {
            Output::Lines(batch) => kinds.extend(batch.into_iter().map(|heard| match heard.inbound {
                AgentEvent::Unknown { kind } => kind,
                other => format!("{other:?}"),
            })),
            Output::StdinBroken(_) => {}
            Output::Exited(_) => break,
        }
    }
    Ok(kinds.len() == 3 && kinds[0] == "before" && kinds[2] == "behind")
}

fn is_behind(value: &Value) -> bool {
    value["type"] == "behind"
}

async fn strings(from: impl AsyncRead + Unpin) -> Result<bool> {
    let mut lines = BufReader::new(from).lines();
    let mut behind = false;
    while let Some(line) = lines.next_line().await? {
        behind = is_behind(&serde_json::from_str(&line)?);
    }
    Ok(behind)
}

async fn bounded(from: impl AsyncRead + Unpin, limit: usize) -> Result<bool> {
    let mut reader = BufReader::with_capacity(limit, from);
    loop {
        let buffer = reader.fill_buf().await?;
        if buffer.is_empty() {
            return Ok(false);
        }
        let mut line = Vec::new();
        (&mut reader).take(limit as u64).read_until(b'\n', &mut line).await?;
        anyhow::ensure!(line.ends_with(b"\n"), "the line is too long");
        if serde_json::from_slice(&line).is_ok_and(|value: Value| is_behind(&value)) {
            return Ok(true);
        }
    }
}

async fn strict_text(mut from: impl AsyncRead + Unpin) -> Result<bool> {
    let (mut chunk, mut buffer) = (vec![0; 64 * 1024], String::new());
    loop {
        let n = from.read(&mut chunk).await?;
        if n == 0 {
            return Ok(false);
        }
        buffer += std::str::from_utf8(&chunk[..n])?;
        while let Some(end) = buffer.find('\n') {
            let line: String = buffer.drain(..=end).collect();
            if serde_json::from_str(&line).is_ok_and(|value: Value| is_behind(&value)) {
                return Ok(true);
            }
        }
    }
}
