//! Window views: snapshots, viewports, copying and searching.

use super::id::ItemId;
use super::item::Item;
use super::session::Session;
use super::tool::Todo;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// All data that a window needs to draw a session. Later events have a greater `seq` and apply on top of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// The `seq` of the last event that this snapshot contains.
    pub seq: u64,
    /// When that event was sent.
    pub last_event_at: u64,
    pub session: Session,
    /// The requested part of the transcript.
    pub rows: RowRange,
    /// Only the end of the conversation was read so far, and rows are counted from there. When all of it is read, the
    /// window gets a gap and then a new snapshot.
    pub is_partial: bool,
    /// The items of those rows, in order.
    pub items: Vec<Item>,
    /// The files that the session changed; the most recently changed one is last.
    pub files: Vec<ChangedFile>,
    pub tasks: Vec<Todo>,
    /// The last prompts, oldest first, for the prompt history.
    pub prompts: Vec<String>,
}

/// The part of a transcript that a window has: the rows `first..end` of `total`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RowRange {
    pub first: u32,
    pub end: u32,
    pub total: u32,
    /// How many of all rows continue a long text: they are no news to a reader who is elsewhere.
    #[serde(default)]
    pub n_continued: u32,
    /// The number of the request that this answers.
    pub request_id: u32,
}

/// The part of a transcript that a window requests. The engine limits the number of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Viewport {
    /// `null`: the end of the transcript, including rows that are added later.
    pub first: Option<u32>,
    pub count: u32,
    /// A number chosen by the window to identify the answer.
    pub request_id: u32,
}

/// A file that a session changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ChangedFile {
    pub path: String,
    pub added: u32,
    pub removed: u32,
    /// The last edit of the file, and its row.
    pub item_id: ItemId,
    pub row: u32,
}

/// What to copy, as the agent wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum CopyOf {
    /// The whole session, as Markdown.
    Conversation,
    /// The command that resumes the session in a terminal.
    ResumeCommand,
    Message {
        item_id: ItemId,
    },
    /// A code block of a message; `block` is its number in the text, counted from 0.
    Code {
        item_id: ItemId,
        block: u32,
    },
    /// The complete output of a tool.
    Output {
        item_id: ItemId,
    },
    /// The command that ran, or the whole input.
    Input {
        item_id: ItemId,
    },
    /// A tool call as JSON: its input and its result as received.
    Raw {
        item_id: ItemId,
    },
}

/// The result of a text search in a transcript.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    /// Number of items that match.
    pub count: u32,
    pub hit: Option<Hit>,
}

/// One of the matching items.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Hit {
    /// Counted from 0.
    pub index: u32,
    pub item_id: ItemId,
    pub row: u32,
    /// The match is in content that must be expanded first.
    pub inside: bool,
    /// The slice of the item with the first match, counted from 0.
    pub part: u32,
}
