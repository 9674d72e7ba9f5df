//! A prompt on its way to the agent.

use super::id::PromptId;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// When a prompt goes that is given while the agent works.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Delivery {
    /// When the turn is over and its turn in the queue has come.
    #[default]
    AfterTurn,
    /// The turn is ended for it, and it goes before all that waits.
    Now,
    /// At once: the agent takes it up at its next step. It waits for the end of the turn if the agent cannot say
    /// what it took up (`Session::takes_into_turn`), or is just being interrupted.
    IntoTurn,
}

/// An image that belongs to a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub media_type: String,
    /// Base64, without a `data:` prefix.
    pub data: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct QueuedPrompt {
    pub id: PromptId,
    pub text: String,
    pub n_images: u32,
    /// `true`: held back because a crash or a stop came between; it goes only when the user says so.
    pub held: bool,
    /// `true`: it was sent before, and its turn had no end. The agent may have done some of it.
    pub cut_off: bool,
    pub delivery: Delivery,
}

/// Where a prompt is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum PromptState {
    Queued,
    Sent,
    Done,
    Failed,
    Withdrawn,
    /// Cut off by a crash or stop: offered again, never sent again by itself.
    Held,
}
