//! Latency and cost that `deskbell relay` adds between an agent's write and the handler of the event.

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::json;

use crate::statistics::quantile;
use crate::stub::{MARK, now_ns};

/// Pieces of text in a turn.
const PIECES: usize = 2_000;
const TURNS: usize = 200;

/// Latency at a slow pace, then the throughput of a turn at full speed, then the cost of a short turn.
pub fn bench(app: &Path) -> Result<()> {
    let mut relay = Relay::start(app, PIECES)?;
    relay.turn("a first turn, so that all is up")?;
    let waits = relay.turn("pace 1000")?;
    println!(
        "latency at 1,000 events/s: p50 {:.2} ms, p99 {:.2} ms",
        quantile(&waits, 0.5),
        quantile(&waits, 0.99)
    );
    relay.turn("pace 0")?;
    let (before, started_at) = (relay.cpu_ms()?, Instant::now());
    let n_turns = 5;
    for _ in 0..n_turns {
        relay.turn("at full speed")?;
    }
    let (took, cpu) = (started_at.elapsed().as_secs_f64(), relay.cpu_ms()? - before);
    let n_events = (n_turns * PIECES) as f64;
    println!(
        "throughput: {:.0} events/s, {:.1} µs of the relay's CPU each",
        n_events / took,
        1e3 * cpu / n_events
    );
    relay.end()?;

    let mut relay = Relay::start(app, 10)?;
    relay.turn("a first turn, so that all is up")?;
    let before = relay.cpu_ms()?;
    for _ in 0..TURNS {
        relay.turn("short")?;
    }
    println!("CPU of a short turn: {:.2} ms", (relay.cpu_ms()? - before) / TURNS as f64);
    relay.end()
}

struct Relay {
    child: Child,
    stdin: ChildStdin,
    events: Lines<BufReader<ChildStdout>>,
    _folder: tempfile::TempDir,
}

impl Relay {
    fn start(app: &Path, n_pieces: usize) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let agent = folder.path().join("agent");
        let stub = std::env::current_exe()?;
        std::fs::write(&agent, format!("#!/bin/sh\nexec '{}' stub {n_pieces} \"$@\"\n", stub.display()))?;
        let status = Command::new("chmod").arg("755").arg(&agent).status()?;
        ensure!(status.success(), "the agent could not be made a program");
        let mut command = Command::new(app);
        command
            .arg("relay")
            .arg(format!("--project={}", folder.path().display()))
            .arg(format!("--agent={}", agent.display()))
            .env("XDG_DATA_HOME", folder.path())
            .env("CLAUDE_CONFIG_DIR", folder.path().join("config"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().with_context(|| format!("starting {}", app.display()))?;
        let stdin = child.stdin.take().context("its stdin is a pipe")?;
        let events = BufReader::new(child.stdout.take().context("its stdout is a pipe")?).lines();
        Ok(Self { child, stdin, events, _folder: folder })
    }

    /// One turn; returns the latency of each streamed event, in milliseconds.
    fn turn(&mut self, text: &str) -> Result<Vec<f64>> {
        writeln!(self.stdin, "{}", json!({"type": "prompt", "text": text}))?;
        let mut waits = Vec::new();
        for line in &mut self.events {
            let line = line?;
            let arrived_at = now_ns();
            if line.contains(r#""type":"blocksChanged""#)
                && let Some((_, marked)) = line.rsplit_once(MARK)
            {
                let digits = marked.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
                let written_at: u128 = digits.parse().context("a mark is a number")?;
                waits.push(arrived_at.saturating_sub(written_at) as f64 / 1e6);
            }
            if line.contains(r#""type":"turnEnded""#) {
                return Ok(waits);
            }
        }
        anyhow::bail!("the relay ended in the middle of a turn")
    }

    /// CPU of the relay alone, without its agent.
    fn cpu_ms(&self) -> Result<f64> {
        let mut ns = 0;
        for task in
            std::fs::read_dir(format!("/proc/{}/task", self.child.id())).context("only Linux tells this")?
        {
            let spent = std::fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
            ns += spent.split_whitespace().next().and_then(|ns| ns.parse::<u64>().ok()).unwrap_or(0);
        }
        Ok(ns as f64 / 1e6)
    }

    fn end(mut self) -> Result<()> {
        drop(self.stdin);
        for line in self.events {
            line?;
        }
        let status = self.child.wait()?;
        ensure!(status.success(), "the relay ended with {status}");
        Ok(())
    }
}
