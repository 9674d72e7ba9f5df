//! Why a worktree was not listed, added or removed.

use crate::api::{CommandError, ErrorCode};
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
    #[error("no worktree of this repository is {0}")]
    Unknown(String),
    #[error("the folder {0} is gone")]
    Gone(String),
    /// The reason as a sentence part.
    #[error("{0} was not removed: {1}")]
    Kept(String, String),
    /// What is left of a worktree that could not be completed.
    #[error("{0}; what was created is still at {1}")]
    Left(GitError, PathBuf),
    #[error("{0}; the branch {1}, which was created, is still there")]
    LeftBranch(GitError, String),
}

/// For the window, which shows a sentence and what to do next.
impl From<WorktreeError> for CommandError {
    fn from(error: WorktreeError) -> Self {
        use WorktreeError::*;
        let detail = match &error {
            Git(error) | Left(error, _) | LeftBranch(error, _) => Some(error.to_string()),
            _ => None,
        };
        let (code, message) = match error {
            Git(GitError::NoProgram) => (
                ErrorCode::Internal,
                "Git was not found on this computer. Install it to use worktrees.".to_owned(),
            ),
            Git(GitError::Filter(name)) => (
                ErrorCode::Refused,
                format!(
                    "The filter “{name}” of the repository could run a program, and cannot be turned off."
                ),
            ),
            Git(_) => (ErrorCode::Internal, "Git reported an error.".to_owned()),
            NoRepository => (
                ErrorCode::BadProject,
                "This folder is not in a git repository with a working tree.".to_owned(),
            ),
            NoCommit => (
                ErrorCode::BadCommand,
                "The repository has no commit yet. Commit something first: a worktree begins with a commit."
                    .to_owned(),
            ),
            BadName(name) => (ErrorCode::BadCommand, format!("“{name}” cannot be the name of a branch.")),
            Exists(path) => (
                ErrorCode::BadCommand,
                format!("The folder {} exists already. Choose another name.", path.display()),
            ),
            CheckedOut(branch, path) => (
                ErrorCode::BadCommand,
                format!("The branch {branch} is already checked out in {path}. Choose another name."),
            ),
            Unknown(name) => {
                (ErrorCode::BadCommand, format!("{name} is no longer a worktree of this repository."))
            }
            Gone(path) => (ErrorCode::BadProject, format!("The folder {path} no longer exists.")),
            Kept(path, why) => (ErrorCode::Refused, format!("{path} was not removed: {why}.")),
            Left(_, path) => (
                ErrorCode::Internal,
                format!("Git reported an error. What was created is still at {}.", path.display()),
            ),
            LeftBranch(_, branch) => (
                ErrorCode::Internal,
                format!("Git reported an error. The branch {branch}, which was created, is still there."),
            ),
        };
        Self { code, message, detail }
    }
}
