//! The diff of a file, line by line.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::document::TokenStyle;

/// The diff of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    pub path: String,
    pub added: u32,
    pub removed: u32,
    pub hunks: Vec<Hunk>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    /// A plain line with consecutive numbers is a string: `+`, `-` or a blank, then its content. Its numbers are those
    /// of the previous line plus 1; unknown numbers stay unknown.
    #[serde(with = "super::diff_lines")]
    #[ts(type = "Array<string | DiffLine>")]
    pub lines: Vec<DiffLine>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DiffLine {
    pub kind: DiffKind,
    /// 1-based; `null` if that version has no such line, or if the position in the file is unknown.
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

/// A run of text in a line; `strong` marks changed words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DiffPart {
    pub text: String,
    pub strong: bool,
    pub style: TokenStyle,
}
