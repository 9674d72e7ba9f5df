//! Locks between processes that write the same file of Deskbell.

use super::aside::{own_folder, set_aside};
use super::read::{ReadError, create_regular};
use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// Waits for other writers of the file, and keeps them out until the result is dropped, also by the end of the process.
/// The lock is a file next to it that ends in `.lock`; anything else at that path is set aside.
pub fn lock_writers(of: &Path) -> io::Result<File> {
    let file = lock_file(of)?;
    file.lock()?;
    Ok(file)
}

/// The same without waiting; `None` if another writer has the lock.
pub fn try_lock_writers(of: &Path) -> io::Result<Option<File>> {
    let file = lock_file(of)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn lock_file(of: &Path) -> io::Result<File> {
    own_folder(of.parent().unwrap_or(of))?;
    let path = of.with_extension("lock");
    let file = match create_regular(&path) {
        Err(ReadError::NotAFile(_)) => {
            set_aside(&path)?;
            create_regular(&path)?
        }
        created => created?,
    };
    Ok(file)
}
