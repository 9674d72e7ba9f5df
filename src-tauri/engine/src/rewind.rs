//! Rewinding: what a session's machine asks for, and how it is carried out on disk.
//!
//! The agent restores the files from its own checkpoints. Deskbell shows before what would change ([`preview`]), and
//! keeps copies of the files as they are, so that the rewind can be undone ([`copies`]): the agent has no checkpoint of
//! the newest state.

pub mod copies;
pub mod preview;

use crate::api::ItemId;
use serde::{Deserialize, Serialize};

/// Time after which a rewind can no longer be undone, in milliseconds.
pub const EXPIRES_AFTER_MS: u64 = 7 * 24 * 60 * 60 * 1_000;

/// What the user asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    pub item: ItemId,
    /// The prompt's id in the agent's transcript.
    pub wire_id: String,
    /// The prompt's text.
    pub text: String,
    pub wish: Wish,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Wish {
    Preview,
    Rewind { files: bool, conversation: bool },
}

/// A step of a rewind that needs the disk.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Find the message before a prompt.
    Place {
        conversation: String,
        wire_id: String,
    },
    /// Show what would change. `files`: the agent's list, or why it has none.
    Preview {
        conversation: String,
        job: Job,
        files: Result<Vec<String>, String>,
    },
    /// Copy these files as they are now.
    Copy {
        conversation: String,
        wire_id: String,
        at: u64,
        files: Vec<String>,
    },
    /// Compare the files with what they should be, and note their state for the undo.
    Check {
        at: u64,
    },
    /// Remove copies that are not needed.
    Discard {
        at: u64,
    },
    Undo {
        at: u64,
        overwrite: bool,
    },
    /// Read the conversation from disk again.
    Reread,
}

/// The result of a [`Work`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Done {
    /// The message before the prompt; `None` if it is the first one.
    Placed(Result<Option<String>, String>),
    Previewed,
    Copied(Result<Copied, String>),
    Checked(Result<Checked, String>),
    Undone(Result<Undone, UndoFault>),
}

/// Files that were copied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Copied {
    pub n_copied: u32,
    /// Files without a copy, each with the reason.
    pub left_out: Vec<String>,
}

/// Files after a rewind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Checked {
    /// The files that changed.
    pub changed: Vec<String>,
    /// Files that are not as the agent's checkpoint has them.
    pub unexpected: Vec<String>,
}

/// Files after an undo.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Undone {
    pub restored: Vec<String>,
}

/// The reason why nothing was undone, or not everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UndoFault {
    /// These files have changed since the rewind. Nothing was undone.
    Changed(Vec<String>),
    /// The copies cannot be used. Nothing was undone.
    Unusable(String),
    /// Some files could not be written, each with the reason. The others were restored.
    Partly(Vec<String>),
}

/// A rewind that can be undone, as it is saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedRewind {
    /// Its time, which also names its copies.
    pub at: u64,
    /// The beginning of the prompt.
    pub prompt: String,
    /// Number of files that were copied.
    pub n_files: u32,
    /// The conversation before it, if it was rewound, until the next turn begins.
    pub conversation: Option<ConversationBefore>,
}

/// The place in the agent's store at which a session continues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationBefore {
    pub id: String,
    pub resume_at: Option<String>,
}

impl SavedRewind {
    pub fn is_expired(&self, now: u64) -> bool {
        now.saturating_sub(self.at) > EXPIRES_AFTER_MS
    }
}
