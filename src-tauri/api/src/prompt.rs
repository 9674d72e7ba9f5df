//! Prompts: delivery, queue and state.

use super::id::PromptId;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// When a prompt given while the agent works is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Delivery {
    /// After the turn has ended, in queue order.
    #[default]
    AfterTurn,
    /// Now: ends the turn and sends the prompt before the rest of the queue.
    Now,
    /// Into the running turn: the agent reads it at its next step. It waits for the end of the turn if the agent cannot
    /// report which prompts it read (`Session::takes_into_turn`), or if the turn is being interrupted.
    IntoTurn,
    /// When the limit of the plan that is reached resets; held until then. Refused if no limit with a known reset is
    /// reached.
    AtReset,
}

/// A prompt that a window takes as a draft: of a second start, or of another window. The user may change and send it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NamedDraft {
    pub text: String,
    /// The agent of a new session for it; `null` for the open session.
    pub asked: Option<AskedAgent>,
}

/// The agent that a prompt is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", tag = "type")]
pub enum AskedAgent {
    /// Claude Code, without a profile.
    Claude,
    /// Another agent, by its id.
    Other { id: String },
    /// A profile of the settings, by its name.
    Profile { name: String },
}

/// An image or a document attached to a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// The name of its file; empty for one that has none. The agent gets the names of documents.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[ts(as = "Option<String>", optional)]
    pub name: String,
    /// `image/png`, `image/jpeg`, `image/gif`, `image/webp`, `application/pdf` or `text/plain`.
    pub media_type: String,
    /// Base64, without a `data:` prefix; the text itself for `text/plain`.
    pub data: String,
}

impl Attachment {
    /// It is an image, not a document.
    pub fn is_image(&self) -> bool {
        self.media_type.starts_with("image/")
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct QueuedPrompt {
    pub id: PromptId,
    pub text: String,
    pub n_images: u32,
    #[serde(default)]
    pub n_documents: u32,
    /// Not sent because of an interrupt, a stop or a crash; it is sent only on the user's command.
    pub held: bool,
    /// Sent before, but its turn did not end properly. The agent may already have acted on it.
    pub cut_off: bool,
    pub delivery: Delivery,
    /// A held prompt is sent at this time, in milliseconds since 1970: the limit of the plan has reset by then.
    pub sends_at: Option<u64>,
}

/// The state of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum PromptState {
    Queued,
    Sent,
    Done,
    Failed,
    Withdrawn,
    /// Not sent because of an interrupt, a stop or a crash, or cut off by one. Never sent automatically.
    Held,
}
