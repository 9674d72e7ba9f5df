//! Processes on Windows: a job object that ends with its last handle, and no console window.
//!
//! The child has the only handle of its job. The handle is closed after the child's exit is reported, and by the system
//! when the app is gone, whatever the cause. Either way all of the agent's remaining processes end with it.

use crate::api::Priority;
use crate::host::{Program, Signals};
use process_wrap::tokio::{ChildWrapper, CommandWrap, CreationFlags, JobObject, KillOnDrop};
use std::io;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;
use windows::Win32::System::Threading::{
    BELOW_NORMAL_PRIORITY_CLASS, CREATE_NO_WINDOW, GetCurrentThread, SetThreadPriority,
    THREAD_PRIORITY_BELOW_NORMAL,
};

pub struct Child {
    wrapped: Box<dyn ChildWrapper>,
    kill: Arc<Notify>,
}

impl Child {
    pub fn stdin(&mut self) -> &mut Option<tokio::process::ChildStdin> {
        self.wrapped.stdin()
    }
    pub fn stdout(&mut self) -> &mut Option<tokio::process::ChildStdout> {
        self.wrapped.stdout()
    }
    pub fn stderr(&mut self) -> &mut Option<tokio::process::ChildStderr> {
        self.wrapped.stderr()
    }

    /// Waits for the exit. A kill is performed here, because the child's owner has the job.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        let kill = self.kill.clone();
        tokio::select! {
            status = self.wrapped.wait() => return status,
            () = kill.notified() => {}
        }
        self.wrapped.start_kill()?;
        self.wrapped.wait().await
    }
}

pub struct Spawned {
    pub child: Child,
    pub control: Control,
}

#[derive(Clone)]
pub struct Control {
    pid: u32,
    kill: Arc<Notify>,
    reaped: Arc<Mutex<bool>>,
}

impl Control {
    pub fn pid(&self) -> u32 {
        self.pid
    }

    pub fn reaped(&self) {
        *self.reaped.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }
}

impl Signals for Control {
    /// Windows has no SIGTERM; closing stdin is the only polite stage.
    fn terminate(&self) {}

    fn kill(&self) {
        if !*self.reaped.lock().unwrap_or_else(PoisonError::into_inner) {
            self.kill.notify_one();
        }
    }
}

pub async fn spawn(program: Program) -> io::Result<Spawned> {
    let priority = program.priority;
    let mut wrapped = CommandWrap::from(tokio::process::Command::from(super::command(program)));
    // A console window would flash for every child.
    let flags = match priority {
        // Its children have it, too.
        Priority::Low => CREATE_NO_WINDOW | BELOW_NORMAL_PRIORITY_CLASS,
        Priority::Normal => CREATE_NO_WINDOW,
    };
    // Without `KillOnDrop` the end of the job would kill no process.
    wrapped.wrap(CreationFlags(flags)).wrap(KillOnDrop).wrap(JobObject);
    let child = wrapped.spawn()?;
    let pid = child.id().ok_or_else(|| io::Error::other("the process has no number"))?;
    let kill = Arc::new(Notify::new());
    let control = Control { pid, kill: kill.clone(), reaped: Arc::default() };
    Ok(Spawned { child: Child { wrapped: child, kill }, control })
}

/// Lowers the priority of the calling thread, where the system allows it.
pub fn lower_thread_priority() {
    // SAFETY: the handle is that of the calling thread, and needs no closing.
    let lowered = unsafe { SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_BELOW_NORMAL) };
    if let Err(error) = lowered {
        tracing::debug!(%error, "a thread keeps the usual priority");
    }
}

pub fn signal(_status: ExitStatus) -> Option<i32> {
    None
}

/// Not needed: the end of the job kills these processes.
pub fn kill_tagged(_run_token: &str) -> usize {
    0
}

/// Not needed: each job ends with the app.
pub fn sweep_prefix(_prefix: &str) -> usize {
    0
}

pub fn is_any_marked(_prefix: &str) -> bool {
    false
}
