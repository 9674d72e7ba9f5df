//! Side questions: questions to the agent that leave the conversation as it is.

use super::document::Block;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A question to the agent beside the conversation, and its outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SideQuestion {
    /// The id that the command `askSide` gave to it.
    pub id: String,
    pub question: String,
    pub purpose: SidePurpose,
    /// When it was asked, in milliseconds since 1970.
    pub asked_at: u64,
    pub outcome: SideOutcome,
}

/// What an answer to a side question is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum SidePurpose {
    /// The user reads it. The agent gets the earlier questions of this purpose with their answers.
    #[default]
    Reading,
    /// It is a proposal for the message of a commit.
    CommitMessage,
}

/// What became of a side question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum SideOutcome {
    /// The agent has not answered yet. `retry`: its call of the model failed, and is repeated.
    Waiting { retry: Option<SideRetry> },
    /// `text` is the answer as the agent wrote it, and `blocks` are the same as a document.
    Answered {
        text: String,
        blocks: Vec<Block>,
        /// The answer was longer; this is its beginning.
        is_cut: bool,
    },
    /// There is no answer. `message` says why.
    Failed { message: String },
    /// The user cancelled it.
    Cancelled,
}

/// A repeated call of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SideRetry {
    pub attempt: u32,
    pub most: u32,
}
