//! Files that are written completely or not at all.

use super::read::{FileKind, kind, list};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

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

/// The names of files that are not written completely begin and end with these.
const TEMPORARY: (&str, &str) = (".deskbell-", ".partial");

/// No process writes a file for so long. A slow disk takes seconds.
const ABANDONED_AFTER: Duration = Duration::from_secs(60 * 60);

/// Removes what killed writers left in a folder. Call it only while no other process can write there.
pub fn remove_leftovers(folder: &Path) -> io::Result<()> {
    remove_temporary(folder, |_| true)
}

/// Removes what was left more than an hour ago, so others may write there meanwhile. A failure is logged: it costs
/// no more than some space.
pub fn remove_old_leftovers(folder: &Path, now: SystemTime) {
    let is_old = |changed| now.duration_since(changed).is_ok_and(|age| age > ABANDONED_AFTER);
    if let Err(error) = remove_temporary(folder, is_old) {
        tracing::warn!(%error, "could not remove what a killed writer left");
    }
}

fn remove_temporary(folder: &Path, may_go: impl Fn(SystemTime) -> bool) -> io::Result<()> {
    for path in list(folder, MOST_FILES)?.paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_temporary = name.starts_with(TEMPORARY.0) && name.ends_with(TEMPORARY.1);
        if !is_temporary || !matches!(kind(&path), Ok(FileKind::Regular)) {
            continue;
        }
        let removed = fs::symlink_metadata(&path)
            .and_then(|metadata| if may_go(metadata.modified()?) { fs::remove_file(&path) } else { Ok(()) });
        match removed {
            // The other process finished its file.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed?,
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
    let mut file = tempfile::Builder::new().prefix(TEMPORARY.0).suffix(TEMPORARY.1).tempfile_in(folder)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_writer_left_is_removed_once_it_is_old() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let written = written(&path("state.json"), b"half", false).unwrap().1;
        // The process was killed before it could remove or rename the file.
        let (_, left) = written.keep().unwrap();
        for name in ["state.json", ".deskbell-notes", "draft.partial", ".deskbell-a.partial.txt"] {
            fs::write(path(name), "the user's").unwrap();
        }
        fs::create_dir(path(".deskbell-folder.partial")).unwrap();
        let changed = fs::metadata(&left).unwrap().modified().unwrap();

        remove_old_leftovers(folder.path(), changed + ABANDONED_AFTER);
        assert!(left.exists(), "somebody may still write it");
        remove_old_leftovers(folder.path(), changed - ABANDONED_AFTER * 2);
        assert!(left.exists(), "the clock was set back");
        remove_old_leftovers(folder.path(), changed + ABANDONED_AFTER + Duration::from_secs(1));
        assert!(!left.exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5, "nothing else was removed");
    }
}
