//! Events of a session, one at a time or in batches.

use super::command::CommandError;
use super::document::{Block, CodeLine, ListItem};
use super::id::{ItemId, PromptId, RequestId, SessionId};
use super::item::Item;
use super::permission::{PermissionRequest, Resolution};
use super::rewind::RewindPreview;
use super::session::SessionChange;
use super::tool::{CallProgress, Todo};
use super::turn::{ExitReport, TurnEnd};
use super::view::{ChangedFile, RowRange};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// An event with its position in the session. `seq` grows by one with each event of a session, without gaps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Envelope {
    pub seq: u64,
    pub session_id: SessionId,
    #[serde(flatten)]
    pub event: Event,
}

/// An event of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// The session's data changed; contains the fields that have another value. Each request has events of its own.
    SessionChanged {
        #[ts(type = "Partial<Omit<Session, \"id\">>")]
        session: Box<SessionChange>,
    },
    /// A new item at the end of the transcript.
    ItemAdded { item: Item },
    /// An item changed; contains the whole item, under the same id.
    ItemChanged { item: Item },
    /// A tool call with a long input (more than 4 KiB) changed, and the input did not. Sent instead of the whole item.
    /// Windows do not receive it: they get the item's rows.
    CallChanged { item_id: ItemId, call: Box<CallProgress> },
    /// A text item grew: keep its first `keep` blocks, then append `blocks`.
    BlocksChanged { item_id: ItemId, keep: u32, blocks: Vec<Block> },
    /// The last block of a text item, a code block, grew: keep its first `keep` lines, then append `lines`.
    CodeGrew { item_id: ItemId, keep: u32, lines: Vec<CodeLine> },
    /// The last block of a text item, a list, grew: keep its first `keep` entries, then append `entries`.
    EntriesGrew { item_id: ItemId, keep: u32, entries: Vec<ListItem> },
    /// A thought grew: keep the first `keep` bytes of its text (UTF-8), then append `text`. Not for windows, which get
    /// slices of the text.
    ThoughtGrew { item_id: ItemId, keep: u32, text: String },
    /// A text item is complete. Only for windows; other subscribers receive the whole item.
    TextFinished { item_id: ItemId },
    /// An item was removed: the first copy of a reply that the agent restarted after a retry.
    ItemRemoved { item_id: ItemId },
    /// A file was edited; contains the session's changes of it so far.
    FileChanged { file: ChangedFile },
    /// The agent's whole task list.
    TasksChanged { tasks: Vec<Todo> },
    /// The agent began a turn. `promptIds` is empty if no prompt caused it.
    TurnStarted { prompt_ids: Vec<PromptId> },
    /// The agent's turn ended.
    TurnEnded { turn: TurnEnd },
    /// The agent requests permission. It waits without a time limit.
    PermissionRequested {
        request: Box<PermissionRequest>,
        /// The call's item has the same diff, or the same subject if there is no diff, and it is long (more than 4
        /// KiB). The relay and the server leave it out of their lines: the diff is `null`, or the subject is empty.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[ts(as = "Option<bool>", optional)]
        in_item: bool,
    },
    /// The request is no longer open.
    PermissionResolved { request_id: RequestId, resolution: Resolution },
    /// What a rewind would change.
    RewindPreviewed { preview: Box<RewindPreview> },
    /// A rewind was carried out. `text` is the prompt's text if the conversation now ends before it.
    Rewound { prompt_id: ItemId, text: Option<String> },
    /// The conversation was replaced by another branch of it, after a rewind or its undo: these are all of its items.
    /// Only for subscribers without a window; a window gets a new snapshot.
    TranscriptReplaced { items: Vec<Item>, files: Vec<ChangedFile>, tasks: Vec<Todo> },
    /// The agent's process exited.
    AgentExited { report: ExitReport },
    /// A command failed.
    CommandFailed { error: CommandError },
}

/// The merged events of one frame, sent to a window as one Tauri event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Batch {
    pub session_id: SessionId,
    /// The batch applies to exactly this `seq`. Any other state is a gap, and the window requests a new snapshot.
    pub after: u64,
    /// The `seq` after this batch. Each merged event counts: `seq - after` can exceed the number of `events`.
    pub seq: u64,
    /// The rows that the window has after this batch. Items in newly covered rows are added by the events.
    pub rows: RowRange,
    pub events: Vec<Event>,
}
