//! Things that a process holds open: descriptors, threads, and connections to the session bus.

use std::fs;

use anyhow::Result;

use super::bus::Bus;

/// Descriptors, threads and connections that may be more at the end of a test than at its beginning.
const SLACK: usize = 5;

/// What a process holds open, and all connections to a bus.
#[derive(Clone, Debug)]
pub struct Holdings {
    pub descriptors: usize,
    pub threads: usize,
    pub connections: usize,
}

impl Holdings {
    /// The present holdings of a process.
    pub async fn of(pid: u32, bus: &Bus) -> Result<Self> {
        let count =
            |folder: &str| Ok::<_, std::io::Error>(fs::read_dir(format!("/proc/{pid}/{folder}"))?.count());
        let connection = bus.connect().await?;
        let names = zbus::fdo::DBusProxy::new(&connection).await?.list_names().await?;
        let connections = names.iter().filter(|name| name.starts_with(':')).count();
        connection.close().await?;
        Ok(Self { descriptors: count("fd")?, threads: count("task")?, connections })
    }

    /// Whether none of them is much more than `before`.
    pub fn is_like(&self, before: &Self) -> bool {
        self.descriptors <= before.descriptors + SLACK
            && self.threads <= before.threads + SLACK
            && self.connections <= before.connections + SLACK
    }
}
