//! The checked-out branch of a project, read from git's own files.

use crate::disk::{FileKind, ReadError, read_text};
use std::path::{Path, PathBuf};

/// Maximum size of one of git's own small files, in bytes.
const MOST_BYTES: u64 = 64 * 1024;

/// Maximum length of a branch name; git's own limit is that of a file name.
const MOST_CHARACTERS: usize = 255;

/// One of git's files exists but cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{} could not be read: {source}", path.display())]
pub struct BranchError {
    pub path: PathBuf,
    pub source: ReadError,
}

/// See `WorkingTree::branch`.
pub fn branch(project: &Path) -> Result<Option<String>, BranchError> {
    for folder in project.ancestors() {
        if let Some(head) = head(folder)? {
            return Ok(Some(match head.trim().strip_prefix("ref: refs/heads/") {
                Some(branch) => plain(branch, MOST_CHARACTERS),
                None => plain(head.trim(), 8),
            }));
        }
    }
    Ok(None)
}

/// The content of `HEAD` if this folder is the root of a worktree.
fn head(folder: &Path) -> Result<Option<String>, BranchError> {
    let own = folder.join(".git");
    let git = match read_text(&own, MOST_BYTES) {
        // A linked worktree: the file names git's folder.
        Ok(text) => match text.strip_prefix("gitdir:") {
            Some(path) => folder.join(path.trim()),
            None => return Ok(None),
        },
        Err(ReadError::NotAFile(FileKind::Folder)) => own,
        Err(ReadError::Missing) => return Ok(None),
        Err(source) => return Err(BranchError { path: own, source }),
    };
    let head = git.join("HEAD");
    match read_text(&head, MOST_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(ReadError::Missing) => Ok(None),
        Err(source) => Err(BranchError { path: head, source }),
    }
}

fn plain(text: &str, n_most: usize) -> String {
    text.chars().filter(|character| !character.is_control()).take(n_most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_branch_a_commit_and_a_linked_worktree() {
        let root = tempfile::tempdir().unwrap();
        let (main, linked) = (root.path().join("main"), root.path().join("linked"));
        fs::create_dir_all(main.join(".git/worktrees/linked")).unwrap();
        fs::create_dir_all(main.join("src/deep")).unwrap();
        fs::create_dir(&linked).unwrap();
        assert_eq!(branch(&main).unwrap(), None);
        fs::write(main.join(".git/HEAD"), "ref: refs/heads/topic/one\n").unwrap();
        assert_eq!(branch(&main.join("src/deep")).unwrap().as_deref(), Some("topic/one"));
        fs::write(main.join(".git/worktrees/linked/HEAD"), "0123456789abcdef\n").unwrap();
        fs::write(linked.join(".git"), "gitdir: ../main/.git/worktrees/linked\n").unwrap();
        assert_eq!(branch(&linked).unwrap().as_deref(), Some("01234567"));
    }

    #[test]
    fn a_name_is_short_and_has_no_control_characters() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".git")).unwrap();
        fs::write(
            folder.path().join(".git/HEAD"),
            format!("ref: refs/heads/a\nb\u{1b}{}", "x".repeat(9_000)),
        )
        .unwrap();
        let name = branch(folder.path()).unwrap().unwrap();
        assert_eq!((&name[..3], name.chars().count()), ("abx", MOST_CHARACTERS));
    }
}
