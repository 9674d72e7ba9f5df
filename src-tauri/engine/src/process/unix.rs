//! Linux and macOS: a process group of its own, signals, and on Linux the parent-death signal.

use std::collections::HashSet;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::ExitStatus;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use tokio::sync::oneshot;

pub struct Child(tokio::process::Child);

impl Child {
    pub fn stdin(&mut self) -> &mut Option<tokio::process::ChildStdin> {
        &mut self.0.stdin
    }
    pub fn stdout(&mut self) -> &mut Option<tokio::process::ChildStdout> {
        &mut self.0.stdout
    }
    pub fn stderr(&mut self) -> &mut Option<tokio::process::ChildStderr> {
        &mut self.0.stderr
    }
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.0.wait().await
    }
}

pub struct Spawned {
    pub child: Child,
    pub control: Control,
}

/// Signals a process, until it was reaped: from then on its number may be another's.
#[derive(Clone)]
pub struct Control {
    pid: u32,
    reaped: Arc<Mutex<bool>>,
}

impl Control {
    pub fn pid(&self) -> u32 {
        self.pid
    }

    pub fn terminate(&self) {
        self.signal(self.pid as libc::pid_t, libc::SIGTERM);
    }

    /// The process and its group; what left the group is for the sweep.
    pub fn kill(&self) {
        self.signal(self.pid as libc::pid_t, libc::SIGKILL);
        self.signal(-(self.pid as libc::pid_t), libc::SIGKILL);
    }

    pub fn reaped(&self) {
        *self.reaped.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }

    fn signal(&self, target: libc::pid_t, signal: i32) {
        let reaped = self.reaped.lock().unwrap_or_else(PoisonError::into_inner);
        if !*reaped {
            // SAFETY: kill has no memory effects. The process was not reaped, so its number is still its own; the
            // only failure left is that it has just ended, which is what was wanted.
            unsafe { libc::kill(target, signal) };
        }
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// The parent-death signal is tied to the thread that spawned: one that lives as long as the app does it.
static SPAWNER: LazyLock<std::sync::mpsc::Sender<Job>> = LazyLock::new(|| {
    let (sender, jobs) = std::sync::mpsc::channel::<Job>();
    std::thread::Builder::new()
        .name("spawner".to_owned())
        .spawn(move || jobs.into_iter().for_each(|job| job()))
        .expect("a thread can be started");
    sender
});

pub async fn spawn(mut command: std::process::Command) -> io::Result<Spawned> {
    command.process_group(0);
    #[cfg(target_os = "linux")]
    {
        let parent = std::process::id();
        // SAFETY: between fork and exec only prctl and getppid are called, which are async-signal-safe.
        unsafe { command.pre_exec(move || die_with_parent(parent)) };
    }
    let runtime = tokio::runtime::Handle::current();
    let (sender, spawned) = oneshot::channel();
    let job: Job = Box::new(move || {
        let _runtime = runtime.enter();
        let child = tokio::process::Command::from(command).kill_on_drop(true).spawn();
        // If the asker is gone the child is dropped here, and killed.
        let _ = sender.send(child);
    });
    SPAWNER.send(job).map_err(|_| io::Error::other("the spawning thread is gone"))?;
    let child = spawned.await.map_err(|_| io::Error::other("the spawning thread is gone"))??;
    let pid = child.id().ok_or_else(|| io::Error::other("the process has no number"))?;
    Ok(Spawned { child: Child(child), control: Control { pid, reaped: Arc::default() } })
}

#[cfg(target_os = "linux")]
fn die_with_parent(parent: u32) -> io::Result<()> {
    // SIGTERM, not SIGKILL: the CLI then ends its own tools, which a SIGKILL would orphan (2.1.329).
    // SAFETY: prctl with these arguments touches no memory.
    if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: getppid cannot fail.
    if unsafe { libc::getppid() } as u32 != parent {
        return Err(io::Error::other("the app ended while it was starting the agent"));
    }
    Ok(())
}

pub fn signal(status: ExitStatus) -> Option<i32> {
    status.signal()
}

/// Kills every process whose environment carries this run token; gives how many.
pub fn sweep(run_token: &str) -> usize {
    kill_all(|token| token == run_token.as_bytes())
}

/// Kills every process whose run token begins like this; gives how many.
pub fn sweep_prefix(prefix: &str) -> usize {
    kill_all(|token| token.starts_with(prefix.as_bytes()))
}

/// Is there a process whose run token begins like this?
pub fn is_any_marked(prefix: &str) -> bool {
    processes_marked(|token| token.starts_with(prefix.as_bytes())).next().is_some()
}

/// How often is looked again. Killed processes are found, too, until they are gone.
const LOOKS: usize = 50;

/// Whatever one look misses because it is just being born is found by another, so that it takes two in vain to end
/// this; where there was nothing to begin with, one.
fn kill_all(is_ours: impl Fn(&[u8]) -> bool) -> usize {
    let mut killed = HashSet::new();
    let mut n_in_vain = 0;
    for _ in 0..LOOKS {
        n_in_vain += 1;
        for pid in processes_marked(&is_ours) {
            // SAFETY: kill has no memory effects. A number read a moment ago from a process that carries our token.
            unsafe { libc::kill(pid, libc::SIGKILL) };
            killed.insert(pid);
            n_in_vain = 0;
        }
        if killed.is_empty() || n_in_vain == 2 {
            break;
        }
        std::thread::yield_now();
    }
    killed.len()
}

/// On Linux by `/proc`; elsewhere a process's environment is not to be read, and the group has to do.
fn processes_marked(is_ours: impl Fn(&[u8]) -> bool) -> impl Iterator<Item = libc::pid_t> {
    let own = std::process::id() as libc::pid_t;
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut pids: Vec<libc::pid_t> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    // The youngest first: one that lives for a moment only is gone before a long list is through.
    pids.sort_unstable_by(|a, b| b.cmp(a));
    let name = format!("{}=", crate::launch::RUN_TOKEN);
    pids.into_iter().filter(move |pid| *pid != own).filter(move |pid| {
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let mut variables = environ.split(|byte| *byte == 0);
        variables.any(|variable| variable.strip_prefix(name.as_bytes()).is_some_and(&is_ours))
    })
}
