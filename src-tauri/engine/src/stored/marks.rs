//! Sessions that the user pinned or archived, in one small file of Deskbell. The agent's store is not changed.
//!
//! The app and `deskbell sessions` may write at the same time: each change reads the file again and replaces it while it
//! holds the lock of a second file.

use crate::api::{MarkedSession, SessionMark};
use crate::disk::write_atomically;
use crate::disk::{self, Loaded, SetAside, load_json};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};

/// Maximum size of the file in bytes. An entry takes some 70.
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// Maximum number of marks. The oldest ones are dropped first.
const MOST: usize = 50_000;

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Contents {
    sessions: Vec<Value>,
}

/// The store of the marks. Its methods access the disk: call them through `disk::run`.
#[derive(Clone, Debug)]
pub struct MarkStore {
    file: PathBuf,
}

impl MarkStore {
    /// `data`: the app's own folder. Nothing is read yet.
    pub fn new(data: &Path) -> Self {
        Self { file: data.join("session-marks.json") }
    }

    /// The folder that the store depends on.
    pub fn place(&self) -> &Path {
        self.file.parent().unwrap_or(&self.file)
    }

    /// Reads the marks, the oldest one first. An unreadable file is set aside; an unknown entry is left out.
    pub fn load(&self) -> Vec<MarkedSession> {
        self.read().unwrap_or_else(|aside| {
            tracing::warn!(problem = aside.problem, "no session is pinned or archived");
            Vec::new()
        })
    }

    fn read(&self) -> Result<Vec<MarkedSession>, SetAside> {
        match load_json::<Contents>(&self.file, MOST_BYTES) {
            Loaded::Read(contents) => {
                let known = contents.sessions.into_iter().map(serde_json::from_value);
                Ok(known.filter_map(Result::ok).collect())
            }
            Loaded::Missing => Ok(Vec::new()),
            Loaded::Unreadable(aside) => Err(aside),
        }
    }

    /// Sets or removes the mark of a session, and returns all marks.
    pub fn mark(&self, session: &str, mark: Option<SessionMark>) -> io::Result<Vec<MarkedSession>> {
        let _lock = disk::lock_writers(&self.file)?;
        let mut marks = match self.read() {
            Ok(marks) => marks,
            Err(SetAside { moved_to: Ok(_), .. }) => Vec::new(),
            Err(SetAside { moved_to: Err(problem), .. }) => {
                let reason = format!("{} cannot be replaced: {problem}", self.file.display());
                return Err(io::Error::other(reason));
            }
        };
        marks.retain(|marked| marked.id != session);
        marks.extend(mark.map(|mark| MarkedSession { id: session.to_owned(), mark }));
        marks.drain(..marks.len().saturating_sub(MOST));
        write_atomically(&self.file, &serde_json::to_vec(&serde_json::json!({ "sessions": marks }))?)?;
        Ok(marks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use SessionMark::{Archived, Pinned};
    use std::fs;

    fn marks(store: &MarkStore) -> Vec<(String, SessionMark)> {
        store.load().into_iter().map(|marked| (marked.id, marked.mark)).collect()
    }

    #[test]
    fn a_session_has_one_mark_or_none() {
        let data = tempfile::tempdir().unwrap();
        let store = MarkStore::new(data.path());
        assert_eq!(marks(&store), []);
        store.mark("a", Some(Pinned)).unwrap();
        store.mark("b", Some(Pinned)).unwrap();
        store.mark("a", Some(Archived)).unwrap();
        assert_eq!(marks(&store), [("b".to_owned(), Pinned), ("a".to_owned(), Archived)]);
        assert_eq!(store.mark("b", None).unwrap().len(), 1);
        store.mark("unknown", None).unwrap();
        assert_eq!(marks(&store), [("a".to_owned(), Archived)]);
    }

    #[test]
    fn a_torn_file_is_set_aside_and_an_unknown_mark_is_left_out() {
        let data = tempfile::tempdir().unwrap();
        let store = MarkStore::new(data.path());
        let path = data.path().join("session-marks.json");
        fs::write(&path, r#"{"sessions":[{"id":"a","mark":"pinned"},{"id":"b","mark":"later"},7],"new":1}"#)
            .unwrap();
        assert_eq!(marks(&store), [("a".to_owned(), Pinned)]);
        fs::write(&path, "{\"sess").unwrap();
        store.mark("c", Some(Archived)).unwrap();
        assert_eq!(marks(&store), [("c".to_owned(), Archived)]);
        assert_eq!(fs::read_to_string(data.path().join("session-marks.json.unreadable")).unwrap(), "{\"sess");
    }

    #[test]
    fn marks_that_are_set_at_the_same_time_are_all_kept() {
        let data = tempfile::tempdir().unwrap();
        let store = MarkStore::new(data.path());
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let store = store.clone();
                scope.spawn(move || {
                    (0..10).for_each(|nr| drop(store.mark(&format!("{thread}-{nr}"), Some(Pinned)).unwrap()));
                });
            }
        });
        assert_eq!(store.load().len(), 40);
    }
}
