//! The agent's checkpoints of files, as its transcript lists them.
//!
//! At each prompt the agent saves the files that it has edited before, and each file once more before it edits it for
//! the first time. 2.1.197 writes each state as a whole (`file-history-snapshot`), 2.1.329 adds files to the last one
//! (`file-history-delta`). The copies are `<config>/file-history/<session id>/<name>`.

use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};

/// A file's state at a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SavedFile {
    /// It did not exist.
    Missing,
    /// The name of its copy.
    Copy(String),
}

/// The checkpoints of a conversation.
#[derive(Debug, Default)]
pub struct Checkpoints {
    /// The files of each prompt, by its wire id.
    prompts: HashMap<String, BTreeMap<String, Backup>>,
    /// Each file as it was before its first edit.
    first: HashMap<String, Backup>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Backup {
    backup_file_name: Option<String>,
    version: u64,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Line {
    r#type: String,
    snapshot: Option<Snapshot>,
    snapshot_message_id: Option<String>,
    tracking_path: Option<String>,
    backup: Option<Backup>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Snapshot {
    message_id: String,
    tracked_file_backups: BTreeMap<String, Backup>,
}

impl Backup {
    fn saved(&self) -> Option<SavedFile> {
        match &self.backup_file_name {
            None => Some(SavedFile::Missing),
            Some(name) if is_name(name) => Some(SavedFile::Copy(name.clone())),
            Some(_) => None,
        }
    }
}

impl Checkpoints {
    /// A text that every line about checkpoints contains.
    pub const MARK: &str = "file-history-";

    /// Reads a line of the transcript. Other lines are skipped.
    pub fn read(&mut self, line: &[u8]) {
        let Ok(line) = serde_json::from_slice::<Line>(line) else { return };
        match (line.r#type.as_str(), line.snapshot) {
            ("file-history-snapshot", Some(snapshot)) => {
                let files = snapshot.tracked_file_backups;
                files.iter().for_each(|(path, backup)| self.note_first(path, backup));
                self.prompts.insert(snapshot.message_id, files);
            }
            ("file-history-delta", _) => {
                if let (Some(prompt), Some(path), Some(backup)) =
                    (line.snapshot_message_id, line.tracking_path, line.backup)
                {
                    self.note_first(&path, &backup);
                    self.prompts.entry(prompt).or_default().insert(path, backup);
                }
            }
            _ => {}
        }
    }

    fn note_first(&mut self, path: &str, backup: &Backup) {
        if backup.version == 1 && !self.first.contains_key(path) {
            self.first.insert(path.to_owned(), backup.clone());
        }
    }

    /// The state of a file that a rewind to this prompt restores; `path` is as the agent names it. A file that the agent
    /// edited only later has the state before its first edit. `None`: the checkpoints do not say.
    pub fn before(&self, prompt: &str, path: &str) -> Option<SavedFile> {
        self.prompts.get(prompt)?.get(path).or_else(|| self.first.get(path))?.saved()
    }

    /// The state of a file before the agent's first edit.
    pub fn before_first_edit(&self, path: &str) -> Option<SavedFile> {
        self.first.get(path)?.saved()
    }
}

/// Whether a name stays in its folder.
fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'@' | b'-' | b'_' | b'.');
    (1..=128).contains(&name.len()) && name.bytes().all(fits) && !name.starts_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> Checkpoints {
        let mut checkpoints = Checkpoints::default();
        lines.iter().for_each(|line| checkpoints.read(line.as_bytes()));
        checkpoints
    }

    fn copy(name: &str) -> Option<SavedFile> {
        Some(SavedFile::Copy(name.to_owned()))
    }

    #[test]
    fn both_versions_say_what_a_file_was_before_a_prompt() {
        let old = read(&[
            r#"{"type":"file-history-snapshot","messageId":"1","snapshot":{"messageId":"1","trackedFileBackups":{}}}"#,
            r#"{"type":"file-history-snapshot","messageId":"x","snapshot":{"messageId":"1","trackedFileBackups":{"a":{"backupFileName":"h@v1","version":1}}},"isSnapshotUpdate":true}"#,
            r#"{"type":"file-history-snapshot","messageId":"2","snapshot":{"messageId":"2","trackedFileBackups":{"a":{"backupFileName":"h@v2","version":2},"new":{"backupFileName":null,"version":1}}}}"#,
        ]);
        let new = read(&[
            r#"{"type":"file-history-snapshot","messageId":"1","snapshot":{"messageId":"1","trackedFileBackups":{}}}"#,
            r#"{"type":"file-history-delta","messageId":"x","snapshotMessageId":"1","trackingPath":"a","backup":{"backupFileName":"h@v1","version":1}}"#,
            r#"{"type":"file-history-snapshot","messageId":"2","snapshot":{"messageId":"2","trackedFileBackups":{"a":{"backupFileName":"h@v2","version":2}}}}"#,
            r#"{"type":"file-history-delta","messageId":"y","snapshotMessageId":"2","trackingPath":"new","backup":{"backupFileName":null,"version":1}}"#,
        ]);
        for checkpoints in [old, new] {
            assert_eq!(checkpoints.before("1", "a"), copy("h@v1"));
            assert_eq!(checkpoints.before("2", "a"), copy("h@v2"));
            assert_eq!(checkpoints.before("1", "new"), Some(SavedFile::Missing), "it was made later");
            assert_eq!(checkpoints.before("1", "other"), None);
            assert_eq!(checkpoints.before("3", "a"), None, "no checkpoint");
            assert_eq!(checkpoints.before_first_edit("a"), copy("h@v1"));
            assert_eq!(checkpoints.before_first_edit("new"), Some(SavedFile::Missing));
            assert_eq!(checkpoints.before_first_edit("other"), None);
        }
    }

    #[test]
    fn a_name_that_leads_elsewhere_is_none() {
        for name in ["../../secret", "/etc/passwd", "a/b", ".x", "", "a\\b"] {
            let line = serde_json::json!({"type": "file-history-snapshot", "snapshot": {"messageId": "1",
                "trackedFileBackups": {"a": {"backupFileName": name, "version": 1}}}});
            assert_eq!(read(&[&line.to_string()]).before("1", "a"), None, "{name}");
        }
        assert_eq!(read(&["", "{", "[]", r#"{"type":"file-history-delta"}"#]).before("1", "a"), None);
    }
}
