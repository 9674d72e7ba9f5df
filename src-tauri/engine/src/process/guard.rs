//! The guard: a process that outlives the app by a few seconds and ends the processes of a killed app.
//!
//! The parent-death signal ends the agents. Tools in sessions of their own, and tools of an agent that does not react,
//! can only be found by their run token. The guard reads from a pipe of the app: the pipe closes whenever the app is
//! gone, whatever the cause.

use crate::host::local::{is_any_marked, sweep_prefix};
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time for the agents to end their tools themselves; 1.2 to 3.5 s were measured (2.1.329).
const GRACE: Duration = Duration::from_millis(3_500);
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// A running guard process. It guards until this value is dropped or this process ends.
pub struct Guard(Child);

impl Guard {
    /// The argument that starts the app's program as the guard. The run's token follows it.
    pub const ARGUMENT: &str = "guard";

    /// Starts `program` as the guard of every process whose run token begins with `run`.
    pub fn start(program: &Path, run: &str) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args([Self::ARGUMENT, run]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.env_remove(crate::launch::Launch::RUN_TOKEN);
        // A signal to the app's process group, such as Ctrl+C in a terminal, must not end the guard.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn().map(Self)
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Main function of the guard process.
    pub fn keep(run: &str) {
        let mut nothing = [0; 16];
        // The app never writes to the pipe; an error means the same as its end.
        while let Ok(1..) = io::stdin().read(&mut nothing) {}
        let prefix = format!("{run}.");
        // Measured by the clock: on a busy machine a search takes longer than the pause after it.
        let began_at = Instant::now();
        while began_at.elapsed() < GRACE && is_any_marked(&prefix) {
            std::thread::sleep(LOOK_AGAIN);
        }
        // A search can miss a process that is just being created; the next search finds it.
        while sweep_prefix(&prefix) > 0 {
            std::thread::sleep(LOOK_AGAIN);
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // The guard searches once, finds nothing left, and exits.
        if let Err(error) = self.0.wait() {
            tracing::warn!(%error, "could not wait for the guard process");
        }
    }
}
