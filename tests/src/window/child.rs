//! A child process of a test, ended by its pid when it is dropped.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// The time that a process has to exit after SIGTERM before it is killed.
const GRACE: Duration = Duration::from_secs(3);

/// A running process that ends with this value: SIGTERM first, SIGKILL if it does not exit.
#[derive(Debug)]
pub struct Owned {
    name: String,
    child: Child,
}

impl Owned {
    /// Starts `command`; `name` is used in failures.
    pub fn start(name: impl Into<String>, command: &mut Command) -> io::Result<Self> {
        let name = name.into();
        let child = command.spawn().map_err(|e| io::Error::new(e.kind(), format!("{name}: {e}")))?;
        Ok(Self { name, child })
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The child itself, for its pipes.
    pub fn child_mut(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Sends SIGTERM, once.
    pub fn terminate(&self) -> io::Result<()> {
        let pid =
            i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a live child has a pid");
        Ok(kill_process(pid, Signal::TERM)?)
    }

    /// Waits for its exit; `None` if it is still running at the deadline.
    pub fn wait(&mut self, deadline: Duration) -> io::Result<Option<ExitStatus>> {
        let end = Instant::now() + deadline;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Some(status));
            }
            if Instant::now() >= end {
                return Ok(None);
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn end(&mut self) -> io::Result<()> {
        if self.child.try_wait()?.is_some() {
            return Ok(());
        }
        self.terminate()?;
        if self.wait(GRACE)?.is_none() {
            self.child.kill()?;
            self.child.wait()?;
        }
        Ok(())
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            eprintln!("{} could not be ended: {error}", self.name);
        }
    }
}
