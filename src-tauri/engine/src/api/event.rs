//! What a session tells, one event at a time or a frame of them together.

use super::command::CommandError;
use super::document::{Block, CodeLine};
use super::id::{ItemId, PromptId, RequestId, SessionId};
use super::item::Item;
use super::permission::{PermissionRequest, Resolution};
use super::session::Session;
use super::tool::Todo;
use super::turn::{ExitReport, TurnEnd};
use super::view::{ChangedFile, Rows};
use serde::Serialize;
use ts_rs::TS;

/// An event with its place in the session's order. `seq` grows by one with each event of a session, without a gap.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Envelope {
    pub seq: u64,
    pub session_id: SessionId,
    #[serde(flatten)]
    pub event: Event,
}

/// What happened in a session.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// The session's facts changed; the whole of them is here.
    SessionChanged { session: Box<Session> },
    /// A new item at the end of the transcript.
    ItemAdded { item: Item },
    /// An item changed; the whole of it is here, under the same id.
    ItemChanged { item: Item },
    /// A text item grew: keep its first `keep` blocks, then come `blocks`.
    BlocksChanged { item_id: ItemId, keep: u32, blocks: Vec<Block> },
    /// The last block of a text item, a code block, grew: keep its first `keep` lines, then come `lines`.
    CodeGrew { item_id: ItemId, keep: u32, lines: Vec<CodeLine> },
    /// A text that streams has become so long that its beginning is drawn no more: of what is drawn, `gone` goes. It begins
    /// with part `part` of `parts` now. To windows only.
    BeginningGone { item_id: ItemId, part: u32, parts: u32, gone: Gone },
    /// A text item is whole: nothing more comes to it. To windows only; all others are told the item.
    TextFinished { item_id: ItemId },
    /// An item is void: the first copy of a reply that the agent began again after a retry.
    ItemRemoved { item_id: ItemId },
    /// An edit went through: what the session did to that file so far.
    FileChanged { file: ChangedFile },
    /// The agent's list of tasks, whole.
    TasksChanged { tasks: Vec<Todo> },
    /// The agent began a turn. `promptIds` is empty if nobody asked for it.
    TurnStarted { prompt_ids: Vec<PromptId> },
    /// The agent's turn is over.
    TurnEnded { turn: TurnEnd },
    /// The agent asks; it waits for as long as it takes.
    PermissionRequested { request: Box<PermissionRequest> },
    /// The request is no longer open.
    PermissionResolved { request_id: RequestId, resolution: Resolution },
    /// The agent's process is gone.
    AgentExited { report: ExitReport },
    /// A command could not be carried out.
    CommandFailed { error: CommandError },
}

/// What goes from the beginning of a text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Gone {
    /// So many blocks.
    pub blocks: u32,
    /// Of the block behind them, which is code, so many lines.
    pub lines: u32,
    /// What is left of the block behind them, if that is not all of it, nor lines of code.
    pub cut: Option<Block>,
}

/// What goes to a window in one Tauri event: the events of one frame, merged.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Batch {
    pub session_id: SessionId,
    /// The batch applies on top of exactly this `seq`; anything else is a gap, and asks for a new snapshot.
    pub after: u64,
    /// The `seq` after it. Merged events leave their numbers out: `seq - after` may exceed their count.
    pub seq: u64,
    /// The rows that the window holds from now on. Items that come into it are added by the events.
    pub rows: Rows,
    pub events: Vec<Event>,
}
