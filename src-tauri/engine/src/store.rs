//! Sessions on disk: one small file each, written whole and atomically, readable by its owner alone.
//!
//! A session's file is also its journal: a prompt stands in it before it is acknowledged, and leaves it only when the
//! turn that took it is over.

use crate::api::{AgentKind, SessionId};
use crate::session::machine::Memory;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A session as it outlives the app.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub id: SessionId,
    pub project: PathBuf,
    pub agent: AgentKind,
    pub created_at: u64,
    pub changed_at: u64,
    #[serde(default)]
    pub memory: Memory,
}

#[derive(Debug, thiserror::Error)]
#[error("could not {what} {path}: {source}", path = path.display())]
pub struct StoreError {
    what: &'static str,
    path: PathBuf,
    source: io::Error,
}

fn failed<'a>(what: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> StoreError + use<'a> {
    move |source| StoreError { what, path: path.to_owned(), source }
}

/// A folder of session files.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// What was found, and the files that could not be read: they were set aside, not overwritten.
#[derive(Debug, Default)]
pub struct Loaded {
    pub records: Vec<Record>,
    pub set_aside: Vec<(PathBuf, String)>,
}

impl Store {
    /// Makes the folder if it is not there.
    pub fn open(folder: PathBuf) -> Result<Self, StoreError> {
        fs::create_dir_all(&folder).map_err(failed("make", &folder))?;
        Ok(Self { folder })
    }

    fn path(&self, id: &SessionId) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    /// Every session, the one that changed last first.
    pub fn load(&self) -> Result<Loaded, StoreError> {
        let mut loaded = Loaded::default();
        for entry in fs::read_dir(&self.folder).map_err(failed("read", &self.folder))? {
            let path = entry.map_err(failed("read", &self.folder))?.path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let text = fs::read(&path).map_err(failed("read", &path))?;
            match serde_json::from_slice(&text) {
                Ok(record) => loaded.records.push(record),
                Err(error) => {
                    let aside = path.with_extension("json.unreadable");
                    fs::rename(&path, &aside).map_err(failed("set aside", &path))?;
                    loaded.set_aside.push((aside, error.to_string()));
                }
            }
        }
        loaded.records.sort_by_key(|record: &Record| std::cmp::Reverse(record.changed_at));
        Ok(loaded)
    }

    /// Writes a session. When this returns it will be there after a crash of app or machine.
    pub fn save(&self, record: &Record) -> Result<(), StoreError> {
        let path = self.path(&record.id);
        let text = serde_json::to_vec_pretty(record).map_err(|error| failed("write", &path)(error.into()))?;
        write_atomically(&path, &text).map_err(failed("write", &path))
    }

    pub fn remove(&self, id: &SessionId) -> Result<(), StoreError> {
        let path = self.path(id);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("remove", &path)(error)),
            _ => Ok(()),
        }
    }
}

/// Replaces a file by a new one: at any moment there is the old one whole, or the new one whole.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("the path has no folder"))?;
    // Such a file is made for its owner alone (0600).
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    #[cfg(unix)]
    fs::File::open(folder)?.sync_all()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(id: &str) -> Record {
        Record {
            id: SessionId::new(id),
            project: "/project".into(),
            agent: AgentKind::Claude,
            created_at: 1,
            changed_at: 2,
            memory: Memory::default(),
        }
    }

    #[test]
    fn what_was_saved_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("sessions")).unwrap();
        store.save(&record("a")).unwrap();
        store.save(&Record { changed_at: 3, ..record("b") }).unwrap();
        let ids: Vec<_> = store.load().unwrap().records.into_iter().map(|record| record.id.0).collect();
        assert_eq!(ids, ["b", "a"]);
        store.remove(&SessionId::new("a")).unwrap();
        assert_eq!(store.load().unwrap().records.len(), 1);
    }

    #[test]
    fn a_torn_file_is_set_aside_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().to_owned()).unwrap();
        fs::write(folder.path().join("x.json"), "{\"id\":").unwrap();
        let loaded = store.load().unwrap();
        assert_eq!(loaded.set_aside.len(), 1);
        assert_eq!(fs::read_to_string(&loaded.set_aside[0].0).unwrap(), "{\"id\":");
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().to_owned()).unwrap();
        store.save(&record("a")).unwrap();
        let mode = fs::metadata(folder.path().join("a.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
