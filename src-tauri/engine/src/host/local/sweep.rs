//! The search for the processes of one run token that kills what it finds (Linux and macOS).
//!
//! The processes may start others all the time. A search must therefore be faster than they are: a process that
//! belongs to others is read once, and none is waited for while it executes a program.

use super::token::{self, Look};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// Maximum time for one call. Four chains of processes that start the next one at once were ended within 0.3 s beside
/// eight busy processes on two cores, and within 5 s beside a build as well.
const TIMEOUT: Duration = Duration::from_secs(10);

/// After this many searches without a match, processes that end before they are read count as those of others.
const MOST_ENDED: usize = 20;

/// Kills all processes with a run token that `is_ours` accepts; returns their number.
///
/// A search can miss a process that is just being created, so this ends after two searches without a match, or after
/// the first if it finds none.
pub fn kill_all(is_ours: impl Fn(&[u8]) -> bool) -> usize {
    let deadline = Instant::now() + TIMEOUT;
    let mut search = Search::default();
    let mut killed = HashSet::new();
    let mut n_ended = 0;
    let mut n_in_vain = 0;
    loop {
        let found = search.next(&is_ours, |pid| {
            super::system::kill(pid);
            killed.insert(pid);
        });
        match found {
            Found::Match => {
                n_ended = 0;
                n_in_vain = 0;
            }
            // Nothing reports the end of the start of a program.
            Found::Executing => std::thread::sleep(token::POLL),
            Found::Ended if n_ended < MOST_ENDED => n_ended += 1,
            Found::Ended | Found::None => {
                n_in_vain += 1;
                // What was read before may have become another process since then: the last search reads them all.
                search.foreign.clear();
            }
        }
        if n_in_vain == 2 || (n_in_vain == 1 && killed.is_empty()) {
            return killed.len();
        }
        if Instant::now() >= deadline {
            tracing::warn!(
                n_killed = killed.len(),
                "processes go on starting others faster than they can be killed"
            );
            return killed.len();
        }
        std::thread::yield_now();
    }
}

/// Result of one search; of several, the last one in this order.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub enum Found {
    None,
    /// No match, but a process ended before it was read. It may have started another one, which was not listed yet.
    Ended,
    /// No match, but a process is executing a program and has to be read again.
    Executing,
    Match,
}

/// Repeated searches for the processes of one run token.
#[derive(Default)]
pub struct Search {
    /// Processes without a token that matches, and those that ended before they were read.
    foreign: HashSet<u32>,
    /// Processes that are executing a program, with the time at which that was seen first.
    executing: HashMap<u32, Instant>,
}

impl Search {
    /// Calls `on_match` with each process, other than this one, whose token `is_ours` accepts.
    pub fn next(&mut self, is_ours: impl Fn(&[u8]) -> bool, mut on_match: impl FnMut(u32)) -> Found {
        let own = std::process::id();
        let mut pids = token::pids();
        // The number of a process that ended may become that of another.
        let alive: HashSet<u32> = pids.iter().copied().collect();
        self.foreign.retain(|pid| alive.contains(pid));
        // Youngest first, so that a chain of starts is cut at its end.
        pids.sort_unstable_by(|a, b| b.cmp(a));
        let mut result = Found::None;
        for pid in pids {
            if pid == own || self.foreign.contains(&pid) {
                continue;
            }
            let look = token::look(pid);
            if !matches!(look, Look::Executing) {
                self.executing.remove(&pid);
            }
            match look {
                Look::Token(token) if is_ours(&token) => {
                    on_match(pid);
                    result = Found::Match;
                    continue;
                }
                Look::Executing => {
                    let since = *self.executing.entry(pid).or_insert_with(Instant::now);
                    if since.elapsed() < token::EXEC_TIMEOUT {
                        result = result.max(Found::Executing);
                        continue;
                    }
                    tracing::warn!(
                        pid,
                        "a process has been executing a program for too long to read its run token"
                    );
                }
                Look::Ended => result = result.max(Found::Ended),
                Look::Token(_) | Look::None => {}
            }
            self.foreign.insert(pid);
        }
        result
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use crate::launch::Launch;
    use std::process::{Child, Command, Stdio};

    /// Starts the next process at once and lives 10 ms, as long as its folder has the file `alive`.
    const GENERATION: &str = r#"[ -e alive ] || exit; : > born; setsid sh -c "$breed" & sleep 0.01"#;

    #[test]
    fn a_family_that_goes_on_growing_is_ended_on_a_busy_machine() {
        // Whatever the result, removing it ends everything.
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("busy"), "").unwrap();
        let n_busy = 4 * std::thread::available_parallelism().unwrap().get();
        let busy: Vec<Child> = (0..n_busy)
            .map(|_| {
                let mut loops = Command::new("sh");
                loops.args(["-c", "while [ -e busy ]; do :; done"]).current_dir(folder.path());
                loops.spawn().unwrap()
            })
            .collect();
        let mut started = Vec::new();
        let mut longest = Duration::ZERO;
        for round in 0..3 {
            let token = format!("{}.{round}", uuid::Uuid::new_v4());
            std::fs::write(folder.path().join("alive"), "").unwrap();
            for _ in 0..4 {
                let mut first = Command::new("setsid");
                first.args(["sh", "-c", GENERATION]).env("breed", GENERATION).env(Launch::RUN_TOKEN, &token);
                started.push(first.current_dir(folder.path()).stderr(Stdio::null()).spawn().unwrap());
            }
            while !folder.path().join("born").exists() {
                std::thread::yield_now();
            }
            let began_at = Instant::now();
            kill_all(|of_process| of_process == token.as_bytes());
            longest = longest.max(began_at.elapsed());
            let is_left = kill_all(|of_process| of_process == token.as_bytes()) > 0;
            std::fs::remove_file(folder.path().join("alive")).unwrap();
            std::fs::remove_file(folder.path().join("born")).unwrap();
            assert!(!is_left, "round {round}: some are left");
        }
        std::fs::remove_file(folder.path().join("busy")).unwrap();
        for mut process in busy.into_iter().chain(started) {
            process.wait().unwrap();
        }
        println!("ended within {longest:?}");
    }
}
