//! Commits that the user makes from Deskbell: the choice, the plan, the result and the reasons of a refusal.

use super::changes::HunkPlace;
use super::command::{CommandError, ErrorCode};
use super::names::named;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The content and the message of a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CommitRequest {
    pub files: CommitFiles,
    /// `null` keeps the message of an amended commit.
    pub message: Option<String>,
    /// Adds a line `Signed-off-by`.
    pub signoff: bool,
    /// Replaces the last commit.
    pub amend: bool,
    /// The last commit when the plan was shown; `null` if the repository may have any.
    pub head: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum CommitFiles {
    /// Every changed file below the project.
    All,
    Only(Vec<CommitFile>),
}

impl Default for CommitFiles {
    fn default() -> Self {
        Self::Only(Vec::new())
    }
}

/// A changed file, or some hunks of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CommitFile {
    /// A path of the list of changes.
    pub path: String,
    /// `null` is the whole file.
    pub hunks: Option<Vec<HunkPlace>>,
    /// The version of the diff that was shown; `null` accepts the present one.
    pub version: Option<String>,
}

/// The programs of the repository and of the user that a commit may run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum CommitPrograms {
    /// None. The commit is refused if one of them would change it.
    #[default]
    Ask,
    /// None. Hooks and signing are left out.
    Skip,
    /// Hooks, filters and signing, as `git commit` runs them.
    Run,
}

/// The commit that a request would make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CommitPlan {
    pub branch: String,
    /// The last commit; `null` if there is none yet.
    pub head: Option<String>,
    /// `Name <address>`
    pub author: String,
    /// The paths of the commit, relative to the root of the repository.
    pub files: Vec<String>,
    /// Files with staged changes that are not in the commit. They stay staged.
    pub stays_staged: Vec<String>,
    /// Files whose staged version is replaced by the version of the commit.
    pub replaces_staged: Vec<String>,
    /// The hooks, filters and other programs that `git commit` would run.
    pub programs: Vec<String>,
}

/// The state of a repository before a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CommitState {
    pub branch: String,
    /// The last commit; `null` if there is none yet.
    pub head: Option<String>,
    /// Paths of the list of changes whose staged version is the present one.
    pub staged: Vec<String>,
    /// Paths of the list of changes whose staged version is another one.
    pub partly_staged: Vec<String>,
    /// `null` if there is no commit yet.
    pub amendment: Option<Amendment>,
    /// The hooks, filters and other programs that `git commit` would run.
    pub programs: Vec<String>,
}

/// Whether the last commit can be amended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Amendment {
    Possible {
        /// The message of the last commit; empty if it is not in UTF-8.
        message: String,
        /// The programs that `git commit --amend` would run.
        programs: Vec<String>,
    },
    Refused {
        reason: String,
    },
}

/// The state of the commit box of a window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CommitBoxState {
    Ready {
        repository: CommitState,
        /// The folder is trusted. Otherwise the user is asked in a dialog before programs run.
        is_trusted: bool,
    },
    /// No commit can be made.
    Refused { problem: CommandError },
    /// A commit of this window is being made.
    Running,
}

/// A commit that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Committed {
    pub id: String,
    pub branch: String,
    /// The first line of the message.
    pub subject: String,
    /// The paths of the commit, relative to the root of the repository.
    pub files: Vec<String>,
    /// Files of the commit that were not chosen: a hook added them.
    pub added_by_hooks: Vec<String>,
    pub stays_staged: Vec<String>,
    pub replaces_staged: Vec<String>,
    /// The end of the output of git and its hooks.
    pub output: String,
    /// Why git failed although the commit was made, such as a failing hook after it.
    pub problem: Option<String>,
}

/// A commit that was undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UndoneCommit {
    pub id: String,
    pub branch: String,
    /// The last commit now; `null` if there is none.
    pub head: Option<String>,
}

