//! Process identity: the start time of a process. Process ids are reused; the id and the start time together identify
//! one process.
//!
//! Implemented on Linux only; other systems have no identity, and `ProcessIdentity::of` returns `None`.

use serde::{Deserialize, Serialize};

/// The start time of a process, in the system's own units.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Boot id of the machine: `ticks` restart from zero at each boot.
    pub(crate) boot: String,
    /// Field 22 of `/proc/<pid>/stat`.
    pub(crate) ticks: u64,
}

impl ProcessIdentity {
    /// The identity of a living process; `None` if the process does not exist or is a zombie.
    #[cfg(target_os = "linux")]
    pub fn of(pid: u32) -> Option<Self> {
        let boot = super::proc_text("/proc/sys/kernel/random/boot_id")?.trim().to_owned();
        let stat = Stat::of(pid)?;
        (!stat.is_dead).then_some(Self { boot, ticks: stat.ticks })
    }

    #[cfg(not(target_os = "linux"))]
    pub fn of(_pid: u32) -> Option<Self> {
        None
    }
}

/// The fields used from `/proc/<pid>/stat`.
#[cfg(target_os = "linux")]
pub(crate) struct Stat {
    pub parent: u32,
    /// The id of its session: that of the process which began it.
    pub session: u32,
    pub ticks: u64,
    pub is_dead: bool,
    is_kernel_thread: bool,
    /// The program is loaded, and so its environment is final, even if it is empty. False while the process executes a
    /// program: the kernel sets the end of the code after that of the environment (`load_elf_binary`, Linux 6.18).
    is_loaded: bool,
    /// It runs the program of its parent; a child of this process is about to execute its own.
    is_only_forked: bool,
}

/// `PF_KTHREAD` of `include/linux/sched.h`.
#[cfg(target_os = "linux")]
const KERNEL_THREAD: u64 = 0x0020_0000;
/// `PF_FORKNOEXEC` of `include/linux/sched.h`.
#[cfg(target_os = "linux")]
const ONLY_FORKED: u64 = 0x40;

#[cfg(target_os = "linux")]
impl Stat {
    pub fn of(pid: u32) -> Option<Self> {
        Self::parse(&super::proc_text(&format!("/proc/{pid}/stat"))?)
    }

    /// The name, field 2, may contain spaces and brackets; field 3 follows the last closing bracket.
    fn parse(stat: &str) -> Option<Self> {
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let is_dead = matches!(fields.next()?, "Z" | "X");
        let parent = fields.next()?.parse().ok()?;
        // Field 6.
        let session = fields.nth(1)?.parse().ok()?;
        // Field 9.
        let flags: u64 = fields.nth(2)?.parse().ok()?;
        // Field 22.
        let ticks = fields.nth(12)?.parse().ok()?;
        // Field 27.
        let code_end = fields.nth(4).and_then(|field| field.parse::<u64>().ok());
        Some(Self {
            parent,
            session,
            ticks,
            is_dead,
            is_kernel_thread: flags & KERNEL_THREAD != 0,
            is_loaded: code_end.is_some_and(|end| end != 0),
            is_only_forked: flags & ONLY_FORKED != 0,
        })
    }

    /// Its environment is not final.
    pub fn is_executing(&self) -> bool {
        let is_starting = self.is_only_forked && self.parent == std::process::id();
        !self.is_dead && !self.is_kernel_thread && (!self.is_loaded || is_starting)
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_look_like_fields() {
        let rest = "S 7 1 5 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0";
        let stat = Stat::parse(&format!("12 (a) Z 3 (b) {rest}")).unwrap();
        assert_eq!((stat.parent, stat.session, stat.ticks, stat.is_dead), (7, 5, 4711, false));
        assert!(stat.is_executing());
        let own = Stat::of(std::process::id()).unwrap();
        assert!(!own.is_executing());
    }

    #[test]
    fn a_living_process_has_one_and_keeps_it() {
        let own = ProcessIdentity::of(std::process::id());
        assert!(own.is_some());
        assert_eq!(own, ProcessIdentity::of(std::process::id()));
        assert_eq!(ProcessIdentity::of(u32::MAX), None);
    }
}
