//! The system's figures for this process.

use std::fs;

use anyhow::{Context, Result};

pub struct Status {
    pub threads: u64,
    pub memory_kib: u64,
    /// The most memory so far.
    pub peak_kib: u64,
    /// Of all threads: how often one waited, and was woken (voluntary context switches).
    pub wake_ups: u64,
}

impl Status {
    pub fn read() -> Result<Self> {
        let status = fs::read_to_string("/proc/self/status").context("only Linux tells this")?;
        let mut wake_ups = 0;
        for task in fs::read_dir("/proc/self/task")? {
            // A thread may be gone by now.
            let status = fs::read_to_string(task?.path().join("status")).unwrap_or_default();
            wake_ups += number(&status, "voluntary_ctxt_switches:");
        }
        Ok(Self {
            threads: number(&status, "Threads:"),
            memory_kib: number(&status, "VmRSS:"),
            peak_kib: number(&status, "VmHWM:"),
            wake_ups,
        })
    }
}

fn number(status: &str, key: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(key));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
