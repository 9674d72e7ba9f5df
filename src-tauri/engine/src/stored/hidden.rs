//! Sessions that the user removed from the list. The agent's store keeps them; they appear again when they change.

use crate::disk::write_atomically;
use crate::disk::{Loaded, load_json};
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;

/// Maximum size of the file: room for some 80,000 sessions.
const MOST_BYTES: u64 = 8 * 1024 * 1024;

/// Maximum number of sessions. The oldest removal is forgotten first.
const MOST: usize = 50_000;

/// The removed sessions, each with the time of its removal.
#[derive(Debug)]
pub struct Hidden {
    path: PathBuf,
    at: HashMap<String, u64>,
}

impl Hidden {
    /// Reads the file. An unreadable one is set aside, and nothing is hidden.
    pub fn open(path: PathBuf) -> Self {
        let at = match load_json(&path, MOST_BYTES) {
            Loaded::Read(at) => at,
            Loaded::Missing => HashMap::new(),
            Loaded::Unreadable(aside) => {
                tracing::warn!(problem = aside.problem, "removed sessions are listed again");
                HashMap::new()
            }
        };
        Self { path, at }
    }

    /// Hides a session until it changes.
    pub fn hide(&mut self, agent_session_id: &str, now: u64) -> io::Result<()> {
        self.at.insert(agent_session_id.to_owned(), now);
        while self.at.len() > MOST {
            let oldest = self.at.iter().min_by_key(|(_, at)| **at).map(|(id, _)| id.clone());
            self.at.remove(&oldest.unwrap_or_default());
        }
        self.save()
    }

    /// Hides a hidden session until it changes after `now`. One that was listed again stays listed.
    pub fn hide_on(&mut self, agent_session_id: &str, now: u64) -> io::Result<()> {
        if self.at.contains_key(agent_session_id) { self.hide(agent_session_id, now) } else { Ok(()) }
    }

    /// Lists a session again.
    pub fn show(&mut self, agent_session_id: &str) -> io::Result<()> {
        if self.at.remove(agent_session_id).is_none() {
            return Ok(());
        }
        self.save()
    }

    fn save(&self) -> io::Result<()> {
        write_atomically(&self.path, &serde_json::to_vec(&self.at)?)
    }

    pub fn has(&self, agent_session_id: &str, changed_at: u64) -> bool {
        self.at.get(agent_session_id).is_some_and(|hidden_at| changed_at <= *hidden_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_session_is_hidden_until_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hidden.json");
        let mut hidden = Hidden::open(path.clone());
        assert!(!hidden.has("a", 1));
        hidden.hide("a", 10).unwrap();
        assert!(hidden.has("a", 10));
        let read = Hidden::open(path.clone());
        assert!(read.has("a", 9));
        assert!(!read.has("a", 11), "it was continued");
        assert!(!read.has("b", 1));
        hidden.hide("b", 10).unwrap();
        hidden.show("a").unwrap();
        hidden.hide_on("a", 20).unwrap();
        hidden.hide_on("b", 20).unwrap();
        let read = Hidden::open(path.clone());
        assert!(!read.has("a", 1), "it was listed again before its agent had ended");
        assert!(read.has("b", 20));
        std::fs::write(&path, "torn {").unwrap();
        assert!(!Hidden::open(path).has("a", 1));
    }
}
