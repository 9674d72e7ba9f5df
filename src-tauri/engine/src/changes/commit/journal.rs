//! The journal of a commit in progress: the entries of the index before it, so that the death of Deskbell at any step
//! leaves a repository that the next command completes or restores.

use super::super::listing::{Blob, GitPath};
use super::entries::Difference;
use super::place::own;
use crate::api::CommitProblem;
use crate::disk;
use std::path::{Path, PathBuf};

/// Maximum size of a journal in bytes.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// A commit in progress.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CommitJournal {
    /// The last commit before it.
    pub head: Option<String>,
    pub branch: String,
    pub is_amended: bool,
    /// The tree of the commit before hooks changed it.
    pub tree: String,
    /// The entries that the commit changes, with their blobs in the index of the user before and after.
    pub entries: Difference,
    /// Those that were added with `--intent-to-add`.
    pub intended: Vec<GitPath>,
}

impl CommitJournal {
    pub fn read(folder: &Path) -> Option<Self> {
        let bytes = disk::read_regular(&path(folder), MOST_BYTES).ok()?;
        parse(&bytes)
    }

    pub fn write(&self, folder: &Path) -> Result<(), CommitProblem> {
        let path = path(folder);
        disk::write_atomically(&path, &self.bytes()).map_err(|error| own(&path, error))
    }

    pub fn remove(folder: &Path) -> Result<(), CommitProblem> {
        remove(&path(folder))
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut add = |tag: char, text: &[u8]| {
            bytes.extend_from_slice(tag.to_string().as_bytes());
            bytes.extend_from_slice(text);
            bytes.push(0);
        };
        add('H', self.head.as_deref().unwrap_or_default().as_bytes());
        add('N', self.branch.as_bytes());
        add('T', self.tree.as_bytes());
        add('M', if self.is_amended { b"amend" } else { b"" });
        for (path, (before, after)) in &self.entries {
            add('P', path);
            add('B', &record(before.as_ref()));
            add('A', &record(after.as_ref()));
        }
        self.intended.iter().for_each(|path| add('I', path));
        add('E', b"");
        bytes
    }
}

fn record(blob: Option<&Blob>) -> Vec<u8> {
    blob.map_or_else(Vec::new, |Blob { mode, id }| format!("{mode:o} {id}").into_bytes())
}

fn blob(record: &[u8]) -> Option<Option<Blob>> {
    if record.is_empty() {
        return Some(None);
    }
    let (mode, id) = std::str::from_utf8(record).ok()?.split_once(' ')?;
    Some(Some(Blob { mode: u32::from_str_radix(mode, 8).ok()?, id: id.to_owned() }))
}

/// `None` if it is not whole.
fn parse(bytes: &[u8]) -> Option<CommitJournal> {
    let mut journal = CommitJournal::default();
    let mut records = bytes.split(|byte| *byte == 0);
    loop {
        let (tag, value) = records.next()?.split_first()?;
        let text = || String::from_utf8_lossy(value).into_owned();
        match tag {
            b'H' => journal.head = (!value.is_empty()).then(text),
            b'N' => journal.branch = text(),
            b'T' => journal.tree = text(),
            b'M' => journal.is_amended = !value.is_empty(),
            b'P' => {
                let before = blob(records.next()?.strip_prefix(b"B")?)?;
                let after = blob(records.next()?.strip_prefix(b"A")?)?;
                journal.entries.insert(value.to_vec(), (before, after));
            }
            b'I' => journal.intended.push(value.to_vec()),
            b'E' => return Some(journal),
            _ => return None,
        }
    }
}

fn path(folder: &Path) -> PathBuf {
    folder.join("journal")
}

/// The last commit that Deskbell made in a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LastCommit {
    pub id: String,
    pub branch: String,
    /// The last commit before it.
    pub before: Option<String>,
}

impl LastCommit {
    pub fn read(folder: &Path) -> Option<Self> {
        let text = disk::read_text(&folder.join("last"), 64 * 1024).ok()?;
        let mut lines = text.lines();
        let (id, before, branch) = (lines.next()?, lines.next()?, lines.next()?);
        let is_id = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_id(id) && (before.is_empty() || is_id(before))).then(|| Self {
            id: id.to_owned(),
            branch: branch.to_owned(),
            before: (!before.is_empty()).then(|| before.to_owned()),
        })
    }

    pub fn write(&self, folder: &Path) -> Result<(), CommitProblem> {
        let path = folder.join("last");
        let text = format!("{}\n{}\n{}\n", self.id, self.before.as_deref().unwrap_or_default(), self.branch);
        disk::write_atomically(&path, text.as_bytes()).map_err(|error| own(&path, error))
    }

    pub fn remove(folder: &Path) -> Result<(), CommitProblem> {
        remove(&folder.join("last"))
    }
}

/// Removes a file of Deskbell's own, if it is there.
pub(super) fn remove(path: &Path) -> Result<(), CommitProblem> {
    disk::remove_file(path).map_err(|error| own(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn journal() -> CommitJournal {
        let blob = Blob { mode: 0o100_644, id: "aa".to_owned() };
        CommitJournal {
            head: None,
            branch: "a/b".to_owned(),
            is_amended: true,
            tree: "cc".to_owned(),
            entries: Difference::from([
                (b"a\n\xff".to_vec(), (None, Some(blob.clone()))),
                (b"B".to_vec(), (Some(blob), None)),
            ]),
            intended: vec![b"i".to_vec()],
        }
    }

    #[test]
    fn a_journal_is_read_as_it_was_written_and_a_torn_one_is_not() {
        let bytes = journal().bytes();
        assert_eq!(parse(&bytes), Some(journal()));
        for length in 0..bytes.len() - 1 {
            assert_eq!(parse(&bytes[..length]), None, "{length}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_break_the_parser(noise in proptest::collection::vec(any::<u8>(), 0..100), at in 0_usize..80) {
            let mut bytes = journal().bytes();
            bytes.splice(at.min(bytes.len()).., noise);
            let _ = parse(&bytes);
        }
    }
}
