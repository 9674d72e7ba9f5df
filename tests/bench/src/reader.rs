//! Cost of an event from the agent's pipe to its handler: Deskbell's reader, and others in the same process.

pub mod baselines;

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use cpu_time::ProcessTime;
use deskbell_engine::LocalHost;
use deskbell_engine::Transcript;
use deskbell_engine::api::{AgentKind, Priority};
use deskbell_engine::launch::{Launch, Start};
use deskbell_engine::process::{Output, Process};
use deskbell_engine::recorder::Recorder;
use tokio::runtime::Runtime;

use crate::fixture::{self, Kind};
use crate::statistics::{median, spread, verdict};
use baselines::Flat;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    Split,
    Flat,
    Ours,
    OursFolded,
    Value,
    LineByLine,
    Concatenated,
}

const READERS: [(Reader, &str); 7] = [
    (Reader::Split, "split only"),
    (Reader::Flat, "flat limit: a borrowed struct"),
    (Reader::Ours, "Deskbell"),
    (Reader::OursFolded, "Deskbell, folded into items"),
    (Reader::Value, "a Value a line"),
    (Reader::LineByLine, "line by line, one send each"),
    (Reader::Concatenated, "buffer += chunk; split"),
];

const N_SMALL: usize = 100_000;
const N_LARGE: usize = 30;

/// Reads one fixture again and again with one reader (its place in the table), for a profiler.
pub fn profile(reader: usize, kind: &str, rounds: usize) -> Result<()> {
    let kind = Kind::of(kind).with_context(|| format!("no fixture is called {kind}"))?;
    let (reader, name) = READERS.get(reader).context("there is no such reader")?;
    let n = if kind == Kind::Small { N_SMALL } else { N_LARGE };
    let runtime = crate::runtime()?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("output");
    fs::write(&path, fixture::lines(kind, n))?;
    let before = ProcessTime::now();
    for _ in 0..rounds {
        ensure!(reader.read(&runtime, &path)? == n, "{name} did not read all");
    }
    let cost = before.elapsed().as_secs_f64() * 1e6 / (n * rounds) as f64;
    println!("{name}: {cost:.2} µs of CPU an event");
    Ok(())
}

/// Reads both fixtures with every reader in turn, for this many rounds, and prints the ratios to the flat limit.
pub fn bench(rounds: usize) -> Result<()> {
    let runtime = crate::runtime()?;
    let folder = tempfile::tempdir()?;
    for (kind, title, n) in
        [(Kind::Small, "small events (440 B)", N_SMALL), (Kind::Large, "lines of 1 MB", N_LARGE)]
    {
        let path = folder.path().join("output");
        fs::write(&path, fixture::lines(kind, n))?;
        let mut costs = vec![Vec::new(); READERS.len()];
        for _ in 0..rounds {
            for (idx, (reader, name)) in READERS.iter().enumerate() {
                let before = ProcessTime::now();
                let n_read = reader.read(&runtime, &path)?;
                costs[idx].push(before.elapsed().as_secs_f64() * 1e6 / n as f64);
                ensure!(n_read == n, "{name} read {n_read} of {n} events");
            }
        }
        print(kind, title, &costs);
    }
    Ok(())
}

fn print(kind: Kind, title: &str, costs: &[Vec<f64>]) {
    let flat = &costs[1];
    println!("\n{title}: CPU per event, and its ratio to the flat limit ({} rounds)", flat.len());
    println!("  {:<32} {:>12} {:>8} {:>8}", "reader", "µs", "ratio", "spread");
    for ((reader, name), costs) in READERS.iter().zip(costs) {
        let ratios: Vec<f64> = costs.iter().zip(flat).map(|(cost, flat)| cost / flat).collect();
        let verdict = verdict(median(&ratios), reader.target(kind), spread(flat));
        let (cost, ratio, spread) = (median(costs), median(&ratios), 100.0 * spread(costs));
        println!("  {name:<32} {cost:>12.2} {ratio:>8.2} {spread:>7.0}% {verdict}");
    }
}

