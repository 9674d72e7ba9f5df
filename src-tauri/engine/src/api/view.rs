//! The part of a session that a window holds, and what it asks of the rest.

use super::id::ItemId;
use super::item::Item;
use super::session::Session;
use super::tool::Todo;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// All a window needs to draw a session from nothing; patches with a greater `seq` go on top.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// The last event that this snapshot already contains.
    pub seq: u64,
    /// When that event was told.
    pub told_at: u64,
    pub session: Session,
    /// The part of the transcript that was asked for.
    pub rows: Rows,
    /// Only the end of the conversation was read so far, and the rows are counted from there. When all of it is read, a gap
    /// comes, and with it a new snapshot.
    pub is_partial: bool,
    /// The items of those rows, in their order.
    pub items: Vec<Item>,
    /// The files that the session changed, the one that changed last at the end.
    pub files: Vec<ChangedFile>,
    pub tasks: Vec<Todo>,
    /// The last prompts, oldest first, to go back to.
    pub prompts: Vec<String>,
}

/// The part of a transcript that a window holds: the rows from `first` up to `end`, of `total`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Rows {
    pub first: u32,
    pub end: u32,
    pub total: u32,
    /// The request that this answers, by its number.
    pub ask: u32,
}

/// The part of a transcript that a window wants. More rows than the engine gives at once are cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Show {
    /// `null`: the end, and whatever is added there.
    pub first: Option<u32>,
    pub count: u32,
    /// A number of the window's own, to know the answer by.
    pub ask: u32,
}

/// A file that a session changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ChangedFile {
    pub path: String,
    pub added: u32,
    pub removed: u32,
    /// The last edit of it, and where that stands.
    pub item_id: ItemId,
    pub row: u32,
}

/// What can be copied, as the agent wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CopyOf {
    /// The whole session, as Markdown.
    Conversation,
    Message {
        item_id: ItemId,
    },
    /// The whole output of a tool.
    Output {
        item_id: ItemId,
    },
    /// The command that it ran, or all that it was given.
    Input {
        item_id: ItemId,
    },
}

/// Where words stand in a transcript.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    /// How many items hold the words.
    pub count: u32,
    pub hit: Option<Hit>,
}

/// One of the items that hold the words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Hit {
    /// Counted from 0.
    pub index: u32,
    pub item_id: ItemId,
    pub row: u32,
    /// The words stand in what has to be unfolded first.
    pub inside: bool,
    /// In which part of the item they stand first, counted from 0.
    pub part: u32,
}
