//! Changed files of a project's working tree, compared with a commit or with the start of a session.

use super::diff::Diff;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The state that the working tree is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Against {
    /// The last commit of the branch that is checked out.
    #[default]
    Commit,
    /// The working tree when the first prompt of the session was sent in this run of the app, or of its server.
    Session,
    /// The working tree when the last prompt of the session was sent.
    Prompt,
    /// The working tree at an earlier prompt: its [`PromptMoment`].
    At(#[ts(type = "number")] u64),
}

/// A prompt whose working tree is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PromptMoment {
    /// In milliseconds since the epoch.
    #[ts(type = "number")]
    pub since: u64,
    /// The beginning of the prompt.
    pub text: String,
}

/// The files that differ from an earlier state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Changes {
    pub base: ChangesBase,
    /// In the order of their paths.
    pub files: Vec<FileChange>,
    /// How many more changed files there are than `files` lists.
    pub n_more: u32,
    /// Files that may have changed, but were too large or too many to compare.
    pub n_not_compared: u32,
    /// Why the list is not complete, as a sentence.
    pub problem: Option<String>,
}

impl Changes {
    /// A list without files.
    pub fn empty(base: ChangesBase) -> Self {
        Self { base, files: Vec::new(), n_more: 0, n_not_compared: 0, problem: None }
    }
}

/// What the files were compared with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ChangesBase {
    Commit {
        id: String,
    },
    /// A repository without a commit: every file is new.
    NoCommit,
    /// The moment of a prompt, in milliseconds since the epoch.
    Prompt {
        #[ts(type = "number")]
        since: u64,
    },
    /// That moment is not known: this run of the app, or of the session's server, sent no prompt in the session, or it was
    /// not in a repository then.
    NoPrompt,
    /// Without git: the files that the agent edited, compared with its own copies from before its first edit, or from
    /// before the last prompt. What its commands changed is not among them.
    Edits {
        since_prompt: bool,
    },
    /// There is nothing to compare with; `problem` says why if it is not just a folder without a repository.
    NoRepository,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FileChange {
    /// Relative to the project, with slashes. Bytes that are not UTF-8 are written as `\xff`.
    pub path: String,
    /// The earlier path of a file that was renamed and is otherwise the same.
    pub old_path: Option<String>,
    pub state: FileState,
    pub content: FileContent,
    /// Lines; `null` if the file is not text, or was not counted.
    pub added: Option<u32>,
    pub removed: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum FileState {
    Added,
    /// New, and not added to git.
    Untracked,
    Modified,
    Deleted,
    Renamed,
    /// A merge left a conflict in it.
    Conflicted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum FileContent {
    Text,
    Binary,
    /// Too large to be shown.
    Large,
    Link,
    /// Another repository: a submodule, or one that is not part of this one.
    Repository,
    /// A named pipe, a socket or a device.
    Special,
    /// Git converts it with a program or an encoding of the repository, which Deskbell does not run.
    Converted,
    /// Its earlier content was not kept, or it cannot be read.
    Unknown,
}

/// The change of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    pub diff: Option<Diff>,
    /// What there is to know instead of a diff, or in addition to it, as a sentence.
    pub note: Option<String>,
    /// How many lines of the diff were left out at its end.
    pub n_more_lines: u32,
    /// Identifies both versions, for a revert; `null` if the file cannot be reverted.
    pub version: Option<String>,
}

/// The place of a hunk, as in the header of a patch: `@@ -12,4 +12,5 @@`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct HunkPlace {
    pub old_start: u32,
    pub n_old: u32,
    pub new_start: u32,
    pub n_new: u32,
}

/// Changes as a patch for `git apply`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Patch {
    pub text: String,
    /// Number of files in it.
    pub n_files: u32,
    /// Changed files that it lacks, each with the reason, as sentences.
    pub left_out: Vec<String>,
}

/// A change that was reverted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Reverted {
    /// Names the copies of the files as they were before, to undo it. In milliseconds since the epoch.
    #[ts(type = "number")]
    pub at: u64,
    /// The files that were written or removed.
    pub files: Vec<String>,
}
