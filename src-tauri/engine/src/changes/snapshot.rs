//! The working tree at an earlier moment, cheaply: its commit, and copies of the files that were changed then.

use super::compare::{MOST_BYTES, on_disk};
use super::content::{Content, Finder, Work};
use super::git::GitError;
use super::listing::{Blob, GitPath, LINK};
use crate::api::{ChangesBase, FileChange, FileState};
use crate::host::Host;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Maximum size of a file that is copied.
const MOST_COPIED: u64 = 256 * 1024;
/// Maximum bytes of all copies.
const MOST_COPIES: u64 = 8 * 1024 * 1024;

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Earlier {
    Blob(Blob),
    Copy {
        mode: u32,
        bytes: Vec<u8>,
    },
    /// Too large to copy.
    Hash {
        mode: u32,
        sha256: String,
    },
}

impl Earlier {
    pub fn mode(&self) -> u32 {
        match self {
            Self::Blob(blob) => blob.mode,
            Self::Copy { mode, .. } | Self::Hash { mode, .. } => *mode,
        }
    }

    pub fn is_link(&self) -> bool {
        self.mode() == LINK
    }

    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Blob(blob) => Some(&blob.id),
            Self::Copy { .. } | Self::Hash { .. } => None,
        }
    }

    /// The content, if it is known. `objects` are git's.
    pub fn content(&self, objects: &HashMap<String, Vec<u8>>) -> Option<Vec<u8>> {
        match self {
            Self::Blob(blob) => objects.get(&blob.id).cloned(),
            Self::Copy { bytes, .. } => Some(bytes.clone()),
            Self::Hash { .. } => None,
        }
    }
}

/// The working tree of a project at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// In milliseconds since the epoch.
    pub since: u64,
    /// `None` in a repository without a commit.
    pub commit: Option<String>,
    /// The files that differed from the commit.
    files: BTreeMap<String, Kept>,
    /// Not every changed file is in it.
    is_cut: bool,
}

/// A file of a snapshot that differed from the commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Kept {
    Absent,
    Text { mode: u32, text: String },
    Hash { mode: u32, sha256: String },
}

pub(super) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Snapshot {
    /// The state of the working tree, to compare a later one with. `None` outside of a repository.
    pub async fn take(host: &dyn Host, project: &Path, now: u64) -> Result<Option<Self>, GitError> {
        let changes = super::read(&super::WorkingTree::new(host, project, None)).await?;
        let commit = match &changes.base {
            ChangesBase::Commit { id } => Some(id.clone()),
            ChangesBase::NoCommit => None,
            ChangesBase::Prompt { .. }
            | ChangesBase::NoPrompt
            | ChangesBase::Edits { .. }
            | ChangesBase::NoRepository => {
                return Ok(None);
            }
        };
        let is_cut = changes.n_more > 0 || changes.n_not_compared > 0 || changes.problem.is_some();
        let root = project.to_owned();
        let made = on_disk(project, move || Self::new(now, commit, &changes.files, is_cut, &root)).await?;
        Ok(Some(made))
    }

    fn new(since: u64, commit: Option<String>, changed: &[FileChange], is_cut: bool, root: &Path) -> Self {
        let mut finder = Finder::new(root);
        let mut snapshot = Self { since, commit, files: BTreeMap::new(), is_cut };
        let mut room = MOST_COPIES;
        for change in changed {
            if let Some(old) = &change.old_path {
                snapshot.files.insert(old.clone(), Kept::Absent);
            }
            let path = change.path.as_bytes();
            let work = finder.find(path);
            let kept = match (&work, work.mode()) {
                (Work::Missing, _) => Some(Kept::Absent),
                (Work::File { .. } | Work::Link, Some(mode)) => {
                    let content = finder.read(path, &work, MOST_BYTES);
                    if let Content::Bytes(bytes) = content {
                        Some(kept(mode, bytes, &mut room))
                    } else {
                        None
                    }
                }
                (Work::Folder, _) if change.state == FileState::Deleted => Some(Kept::Absent),
                _ => None,
            };
            match kept {
                Some(kept) => drop(snapshot.files.insert(change.path.clone(), kept)),
                None => snapshot.is_cut = true,
            }
        }
        snapshot
    }

    /// Bytes that it keeps.
    pub fn n_bytes(&self) -> usize {
        let content = |kept: &Kept| if let Kept::Text { text, .. } = kept { text.len() } else { 0 };
        self.files.iter().map(|(path, kept)| path.len() + content(kept)).sum()
    }

    /// Whether every changed file is in it.
    pub(super) fn is_complete(&self) -> bool {
        !self.is_cut
    }

    /// The state of all files: those of the commit, and what differed from it.
    pub(super) fn over(&self, commit: BTreeMap<GitPath, Blob>) -> BTreeMap<GitPath, Earlier> {
        let mut all: BTreeMap<GitPath, Earlier> =
            commit.into_iter().map(|(path, blob)| (path, Earlier::Blob(blob))).collect();
        for (path, kept) in &self.files {
            let path = path.clone().into_bytes();
            match kept {
                Kept::Absent => drop(all.remove(&path)),
                Kept::Text { mode, text } => {
                    all.insert(path, Earlier::Copy { mode: *mode, bytes: text.clone().into_bytes() });
                }
                Kept::Hash { mode, sha256 } => {
                    all.insert(path, Earlier::Hash { mode: *mode, sha256: sha256.clone() });
                }
            }
        }
        all
    }
}

fn kept(mode: u32, bytes: Vec<u8>, room: &mut u64) -> Kept {
    let size = bytes.len() as u64;
    let is_copied = size <= MOST_COPIED && size <= *room;
    match String::from_utf8(bytes) {
        Ok(text) if is_copied => {
            *room -= size;
            Kept::Text { mode, text }
        }
        Ok(text) => Kept::Hash { mode, sha256: hash(text.as_bytes()) },
        Err(error) => Kept::Hash { mode, sha256: hash(error.as_bytes()) },
    }
}
