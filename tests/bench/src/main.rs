//! Deskbell's costs, measured next to baselines in the same run. See docs/performance.md.
//!
//! Times are reported as medians of ratios and fail nothing; only counts (`count`, under callgrind) have a limit.

mod count;
mod faults;
mod fixture;
mod host;
mod listing;
mod opening;
mod reader;
mod relay;
mod search;
mod sessions;
mod statistics;
mod status;
mod stub;
mod switches;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

const USAGE: &str = "\
Usage: deskbell-bench <COMMAND>

  reader [ROUNDS]           CPU per event of our reader and of others
  profile NR KIND ROUNDS    reads KIND (small, large) with the reader in that place of the table, for a profiler
  faults                    which readers survive which output
  relay APP                 latency, throughput and CPU of `deskbell relay`, whose program is APP
  sessions N...             threads, memory and rest of so many sessions at once
  opening N...              time to read so many items from disk, and their last screen; memory
  open FILE                 reads a conversation, and prints the memory that this took in MiB: the most, and what is kept
  search [MEGABYTES]        time to search a store of this size (1,000), and that of grep and ripgrep
  listing [SESSIONS]        time to list this many stored sessions (10,000), and to read their heads and tails
  host N                    CPU per event of a whole session of ours, as the SDKs are measured
  count READER KIND N       reads N events of KIND (small, large) from memory, to be counted under callgrind
  switches PACE N           context switches per event of a whole session, with N events (paced, flood)
  stub N                    an agent that answers each prompt with N pieces of text
  demo-agent ...            the demo agent";

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1).peekable();
    if args.next_if(|first| first == "demo-agent").is_some() {
        return deskbell_demo_agent::main(args);
    }
    let args: Vec<String> = args.map(|arg| arg.to_string_lossy().into_owned()).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("deskbell-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[&str]) -> Result<()> {
    let number = |text: &str| text.parse::<usize>().with_context(|| format!("{text} is no number"));
    match args {
        ["reader"] => reader::bench(9),
        ["reader", rounds] => reader::bench(number(rounds)?),
        ["faults"] => faults::bench(),
        ["profile", reader, kind, rounds] => reader::profile(number(reader)?, kind, number(rounds)?),
        ["relay", app] => relay::bench(Path::new(app)),
        ["sessions", counts @ ..] => {
            sessions::bench(&counts.iter().map(|count| number(count)).collect::<Result<Vec<_>>>()?)
        }
        ["opening", counts @ ..] => {
            opening::bench(&counts.iter().map(|count| number(count)).collect::<Result<Vec<_>>>()?)
        }
        ["open", file] => opening::open(Path::new(file)),
        ["listing"] => listing::bench(10_000),
        ["listing", sessions] => listing::bench(number(sessions)?),
        ["search"] => search::bench(1_000),
        ["search", megabytes] => search::bench(number(megabytes)?),
        ["host", n] => host::bench(number(n)?),
        ["switches", pace, n] => switches::run(pace, number(n)?),
        ["count", reader, kind, n] => count::run(reader, kind, number(n)?),
        // The following arguments are those that a host passes to every agent.
        ["stub", n, host @ ..] => stub::run(number(n)?, host),
        _ => bail!("not understood\n\n{USAGE}"),
    }
}

/// The same runtime as the app's.
fn runtime() -> Result<tokio::runtime::Runtime> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.context("starting the runtime")
}
