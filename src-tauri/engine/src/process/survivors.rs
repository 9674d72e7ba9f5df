//! Processes of an earlier run that are still there: found by the token of that run, and ended only if, at the moment
//! of the signal, it is still the very process that was found.
//!
//! The guard leaves few: those of an app that was killed together with its guard. On Windows the job object of each
//! agent ends with the app, and on macOS a process's environment is not to be read: there none is ever found.

use super::birth::Birth;
use crate::api;
use std::io;

/// A process that an earlier run left behind.
#[derive(Clone, Debug, PartialEq)]
pub struct Survivor {
    pub facts: api::Survivor,
    /// All of it: that of the run, and a number behind it.
    token: String,
    birth: Birth,
}

/// It could not be ended.
#[derive(Debug, thiserror::Error)]
#[error("process {pid} could not be ended: {source}")]
pub struct EndError {
    pub pid: u32,
    pub source: io::Error,
}

/// The living processes of these runs, the oldest first.
pub fn of_runs(runs: &[String]) -> Vec<Survivor> {
    let mut found = system::of_runs(runs);
    found.sort_by_key(|survivor| (survivor.facts.started_at, survivor.facts.pid));
    found
}

/// Ends these: asks each to end, and kills what has not ended a while later. Gives what could not be ended.
pub async fn end(survivors: &[Survivor]) -> Vec<EndError> {
    let ending: Vec<_> =
        survivors.iter().cloned().map(|survivor| tokio::spawn(async move { survivor.end().await })).collect();
    let mut failed = Vec::new();
    for (task, survivor) in ending.into_iter().zip(survivors) {
        let ended = task.await.unwrap_or_else(|panic| Err(io::Error::other(panic)));
        failed.extend(ended.err().map(|source| EndError { pid: survivor.facts.pid, source }));
    }
    failed
}

#[cfg(target_os = "linux")]
mod system {
    use super::*;
    use crate::launch::RUN_TOKEN;
    use crate::process::birth::Stat;
    use rustix::io::Errno;
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
    use std::os::fd::{AsFd, OwnedFd};
    use std::time::Duration;
    use tokio::io::unix::AsyncFd;
    use tokio::time::timeout;

    /// How long a process has to end by itself once it was asked to.
    const GRACE: Duration = Duration::from_secs(2);

    /// A command line is shown by so much of its beginning.
    const MOST_COMMAND: usize = 1_000;

    pub fn of_runs(runs: &[String]) -> Vec<Survivor> {
        let own = std::process::id();
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        // An app that was started by an agent carries the token of that agent's run, and so do its own pages.
        pids.filter(|pid| !is_of(*pid, own)).filter_map(|pid| look(pid, runs)).collect()
    }

    /// Is it this process, or one that this process caused?
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

    pub(super) fn look(pid: u32, runs: &[String]) -> Option<Survivor> {
        let token = token(pid)?;
        let (run, _) = token.rsplit_once('.')?;
        if !runs.iter().any(|known| known == run) {
            return None;
        }
        let birth = Birth::of(pid)?;
        let folder = std::fs::read_link(format!("/proc/{pid}/cwd")).ok();
        let facts = api::Survivor {
            pid,
            command: command(pid),
            folder: folder.map(|folder| folder.display().to_string()),
            started_at: started_at(&birth)?,
        };
        Some(Survivor { facts, token, birth })
    }

    fn token(pid: u32) -> Option<String> {
        let environ = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
        let name = format!("{RUN_TOKEN}=");
        let value = environ.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(name.as_bytes()))?;
        Some(String::from_utf8_lossy(value).into_owned())
    }

    fn command(pid: u32) -> String {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(line.strip_suffix(b"\0").unwrap_or(&line)).replace('\0', " ");
        line.chars().take(MOST_COMMAND).collect()
    }

    /// In milliseconds since 1970.
    fn started_at(birth: &Birth) -> Option<u64> {
        let stat = std::fs::read_to_string("/proc/stat").ok()?;
        let booted_at: u64 =
            stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
        let ticks_a_second = rustix::param::clock_ticks_per_second();
        Some(booted_at * 1_000 + birth.ticks * 1_000 / ticks_a_second)
    }

    impl Survivor {
        /// Still the very process that was found?
        fn is_still(&self) -> bool {
            let pid = self.facts.pid;
            Birth::of(pid).is_some_and(|birth| birth == self.birth)
                && token(pid).is_some_and(|token| token == self.token)
        }

        /// From its opening on, the descriptor is this process's and no other's, whatever becomes of the number.
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

    pub fn of_runs(_runs: &[String]) -> Vec<Survivor> {
        Vec::new()
    }

    impl Survivor {
        pub(super) async fn end(&self) -> io::Result<()> {
            Err(io::Error::other(format!("{} of {:?} is not known here", self.token, self.birth)))
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use std::process::Command;

    /// Its number was given to another process since it was found.
    #[tokio::test]
    async fn a_number_that_is_used_again_gets_no_signal() {
        let mut child =
            Command::new("sleep").arg("600").env(crate::launch::RUN_TOKEN, "run.1").spawn().unwrap();
        let mut found = system::look(child.id(), &["run".to_owned()]).unwrap();
        found.birth.ticks += 1;
        assert_eq!(end(&[found]).await.len(), 0);
        assert_eq!(child.try_wait().unwrap(), None);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
