//! Worktrees of a repository.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What is checked out in a project's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Checkout {
    /// The branch, or the beginning of a commit's id; `None` if the folder is not under git.
    pub branch: Option<String>,
    /// The name of the main worktree's folder, if this is another worktree of its repository.
    pub worktree_of: Option<String>,
}

/// One working tree of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Worktree {
    /// Its root.
    pub path: String,
    /// The name without `refs/heads/`; `None` for a detached HEAD.
    pub branch: Option<String>,
    /// The full id of its commit.
    pub commit: Option<String>,
    /// The repository's first one, which is never removed.
    pub is_main: bool,
    /// The given folder is in it.
    pub is_current: bool,
    /// Git's user has locked it.
    pub is_locked: bool,
    /// Its folder is gone.
    pub is_missing: bool,
    /// Number of files that differ from its commit, new ones included; `None` if unknown.
    pub n_changed: Option<usize>,
}

/// A worktree with what Deskbell has open in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeView {
    pub worktree: Worktree,
    /// A window shows it, or a folder in it.
    pub has_window: bool,
    /// Number of sessions in it whose agents run.
    pub n_running: usize,
}

/// A worktree that would be created for a branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WorktreePlan {
    /// Its root.
    pub path: String,
    /// The branch would be created, too.
    pub is_new: bool,
}

/// What would happen if a worktree were removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeRemoval {
    pub worktree: Worktree,
    /// Why it is not removed, as a part of a sentence: “it is locked”.
    pub kept: Option<String>,
    /// The first files and folders in it that git ignores. They would be lost.
    pub ignored: Vec<String>,
    /// How many more there are.
    pub n_more_ignored: usize,
}
