//! The change of a file, line by line.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A change of one file.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    pub path: String,
    pub added: u32,
    pub removed: u32,
    pub hunks: Vec<Hunk>,
}

#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    pub lines: Vec<DiffLine>,
}

#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DiffLine {
    pub kind: DiffKind,
    /// 1-based; `null` where the file has no such line, or where the place in the file is not known.
    pub old_line: Option<u32>,
    pub new_line: Option<u32>,
    pub parts: Vec<DiffPart>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum DiffKind {
    Context,
    Added,
    Removed,
}

/// A run of a changed line; `strong` marks the words that changed.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DiffPart {
    pub text: String,
    pub strong: bool,
}
