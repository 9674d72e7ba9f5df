//! Processes on Linux and macOS: an own process group, signals, and on Linux the parent-death signal.

use super::child;
#[cfg(any(target_os = "linux", target_os = "macos"))]
use super::sweep::kill_all;
#[cfg(target_os = "linux")]
use super::vfork;
use crate::api::Priority;
use crate::host::{Program, Signals};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::oneshot;

pub struct Child {
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    process: Process,
}

enum Process {
    Forked(tokio::process::Child),
    #[cfg(target_os = "linux")]
    Vforked(vfork::Child),
}

impl Child {
    pub fn stdin(&mut self) -> &mut Option<ChildStdin> {
        &mut self.stdin
    }
    pub fn stdout(&mut self) -> &mut Option<ChildStdout> {
        &mut self.stdout
    }
    pub fn stderr(&mut self) -> &mut Option<ChildStderr> {
        &mut self.stderr
    }

    fn id(&self) -> Option<u32> {
        match &self.process {
            Process::Forked(child) => child.id(),
            #[cfg(target_os = "linux")]
            Process::Vforked(child) => child.id(),
        }
    }

    /// Waits for the exit, with an input that ends unless it was taken.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.stdin = None;
        match &mut self.process {
            Process::Forked(child) => child.wait().await,
            #[cfg(target_os = "linux")]
            Process::Vforked(child) => child.wait().await,
        }
    }
}

impl From<tokio::process::Child> for Child {
    fn from(mut child: tokio::process::Child) -> Self {
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        Self { stdin, stdout, stderr, process: Process::Forked(child) }
    }
}

#[cfg(target_os = "linux")]
impl From<vfork::Started> for Child {
    fn from(started: vfork::Started) -> Self {
        Self {
            stdin: Some(started.stdin),
            stdout: Some(started.stdout),
            stderr: Some(started.stderr),
            process: Process::Vforked(started.child),
        }
    }
}

pub struct Spawned {
    pub child: Child,
    pub control: Control,
}

/// Sends signals to a process until it is reaped. After that its id may belong to another process.
#[derive(Clone)]
pub struct Control {
    pid: u32,
    reaped: Arc<Mutex<bool>>,
}

