//! The optimised build of a last part, made while earlier parts wait for windows and agents.

use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::process::Guarded;

/// How often the build is looked at.
const LOOK: Duration = Duration::from_millis(500);

/// Starts a program with the lowest priority. Linux divides the processor among sessions first, where it does so at all,
/// and a priority counts only within one: the build has a session of its own, with the lowest priority as a whole.
const LOWEST_PRIORITY: &str =
    "if [ -w /proc/self/autogroup ]; then echo 19 > /proc/self/autogroup; fi; exec nice -n 19 \"$@\"";

/// A build that ends with its owner.
pub struct Ahead {
    stop: Sender<()>,
    builder: JoinHandle<()>,
}

impl Ahead {
    /// Begins the build. The part that needs it runs it again: it finds everything compiled, or fails with the same error
    /// and shows it.
    pub fn begin(build: Command) -> Self {
        let (stop, stopped) = mpsc::channel();
        let builder = thread::spawn(move || {
            if let Err(problem) = run(&build, &stopped) {
                eprintln!("xtask: nothing is built ahead: {problem}");
            }
        });
        Self { stop, builder }
    }

    /// Waits for the end of the build.
    pub fn wait(self) {
        let Self { stop, builder } = self;
        if builder.join().is_err() {
            eprintln!("xtask: a build ahead of its part ended by a panic");
        }
        drop(stop);
    }
}

/// Runs the build to its end, or to the end of the owner.
fn run(build: &Command, stopped: &Receiver<()>) -> crate::Outcome {
    let mut build = at_lowest_priority(build);
    build.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut build = Guarded::spawn(&mut build)?;
    while stopped.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        if build.ended()?.is_some() {
            return Ok(());
        }
    }
    Ok(())
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
    fn a_build_runs_to_its_end_at_the_lowest_priority() {
        let scratch = Scratch::new().unwrap();
        let seen = scratch.path().join("seen");
        let mut build = shell("nice > \"$SEEN\"; pwd >> \"$SEEN\"");
        build.env("SEEN", &seen).current_dir("/");
        Ahead::begin(build).wait();
        assert_eq!(std::fs::read_to_string(&seen).unwrap(), "19\n/\n");
    }

    #[test]
    fn a_build_ends_with_its_owner() {
        let mut build = shell("exec sleep 60");
        build.env("XTASK_MARK", "built ahead");
        let (stop, stopped) = mpsc::channel();
        let builder = thread::spawn(move || run(&build, &stopped));
        drop(stop);
        assert_eq!(builder.join().unwrap(), Ok(()));
        assert!(marked("XTASK_MARK", "built ahead").is_empty());
    }
}
