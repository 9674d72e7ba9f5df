//! What a new process does before it executes its program. Only system calls that are safe there: nothing is allocated.

use std::io;

/// Added to the niceness of a process of low priority, as by `nice` without a number. Next to a process of normal priority it
/// gets a tenth of the time on Linux. A window beside it is quicker than with 5 (docs/performance.md).
pub(super) const LOW: libc::c_int = 10;

/// Lowers the priority of this process, which its later children have too. A sandbox may not allow that; the agent then starts
/// with the priority of windows.
pub(super) fn lower_priority() -> io::Result<()> {
    add_niceness(LOW);
    Ok(())
}

/// Adds to the niceness of the calling thread on Linux, and of the process elsewhere.
pub(super) fn add_niceness(by: libc::c_int) {
    // SAFETY: both calls touch no memory; 0 is the caller.
    unsafe {
        let own = libc::getpriority(libc::PRIO_PROCESS, 0);
        libc::setpriority(libc::PRIO_PROCESS, 0, own + by);
    }
}

/// The process gets a SIGTERM when the thread that started it ends, or fails if `parent` has ended already.
#[cfg(target_os = "linux")]
pub(super) fn die_with_parent(parent: u32) -> io::Result<()> {
    // SIGTERM, not SIGKILL: the CLI then ends its own tools, which a SIGKILL would orphan (2.1.329).
    // SAFETY: prctl with these arguments touches no memory.
    if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: getppid cannot fail.
    if unsafe { libc::getppid() } as u32 != parent {
        return Err(io::Error::from_raw_os_error(libc::ESRCH));
    }
    Ok(())
}
