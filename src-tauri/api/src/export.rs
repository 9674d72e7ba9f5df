//! Exporting a session to a file.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The format of an exported session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ExportFormat {
    /// The text of the conversation.
    Markdown,
    /// Everything that the engine knows about the conversation, for programs.
    Json,
    /// One page without scripts that loads nothing.
    Html,
}
