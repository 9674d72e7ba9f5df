//! The folders in which agents started, with their identities on the disk. A renamed folder keeps its identity, so Deskbell
//! finds the folder's sessions again.

use super::{Change, ProjectStore, Projects};
use file_id::FileId;
use serde::{Deserialize, Deserializer, Serialize};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// A folder's number on its disk, with its creation time: a disk gives the number of a removed folder to a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FolderIdentity {
    id: FileId,
    /// Nanoseconds since 1970.
    created_ns: u64,
}

impl FolderIdentity {
    /// The identity of the folder at this path; `None` if there is no folder, or if its disk keeps no creation times.
    pub fn of(folder: &Path) -> Option<Self> {
        let metadata = folder.metadata().ok().filter(std::fs::Metadata::is_dir)?;
        let created_at = metadata.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let id = file_id::get_file_id(folder).ok()?;
        Some(Self { id, created_ns: created_at.as_nanos().try_into().ok()? })
    }
}

/// Maximum number of folders whose identities are kept. Those that were seen longest ago are dropped.
const MOST_SEEN: usize = 500;

/// A folder in which an agent started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SeenFolder {
    pub path: PathBuf,
    pub identity: FolderIdentity,
    /// Milliseconds since 1970.
    pub seen_at: u64,
}

impl ProjectStore {
    /// Remembers the identity of a folder in which an agent starts. It is written once.
    pub fn see(&self, folder: &Path, at: u64) -> io::Result<()> {
        let Some(identity) = FolderIdentity::of(folder) else { return Ok(()) };
        let is_seen = |seen: &SeenFolder| seen.path == folder && seen.identity == identity;
        // JSON has only Unicode.
        if folder.to_str().is_none() || self.load().seen.iter().any(is_seen) {
            return Ok(());
        }
        let seen = SeenFolder { path: folder.to_owned(), identity, seen_at: at };
        self.change(&[Change::Seen(seen)]).map(drop)
    }
}

impl Projects {
    /// The paths that this folder had when agents started in it, and at which there is nothing now, the last one first.
    /// Paths of a move that the list has already are not among them. Reads the disk.
    pub fn renamed_from(&self, folder: &Path) -> Vec<PathBuf> {
        let known = self.known.iter().find(|known| known.project.here() == Some(folder));
        let earlier = known.map(|known| known.earlier.as_slice()).unwrap_or_default();
        let is_other = |seen: &&SeenFolder| seen.path != folder && !earlier.contains(&seen.path);
        let mut others = self.seen.iter().filter(is_other).peekable();
        // Most projects are read without a look at the disk.
        if others.peek().is_none() {
            return Vec::new();
        }
        let Some(identity) = FolderIdentity::of(folder) else { return Vec::new() };
        let is_missing =
            |path: &Path| path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        let is_same = |seen: &&SeenFolder| seen.identity == identity && is_missing(&seen.path);
        others.filter(is_same).map(|seen| seen.path.clone()).collect()
    }
}

pub(super) fn usable_folders<'de, D: Deserializer<'de>>(file: D) -> Result<Vec<SeenFolder>, D::Error> {
    let seen = Vec::<serde_json::Value>::deserialize(file)?;
    Ok(seen.into_iter().filter_map(|folder| serde_json::from_value(folder).ok()).collect())
}

/// At most [`MOST_SEEN`], the last one first.
pub(super) fn last_seen(mut seen: Vec<SeenFolder>) -> Vec<SeenFolder> {
    seen.sort_by_key(|folder| std::cmp::Reverse(folder.seen_at));
    seen.truncate(MOST_SEEN);
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_renamed_folder_is_found_by_its_identity() {
        let (data, root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let store = ProjectStore::new(data.path());
        let path = |name: &str| root.path().join(name);
        fs::create_dir(path("one")).unwrap();
        if FolderIdentity::of(&path("one")).is_none() {
            eprintln!("this disk keeps no creation times");
            return;
        }
        store.see(&path("one"), 1).unwrap();
        let written = fs::read(data.path().join("projects.json")).unwrap();
        store.see(&path("one"), 2).unwrap();
        assert_eq!(fs::read(data.path().join("projects.json")).unwrap(), written, "it was written again");
        assert!(store.load().known.is_empty(), "it is not in the list of opened projects");

        // Both names exist for the folder: it was not renamed.
        #[cfg(unix)]
        std::os::unix::fs::symlink(path("one"), path("link")).unwrap();
        assert!(store.folders(&path("link")).earlier.is_empty());
        fs::rename(path("one"), path("two")).unwrap();
        assert_eq!(store.folders(&path("two")).earlier, [path("one")]);
        store.see(&path("two"), 3).unwrap();
        fs::rename(path("two"), path("three")).unwrap();
        assert_eq!(store.folders(&path("three")).earlier, [path("two"), path("one")]);

        // Another folder at an old path has sessions of its own.
        fs::create_dir(path("one")).unwrap();
        assert_eq!(store.folders(&path("three")).earlier, [path("two")]);
        fs::remove_dir(path("one")).unwrap();

        // A move that the list has is not found twice.
        let moved = Change::Moved { from: path("two"), to: path("three"), at: 4 };
        store.change(&[moved]).unwrap();
        assert_eq!(store.folders(&path("three")).earlier, [path("two"), path("one")]);
        assert!(store.load().renamed_from(&path("three")).is_empty());

        // A new folder has no earlier ones.
        fs::create_dir(path("new")).unwrap();
        assert!(store.folders(&path("new")).earlier.is_empty());
        let forgotten = store.change(&[Change::Remove { project: path("two").into() }]).unwrap();
        assert!(forgotten.seen.iter().all(|seen| seen.path != path("two")));
        assert!(store.change(&[Change::Clear]).unwrap().seen.is_empty());
    }

    #[test]
    fn a_damaged_identity_costs_only_itself() {
        let data = tempfile::tempdir().unwrap();
        let file = data.path().join("projects.json");
        fs::write(&file, r#"{"projects":[{"path":"/a"}],"seen":[{"path":"/a"},7,null]}"#).unwrap();
        let projects = ProjectStore::new(data.path()).load();
        assert!(projects.set_aside.is_none() && projects.seen.is_empty());
        assert_eq!(projects.known[0].project, "/a".into());
    }
}
