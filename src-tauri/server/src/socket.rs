//! The way to the server of a user on this machine, which no other user can open: a Unix socket, on Windows a named pipe.
//! Both ends are checked.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use system::{Listener, ReadHalf, Stream, WriteHalf};
pub use system::{connect, host_name, is_same_user, listen, own_folder};

use std::io;
use std::path::{Path, PathBuf};

/// The reason why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// No server runs there.
    #[error("no server is running")]
    NoServer,
    #[error("{} is not safe to use: {problem}", path.display())]
    Unsafe { path: PathBuf, problem: String },
    #[error("could not use {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> SocketError + use<> {
    let path = path.to_owned();
    move |source| SocketError::Io { path, source }
}
