//! When a process began. With its number it tells a process from every other: numbers are used again.
//!
//! Known on Linux, where it matters; on other systems no process is told from another by it.

use serde::{Deserialize, Serialize};

/// The moment at which a process began, as the system counts it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Birth {
    /// Which start of the machine: its ticks begin anew with it.
    pub(crate) boot: String,
    /// Field 22 of `/proc/<pid>/stat`.
    pub(crate) ticks: u64,
}

impl Birth {
    /// Of a living process; `None` if it is not there, or has ended and only waits to be reaped.
    #[cfg(target_os = "linux")]
    pub fn of(pid: u32) -> Option<Self> {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim().to_owned();
        let stat = Stat::of(pid)?;
        (!stat.is_dead).then_some(Self { boot, ticks: stat.ticks })
    }

    #[cfg(not(target_os = "linux"))]
    pub fn of(_pid: u32) -> Option<Self> {
        None
    }
}

/// What is used of `/proc/<pid>/stat`.
#[cfg(target_os = "linux")]
pub(crate) struct Stat {
    pub parent: u32,
    pub ticks: u64,
    pub is_dead: bool,
}

#[cfg(target_os = "linux")]
impl Stat {
    pub fn of(pid: u32) -> Option<Self> {
        Self::parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The name, second, may hold spaces and brackets; what follows its last bracket begins with the third field.
    fn parse(stat: &str) -> Option<Self> {
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let is_dead = matches!(fields.next()?, "Z" | "X");
        let parent = fields.next()?.parse().ok()?;
        let ticks = fields.nth(17)?.parse().ok()?;
        Some(Self { parent, ticks, is_dead })
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_look_like_fields() {
        let rest = "S 7 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0";
        let stat = Stat::parse(&format!("12 (a) Z 3 (b) {rest}")).unwrap();
        assert_eq!((stat.parent, stat.ticks, stat.is_dead), (7, 4711, false));
    }

    #[test]
    fn a_living_process_has_one_and_keeps_it() {
        let own = Birth::of(std::process::id());
        assert!(own.is_some());
        assert_eq!(own, Birth::of(std::process::id()));
        assert_eq!(Birth::of(u32::MAX), None);
    }
}