/// The reason why a commit was not made or not undone. The branch, the index and the files are as before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS, thiserror::Error)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CommitProblem {
    #[error("Git is not installed")]
    NoGit,
    #[error("This folder is not in a git repository")]
    NoRepository,
    #[error("The repository has no working tree here")]
    Bare,
    #[error("A {operation} is not finished. Finish or abort it first")]
    Unfinished { operation: String },
    #[error("A merge left conflicts in {}. Resolve them first", named(files, 0))]
    Conflicts { files: Vec<String> },
    #[error(
        "No branch is checked out, so a commit would be lost easily. Create a branch first: git switch -c NAME"
    )]
    Detached { commit: String },
    #[error("Git does not know your name and address. Set user.name and user.email")]
    NoIdentity { said: String },
    #[error("No file was chosen")]
    NothingChosen,
    #[error("{path} has no changes")]
    NotChanged { path: String },
    #[error("The chosen files are the same as in the last commit")]
    NoDifference,
    #[error("{path} has changed since it was shown. Look at its change again")]
    ChangedSince { path: String },
    #[error("{path} cannot be committed from here: {why}")]
    NotCommittable { path: String, why: String },
    #[error("{n} more files changed than can be listed. Name the files, or use git")]
    TooMany { n: u32 },
    #[error("The message is empty")]
    NoMessage,
    #[error("There is no commit to amend")]
    NothingToAmend,
    #[error("The message of the last commit is not in UTF-8. Give it a new one")]
    OtherEncoding,
    #[error("The last commit is by {author}, not by you. Make a new commit instead")]
    NotYours { author: String },
    #[error("The last commit is already on {reference}. Make a new commit instead")]
    Pushed { reference: String },
    /// The programs, such as `pre-commit` or `signing`.
    #[error("The commit would run {}. Decide whether they may run", named(programs, 0))]
    WouldRun { programs: Vec<String> },
    #[error(
        "Another git program is at work in this repository, or left {file}. Wait for it, or remove that file"
    )]
    Locked { file: String },
    #[error("Deskbell already makes a commit in this repository. Wait until it is finished")]
    Busy,
    #[error("The branch has another last commit now. Look at the changes again")]
    HeadMoved,
    /// The end of the output of git and its hooks.
    #[error("Git or a hook refused the commit")]
    Failed { output: String },
    #[error("The commit was cancelled")]
    Cancelled { output: String },
    #[error("The last commit of this branch was not made by Deskbell, so there is nothing to undo")]
    NothingToUndo,
    #[error("Git reported an error: {said}")]
    Git { said: String },
}

impl From<CommitProblem> for CommandError {
    /// The detail is the output of git and its hooks.
    fn from(problem: CommitProblem) -> Self {
        let message = match &problem {
            CommitProblem::Git { .. } => "Git reported an error.".to_owned(),
            problem => format!("{problem}."),
        };
        let code = match &problem {
            CommitProblem::ChangedSince { path } => ErrorCode::ChangedSince { files: vec![path.clone()] },
            _ => ErrorCode::Refused,
        };
        let detail = match problem {
            CommitProblem::Failed { output: said }
            | CommitProblem::Cancelled { output: said }
            | CommitProblem::NoIdentity { said }
            | CommitProblem::Git { said } => Some(said).filter(|said| !said.is_empty()),
            _ => None,
        };
        Self { code, message, detail }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_becomes_a_sentence_with_the_words_of_git() {
        let error = CommandError::from(CommitProblem::Failed { output: "no\nnever".to_owned() });
        assert_eq!(error.message, "Git or a hook refused the commit.");
        assert_eq!(error.detail.as_deref(), Some("no\nnever"));
        let error = CommandError::from(CommitProblem::ChangedSince { path: "a".to_owned() });
        assert_eq!(error.code, ErrorCode::ChangedSince { files: vec!["a".to_owned()] });
        assert_eq!(error.message, "a has changed since it was shown. Look at its change again.");
    }

    #[test]
    fn a_problem_names_few_files_and_counts_the_rest() {
        let files = (0..7).map(|n| format!("f{n}")).collect();
        let said = CommitProblem::Conflicts { files }.to_string();
        assert_eq!(said, "A merge left conflicts in f0, f1, f2, f3, f4 and 2 more. Resolve them first");
    }
}
