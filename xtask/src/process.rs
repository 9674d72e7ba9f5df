//! Child processes that run in parallel with xtask: started, read line by line, and always ended, each by its own pid.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::command::shown;

/// Timeout for a program to exit after SIGTERM.
const GRACE: Duration = Duration::from_secs(10);

/// A running program that ends with its owner.
pub struct Guarded {
    child: Child,
    name: String,
}

impl Guarded {
    /// Starts the command. On Linux the kernel ends it when xtask is killed.
    pub fn spawn(command: &mut Command) -> Outcome<Self> {
        let name = shown(command);
        unix::end_with_parent(command);
        let child = command.spawn().map_err(|error| format!("could not start `{name}`: {error}"))?;
        Ok(Self { child, name })
    }

    /// Its output, line by line; only once, and only if it was piped.
    pub fn lines(&mut self) -> Outcome<Lines> {
        let stdout =
            self.child.stdout.take().ok_or_else(|| format!("`{}` has no output to read", self.name))?;
        Ok(Lines::of(stdout))
    }

    /// Its input; only once, and only if it is piped.
    pub fn input(&mut self) -> Outcome<ChildStdin> {
        self.child.stdin.take().ok_or_else(|| format!("`{}` takes no input", self.name))
    }

    /// The exit status, if it has exited.
    pub fn ended(&mut self) -> Outcome<Option<ExitStatus>> {
        self.child.try_wait().map_err(|error| format!("could not wait for `{}`: {error}", self.name))
    }

    /// Kills it at once.
    pub fn kill(&mut self) -> Outcome {
        let killed = self.child.kill().and_then(|()| self.child.wait());
        killed.map(drop).map_err(|error| format!("could not kill `{}`: {error}", self.name))
    }

    /// Sends SIGTERM, waits, and kills it if it does not exit; the error says that it was killed.
    pub fn stop(&mut self) -> Outcome<ExitStatus> {
        if let Some(status) = self.ended()? {
            return Ok(status);
        }
        unix::terminate(&mut self.child);
        let deadline = Instant::now() + GRACE;
        while Instant::now() < deadline {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(20));
        }
        let killed = self.child.kill().and_then(|()| self.child.wait());
        Err(match killed {
            Ok(_) => format!("`{}` did not end within {} s and was killed", self.name, GRACE.as_secs()),
            Err(error) => format!("could not kill `{}`: {error}", self.name),
        })
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // An owner that needs the exit status has called `stop` already.
        let _ = self.stop();
    }
}

/// The lines that a program prints, read on a separate thread, so that waiting for one can time out.
pub struct Lines {
    receiver: Receiver<String>,
    seen: Vec<String>,
}

impl Lines {
    fn of(stdout: ChildStdout) -> Self {
        let (sender, receiver) = mpsc::channel();
        // Not joined: a grandchild may keep the pipe open for any length of time.
        thread::spawn(move || Self::read(stdout, |line| sender.send(line).is_ok()));
        Self { receiver, seen: Vec::new() }
    }

    fn read(stdout: impl Read, mut take: impl FnMut(String) -> bool) {
        let mut reader = BufReader::new(stdout);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
            if !take(String::from_utf8_lossy(&line).trim_end().to_owned()) {
                break;
            }
            line.clear();
        }
    }

    /// The next line that matches, unless the output or the time ends first.
    pub fn wait_for(&mut self, deadline: Instant, fits: impl Fn(&str) -> bool) -> Result<String, NoLine> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.receiver.recv_timeout(left) {
                Ok(line) => {
                    self.seen.push(line.clone());
                    if fits(&line) {
                        return Ok(line);
                    }
                }
                Err(RecvTimeoutError::Timeout) => return Err(NoLine::TimeIsUp),
                Err(RecvTimeoutError::Disconnected) => return Err(NoLine::OutputEnded),
            }
        }
    }

    /// Every line read so far.
    pub fn seen(&self) -> &[String] {
        &self.seen
    }
}

