//! The host: the machine that agents run on, as far as the engine needs one.
//!
//! Everything that starts or signals a process of an agent asks a [`Host`]. [`LocalHost`] is the machine that this
//! process runs on; tests have hosts whose processes and faults are made up. A remote machine is not a third one: the
//! engine runs there, beside its agents, with its own local host. See docs/design/machines.md.

#[cfg(test)]
pub(crate) mod fake;
pub(crate) mod local;

pub use local::LocalHost;

use crate::api::Priority;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};

/// A future of a trait object.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
/// The end of a pipe that the engine writes to.
pub type Writer = Box<dyn AsyncWrite + Send + Sync + Unpin>;
/// The end of a pipe that the engine reads from.
pub type Reader = Box<dyn AsyncRead + Send + Sync + Unpin>;

/// A program to start, without a shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub path: PathBuf,
    pub args: Vec<OsString>,
    pub folder: PathBuf,
    /// All of its environment; nothing is inherited.
    pub environment: Vec<(OsString, OsString)>,
    /// Also of all that it starts.
    pub priority: Priority,
}

/// The machine that agents run on.
pub trait Host: Send + Sync {
    /// Starts a program with three pipes, in a process group of its own. It gets a SIGTERM when this process ends.
    fn spawn(&self, program: Program) -> BoxFuture<'_, io::Result<Child>>;

    /// Kills every process whose environment has this run token, and returns their number. Tools run in sessions of
    /// their own, so signalling the agent's group does not reach them.
    fn kill_tagged(&self, run_token: &str) -> usize;
}

/// A started process. Dropping `exit` before the end kills the process.
pub struct Child {
    pub pid: u32,
    pub stdin: Writer,
    pub stdout: Reader,
    pub stderr: Reader,
    pub signals: Arc<dyn Signals>,
    /// Waits for the exit and reaps the process.
    pub exit: BoxFuture<'static, io::Result<Exited>>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exited {
    pub code: Option<i32>,
    pub signal: Option<i32>,
}

/// Signals to a process. After it was reaped they do nothing, because its id may belong to another process.
pub trait Signals: Send + Sync {
    /// Asks the process to end. Windows has no such signal, so this does nothing there.
    fn terminate(&self);
    /// Kills the process and its group.
    fn kill(&self);
}
