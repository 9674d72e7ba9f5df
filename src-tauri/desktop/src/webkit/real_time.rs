//! The real-time threads of WebKitGTK (2.50) in the app's own process run as ordinary ones.
//!
//! WebKit gives the threads that receive the messages of a page the policy `SCHED_RR`, by itself or with RealtimeKit
//! (`wtf/linux/RealTimeThreads.cpp`). Its locks and its memory allocator wait in a loop of `sched_yield`, and a real-time
//! thread that yields lets no ordinary thread run. If it interrupts the main thread while that has such a lock, it turns
//! until the kernel moves the main thread to another processor. With two processors and two busy processes this held up
//! the window for 40 to 120 ms, in one of ten conversations that were scrolled.

use std::io;
use std::path::Path;

use deskbell_engine::disk;

/// More threads than the app has.
const MANY: usize = 1_000;

/// Makes all real-time threads of this process ordinary ones. WebKit promotes a thread once, soon after its start.
pub fn demote_threads() {
    let threads = match disk::list(Path::new("/proc/self/task"), MANY) {
        Ok(threads) => threads.paths,
        Err(error) => return tracing::warn!(%error, "could not list the app's threads"),
    };
    for thread in threads.iter().filter_map(|path| path.file_name()?.to_str()?.parse().ok()) {
        match demote(thread) {
            Ok(false) => {}
            Ok(true) => tracing::debug!(thread, "a real-time thread runs as an ordinary one"),
            // It has ended meanwhile.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
            Err(error) => tracing::warn!(%error, thread, "could not make a real-time thread an ordinary one"),
        }
    }
}

/// Returns whether it was a real-time thread.
fn demote(thread: libc::pid_t) -> io::Result<bool> {
    // SAFETY: a system call with a number.
    let policy = match unsafe { libc::sched_getscheduler(thread) } {
        -1 => return Err(io::Error::last_os_error()),
        policy => policy,
    };
    // Kept: a process without privileges may not clear it.
    let inherits_nothing = policy & libc::SCHED_RESET_ON_FORK;
    if ![libc::SCHED_RR, libc::SCHED_FIFO].contains(&(policy ^ inherits_nothing)) {
        return Ok(false);
    }
    let ordinary = libc::sched_param { sched_priority: 0 };
    // SAFETY: a system call that reads `ordinary` and keeps no pointer to it.
    match unsafe {
        libc::sched_setscheduler(thread, libc::SCHED_OTHER | inherits_nothing, &raw const ordinary)
    } {
        0 => Ok(true),
        _ => Err(io::Error::last_os_error()),
    }
}
