//! The server as a process that outlives its starter, the starter's terminal and its pipes.

use std::io;
use tokio::process::{Child, Command};

/// Starts the server, with pipes that the command names. It inherits no other.
#[cfg(unix)]
pub fn start(command: &mut Command) -> io::Result<Child> {
    command.spawn()
}

/// Leaves the terminal and the process group of the starter, so that neither a closed terminal nor Ctrl+C ends the
/// server.
#[cfg(unix)]
pub fn leave_terminal() -> io::Result<()> {
    // SAFETY: setsid has no preconditions; it fails if this process leads its group.
    if unsafe { libc::setsid() } == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Starts the server without a console, and outside of the starter's job if that lets it go: the end of the job would end
/// it.
#[cfg(windows)]
pub fn start(command: &mut Command) -> io::Result<Child> {
    use windows::Win32::System::Threading::{
        CREATE_BREAKAWAY_FROM_JOB, CREATE_NEW_PROCESS_GROUP, DETACHED_PROCESS,
    };
    keep_pipes()?;
    let alone = DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP;
    match command.creation_flags((alone | CREATE_BREAKAWAY_FROM_JOB).0).spawn() {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            tracing::warn!("the server ends with the job of its starter, which lets no process go");
            command.creation_flags(alone.0).spawn()
        }
        started => started,
    }
}

/// It was started without a terminal.
#[cfg(windows)]
pub fn leave_terminal() -> io::Result<()> {
    Ok(())
}

/// Lets no process inherit this one's own pipes: their reader would wait until that one ends as well.
#[cfg(windows)]
fn keep_pipes() -> io::Result<()> {
    use windows::Win32::Foundation::{HANDLE_FLAG_INHERIT, HANDLE_FLAGS, SetHandleInformation};
    use windows::Win32::System::Console::{
        GetStdHandle, STD_ERROR_HANDLE, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE,
    };
    for which in [STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE] {
        // SAFETY: the handles are this process's own, for as long as it runs.
        unsafe {
            let handle = GetStdHandle(which)?;
            // A window has none.
            if !handle.0.is_null() {
                SetHandleInformation(handle, HANDLE_FLAG_INHERIT.0, HANDLE_FLAGS(0))?;
            }
        }
    }
    Ok(())
}
