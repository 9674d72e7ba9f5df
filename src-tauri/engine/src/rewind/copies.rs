//! Copies of the files that a rewind changes, so that it can be undone.
//!
//! Each rewind has a folder, named by its time, in the session's folder of copies: the list of the files and one file for
//! each content. Only the owner can read them. A file is restored atomically, with its permissions, and only after the
//! content of all copies was checked.

use super::{Checked, Copied, UndoFault, Undone};
use crate::disk::{self, ReadError};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Maximum size of a file that is copied, in bytes.
pub const MOST_OF_FILE: u64 = 32 * 1024 * 1024;
/// Maximum size of all copies of a rewind.
pub const MOST_OF_ALL: u64 = 256 * 1024 * 1024;
/// Maximum number of files of a rewind.
pub const MOST_FILES: usize = 2_000;

const LIST: &str = "files.json";
const MOST_OF_LIST: u64 = 16 * 1024 * 1024;

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum State {
    Missing,
    File {
        sha256: String,
    },
    /// It is no file, or too large, or cannot be read.
    Unreadable(String),
}

/// A file in the list.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    /// As the agent names it.
    path: String,
    /// Where it is, with links resolved.
    real: PathBuf,
    before: State,
    /// The permissions that it had (Unix).
    mode: Option<u32>,
    /// The name of its copy, if there is one.
    copy: Option<String>,
    /// What it should be after the rewind, as far as the agent's checkpoint says.
    expected: Option<State>,
    /// What it was after the rewind; `None` if that was not noted because of a crash.
    after: Option<State>,
}

impl State {
    pub fn of(content: &[u8]) -> Self {
        let sha256 = Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect();
        Self::File { sha256 }
    }

    /// Reads a file. Returns its state, and its content if it has one.
    fn read(path: &Path, limit: u64) -> (Self, Option<Vec<u8>>) {
        match disk::read_regular(path, limit) {
            Ok(content) => (Self::of(&content), Some(content)),
            Err(ReadError::Missing) => (Self::Missing, None),
            Err(error) => (Self::Unreadable(error.to_string()), None),
        }
    }
}

