//! Events for the transcript, in addition to the agent's own lines: what Deskbell itself caused or observed.

use crate::agent::tool::RawInput;
use crate::api::*;
use crate::prompt::Prompt;

/// An event for the transcript, in addition to the agent's own lines.
#[derive(Clone, Debug, PartialEq)]
pub enum TranscriptEvent {
    PromptAccepted(Prompt),
    PromptEdited {
        id: PromptId,
        text: String,
    },
    PromptState {
        id: PromptId,
        state: PromptState,
    },
    Asked {
        tool_use_id: Option<String>,
    },
    /// A request is no longer open.
    Answered {
        tool_use_id: Option<String>,
        end: RequestEnd,
    },
    Notice {
        level: Level,
        text: String,
        detail: Option<String>,
    },
    TurnEnded(TurnEnd),
    /// The earlier messages come from the agent, once it has started.
    PastAwaited {
        agent: String,
    },
    /// They do not come.
    PastMissing {
        reason: String,
    },
    /// The process has ended: everything that was being written or run is cut off.
    ProcessEnded,
}

/// The end of a request, as it affects the tool call.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestEnd {
    /// `changed`: the input as the user edited it, if it differs.
    Allowed {
        changed: Option<RawInput>,
    },
    Denied,
    /// Withdrawn by the agent, or because it can no longer be answered.
    Withdrawn,
}

/// The notice after `/clear`.
pub const CLEARED: &str = "The conversation was cleared. The agent no longer knows the messages above";
