//! Rewinding: taking files and the conversation back to the state before a prompt, and undoing that.

use super::diff::Diff;
use super::id::ItemId;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The rewind in progress, if any, and the one that can be undone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RewindState {
    /// A preview, a rewind or its undo is being carried out.
    pub is_pending: bool,
    /// Why the last one was not carried out, as a text to show.
    pub problem: Option<String>,
    /// The last rewind, as long as it can be undone.
    pub undo: Option<RewindUndo>,
}

/// A rewind that can be undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RewindUndo {
    pub at: u64,
    /// The beginning of the prompt.
    pub prompt: String,
    /// Number of files that the undo restores.
    pub n_files: u32,
    /// The undo also restores the conversation. It cannot after the next prompt.
    pub conversation: bool,
}

/// What a rewind would change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RewindPreview {
    pub prompt_id: ItemId,
    /// The prompt's text.
    pub prompt: String,
    /// Why files cannot be rewound, as a text to show; `null` if they can.
    pub files_problem: Option<String>,
    /// Why the conversation cannot be rewound; `null` if it can.
    pub conversation_problem: Option<String>,
    /// The first files that would change.
    pub files: Vec<RewindFile>,
    /// Number of further files.
    pub n_more: u32,
}

/// A file that a rewind would change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RewindFile {
    /// Relative to the project, or absolute if it is outside.
    pub path: String,
    pub change: RewindChange,
    /// It is outside the project's folder.
    pub is_outside: bool,
    /// From the file as it is now to what it would be; `null` if that cannot be shown.
    pub diff: Option<Diff>,
    /// What the user has to know about it, such as why there is no diff.
    pub note: Option<String>,
    /// The undo can restore it.
    pub has_undo: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum RewindChange {
    /// Its content changes.
    Modified,
    /// It is missing now, and would exist again.
    Created,
    /// It exists now, and would be removed.
    Removed,
    /// The agent did not say what it would be.
    Unknown,
}
