//! Project files that a prompt can mention, files that could not be read, and files dropped on a window.

use super::document::CodeLine;
use super::prompt::Attachment;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Project files that match the typed text, best match first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FoundFiles {
    pub files: Vec<FoundFile>,
    /// Whether the project has more files than are searched.
    pub is_cut: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FoundFile {
    /// Relative to the project, with slashes; a folder ends with a slash.
    pub path: String,
    /// Indices of the matched characters.
    pub matched: Vec<u32>,
}

/// Lines of a file of a session's folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FileText {
    /// Relative to the session's folder, with slashes.
    pub path: String,
    pub lines: Vec<CodeLine>,
    /// The number of the first of these lines, counted from 1.
    pub first: u32,
    /// How many lines the file has.
    pub n_lines: u32,
    /// How many of these lines were cut at their end.
    pub n_cut: u32,
}

/// A file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UnreadFile {
    pub kind: UnreadKind,
    pub path: String,
    /// The reason as the end of a sentence: “it is a named pipe, not a file”.
    pub problem: String,
    /// Its new name, if it is one of Deskbell's own files and was moved away. Nothing is overwritten or removed.
    pub moved_to: Option<String>,
}

/// The purpose of an unread file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum UnreadKind {
    /// The places of windows.
    Places,
    /// The list of projects that were opened earlier.
    Projects,
    Session,
    /// The branch in git.
    Branch,
}

/// An item dropped on a window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Dropped {
    /// An image or a document to attach to the prompt.
    Attachment { attachment: Attachment },
    /// Any other file, to be mentioned in the prompt. The path is relative if the file is in the project.
    File { path: String },
    /// A refused item; `why` is the reason in words.
    Refused { why: String },
}
