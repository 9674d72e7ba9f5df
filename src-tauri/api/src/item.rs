//! Items of the transcript.

use super::document::Block;
use super::id::ItemId;
use super::prompt::PromptState;
use super::tool::ToolCall;
use super::turn::TurnEnd;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// One item of the transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    pub id: ItemId,
    /// The tool call whose subagent made this item; `null` for the main thread.
    pub parent: Option<ItemId>,
    /// The row that it is drawn in, counted from 0. A run of reads and searches shares one row, and the items of a
    /// subagent are in the row of its call. A row keeps its number forever and may become empty.
    pub row: u32,
    /// Its number in its row, counted from 0.
    pub nr: u32,
    /// How many calls it is inside of. Only in windows, which draw each item of an open subagent as a row.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[ts(as = "Option<u32>", optional)]
    pub depth: u32,
    pub at: u64,
    /// The slice of a long item that this is, if it is not whole. Only in windows, which draw each slice as a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub slice: Option<Slice>,
    pub body: Body,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Item {
    /// A whole item of the main thread, in the first row.
    pub fn new(id: impl Into<String>, body: Body) -> Self {
        let id = ItemId::new(id);
        Self { id, parent: None, row: 0, nr: 0, depth: 0, at: 0, slice: None, body }
    }
}

/// A slice of a long item.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Slice {
    /// The item.
    pub of: ItemId,
    /// Counted from 0.
    pub nr: u32,
    /// The item ends with this slice.
    pub is_last: bool,
    /// The number of its first block in the item, counted from 0.
    pub block: u32,
    /// Its first block began in the slice before.
    pub continues: bool,
    /// Its last block goes on in the next slice.
    pub is_continued: bool,
    /// How many entries or rows of its first block are in earlier slices, if that is a list or a table.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[ts(as = "Option<u32>", optional)]
    pub n_before: u32,
    /// How many entries or rows its first block has in all slices, if it is a list or a table that is cut. Not there while
    /// the block may still grow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub n_in_first: Option<u32>,
    /// The same for its last block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub n_in_last: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Body {
    Prompt {
        text: String,
        n_images: u32,
        #[serde(default)]
        n_documents: u32,
        state: PromptState,
    },
    /// A message of another session of the user. It may have begun the turn.
    Message {
        sender: Sender,
        text: String,
    },
    Text {
        blocks: Vec<Block>,
        /// Still being written.
        streaming: bool,
    },
    Thinking {
        text: String,
        streaming: bool,
        duration_ms: Option<u64>,
    },
    ToolCall(Box<ToolCall>),
    Notice {
        level: Level,
        text: String,
        /// Expandable detail: stderr, or a line that could not be parsed.
        detail: Option<String>,
        /// The end of the reported condition, for example when a limit resets.
        until_at: Option<u64>,
    },
    TurnEnd(TurnEnd),
}

/// The session that wrote a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Sender {
    /// The name that it gives itself, which nothing has checked. One line, misleading characters written out. Empty if it
    /// has none.
    pub name: String,
    /// The agent's id of its conversation, by the process that sent the message; `null` if it is not known any more.
    pub agent_session_id: Option<String>,
    /// The folder of that process.
    pub folder: Option<String>,
}

impl Sender {
    /// In words: “Message of the session “docs” in /home/me/app”.
    pub fn words(&self) -> String {
        let name = match self.name.as_str() {
            "" => "Message of another session".to_owned(),
            name => format!("Message of the session “{name}”"),
        };
        let place = self.folder.as_ref().map(|folder| format!(" in {folder}")).unwrap_or_default();
        name + &place
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Level {
    Info,
    Warning,
    Error,
}
