//! The transcript, an entry at a time.

use super::document::Block;
use super::id::ItemId;
use super::prompt::PromptState;
use super::tool::ToolCall;
use super::turn::TurnEnd;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// One entry of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    pub id: ItemId,
    /// The tool call whose subagent made this item; `null` for the main thread.
    pub parent: Option<ItemId>,
    /// The row it is drawn in, counted from 0: a run of reads and searches shares one, and what a subagent made is in
    /// that of its call. A row keeps its number for good, and may become empty.
    pub row: u32,
    /// Its number in its row, from 0. A window has the last items of a subagent, and asks for those before them.
    pub nr: u32,
    pub at: u64,
    /// In how many parts a window draws it. More than one: the body is the first of them, or, of a text that streams,
    /// the last of them. The engine gives the others. Whoever listens without a window has the whole of it.
    pub parts: u32,
    /// The part that its body begins with. Not 0: the body goes on to the end.
    pub part: u32,
    pub body: Body,
}

#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Body {
    Prompt {
        text: String,
        n_images: u32,
        state: PromptState,
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
        /// More to unfold: stderr, a line that could not be read.
        detail: Option<String>,
        /// When what it tells of is over: a limit resets then.
        until_at: Option<u64>,
    },
    TurnEnd(TurnEnd),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Level {
    Info,
    Warning,
    Error,
}