impl Reader {
    fn target(self, kind: Kind) -> Option<f64> {
        match (self, kind) {
            (Self::Ours, Kind::Small) => Some(1.5),
            (Self::Ours, Kind::Large) => Some(1.3),
            (Self::OursFolded, Kind::Small) => Some(2.5),
            _ => None,
        }
    }

    /// The number of events in the output of `cat`.
    fn read(self, runtime: &Runtime, path: &Path) -> Result<usize> {
        let mut n_events = 0;
        match self {
            Self::Split => with_pipe(path, |pipe| {
                baselines::split(pipe, |line| n_events += usize::from(!black_box(line).is_empty()))
            })?,
            Self::Flat => with_pipe(path, |pipe| {
                baselines::split(pipe, |line| {
                    let read = serde_json::from_slice::<Flat<'_>>(line);
                    n_events += usize::from(read.is_ok_and(|flat| black_box(flat.n_text()) > 0));
                })
            })?,
            Self::Value => with_pipe(path, |pipe| {
                baselines::split(pipe, |line| {
                    let read = serde_json::from_slice::<serde_json::Value>(line);
                    n_events += usize::from(black_box(read).is_ok());
                })
            })?,
            Self::LineByLine => {
                n_events = runtime.block_on(with_async_pipe(path, baselines::line_by_line))?
            }
            Self::Concatenated => {
                n_events = runtime.block_on(with_async_pipe(path, baselines::concatenated))?
            }
            Self::Ours => n_events = on_a_worker(runtime, ours(path.to_owned(), false))?,
            Self::OursFolded => n_events = on_a_worker(runtime, ours(path.to_owned(), true))?,
        }
        Ok(n_events)
    }
}

fn cat(path: &Path) -> Result<Child> {
    Command::new("cat").arg(path).stdout(Stdio::piped()).spawn().context("starting cat")
}

fn with_pipe(path: &Path, read: impl FnOnce(std::process::ChildStdout) -> std::io::Result<()>) -> Result<()> {
    let mut child = cat(path)?;
    read(child.stdout.take().context("its stdout is a pipe")?)?;
    child.wait()?;
    Ok(())
}

async fn with_async_pipe<F>(path: &Path, read: impl FnOnce(tokio::process::ChildStdout) -> F) -> Result<usize>
where
    F: Future<Output = std::io::Result<usize>>,
{
    let mut child = tokio::process::Command::new("cat").arg(path).stdout(Stdio::piped()).spawn()?;
    let n_events = read(child.stdout.take().context("its stdout is a pipe")?).await?;
    child.wait().await?;
    Ok(n_events)
}

/// A program that writes a file, started as an agent is.
pub fn agent(script: &str, path: &Path) -> Launch {
    Launch {
        kind: AgentKind::Claude,
        acp: None,
        program: PathBuf::from("/bin/sh"),
        // The agent's own arguments become arguments of the script, which ignores them.
        first_args: vec!["-c".into(), script.into(), path.into()],
        project: PathBuf::from("/"),
        restricted: true,
        snapshot: None,
        env: Vec::new(),
        run_token: format!("bench.{}", std::process::id()),
        priority: Priority::Normal,
    }
}

/// Runs as a task, as a session does.
fn on_a_worker<T: Send + 'static>(
    runtime: &Runtime,
    task: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    runtime.block_on(runtime.spawn(task))?
}

async fn ours(path: PathBuf, folded: bool) -> Result<usize> {
    let launch = agent(r#"exec cat "$0""#, &path);
    let mut process =
        Process::spawn(Arc::new(LocalHost), &launch, &Start::default(), Recorder::default()).await?;
    let mut transcript = Transcript::new(Path::new("/"));
    let mut n_events = 0;
    loop {
        match process.next_output().await {
            Output::Lines(batch) => {
                n_events += batch.len();
                if folded {
                    batch.into_iter().for_each(|heard| transcript.line(0, heard.inbound));
                    black_box(transcript.take_events());
                } else {
                    black_box(batch);
                }
            }
            Output::StdinBroken(_) => {}
            Output::Exited(_) => break,
        }
    }
    Ok(n_events)
}