/// The place of a file, with links resolved as far as it exists.
fn real(path: &Path) -> PathBuf {
    if let Ok(real) = dunce::canonicalize(path) {
        return real;
    }
    let parent = path.parent().map(real);
    match (parent, path.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}

#[cfg(unix)]
fn mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    Some(fs::metadata(path).ok()?.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode(_path: &Path) -> Option<u32> {
    None
}

fn folder(root: &Path, at: u64) -> PathBuf {
    root.join(at.to_string())
}

/// Copies files as they are now into the folder of the rewind of time `at`. `expected`: what the agent's checkpoint has.
/// Files that are too large or no files are left out. Any other failure ends it, and nothing is left of the copies.
pub fn copy(
    root: &Path,
    at: u64,
    files: &[String],
    expected: impl Fn(&str) -> Option<State>,
) -> io::Result<Copied> {
    let folder = folder(root, at);
    let copied = copy_into(root, &folder, files, expected);
    if copied.is_err() {
        discard(root, at);
    }
    copied
}

fn copy_into(
    root: &Path,
    folder: &Path,
    files: &[String],
    expected: impl Fn(&str) -> Option<State>,
) -> io::Result<Copied> {
    disk::own_folder(root)?;
    disk::own_folder(folder)?;
    let mut entries = Vec::new();
    let mut copied = Copied::default();
    let mut size = 0;
    for (nr, path) in files.iter().enumerate() {
        let place = real(Path::new(path));
        let left = MOST_OF_ALL.saturating_sub(size).min(MOST_OF_FILE);
        let (before, content) = match nr < MOST_FILES {
            true => State::read(&place, left),
            false => (State::Unreadable(format!("at most {MOST_FILES} files are copied")), None),
        };
        let mut entry = Entry {
            path: path.clone(),
            mode: mode(&place),
            real: place,
            copy: None,
            expected: expected(path),
            after: None,
            before,
        };
        if let State::Unreadable(reason) = &entry.before {
            copied.left_out.push(format!("{path}: {reason}"));
        } else {
            copied.n_copied += 1;
        }
        if let Some(content) = content {
            size += content.len() as u64;
            let name = format!("{nr}.copy");
            disk::write_atomically(&folder.join(&name), &content)?;
            entry.copy = Some(name);
        }
        entries.push(entry);
    }
    save(folder, &entries)?;
    Ok(copied)
}

/// Notes what the files are after the rewind.
pub fn check(root: &Path, at: u64) -> io::Result<Checked> {
    let folder = folder(root, at);
    let mut entries = load(&folder)?;
    let mut checked = Checked::default();
    for entry in &mut entries {
        let (after, _) = State::read(&entry.real, MOST_OF_FILE);
        if after != entry.before {
            checked.changed.push(entry.path.clone());
        }
        if entry.expected.as_ref().is_some_and(|expected| *expected != after) {
            checked.unexpected.push(entry.path.clone());
        }
        entry.after = Some(after);
    }
    save(&folder, &entries)?;
    Ok(checked)
}

/// Restores the files as they were before the rewind. Without `overwrite` nothing is restored if a file has changed since
/// the rewind.
pub fn undo(root: &Path, at: u64, overwrite: bool) -> Result<Undone, UndoFault> {
    let unusable = |error: &dyn std::fmt::Display| UndoFault::Unusable(error.to_string());
    let folder = folder(root, at);
    let entries = load(&folder).map_err(|error| unusable(&error))?;
    let mut changed = Vec::new();
    let mut contents = Vec::new();
    for entry in &entries {
        let now = State::read(&entry.real, MOST_OF_FILE).0;
        let is_moved = real(Path::new(&entry.path)) != entry.real;
        let can_restore = !matches!(entry.before, State::Unreadable(_));
        if can_restore && (is_moved || (entry.after.as_ref() != Some(&now) && now != entry.before)) {
            changed.push(entry.path.clone());
        }
        contents.push(match &entry.copy {
            Some(name) => {
                let content = disk::read_regular(&folder.join(name), MOST_OF_FILE)
                    .map_err(|error| unusable(&format!("The copy of {}: {error}", entry.path)))?;
                if State::of(&content) != entry.before {
                    return Err(unusable(&format!("The copy of {} is damaged.", entry.path)));
                }
                Some(content)
            }
            None => None,
        });
    }
    if !overwrite && !changed.is_empty() {
        return Err(UndoFault::Changed(changed));
    }
    // An undo that was killed may have left half a file next to one of the user's.
    let folders: BTreeSet<&Path> = entries.iter().filter_map(|entry| entry.real.parent()).collect();
    for folder in folders.into_iter().filter(|folder| folder.is_dir()) {
        disk::remove_old_leftovers(folder, SystemTime::now());
    }
    let mut undone = Undone::default();
    let mut failed = Vec::new();
    for (entry, content) in entries.iter().zip(contents) {
        match restore(entry, content.as_deref()) {
            Ok(true) => undone.restored.push(entry.path.clone()),
            Ok(false) => {}
            Err(error) => failed.push(format!("{}: {error}", entry.path)),
        }
    }
    if failed.is_empty() { Ok(undone) } else { Err(UndoFault::Partly(failed)) }
}

/// Returns whether the file had to be written or removed.
fn restore(entry: &Entry, content: Option<&[u8]>) -> io::Result<bool> {
    let now = State::read(&entry.real, MOST_OF_FILE).0;
    let is_same = now == entry.before && (entry.mode.is_none() || mode(&entry.real) == entry.mode);
    if is_same || matches!(entry.before, State::Unreadable(_)) {
        return Ok(false);
    }
    match content {
        None if !matches!(now, State::File { .. }) => {
            return Err(io::Error::other("it is no file that can be removed"));
        }
        content => put(&entry.real, content, entry.mode)?,
    }
    Ok(true)
}

/// Writes a file with its folders, or removes it if it has no content.
pub fn put(path: &Path, content: Option<&[u8]>, mode: Option<u32>) -> io::Result<()> {
    let Some(content) = content else { return fs::remove_file(path) };
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    disk::write_with_mode(path, content, mode)
}

/// Removes the copies of a folder that were made before this time.
pub fn discard_before(root: &Path, at: u64) {
    let Ok(listing) = disk::list(root, MOST_FILES) else { return };
    for path in listing.paths {
        let made = path.file_name().and_then(|name| name.to_str()?.parse::<u64>().ok());
        if made.is_some_and(|made| made < at) {
            remove(&path);
        }
    }
}

/// Removes the copies of a rewind.
pub fn discard(root: &Path, at: u64) {
    remove(&folder(root, at));
}

/// Removes a folder of copies. A failure is logged: the next rewind tries again.
pub fn remove(folder: &Path) {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, folder = %folder.display(), "could not remove the copies of a rewind");
        }
        _ => {}
    }
}

