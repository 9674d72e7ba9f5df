//! Files that are written completely or not at all.

use super::read::{FileKind, kind, list};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Maximum number of files read from a folder.
const MOST_FILES: usize = 100_000;

/// Replaces a file atomically: at any moment the path has either the complete old content or the complete new one.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, bytes, true)
}

/// Creates a file atomically. If the path exists, whatever it is, this fails with the kind `AlreadyExists`.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (folder, file) = written(path, bytes, true)?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    sync_folder(folder)
}

/// The beginning of the names of files that are not written completely.
const TEMPORARY: &str = ".deskbell-";

/// Removes what killed writers left in a folder. Call it only while no other process can write there.
pub fn remove_leftovers(folder: &Path) -> io::Result<()> {
    for path in list(folder, MOST_FILES)?.paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(TEMPORARY) && matches!(kind(&path), Ok(FileKind::Regular)) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// Replaces a file atomically. `synced`: the new content also survives a crash of the machine.
pub fn replace(path: &Path, bytes: &[u8], synced: bool) -> io::Result<()> {
    let (folder, file) = written(path, bytes, synced)?;
    file.persist(path).map_err(|error| error.error)?;
    if synced { sync_folder(folder) } else { Ok(()) }
}

/// Writes a temporary file next to `path`. Returns it with their folder.
fn written<'a>(
    path: &'a Path,
    bytes: &[u8],
    synced: bool,
) -> io::Result<(&'a Path, tempfile::NamedTempFile)> {
    let folder = path.parent().ok_or_else(|| io::Error::other("the path has no folder"))?;
    // The temporary file is created with mode 0600.
    let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(folder)?;
    file.write_all(bytes)?;
    if synced {
        file.as_file().sync_all()?;
    }
    Ok((folder, file))
}

/// Syncs a folder. A file was just created in it, so it is a folder and opening it does not block.
#[cfg(unix)]
#[allow(clippy::disallowed_methods, reason = "a folder is opened, to be synced")]
fn sync_folder(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

/// Windows has no such operation.
#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}
