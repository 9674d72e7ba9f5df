//! The builds of the last parts, made while earlier parts wait for windows and agents.

use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::process::Guarded;

/// How often a build is looked at, to begin the next one or to stop it.
const LOOK: Duration = Duration::from_millis(500);

/// Starts a program with the lowest priority. Linux divides the processor among sessions first, where it does so at all,
/// and a priority counts only within one: the build has a session of its own, with the lowest priority as a whole.
const LOWEST_PRIORITY: &str =
    "if [ -w /proc/self/autogroup ]; then echo 19 > /proc/self/autogroup; fi; exec nice -n 19 \"$@\"";

/// Builds that run in order, one at a time. They end with their owner.
pub struct Ahead {
    stop: Sender<()>,
    builder: JoinHandle<()>,
}

impl Ahead {
    /// Begins the first of these builds. The part that needs a build runs it again: it finds everything compiled, or
    /// fails with the same error and shows it.
    pub fn begin(builds: Vec<Command>) -> Self {
        let (stop, stopped) = mpsc::channel();
        Self { stop, builder: thread::spawn(move || build_all(builds, &stopped)) }
    }

    /// Waits for the end of all builds.
    pub fn wait(self) {
        let Self { stop, builder } = self;
        if builder.join().is_err() {
            eprintln!("xtask: a build ahead of its part ended by a panic");
        }
        drop(stop);
    }
}

fn build_all(builds: Vec<Command>, stopped: &Receiver<()>) {
    for build in builds {
        match finishes(build, stopped) {
            Ok(true) => {}
            Ok(false) => return,
            Err(problem) => {
                eprintln!("xtask: nothing is built ahead: {problem}");
                return;
            }
        }
    }
}

/// Runs the build to its end, or to the end of the owner. Whether the next one can begin.
fn finishes(build: Command, stopped: &Receiver<()>) -> crate::Outcome<bool> {
    let mut build = at_lowest_priority(&build);
    build.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut build = Guarded::spawn(&mut build)?;
    while stopped.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        if let Some(status) = build.ended()? {
            return Ok(status.success());
        }
    }
    Ok(false)
}

/// The same command, so that it takes only the time that nothing else wants.
fn at_lowest_priority(build: &Command) -> Command {
    let mut command = Command::new("setsid");
    command.args(["sh", "-c", LOWEST_PRIORITY, "sh"]).arg(build.get_program()).args(build.get_args());
    for (name, value) in build.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(folder) = build.get_current_dir() {
        command.current_dir(folder);
    }
    command
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::marked;
    use crate::scratch::Scratch;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn builds_run_in_order_at_the_lowest_priority() {
        let scratch = Scratch::new().unwrap();
        let seen = scratch.path().join("seen");
        let mut first = shell("nice > \"$SEEN\"; pwd >> \"$SEEN\"");
        first.env("SEEN", &seen).current_dir("/");
        let mut second = shell("echo second >> \"$SEEN\"");
        second.env("SEEN", &seen);
        Ahead::begin(vec![first, second]).wait();
        assert_eq!(std::fs::read_to_string(&seen).unwrap(), "19\n/\nsecond\n");
    }

    #[test]
    fn after_a_failure_the_next_build_does_not_begin() {
        let scratch = Scratch::new().unwrap();
        let seen = scratch.path().join("seen");
        let mut second = shell("echo second >> \"$SEEN\"");
        second.env("SEEN", &seen);
        Ahead::begin(vec![shell("exit 1"), second]).wait();
        assert!(!seen.exists());
    }

    #[test]
    fn a_build_ends_with_its_owner() {
        let mut build = shell("exec sleep 60");
        build.env("XTASK_MARK", "built ahead");
        let (stop, stopped) = mpsc::channel();
        let builder = thread::spawn(move || finishes(build, &stopped));
        drop(stop);
        assert_eq!(builder.join().unwrap(), Ok(false));
        assert!(marked("XTASK_MARK", "built ahead").is_empty());
    }
}
