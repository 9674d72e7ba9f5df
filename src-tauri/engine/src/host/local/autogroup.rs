//! Autogroups: why niceness alone does not lower the priority of what an agent starts (Linux).
//!
//! With autogroups (sched(7)) the kernel divides the processors between sessions first, and niceness counts only within
//! a session. Claude Code starts each command in a session of its own (2.1.329), so a compiler of niceness 10 gets as much
//! as the window. A session has a niceness of its own, which starts at 0 and which children do not inherit, and
//! nothing reports a new session: they are looked for while the agent is active.
//!
//! Where a control group divides the processors, as on most desktops with systemd, autogroups have no effect.

use super::identity::Stat;
use super::token::{self, Look};
use super::{pids, proc_text, system};
use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// The time from something that the agent reads or writes to a search, and between two searches.
const INTERVAL: Duration = Duration::from_millis(500);
/// A command may start some time after the agent was last heard, when its hooks are done: the searches go on, with pauses that
/// double up to this. The last one is 10 s after the last activity, and an agent at rest wakes nothing.
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// The searches for the sessions of an agent, which end when this is dropped.
pub struct Watch(JoinHandle<()>);

impl Watch {
    /// Lowers the sessions of all processes with this run token, searching after each `activity`. `None` without autogroups.
    pub fn of(run_token: Vec<u8>, activity: Arc<Notify>) -> Option<Self> {
        let is_on = proc_text("/proc/sys/kernel/sched_autogroup_enabled")?.trim() == "1";
        is_on.then(|| Self(tokio::spawn(follow(Search { run_token, foreign: BTreeSet::new() }, activity))))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn follow(search: Search, activity: Arc<Notify>) {
    let search = Arc::new(Mutex::new(search));
    let mut pace = Pace::default();
    loop {
        let is_active = match pace.pause {
            Some(pause) => tokio::time::timeout(pause, activity.notified()).await.is_ok(),
            None => {
                activity.notified().await;
                true
            }
        };
        tokio::time::sleep(INTERVAL).await;
        let search = search.clone();
        let next = move || search.lock().unwrap_or_else(PoisonError::into_inner).next();
        // A search that panics has reported that, and the next one may do better.
        let is_done = tokio::task::spawn_blocking(next).await.unwrap_or(true);
        pace.searched(is_active || !is_done);
    }
}

/// When to search.
struct Pace {
    /// The longest wait for activity before the next search; `None` without one. [`INTERVAL`] follows it in any case.
    pause: Option<Duration>,
}

impl Default for Pace {
    fn default() -> Self {
        Self { pause: Some(Duration::ZERO) }
    }
}

impl Pace {
    /// A search is over. `is_due`: there was activity before it, or a session has to wait.
    fn searched(&mut self, is_due: bool) {
        let doubled = self.pause.map(|pause| INTERVAL.max(pause * 2)).filter(|pause| *pause <= LONGEST_PAUSE);
        self.pause = if is_due { Some(INTERVAL) } else { doubled };
    }
}

/// The processes of an agent, also those that are no longer below it: the servers of build tools.
struct Search {
    run_token: Vec<u8>,
    /// Processes that have another token or none.
    foreign: BTreeSet<u32>,
}

impl Search {
    /// Lowers the sessions of the agent's processes, except that of the caller. Returns `false` if one of them has to wait: the
    /// kernel accepts ten changes a second.
    fn next(&mut self) -> bool {
        let Some(own) = Stat::of(std::process::id()) else { return true };
        let mut seen = BTreeSet::from([own.session]);
        let mut is_done = true;
        let all = pids();
        let is_there: BTreeSet<u32> = all.iter().copied().collect();
        self.foreign.retain(|pid| is_there.contains(pid));
        for pid in all {
            if self.foreign.contains(&pid) {
                continue;
            }
            // Before the token, so that both are of one process if the time of its start is still the same.
            let Some(stat) = Stat::of(pid) else { continue };
            match token::look(pid) {
                Look::Token(token) if token == self.run_token => {}
                // The next search reads it.
                Look::Executing => continue,
                Look::Token(_) | Look::None => {
                    self.foreign.insert(pid);
                    continue;
                }
            }
            if seen.insert(stat.session)
                && let Err(error) = lower_session(pid, &stat)
            {
                match error.kind() {
                    io::ErrorKind::WouldBlock => is_done = false,
                    // It ended meanwhile.
                    _ if Stat::of(pid).is_none() => {}
                    _ => tracing::debug!(pid, %error, "the priority of a session was not lowered"),
                }
            }
        }
        is_done
    }
}

/// Lowers the session of this process, unless it is low already.
#[expect(
    clippy::disallowed_methods,
    reason = "a file of /proc that is read and written through one descriptor"
)]
fn lower_session(pid: u32, stat: &Stat) -> io::Result<()> {
    let mut file =
        std::fs::OpenOptions::new().read(true).write(true).open(format!("/proc/{pid}/autogroup"))?;
    // The open file is of one process for good, and this says which: the number may have become another's.
    if Stat::of(pid).is_none_or(|now| now.ticks != stat.ticks || now.session != stat.session) {
        return Ok(());
    }
    let mut line = String::new();
    file.read_to_string(&mut line)?;
    match niceness(&line) {
        Some(niceness) if niceness < system::LOW => file.write_all(system::LOW.to_string().as_bytes()),
        _ => Ok(()),
    }
}

