//! A busy machine: builds of the project that run at the same time as the tests, each from nothing, again and again.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::command::cargo;
use crate::process::Guarded;
use crate::project;

/// How often a build is looked at, to begin the next one.
const LOOK: Duration = Duration::from_millis(500);

/// Builds that end with their owner.
pub struct Builds(Vec<(Sender<()>, JoinHandle<()>)>);

impl Builds {
    /// Begins this many, each in a folder of its own.
    pub fn begin(n_builds: usize) -> Self {
        let one = |nr| {
            let (stop, stopped) = mpsc::channel();
            let folder = project::root().join("target").join(format!("busy-{nr}"));
            (stop, thread::spawn(move || build_again(&folder, &stopped)))
        };
        Self((0..n_builds).map(one).collect())
    }
}

impl Drop for Builds {
    fn drop(&mut self) {
        for (stop, builder) in self.0.drain(..) {
            drop(stop);
            if builder.join().is_err() {
                eprintln!("xtask: a build that kept the machine busy ended by a panic");
            }
        }
    }
}

fn build_again(folder: &Path, stopped: &Receiver<()>) {
    loop {
        if let Err(problem) = build(folder, stopped) {
            eprintln!("xtask: the machine is less busy: {problem}");
            return;
        }
        if stopped.try_recv() == Err(mpsc::TryRecvError::Disconnected) {
            // A compiler that is still ending may write to it: then some of it stays, as any build does.
            let _ = fs::remove_dir_all(folder);
            return;
        }
    }
}

/// One build from nothing, until it ends or is stopped.
fn build(folder: &Path, stopped: &Receiver<()>) -> crate::Outcome {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(|error| format!("{} stays: {error}", folder.display()))?;
    }
    let mut command = cargo();
    command.args(["check", "--workspace", "--all-targets", "--quiet", "--target-dir"]).arg(folder);
    let mut build = Guarded::spawn(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()))?;
    while stopped.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        match build.ended()? {
            None => {}
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(format!("a build failed ({status})")),
        }
    }
    Ok(())
}
