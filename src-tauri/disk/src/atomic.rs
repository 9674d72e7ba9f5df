//! Files that are written completely or not at all.

use super::read::{FileKind, kind, list, open_regular, read_start};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Maximum number of files read from a folder.
const MOST_FILES: usize = 100_000;

/// Maximum number of folders that are searched for what killed writers left.
const MOST_FOLDERS: usize = 100_000;

/// Replaces a file atomically: at any moment the path has either the complete old content or the complete new one.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, bytes, true)
}

/// The same with permissions (Unix): a file of the user keeps those that it had.
pub fn write_with_mode(path: &Path, bytes: &[u8], mode: Option<u32>) -> io::Result<()> {
    let (folder, file) = written(path, bytes, false)?;
    #[cfg(unix)]
    if let Some(mode) = mode {
        file.as_file().set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))?;
    }
    #[cfg(not(unix))]
    let _ = mode;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    sync_folder(folder)
}

/// Replaces a file atomically with its permissions, if it still has the bytes `before`. Returns whether it had them.
///
/// Another program can still write between the last look and the replacement, which is one call of the system.
pub fn replace_unchanged(path: &Path, before: &[u8], bytes: &[u8]) -> io::Result<bool> {
    let (folder, file) = written(path, bytes, false)?;
    let found = open_regular(path)?;
    file.as_file().set_permissions(found.file.metadata()?.permissions())?;
    file.as_file().sync_all()?;
    // One byte more shows that the file has grown.
    let now = read_start(path, before.len() as u64 + 1)?;
    if now != before {
        return Ok(false);
    }
    file.persist(path).map_err(|error| error.error)?;
    if let Err(error) = sync_folder(folder) {
        // The file is replaced all the same. Only a crash of the machine could bring the old one back.
        tracing::warn!(%error, "could not sync a folder after a file in it was replaced");
    }
    Ok(true)
}

/// Creates a file atomically. If the path exists, whatever it is, this fails with the kind `AlreadyExists`.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (folder, file) = written(path, bytes, true)?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    sync_folder(folder)
}

/// Removes a file. It may be missing already.
pub fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
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

/// The same in a folder and the folders below it, without following links.
pub fn remove_old_leftovers_below(folder: &Path, now: SystemTime) {
    let mut folders = vec![folder.to_owned()];
    let mut n_left = MOST_FOLDERS;
    while let Some(folder) = folders.pop() {
        remove_old_leftovers(&folder, now);
        // A folder that cannot be read was logged just now, unless it was removed meanwhile.
        for path in list(&folder, MOST_FILES).unwrap_or_default().paths {
            if n_left > 0 && fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) {
                n_left -= 1;
                folders.push(path);
            }
        }
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

    #[cfg(unix)]
    #[test]
    fn what_was_left_in_folders_below_is_removed_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (own, other) = (folder.path().join("own/a/b"), folder.path().join("other"));
        let left = [&own, &other].map(|folder| {
            fs::create_dir_all(folder).unwrap();
            written(&folder.join("state.json"), b"half", false).unwrap().1.keep().unwrap().1
        });
        std::os::unix::fs::symlink(&other, folder.path().join("own/link")).unwrap();
        fs::write(own.join("state.json"), "whole").unwrap();
        let later = fs::metadata(&left[0]).unwrap().modified().unwrap() + ABANDONED_AFTER * 2;

        remove_old_leftovers_below(&folder.path().join("own"), later);
        assert_eq!(left.map(|left| left.exists()), [false, true]);
        assert_eq!(fs::read_to_string(own.join("state.json")).unwrap(), "whole");
    }

    // Root may open every folder, so for root this shows only that the file is replaced.
    #[cfg(unix)]
    #[test]
    fn a_file_is_replaced_in_a_folder_that_cannot_be_synced() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        fs::write(&path, "old").unwrap();
        let set = |mode| fs::set_permissions(folder.path(), PermissionsExt::from_mode(mode)).unwrap();
        set(0o300);
        let replaced = replace_unchanged(&path, b"old", b"new");
        set(0o700);
        assert!(replaced.unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_another_program_wrote_is_not_replaced() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        write_with_mode(&path, b"old", Some(0o640)).unwrap();
        assert!(replace_unchanged(&path, b"old", b"new").unwrap());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o640);
        for other in ["old", "new and more", "ne"] {
            fs::write(&path, other).unwrap();
            assert!(!replace_unchanged(&path, b"new", b"newer").unwrap());
            assert_eq!(fs::read_to_string(&path).unwrap(), other);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_replaced_with_its_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.sh");
        for (mode, expected) in [(None, 0o600), (Some(0o755), 0o755), (Some(0o640), 0o640)] {
            write_with_mode(&path, b"#!/bin/sh", mode).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, expected);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