impl Control {
    pub fn pid(&self) -> u32 {
        self.pid
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

impl Signals for Control {
    fn terminate(&self) {
        self.signal(self.pid as libc::pid_t, libc::SIGTERM);
    }

    fn kill(&self) {
        self.signal(self.pid as libc::pid_t, libc::SIGKILL);
        self.signal(-(self.pid as libc::pid_t), libc::SIGKILL);
    }
}

type Job = Box<dyn FnOnce() + Send>;

/// A thread that spawns processes. The parent-death signal is sent when the spawning thread ends, so each thread lives
/// as long as the app.
struct Spawner {
    jobs: std::sync::mpsc::Sender<Job>,
    nr: usize,
}

/// Maximum time for a spawn. It returns when the new process has changed to its folder and executes the program; both
/// need the disk, which may not respond.
const SPAWN_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum number of spawner threads. When they are all stuck, no other is started.
const MOST_SPAWNERS: usize = 8;

/// The last one is in use; the earlier ones are stuck or were stuck.
static SPAWNERS: Mutex<Vec<Spawner>> = Mutex::new(Vec::new());

/// Sends a job to the spawner in use; returns the spawner's number.
fn submit(job: Job) -> io::Result<usize> {
    let mut spawners = SPAWNERS.lock().unwrap_or_else(PoisonError::into_inner);
    if spawners.is_empty() {
        add_spawner(&mut spawners)?;
    }
    let spawner = spawners.last().ok_or_else(|| io::Error::other("there is no spawning thread"))?;
    spawner.jobs.send(job).map_err(|_| io::Error::other("the spawning thread is gone"))?;
    Ok(spawner.nr)
}

fn add_spawner(spawners: &mut Vec<Spawner>) -> io::Result<()> {
    let (jobs, received) = std::sync::mpsc::channel::<Job>();
    let thread = std::thread::Builder::new().name("spawner".to_owned());
    thread.spawn(move || received.into_iter().for_each(|job| job()))?;
    let nr = spawners.len();
    spawners.push(Spawner { jobs, nr });
    Ok(())
}

/// Marks this spawner as stuck: the next spawn uses another one.
fn replace_spawner(nr: usize) -> io::Result<()> {
    let mut spawners = SPAWNERS.lock().unwrap_or_else(PoisonError::into_inner);
    let is_in_use = spawners.last().is_some_and(|spawner| spawner.nr == nr);
    if is_in_use && spawners.len() < MOST_SPAWNERS { add_spawner(&mut spawners) } else { Ok(()) }
}

/// Added to the niceness of a thread of low priority: it gets a third of the time next to a window, and three times that of
/// an agent.
#[cfg(target_os = "linux")]
const LOW_THREAD: libc::c_int = 5;

pub async fn spawn(program: Program) -> io::Result<Spawned> {
    let runtime = tokio::runtime::Handle::current();
    let (sender, spawned) = oneshot::channel();
    let job: Job = Box::new(move || {
        let _runtime = runtime.enter();
        // If the caller is gone, the child is dropped here, which kills it.
        let _ = sender.send(start(program));
    });
    let nr = submit(job)?;
    let Ok(child) = tokio::time::timeout(SPAWN_TIMEOUT, spawned).await else {
        replace_spawner(nr)?;
        return Err(io::Error::new(io::ErrorKind::TimedOut, "the disk that it is on does not respond"));
    };
    let child = child.map_err(|_| io::Error::other("the spawning thread is gone"))??;
    let pid = child.id().ok_or_else(|| io::Error::other("the process has no number"))?;
    Ok(Spawned { child, control: Control { pid, reaped: Arc::default() } })
}

/// Starts the program from this thread.
fn start(program: Program) -> io::Result<Child> {
    #[cfg(target_os = "linux")]
    match vfork::start(&program) {
        Ok(started) => return Ok(started.into()),
        Err(error) => tracing::debug!(%error, path = ?program.path, "starting a program with a fork"),
    }
    fork(program)
}

/// Starts the program with the standard library, which forks for what is done in the child.
fn fork(program: Program) -> io::Result<Child> {
    let priority = program.priority;
    let mut command = super::command(program);
    command.process_group(0);
    if priority == Priority::Low {
        // SAFETY: between fork and exec only getpriority and setpriority are called, which are system calls and nothing else.
        unsafe { command.pre_exec(child::lower_priority) };
    }
    #[cfg(target_os = "linux")]
    {
        let parent = std::process::id();
        // SAFETY: between fork and exec only prctl and getppid are called, which are async-signal-safe.
        unsafe { command.pre_exec(move || child::die_with_parent(parent)) };
    }
    tokio::process::Command::from(command).kill_on_drop(true).spawn().map(Child::from)
}

/// Lowers the priority of the calling thread, where the system has one for threads and allows it.
pub fn lower_thread_priority() {
    #[cfg(target_os = "linux")]
    child::add_niceness(LOW_THREAD);
    #[cfg(target_os = "macos")]
    // SAFETY: the call touches no memory.
    unsafe {
        libc::pthread_set_qos_class_self_np(libc::qos_class_t::QOS_CLASS_UTILITY, 0)
    };
}

pub fn signal(status: ExitStatus) -> Option<i32> {
    status.signal()
}

/// Kills every process whose environment carries this run token; returns their number.
pub fn kill_tagged(run_token: &str) -> usize {
    kill_all(|token| token == run_token.as_bytes())
}

/// Kills every process whose run token begins with `prefix`; returns their number.
pub fn sweep_prefix(prefix: &str) -> usize {
    kill_all(|token| token.starts_with(prefix.as_bytes()))
}

/// Kills a process whose number was read a moment ago.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub fn kill(pid: u32) {
    // SAFETY: kill has no memory effects.
    unsafe { libc::kill(pid as libc::pid_t, libc::SIGKILL) };
}

/// Does any process have a run token that begins with `prefix`?
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub fn is_any_marked(prefix: &str) -> bool {
    let own = std::process::id();
    let has_token = |pid| super::token::of(pid).is_some_and(|token| token.starts_with(prefix.as_bytes()));
    super::token::pids().into_iter().any(|pid| pid != own && has_token(pid))
}

/// The environment of a process cannot be read on these systems; only the process group is killed.
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub fn is_any_marked(_prefix: &str) -> bool {
    false
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn kill_all(_is_ours: impl Fn(&[u8]) -> bool) -> usize {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(path: &str, args: &[&str]) -> Program {
        Program {
            path: path.into(),
            args: args.iter().map(Into::into).collect(),
            folder: "/".into(),
            environment: std::env::vars_os().collect(),
            priority: Priority::Normal,
        }
    }

    #[tokio::test]
    async fn a_spawn_that_is_stuck_holds_up_no_later_one() {
        let (end, stuck) = std::sync::mpsc::channel::<()>();
        let nr = submit(Box::new(move || stuck.recv().unwrap_or_default())).unwrap();
        replace_spawner(nr).unwrap();
        // Two callers that waited for the same spawner both report it.
        replace_spawner(nr).unwrap();
        let spawned = tokio::time::timeout(Duration::from_secs(20), spawn(program("/bin/cat", &[])));
        let mut spawned = spawned.await.unwrap().unwrap();
        assert!(spawned.child.wait().await.unwrap().success());
        drop(end);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_of_low_priority_leaves_the_others_as_they_are() {
        // SAFETY: getpriority touches no memory.
        let niceness = || unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
        let own = niceness();
        let lowered = std::thread::spawn(move || {
            lower_thread_priority();
            niceness()
        });
        assert_eq!((lowered.join().unwrap(), niceness()), ((own + LOW_THREAD).min(19), own));
    }

    #[tokio::test]
    async fn the_priority_of_a_process_is_that_of_its_children() {
        // SAFETY: getpriority touches no memory.
        let own = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
        for (priority, expected) in [(Priority::Normal, own), (Priority::Low, (own + child::LOW).min(19))] {
            let script = "ps -o ni= -p $$; sh -c 'ps -o ni= -p $$'; :";
            let program = Program { priority, ..program("/bin/sh", &["-c", script]) };
            let mut spawned = spawn(program).await.unwrap();
            let mut said = String::new();
            let mut stdout = spawned.child.stdout().take().unwrap();
            tokio::io::AsyncReadExt::read_to_string(&mut stdout, &mut said).await.unwrap();
            assert!(spawned.child.wait().await.unwrap().success());
            let of: Vec<i32> = said.split_whitespace().map(|niceness| niceness.parse().unwrap()).collect();
            assert_eq!(of, [expected, expected], "{priority:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_start_copies_no_tables_of_memory() {
        /// Processor time of this thread, in nanoseconds.
        fn used() -> u64 {
            let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
            text.split(' ').next().unwrap().parse().unwrap()
        }
        let cost = |start: fn(Program) -> io::Result<Child>| {
            let begun = used();
            let children: Vec<Child> = (0..5).map(|_| start(program("/bin/true", &[])).unwrap()).collect();
            let cost = used() - begun;
            drop(children);
            cost
        };
        let memory = vec![1_u8; 512 << 20];
        let (forked, started) = (cost(fork), cost(start));
        drop(memory);
        assert!(started < forked / 5, "{started} ns, and {forked} ns with a fork");
    }
}
