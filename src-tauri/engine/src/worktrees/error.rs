//! Why a worktree was not listed, added or removed.

use crate::changes::GitError;
use std::path::PathBuf;

/// Why a worktree was not listed, added or removed.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("this folder is not in a git repository with a working tree")]
    NoRepository,
    #[error("the repository has no commit yet")]
    NoCommit,
    #[error("“{0}” cannot be the name of a branch")]
    BadName(String),
    #[error("{} is there already", .0.display())]
    Exists(PathBuf),
    #[error("the branch {0} is checked out in {1}")]
    CheckedOut(String, String),
    #[error("the filter “{0}” of the repository cannot be turned off")]
    Filter(String),
    #[error("no worktree of this repository is {0}")]
    Unknown(String),
    /// The reason as a sentence part.
    #[error("{0} was not removed: {1}")]
    Kept(String, String),
    /// What is left of a worktree that could not be completed.
    #[error("{0}; what was created is still at {1}")]
    Left(GitError, PathBuf),
}
