//! The checked-out branch of a project, and the repository that its worktree belongs to, read from git's own files.

use crate::api::Checkout;
use crate::disk::{self, FileKind, ReadError, read_text};
use std::path::{Component, Path, PathBuf};

/// Maximum size of one of git's own small files, in bytes.
const MOST_BYTES: u64 = 64 * 1024;

/// Maximum length of a branch name; git's own limit is that of a file name.
const MOST_CHARACTERS: usize = 255;

/// Maximum number of worktrees of a repository that are looked at.
const MOST_WORKTREES: usize = 1_000;

/// One of git's files exists but cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{} could not be read: {source}", path.display())]
pub struct BranchError {
    pub path: PathBuf,
    pub source: ReadError,
}

/// See `WorkingTree::checkout`.
pub fn checkout(project: &Path) -> Result<Checkout, BranchError> {
    for folder in project.ancestors() {
        let Some((head, worktree_of)) = head(folder)? else { continue };
        let branch = match head.trim().strip_prefix("ref: refs/heads/") {
            Some(branch) => plain(branch, MOST_CHARACTERS),
            None => plain(head.trim(), 8),
        };
        return Ok(Checkout { branch: Some(branch), worktree_of });
    }
    Ok(Checkout::default())
}

/// Git's folder with the `HEAD` of a project's worktree; `None` outside of a repository.
pub(crate) fn head_folder(project: &Path) -> Option<PathBuf> {
    project.ancestors().find_map(|folder| git_folder(folder).ok()?).map(|(git, _)| git)
}

/// Git's folder if this folder is the root of a worktree, and the name of the main one if it is another.
fn git_folder(folder: &Path) -> Result<Option<(PathBuf, Option<String>)>, BranchError> {
    let own = folder.join(".git");
    match read_text(&own, MOST_BYTES) {
        // A linked worktree: the file names git's folder.
        Ok(text) => Ok(text.strip_prefix("gitdir:").map(|path| {
            let git = folder.join(path.trim());
            let main = main_name(&git);
            (git, main)
        })),
        Err(ReadError::NotAFile(FileKind::Folder)) => Ok(Some((own, None))),
        Err(ReadError::Missing) => Ok(None),
        Err(source) => Err(BranchError { path: own, source }),
    }
}

/// The content of `HEAD` if this folder is the root of a worktree, and the name of the main one if it is another.
fn head(folder: &Path) -> Result<Option<(String, Option<String>)>, BranchError> {
    let Some((git, worktree_of)) = git_folder(folder)? else { return Ok(None) };
    let head = git.join("HEAD");
    match read_text(&head, MOST_BYTES) {
        Ok(text) => Ok(Some((text, worktree_of))),
        Err(ReadError::Missing) => Ok(None),
        Err(source) => Err(BranchError { path: head, source }),
    }
}

/// The folders of the linked worktrees of a repository whose main worktree is this folder: git notes for each of them
/// where its `.git` is. None of another folder, or of one that cannot be read.
pub(crate) fn linked_worktrees(main: &Path) -> Vec<PathBuf> {
    let notes =
        disk::list(&main.join(".git/worktrees"), MOST_WORKTREES).map_or_else(|_| Vec::new(), |all| all.paths);
    let folder = |note: &PathBuf| {
        let git = note.join(read_text(&note.join("gitdir"), MOST_BYTES).ok()?.trim_end());
        let folder = git.parent()?;
        Some(dunce::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()))
    };
    notes.iter().filter_map(folder).collect()
}

/// `ledger` for `/home/me/ledger/.git/worktrees/NAME`. Submodules and bare repositories have other places.
fn main_name(git: &Path) -> Option<String> {
    let mut real = PathBuf::new();
    for component in git.components() {
        match component {
            Component::ParentDir => {
                real.pop();
            }
            component => real.push(component),
        }
    }
    let store = real.parent().filter(|folder| folder.ends_with(".git/worktrees"))?;
    let name = store.parent()?.parent()?.file_name()?;
    Some(plain(&name.to_string_lossy(), MOST_CHARACTERS))
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
        let branch = |folder: &Path| checkout(folder).unwrap().branch;
        assert_eq!(checkout(&main).unwrap(), Checkout::default());
        fs::write(main.join(".git/HEAD"), "ref: refs/heads/topic/one\n").unwrap();
        assert_eq!(branch(&main.join("src/deep")).as_deref(), Some("topic/one"));
        fs::write(main.join(".git/worktrees/linked/HEAD"), "0123456789abcdef\n").unwrap();
        fs::write(linked.join(".git"), "gitdir: ../main/.git/worktrees/linked\n").unwrap();
        assert_eq!(branch(&linked).as_deref(), Some("01234567"));
        assert_eq!(checkout(&linked).unwrap().worktree_of.as_deref(), Some("main"));
        assert_eq!(checkout(&main).unwrap().worktree_of, None);

        assert_eq!(linked_worktrees(&main), [] as [PathBuf; 0]);
        fs::write(main.join(".git/worktrees/linked/gitdir"), "../../../../linked/.git\n").unwrap();
        fs::create_dir(main.join(".git/worktrees/gone")).unwrap();
        fs::write(main.join(".git/worktrees/gone/gitdir"), "/gone/away/.git\n").unwrap();
        fs::write(main.join(".git/worktrees/other"), "no folder").unwrap();
        let mut found = linked_worktrees(&main);
        found.sort();
        let mut wanted = [PathBuf::from("/gone/away"), linked.canonicalize().unwrap()];
        wanted.sort();
        assert_eq!(found, wanted);
        assert_eq!(linked_worktrees(&linked), [] as [PathBuf; 0]);
    }

    #[test]
    fn the_main_folder_of_a_worktree_is_named() {
        let of = |git: &str| main_name(Path::new(git));
        assert_eq!(of("/w/ledger/.git/worktrees/fix").as_deref(), Some("ledger"));
        assert_eq!(of("/w/ledger/trees/fix/../../.git/worktrees/fix").as_deref(), Some("ledger"));
        for other in ["/w/ledger/.git/modules/sub", "/w/ledger.git/worktrees/fix", "/.git/worktrees/x", ""] {
            assert_eq!(of(other), None, "{other}");
        }
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
        let name = checkout(folder.path()).unwrap().branch.unwrap();
        assert_eq!((&name[..3], name.chars().count()), ("abx", MOST_CHARACTERS));
    }
}
