//! The holdings of a process: descriptors, threads, and connections to the session bus.

use std::fs;

use anyhow::Result;

use super::bus::Bus;

/// Allowed growth of descriptors, threads and connections during a test.
const SLACK: usize = 5;

/// The holdings of a process, and all connections to a bus.
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

    /// Whether none has grown beyond the allowance since `before`.
    pub fn is_like(&self, before: &Self) -> bool {
        self.descriptors <= before.descriptors + SLACK
            && self.threads <= before.threads + SLACK
            && self.connections <= before.connections + SLACK
    }
}