/// The reason why a line did not arrive.
#[derive(Debug, PartialEq, Eq)]
pub enum NoLine {
    /// The program closed its output, normally by exiting.
    OutputEnded,
    /// The deadline passed.
    TimeIsUp,
}

/// The processes with `NAME=value` in their environment, as `pid command`.
///
/// A child inherits its parent's environment, so a mark on a program finds all processes that it left, including tools
/// in their own sessions. Empty if there is no `/proc`.
pub fn marked(name: &str, value: &str) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let mark = format!("{name}={value}").into_bytes();
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<u32>() else { continue };
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(|variable| variable == mark) {
            let name = std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            found.push(format!("{pid} {}", name.trim()));
        }
    }
    found
}

#[cfg(unix)]
mod unix {
    //! The two calls for which the standard library has no safe function.

    use std::process::{Child, Command};

    const SIGTERM: i32 = 15;

    unsafe extern "C" {
        fn kill(pid: i32, signal: i32) -> i32;
    }

    /// Sends SIGTERM to the child, which has not been waited for, so that its pid is still its own.
    pub fn terminate(child: &mut Child) {
        let pid = i32::try_from(child.id()).expect("a pid fits pid_t");
        // SAFETY: a plain system call without memory of ours. It can only fail if the child is gone.
        unsafe { kill(pid, SIGTERM) };
    }

    /// Makes the kernel end the child when the thread that started it exits.
    #[cfg(target_os = "linux")]
    pub fn end_with_parent(command: &mut Command) {
        use std::os::unix::process::CommandExt;

        const PR_SET_PDEATHSIG: i32 = 1;
        unsafe extern "C" {
            fn prctl(option: i32, ...) -> i32;
        }
        // SAFETY: between fork and exec only `prctl` runs, which is safe to call from there.
        unsafe {
            command.pre_exec(|| {
                prctl(PR_SET_PDEATHSIG, SIGTERM as std::ffi::c_ulong);
                Ok(())
            });
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub fn end_with_parent(_: &mut Command) {}
}

#[cfg(not(unix))]
mod unix {
    //! Without SIGTERM, a program is killed at once.

    use std::process::{Child, Command};

    pub fn terminate(child: &mut Child) {
        // It can only fail if the child is gone.
        let _ = child.kill();
    }

    pub fn end_with_parent(_: &mut Command) {}
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;

    fn shell(script: &str) -> Guarded {
        Guarded::spawn(Command::new("sh").args(["-c", script]).stdout(Stdio::piped())).unwrap()
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    #[test]
    fn a_line_is_found_among_others() {
        let mut printing = shell("printf 'one\\ntwo\\nthree'");
        let mut lines = printing.lines().unwrap();
        assert_eq!(lines.wait_for(soon(), |line| line == "two"), Ok("two".to_owned()));
        assert_eq!(lines.wait_for(soon(), |line| line == "four"), Err(NoLine::OutputEnded));
        assert_eq!(lines.seen(), ["one", "two", "three"]);
    }

    #[test]
    fn waiting_for_a_line_has_a_limit() {
        let mut waiting = shell("exec sleep 60");
        let mut lines = waiting.lines().unwrap();
        assert_eq!(lines.wait_for(Instant::now(), |_| true), Err(NoLine::TimeIsUp));
    }

    #[test]
    fn a_stopped_program_ends_by_sigterm() {
        let mut waiting = shell("exec sleep 60");
        assert_eq!(waiting.stop().unwrap().signal(), Some(15));
    }

    #[test]
    fn what_a_program_leaves_behind_is_found_by_its_mark() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo up; read line"]).env("XTASK_MARK", "a b");
        let mut left = Guarded::spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped())).unwrap();
        left.lines().unwrap().wait_for(soon(), |line| line == "up").unwrap();
        assert_eq!(marked("XTASK_MARK", "a b"), [format!("{} sh", left.child.id())]);
        left.stop().unwrap();
        assert!(marked("XTASK_MARK", "a b").is_empty());
    }
}