fn load(folder: &Path) -> io::Result<Vec<Entry>> {
    let list = disk::read_regular(&folder.join(LIST), MOST_OF_LIST)?;
    Ok(serde_json::from_slice(&list)?)
}

fn save(folder: &Path, entries: &[Entry]) -> io::Result<()> {
    disk::write_atomically(&folder.join(LIST), &serde_json::to_vec(entries)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct World {
        _scratch: tempfile::TempDir,
        root: PathBuf,
        project: PathBuf,
    }

    impl World {
        fn new() -> Self {
            let scratch = tempfile::tempdir().unwrap();
            let path = dunce::canonicalize(scratch.path()).unwrap();
            let (root, project) = (path.join("copies"), path.join("project"));
            fs::create_dir(&project).unwrap();
            Self { _scratch: scratch, root, project }
        }

        fn file(&self, name: &str) -> PathBuf {
            self.project.join(name)
        }

        fn names(&self, names: &[&str]) -> Vec<String> {
            names.iter().map(|name| self.file(name).display().to_string()).collect()
        }

        fn copy(&self, at: u64, names: &[&str]) -> Copied {
            copy(&self.root, at, &self.names(names), |_| None).unwrap()
        }
    }

    #[test]
    fn an_undo_restores_every_byte_what_was_missing_and_what_was_made() {
        let world = World::new();
        let odd = b"\xff\x00\r\n no end";
        fs::write(world.file("changed"), odd).unwrap();
        fs::write(world.file("removed"), "mine").unwrap();
        let names = ["changed", "removed", "sub/made"];
        assert_eq!(world.copy(1, &names).n_copied, 3);
        // The rewind.
        fs::write(world.file("changed"), "older").unwrap();
        fs::remove_file(world.file("removed")).unwrap();
        fs::create_dir(world.file("sub")).unwrap();
        fs::write(world.file("sub/made"), "older").unwrap();
        let checked = check(&world.root, 1).unwrap();
        assert_eq!(checked.changed, world.names(&names));

        let undone = undo(&world.root, 1, false).unwrap();
        assert_eq!(undone.restored, world.names(&names));
        assert_eq!(fs::read(world.file("changed")).unwrap(), odd);
        assert_eq!(fs::read(world.file("removed")).unwrap(), b"mine");
        assert!(!world.file("sub/made").exists());
        assert!(undo(&world.root, 1, false).unwrap().restored.is_empty(), "it is done already");
    }

    #[test]
    fn a_file_that_changed_since_stops_the_undo_before_anything_is_written() {
        let world = World::new();
        fs::write(world.file("a"), "new").unwrap();
        fs::write(world.file("b"), "new").unwrap();
        world.copy(1, &["a", "b"]);
        fs::write(world.file("a"), "old").unwrap();
        fs::write(world.file("b"), "old").unwrap();
        check(&world.root, 1).unwrap();
        fs::write(world.file("b"), "by hand").unwrap();
        assert_eq!(undo(&world.root, 1, false), Err(UndoFault::Changed(world.names(&["b"]))));
        assert_eq!(fs::read(world.file("a")).unwrap(), b"old");
        assert_eq!(undo(&world.root, 1, true).unwrap().restored.len(), 2);
        assert_eq!(fs::read(world.file("b")).unwrap(), b"new");
    }

    #[test]
    fn an_undo_removes_what_a_killed_one_left_next_to_the_files() {
        let world = World::new();
        fs::write(world.file("a"), "new").unwrap();
        world.copy(1, &["a"]);
        fs::write(world.file("a"), "old").unwrap();
        check(&world.root, 1).unwrap();
        let two_hours = std::time::Duration::from_secs(2 * 60 * 60);
        for name in [".deskbell-old.partial", ".deskbell-new.partial", "the users.partial"] {
            fs::write(world.file(name), "half").unwrap();
        }
        let old = fs::File::options().write(true).open(world.file(".deskbell-old.partial")).unwrap();
        old.set_modified(SystemTime::now() - two_hours).unwrap();
        undo(&world.root, 1, false).unwrap();
        let mut left: Vec<_> =
            fs::read_dir(&world.project).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".deskbell-new.partial", "a", "the users.partial"]);
    }

    #[test]
    fn a_rewind_that_a_crash_cut_off_asks_before_its_undo() {
        let world = World::new();
        fs::write(world.file("a"), "new").unwrap();
        world.copy(1, &["a"]);
        fs::write(world.file("a"), "old").unwrap();
        assert_eq!(undo(&world.root, 1, false), Err(UndoFault::Changed(world.names(&["a"]))));
        assert_eq!(undo(&world.root, 1, true).unwrap().restored, world.names(&["a"]));
    }

    #[test]
    fn a_damaged_copy_is_not_used() {
        let world = World::new();
        fs::write(world.file("a"), "new").unwrap();
        world.copy(1, &["a"]);
        fs::write(world.file("a"), "old").unwrap();
        check(&world.root, 1).unwrap();
        fs::write(world.root.join("1/0.copy"), "other").unwrap();
        assert!(matches!(undo(&world.root, 1, true), Err(UndoFault::Unusable(_))));
        assert_eq!(fs::read(world.file("a")).unwrap(), b"old");
    }

    #[test]
    fn what_differs_from_the_checkpoint_is_said() {
        let world = World::new();
        fs::write(world.file("a"), "new").unwrap();
        let expected = |_: &str| Some(State::of(b"old"));
        copy(&world.root, 2, &world.names(&["a"]), expected).unwrap();
        assert_eq!(check(&world.root, 2).unwrap().unexpected, world.names(&["a"]));
        fs::write(world.file("a"), "old").unwrap();
        assert_eq!(check(&world.root, 2).unwrap().unexpected, [""; 0]);
    }

    #[test]
    fn what_cannot_be_copied_is_said_and_left_alone() {
        let world = World::new();
        fs::create_dir(world.file("folder")).unwrap();
        fs::File::create(world.file("large")).unwrap().set_len(MOST_OF_FILE + 1).unwrap();
        let copied = world.copy(1, &["folder", "large"]);
        assert_eq!((copied.n_copied, copied.left_out.len()), (0, 2));
        assert!(copied.left_out[1].contains("too large"), "{copied:?}");
        fs::write(world.file("large"), "old").unwrap();
        check(&world.root, 1).unwrap();
        assert!(undo(&world.root, 1, true).unwrap().restored.is_empty());
        assert_eq!(fs::read(world.file("large")).unwrap(), b"old");
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_stay_and_only_the_owner_reads_the_copies() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let world = World::new();
        fs::write(world.file("run.sh"), "new").unwrap();
        fs::set_permissions(world.file("run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
        symlink("run.sh", world.file("link")).unwrap();
        world.copy(1, &["link"]);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&world.root), mode(&world.root.join("1"))), (0o700, 0o700));
        assert_eq!(mode(&world.root.join("1/0.copy")), 0o600);
        assert_eq!(mode(&world.root.join("1/files.json")), 0o600);
        fs::write(world.file("run.sh"), "old").unwrap();
        check(&world.root, 1).unwrap();
        undo(&world.root, 1, false).unwrap();
        assert!(fs::symlink_metadata(world.file("link")).unwrap().is_symlink());
        assert_eq!(
            (fs::read(world.file("run.sh")).unwrap(), mode(&world.file("run.sh"))),
            (b"new".into(), 0o755)
        );
        // A link that leads elsewhere since then is not followed without asking.
        fs::write(world.file("other"), "other").unwrap();
        fs::remove_file(world.file("link")).unwrap();
        symlink("other", world.file("link")).unwrap();
        assert!(matches!(undo(&world.root, 1, false), Err(UndoFault::Changed(_))));
        assert_eq!(fs::read(world.file("other")).unwrap(), b"other");
    }
}
