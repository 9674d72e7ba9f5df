//! The answers that an agent offers with a permission request.

use crate::api::{PermissionMode, Rule};
use serde_json::Value;

/// An answer that the agent offers. It is chosen by its id.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerOption {
    /// Unique in its request. Two options can have the same kind.
    pub id: String,
    pub kind: OptionKind,
    /// The agent's own words for it, if it has some.
    pub name: Option<String>,
    /// What it would allow beyond the one call.
    pub scope: OptionScope,
    /// The rules that it adds to the running session.
    pub session_rules: Vec<Rule>,
    /// The rules that the agent writes to the folder's local settings, as it writes them.
    pub folder_rules: Vec<String>,
    /// As the agent sent it. Its driver gets it back with the answer.
    pub raw: Value,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OptionKind {
    AllowOnce,
    AllowAlways,
    RejectOnce,
    RejectAlways,
    /// It is not understood and may allow anything: it is never offered.
    #[default]
    Unknown,
}

/// What an option would allow beyond the one call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OptionScope {
    /// The agent names no scope.
    #[default]
    Unnamed,
    /// Rules, each as text.
    Rules { rules: Vec<String>, saved: SavedIn },
    /// Work in more folders.
    Folders { folders: Vec<String>, saved: SavedIn },
    /// A mode that still asks for some permissions.
    Mode { mode: PermissionMode, saved: SavedIn },
}

/// The place where the agent would save what an option allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SavedIn {
    /// It is not saved, and ends with the session.
    Session,
    /// The folder's settings of this user.
    FolderLocal { file: String },
    /// The folder's settings that all its users share.
    Folder { file: String },
    /// The user's own settings.
    User,
    /// A place with this name.
    Other(String),
}