/// The niceness in a line like `/autogroup-271 nice 0`. A process may have no autogroup.
fn niceness(line: &str) -> Option<i32> {
    line.trim_end().rsplit_once(" nice ")?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::spawn;
    use super::*;
    use crate::api::Priority;
    use crate::host::Program;
    use crate::launch::Launch;
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

    #[test]
    fn the_niceness_of_a_session_is_read() {
        assert_eq!(niceness("/autogroup-35552 nice 0\n"), Some(0));
        assert_eq!(niceness("/autogroup-1 nice -5\n"), Some(-5));
        assert_eq!(niceness(""), None);
    }

    /// Starts a session for each line that it reads: a command, or a server that is no longer its child. Both say the
    /// niceness of their session once that has changed.
    const AGENT: &str = "while read kind; do case $kind in \
        command) setsid -w sh -c \"$says\";; \
        server) (setsid sh -c \"$says\" &);; \
        esac; done";
    const SAYS: &str = "until grep -v 'nice 0$' /proc/self/autogroup; do sleep 0.02; done";

    #[tokio::test]
    async fn each_session_that_an_agent_starts_is_lowered() {
        let is_on = proc_text("/proc/sys/kernel/sched_autogroup_enabled").is_some_and(|on| on.trim() == "1");
        if !is_on {
            return;
        }
        let token = uuid::Uuid::new_v4().to_string();
        let program = Program {
            path: "/bin/sh".into(),
            args: ["-c", AGENT].map(Into::into).into(),
            folder: "/".into(),
            environment: vec![
                ("PATH".into(), std::env::var_os("PATH").unwrap()),
                ("says".into(), SAYS.into()),
                (Launch::RUN_TOKEN.into(), token.into()),
            ],
            priority: Priority::Low,
        };
        let mut agent = spawn(program).await.unwrap();
        let mut said = BufReader::new(&mut agent.stdout).lines();
        for kind in ["command\n", "server\n", "command\n"] {
            agent.stdin.write_all(kind.as_bytes()).await.unwrap();
            let line = tokio::time::timeout(Duration::from_secs(30), said.next_line()).await;
            let line =
                line.unwrap_or_else(|_| panic!("the session of a {kind} is lowered")).unwrap().unwrap();
            assert_eq!(niceness(&line), Some(system::LOW), "{line}");
        }
        drop(agent.stdin);
        agent.exit.await.unwrap();
        // The session of the tests is as it was.
        let own = std::fs::read_to_string("/proc/self/autogroup").unwrap();
        assert_ne!(niceness(&own), Some(system::LOW), "{own}");
    }

    #[test]
    fn the_searches_end_ten_seconds_after_the_last_activity() {
        let mut pace = Pace::default();
        pace.searched(true);
        let mut pauses = Vec::new();
        while let Some(pause) = pace.pause {
            pauses.push(pause.as_secs_f64());
            pace.searched(false);
        }
        assert_eq!(pauses, [0.5, 1.0, 2.0, 4.0]);
        let last = pauses.iter().map(|pause| pause + INTERVAL.as_secs_f64()).sum::<f64>();
        assert!((9.0..=10.0).contains(&last), "{last} s");
        pace.searched(true);
        assert_eq!(pace.pause, Some(INTERVAL));
    }
}
