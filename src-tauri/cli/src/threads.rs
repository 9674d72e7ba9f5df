//! The check that the system lets this process start enough threads.

use std::io;
use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};

/// Threads and processes of a relay with one session, besides one thread for each processor: the log, the disk, the output,
/// the start of processes, the agent and the guard.
const BESIDES_WORKERS: usize = 10;

/// Bytes: these threads call nothing.
const STACK: usize = 64 * 1024;

/// The limit of processes and threads is too low.
#[derive(Debug, thiserror::Error)]
#[error(
    "Deskbell needs {n_needed} threads, and the system started {n_started}: {problem}. Raise the limit of processes, for \
     example with `ulimit -u`"
)]
pub struct TooFewThreads {
    n_needed: usize,
    n_started: usize,
    problem: io::Error,
}

/// Starts all threads at the same time, and ends them. A library that gets no thread panics or waits, so this comes first.
pub fn check() -> Result<(), TooFewThreads> {
    let n_needed = BESIDES_WORKERS + thread::available_parallelism().map_or(1, NonZero::get);
    let gate = Mutex::new(());
    thread::scope(|scope| {
        let _closed = gate.lock().unwrap_or_else(PoisonError::into_inner);
        for n_started in 0..n_needed {
            let waiting = || drop(gate.lock().unwrap_or_else(PoisonError::into_inner));
            let started = Builder::new().stack_size(STACK).spawn_scoped(scope, waiting);
            started.map_err(|problem| TooFewThreads { n_needed, n_started, problem })?;
        }
        Ok(())
    })
}
