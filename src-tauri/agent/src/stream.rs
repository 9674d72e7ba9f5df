//! Stream events: the parts of a reply while it is generated.

use crate::message::{ContentBlock, TokenUsage};

/// One stream event of a reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    pub event: StreamEvent,
    pub parent_tool_use_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StreamEvent {
    /// A second start of the same reply invalidates the first copy (a retry).
    MessageStart {
        message_id: String,
    },
    BlockStart {
        index: u32,
        block: ContentBlock,
    },
    TextDelta {
        index: u32,
        text: String,
    },
    ThinkingDelta {
        index: u32,
        text: String,
    },
    InputDelta {
        index: u32,
        json: String,
    },
    BlockStop {
        index: u32,
    },
    MessageDelta {
        usage: Option<TokenUsage>,
    },
    MessageStop,
    Other,
}
