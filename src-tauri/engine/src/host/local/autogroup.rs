//! Lowers the priority of the sessions that an agent starts (Linux with autogroups).
//!
//! With autogroups (sched(7)) the kernel divides the processors between sessions first, and niceness counts only within
//! a session. Claude Code starts each command in a session of its own (2.1.329), so a compiler of niceness 10 gets as much
//! as the window. Each session has its own niceness, which starts at 0 and is not inherited. The kernel does not
//! report new sessions, so this searches for them while the agent is active.
//!
//! Where a control group divides the processors, as on most desktops with systemd, autogroups have no effect.

use super::identity::Stat;
use super::sweep;
use super::{child, proc_text};
use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::sync::Arc;
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
        are_enabled().then(|| Self(tokio::spawn(follow(run_token, activity))))
    }
}

fn are_enabled() -> bool {
    proc_text("/proc/sys/kernel/sched_autogroup_enabled").is_some_and(|enabled| enabled.trim() == "1")
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn follow(run_token: Vec<u8>, activity: Arc<Notify>) {
    let mut search = Search { run_token, all: sweep::Search::default() };
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
        let next = move || {
            let is_done = search.next();
            (search, is_done)
        };
        // A panic is already reported; it ends the searches.
        let Ok((again, is_done)) = tokio::task::spawn_blocking(next).await else { return };
        search = again;
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

/// Finds the processes of an agent by its run token, including build servers that are no longer its children.
struct Search {
    run_token: Vec<u8>,
    all: sweep::Search,
}

impl Search {
    /// Lowers the sessions of the agent's processes, except that of the caller. Returns `false` if one of them has to wait: the
    /// kernel accepts ten changes a second.
    fn next(&mut self) -> bool {
        let Some(own) = Stat::of(std::process::id()) else { return true };
        let mut found = Vec::new();
        // A process that is still executing a program is read by the next search.
        self.all.next(|token| token == self.run_token, |pid| found.push(pid));
        let mut seen = BTreeSet::from([own.session]);
        let mut is_done = true;
        for pid in found {
            let Some(stat) = Stat::of(pid) else { continue };
            if seen.insert(stat.session)
                && let Err(error) = lower_session(pid)
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
fn lower_session(pid: u32) -> io::Result<()> {
    let mut file =
        std::fs::OpenOptions::new().read(true).write(true).open(format!("/proc/{pid}/autogroup"))?;
    let mut line = String::new();
    file.read_to_string(&mut line)?;
    match niceness(&line) {
        Some(niceness) if niceness < child::LOW => file.write_all(child::LOW.to_string().as_bytes()),
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
        if !are_enabled() {
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
            assert_eq!(niceness(&line), Some(child::LOW), "{line}");
        }
        drop(agent.stdin);
        agent.exit.await.unwrap();
        // The session of the tests is as it was.
        let own = std::fs::read_to_string("/proc/self/autogroup").unwrap();
        assert_ne!(niceness(&own), Some(child::LOW), "{own}");
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
