//! Processes that are not our children: whether they run, waiting for their exit, and killing them.

#[cfg(target_os = "linux")]
use std::path::Path;
#[cfg(target_os = "linux")]
use std::time::Duration;

#[cfg(target_os = "linux")]
use anyhow::ensure;
use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// Whether this process exists and still runs. A zombie counts as ended.
pub fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    // The name before it can contain anything, but a bracket ends it.
    let is_zombie =
        stat.is_ok_and(|stat| stat.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with('Z')));
    !is_zombie && id(pid).is_ok_and(|pid| test_kill_process(pid).is_ok())
}

/// Ends a process at once, as a crash would.
pub fn kill(pid: u32) -> Result<()> {
    kill_process(id(pid)?, Signal::KILL).with_context(|| format!("killing the process {pid}"))
}

/// Waits for the exit of a process that is not our child, by a kernel notification instead of polling.
#[cfg(target_os = "linux")]
pub async fn ended(pid: u32, deadline: Duration) -> Result<()> {
    tokio::task::spawn_blocking(move || wait(pid, deadline)).await?
}

/// The same, blocking the thread.
#[cfg(target_os = "linux")]
pub(crate) fn wait(pid: u32, deadline: Duration) -> Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::process::{PidfdFlags, pidfd_open};

    if !is_running(pid) {
        return Ok(());
    }
    let process = match pidfd_open(id(pid)?, PidfdFlags::empty()) {
        Err(rustix::io::Errno::SRCH) => return Ok(()),
        process => process.with_context(|| format!("watching the process {pid}"))?,
    };
    let timeout = deadline.try_into().context("that deadline is no time span")?;
    let n_ready = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&timeout))?;
    ensure!(n_ready == 1, "the process {pid} still runs after {deadline:?}");
    Ok(())
}

/// The processes that run this program in this folder.
#[cfg(target_os = "linux")]
pub(crate) fn running(program: &Path, folder: &Path) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let leads_to = |pid: u32, link: &str, to: &Path| {
        std::fs::read_link(format!("/proc/{pid}/{link}")).is_ok_and(|target| target == to)
    };
    pids.filter(|pid| leads_to(*pid, "exe", program) && leads_to(*pid, "cwd", folder)).collect()
}

fn id(pid: u32) -> Result<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw).with_context(|| format!("{pid} is no process id"))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_killed_process_is_gone() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(is_running(child.id()));
        let program = std::fs::read_link(format!("/proc/{}/exe", child.id())).unwrap();
        assert!(running(&program, &std::env::current_dir().unwrap()).contains(&child.id()));
        kill(child.id()).unwrap();
        ended(child.id(), Duration::from_secs(10)).await.unwrap();
        assert!(!is_running(child.id()));
        child.wait().unwrap();
    }
}
