//! Files of the project that a prompt may name, and those dropped on a window.

use super::prompt::Image;
use serde::Serialize;
use ts_rs::TS;

/// Files of the project that fit what was typed, the best first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FoundFiles {
    pub files: Vec<FoundFile>,
    /// The project has more files than are looked through.
    pub is_cut: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FoundFile {
    /// From the project, with slashes; a folder ends in one.
    pub path: String,
    /// Which of its characters matched.
    pub matched: Vec<u32>,
}

/// Something that was dropped on a window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Dropped {
    /// An image, to go with the prompt.
    Image { name: String, image: Image },
    /// Anything else, to be named in the prompt: from the project if it is in it.
    File { path: String },
    /// Neither, and why, in words.
    Refused { why: String },
}
