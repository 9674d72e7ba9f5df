//! Context switches per event: how often a thread of ours waits and is woken for an event of a whole session.

use anyhow::{Context, Result, bail};
use tokio::runtime::Runtime;

use crate::host;
use crate::status::Status;

/// How the agent writes its events.
#[derive(Clone, Copy)]
enum Pace {
    /// One each millisecond: each has to wake the session once.
    Paced,
    /// As fast as it can: the session finds several in the pipe.
    Flood,
}

impl Pace {
    fn of(name: &str) -> Result<Self> {
        match name {
            "paced" => Ok(Self::Paced),
            "flood" => Ok(Self::Flood),
            _ => bail!("no pace is called {name}; they are: paced flood"),
        }
    }

    fn prompt(self) -> &'static str {
        match self {
            Self::Paced => "pace 1000",
            Self::Flood => "at full speed",
        }
    }
}

/// Prints the context switches per event. Those of a turn with half of the events are subtracted, with everything that
/// belongs to the start and the end.
pub fn run(pace: &str, n: usize) -> Result<()> {
    let pace = Pace::of(pace)?;
    let runtime = crate::runtime()?;
    // The first turn starts the threads that later ones reuse.
    switches(&runtime, pace, 10)?;
    let (half, whole) = (switches(&runtime, pace, n / 2)?, switches(&runtime, pace, n)?);
    println!("{:.3}", whole.saturating_sub(half) as f64 / (n - n / 2) as f64);
    Ok(())
}

fn switches(runtime: &Runtime, pace: Pace, n: usize) -> Result<u64> {
    let before = Status::read()?.wake_ups;
    // As a task: a session runs on the runtime's threads, and so does its subscriber.
    runtime.block_on(runtime.spawn(host::turn(n, pace.prompt()))).context("a turn")??;
    Ok(Status::read()?.wake_ups.saturating_sub(before))
}
