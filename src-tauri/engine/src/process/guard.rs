//! A process that outlives the app by a few seconds, to end what the app left behind when it was killed.
//!
//! The parent-death signal ends the agents themselves; tools that they put into sessions of their own, and tools of an
//! agent that does not react, are reached only by their run token. The guard holds the other end of a pipe: when the
//! app is gone, however it went, the pipe closes.

use super::system;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long the agents have to end their tools themselves; 1.2 to 3.5 s were measured (2.1.329).
const GRACE: Duration = Duration::from_millis(3_500);
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The argument that makes the app's program the guard; the run's token follows it.
pub const GUARD: &str = "guard";

/// Watches over this process until it is dropped or this process ends.
pub struct Guard(Child);

impl Guard {
    /// Starts `program` as the guard of every process whose run token begins with `run`.
    pub fn start(program: &Path, run: &str) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args([GUARD, run]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.env_remove(crate::launch::RUN_TOKEN);
        // A signal to the app's group, such as Ctrl+C in a terminal, must not take the guard along.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn().map(Self)
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        // It looks once, finds nothing that was not ended in order, and is gone.
        if let Err(error) = self.0.wait() {
            tracing::warn!(%error, "the guard could not be waited for");
        }
    }
}

/// The guard's whole life.
pub fn keep(run: &str) {
    let mut nothing = [0; 16];
    // Nothing ever comes; an error means as much as the end.
    while let Ok(1..) = io::stdin().read(&mut nothing) {}
    let prefix = format!("{run}.");
    // By the clock: on a busy machine a look takes longer than the pause behind it.
    let began_at = Instant::now();
    while began_at.elapsed() < GRACE && system::is_any_marked(&prefix) {
        std::thread::sleep(LOOK_AGAIN);
    }
    // Whatever one sweep misses because it was being born is found by the next.
    while system::sweep_prefix(&prefix) > 0 {
        std::thread::sleep(LOOK_AGAIN);
    }
}
