//! Orphan processes: processes of an earlier run that are still alive. They are found by that run's token. A process
//! receives a signal only if it is still the one that was found.
//!
//! The guard leaves few: those of an app that was killed together with its guard. None are found on Windows, where the
//! job object of each agent ends with the app, nor on macOS, where the environment of a process cannot be read.

mod error;

use crate::api;
use crate::host::local::identity::ProcessIdentity;
use error::EndError;
use std::io;

/// A process of an earlier run that is still alive.
#[derive(Clone, Debug, PartialEq)]
pub struct OrphanProcess {
    pub facts: api::OrphanProcess,
    /// The complete run token: the run's own token, a dot and a number.
    token: String,
    identity: ProcessIdentity,
}

impl OrphanProcess {
    /// The living processes of these runs, oldest first.
    pub fn of_runs(runs: &[String]) -> Vec<Self> {
        let mut found = system::of_runs(runs);
        found.sort_by_key(|orphan| (orphan.facts.started_at, orphan.facts.pid));
        found
    }

    /// Ends these processes: SIGTERM first, then SIGKILL after a grace period. Returns the processes that could not be
    /// ended.
    pub async fn end_all(orphans: &[Self]) -> Vec<EndError> {
        let ending: Vec<_> =
            orphans.iter().cloned().map(|orphan| tokio::spawn(async move { orphan.end().await })).collect();
        let mut failed = Vec::new();
        for (task, orphan) in ending.into_iter().zip(orphans) {
            let ended = task.await.unwrap_or_else(|panic| Err(io::Error::other(panic)));
            failed.extend(ended.err().map(|source| EndError { pid: orphan.facts.pid, source }));
        }
        failed
    }
}

#[cfg(target_os = "linux")]
mod system {
    use super::*;
    use crate::host::local::identity::Stat;
    use crate::host::local::{pids, proc_bytes, proc_text, token};
    use rustix::io::Errno;
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    use std::os::fd::{AsFd, OwnedFd};
    use std::time::Duration;
    use tokio::io::unix::AsyncFd;
    use tokio::time::timeout;

    /// Time for a process to end after each signal.
    const GRACE: Duration = Duration::from_secs(2);

    /// Characters shown of a command line.
    const MOST_COMMAND: usize = 1_000;

    pub fn of_runs(runs: &[String]) -> Vec<OrphanProcess> {
        let own = std::process::id();
        // An app that an agent started carries that agent's run token, and so do its own helper processes. They are
        // excluded.
        pids().into_iter().filter(|pid| !is_of(*pid, own)).filter_map(|pid| look(pid, runs)).collect()
    }

    /// Is `pid` the process `own` or one of its descendants?
    fn is_of(pid: u32, own: u32) -> bool {
        let mut next = Some(pid);
        while let Some(pid) = next.filter(|pid| *pid > 1) {
            if pid == own {
                return true;
            }
            next = Stat::of(pid).map(|stat| stat.parent);
        }
        false
    }

    pub(super) fn look(pid: u32, runs: &[String]) -> Option<OrphanProcess> {
        let token = token(pid)?;
        let (run, _) = token.rsplit_once('.')?;
        if !runs.iter().any(|known| known == run) {
            return None;
        }
        let identity = ProcessIdentity::of(pid)?;
        let folder = std::fs::read_link(format!("/proc/{pid}/cwd")).ok();
        let facts = api::OrphanProcess {
            pid,
            command: command(pid),
            folder: folder.map(|folder| folder.display().to_string()),
            started_at: started_at(&identity)?,
        };
        Some(OrphanProcess { facts, token, identity })
    }

    fn token(pid: u32) -> Option<String> {
        Some(String::from_utf8_lossy(&token::of(pid)?).into_owned())
    }

    fn command(pid: u32) -> String {
        let line = proc_bytes(&format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(line.strip_suffix(b"\0").unwrap_or(&line)).replace('\0', " ");
        line.chars().take(MOST_COMMAND).collect()
    }

    /// Start time in milliseconds since 1970.
    fn started_at(identity: &ProcessIdentity) -> Option<u64> {
        let stat = proc_text("/proc/stat")?;
        let booted_at: u64 =
            stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
        let ticks_a_second = rustix::param::clock_ticks_per_second();
        Some(booted_at * 1_000 + identity.ticks * 1_000 / ticks_a_second)
    }

    impl OrphanProcess {
        /// Is it still the same process that was found?
        fn is_still(&self) -> bool {
            let pid = self.facts.pid;
            ProcessIdentity::of(pid).is_some_and(|identity| identity == self.identity)
                && token(pid).is_some_and(|token| token == self.token)
        }

        /// An open pidfd refers to this process only, even if its id is reused.
        pub(super) async fn end(&self) -> io::Result<()> {
            let pid = i32::try_from(self.facts.pid).ok().and_then(Pid::from_raw);
            let pid = pid.ok_or_else(|| io::Error::other("it has no such number"))?;
            let process = match pidfd_open(pid, PidfdFlags::NONBLOCK) {
                Err(Errno::SRCH) => return Ok(()),
                // SAFETY: an `OwnedFd` gives one descriptor for as long as it lives.
                opened => unsafe { AsyncFd::register(opened?)? },
            };
            for signal in [Signal::TERM, Signal::KILL] {
                if !self.is_still() {
                    return Ok(());
                }
                send(&process, signal)?;
                if timeout(GRACE, process.readable()).await.is_ok() {
                    return Ok(());
                }
            }
            Err(io::Error::other("it was killed, and is still there"))
        }
    }

    fn send(process: &AsyncFd<OwnedFd>, signal: Signal) -> io::Result<()> {
        match pidfd_send_signal(process.as_fd(), signal) {
            Err(Errno::SRCH) => Ok(()),
            sent => Ok(sent?),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::*;

    pub fn of_runs(_runs: &[String]) -> Vec<OrphanProcess> {
        Vec::new()
    }

    impl OrphanProcess {
        pub(super) async fn end(&self) -> io::Result<()> {
            Err(io::Error::other(format!("{} of {:?} is not known here", self.token, self.identity)))
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::process::Command;

    /// The process id was reused after the orphan was found.
    #[tokio::test]
    async fn a_number_that_is_used_again_gets_no_signal() {
        let mut child =
            Command::new("sleep").arg("600").env(crate::launch::Launch::RUN_TOKEN, "run.1").spawn().unwrap();
        let mut found = system::look(child.id(), &["run".to_owned()]).unwrap();
        found.identity.ticks += 1;
        assert_eq!(OrphanProcess::end_all(&[found]).await.len(), 0);
        assert_eq!(child.try_wait().unwrap(), None);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
