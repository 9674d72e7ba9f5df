//! Worktrees of a repository.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

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
