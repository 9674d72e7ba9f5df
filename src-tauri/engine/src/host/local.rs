//! The machine that this process runs on. Only this module spawns and signals the processes of agents.

#[cfg(target_os = "linux")]
mod autogroup;
#[cfg(unix)]
mod child;
pub mod identity;
#[cfg(target_os = "linux")]
mod ports;
#[cfg(any(target_os = "linux", target_os = "macos"))]
mod sweep;
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) mod token;
#[cfg(unix)]
mod unix;
#[cfg(target_os = "linux")]
mod vfork;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub(crate) use system::{is_any_marked, lower_thread_priority, sweep_prefix};

use super::{BoxFuture, Child, Exited, Host, Program, Reader, Writer};
#[cfg(target_os = "linux")]
use crate::api::Priority;
#[cfg(target_os = "linux")]
use crate::disk;
#[cfg(target_os = "linux")]
use crate::launch::Launch;
use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;
#[cfg(target_os = "linux")]
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
#[cfg(target_os = "linux")]
use tokio::sync::Notify;
#[cfg(target_os = "linux")]
use tokio_util::io::{InspectReader, InspectWriter};

/// This machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalHost;

impl Host for LocalHost {
    fn spawn(&self, program: Program) -> BoxFuture<'_, io::Result<Child>> {
        Box::pin(spawn(program))
    }

    fn kill_tagged(&self, run_token: &str) -> usize {
        system::kill_tagged(run_token)
    }
}

async fn spawn(program: Program) -> io::Result<Child> {
    #[cfg(target_os = "linux")]
    let run_token = (program.priority == Priority::Low).then(|| run_token(&program)).flatten();
    let system::Spawned { mut child, control } = system::spawn(program).await?;
    let no_pipe = || io::Error::other("the process has no pipe");
    let stdin = child.stdin().take().ok_or_else(no_pipe)?;
    let stdout = child.stdout().take().ok_or_else(no_pipe)?;
    let stderr = child.stderr().take().ok_or_else(no_pipe)?;
    #[cfg(target_os = "linux")]
    let (stdin, stdout, watch) = lowered(run_token, stdin, stdout);
    #[cfg(not(target_os = "linux"))]
    let (stdin, stdout, watch): (Writer, Reader, Option<()>) = (Box::new(stdin), Box::new(stdout), None);
    Ok(Child {
        pid: control.pid(),
        stdin,
        stdout,
        stderr: Box::new(stderr),
        signals: Arc::new(control.clone()),
        exit: Box::pin(async move {
            let _watch = watch;
            let status = child.wait().await;
            control.reaped();
            let status = status?;
            Ok(Exited { code: status.code(), signal: system::signal(status) })
        }),
    })
}

/// The command of a program, with three pipes.
fn command(program: Program) -> Command {
    let mut command = Command::new(program.path);
    command
        .args(program.args)
        .current_dir(program.folder)
        .env_clear()
        .envs(program.environment)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[cfg(target_os = "linux")]
fn run_token(program: &Program) -> Option<Vec<u8>> {
    let (_, token) = program.environment.iter().find(|(name, _)| name == Launch::RUN_TOKEN)?;
    Some(token.as_encoded_bytes().to_vec())
}

/// The pipes of an agent. With a run token, the sessions of its processes are lowered until the last part of the result is
/// dropped.
#[cfg(target_os = "linux")]
fn lowered(
    run_token: Option<Vec<u8>>,
    stdin: tokio::process::ChildStdin,
    stdout: tokio::process::ChildStdout,
) -> (Writer, Reader, Option<autogroup::Watch>) {
    let activity = Arc::new(Notify::new());
    let heard = {
        let activity = activity.clone();
        move |_: &[u8]| activity.notify_one()
    };
    let Some(watch) = run_token.and_then(|token| autogroup::Watch::of(token, activity)) else {
        return (Box::new(stdin), Box::new(stdout), None);
    };
    let (stdin, stdout) = (InspectWriter::new(stdin, heard.clone()), InspectReader::new(stdout, heard));
    (Box::new(stdin), Box::new(stdout), Some(watch))
}

/// Is the process alive that began at this time, in the system's own unit? Without a time, any process with this id.
#[cfg(target_os = "linux")]
pub(crate) fn is_alive(pid: u32, began: Option<&str>) -> bool {
    let stat = identity::Stat::of(pid).filter(|stat| !stat.is_dead);
    stat.is_some_and(|stat| began.is_none_or(|began| began == stat.ticks.to_string()))
}

#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) fn is_alive(pid: u32, _began: Option<&str>) -> bool {
    // SAFETY: signal 0 only asks whether the process is there.
    unsafe { libc::kill(pid as libc::pid_t, 0) == 0 }
}

/// There is no cheap check.
#[cfg(not(unix))]
pub(crate) fn is_alive(_pid: u32, _began: Option<&str>) -> bool {
    false
}

/// The addresses on which the processes with this run token listen for TCP now; `None` where that cannot be read.
#[cfg(target_os = "linux")]
pub(crate) fn ports(run_token: &str) -> Option<BTreeSet<SocketAddr>> {
    Some(ports::of(run_token))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn ports(_run_token: &str) -> Option<BTreeSet<SocketAddr>> {
    None
}

/// Maximum size of a file in `/proc`. An environment or a command line has at most 6 MiB.
#[cfg(target_os = "linux")]
const MOST_OF_PROC: u64 = 16 * 1024 * 1024;

#[cfg(target_os = "linux")]
pub(crate) fn proc_bytes(path: &str) -> Result<Vec<u8>, disk::ReadError> {
    disk::read_regular(Path::new(path), MOST_OF_PROC)
}

#[cfg(target_os = "linux")]
pub(crate) fn proc_text(path: &str) -> Option<String> {
    Some(String::from_utf8_lossy(&proc_bytes(path).ok()?).into_owned())
}

/// Ids of all processes, unordered.
#[cfg(target_os = "linux")]
pub(crate) fn pids() -> Vec<u32> {
    let listing = disk::list(Path::new("/proc"), usize::MAX).unwrap_or_default();
    listing.paths.iter().filter_map(|path| path.file_name()?.to_str()?.parse().ok()).collect()
}
