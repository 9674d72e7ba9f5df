//! An item of an exported conversation.

use crate::transcript::lazy::LazyItem;
use crate::transcript::output::Source;
use std::sync::Arc;

/// An item with its long texts, which a window gets in parts.
#[derive(Clone, Debug)]
pub struct ExportedItem {
    pub item: Arc<LazyItem>,
    /// The source of a text, as the agent wrote it.
    pub source: Option<String>,
    /// The whole output of a tool.
    pub output: Option<Source>,
    /// The images that a tool returned, as base64, if the agent's own transcript cannot be read for them.
    pub images: Vec<Arc<str>>,
    /// Its id in the agent's own transcript.
    pub stored_id: String,
}
