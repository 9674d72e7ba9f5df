//! Sessions in the agent's own store, whichever program created them.

use super::session::Session;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A conversation of the project as the agent stored it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StoredSession {
    /// The agent's own id of the conversation.
    pub agent_session_id: String,
    /// The user's title, or the agent's, or the last or the first prompt. One line.
    pub title: String,
    /// One line each, cut if long.
    pub first_prompt: Option<String>,
    pub last_prompt: Option<String>,
    /// The branch that was checked out last.
    pub branch: Option<String>,
    pub model: Option<String>,
    /// Time of its last message; 0 if the agent does not report it.
    pub changed_at: u64,
    pub state: StoredState,
    /// A process of the agent that has it open now, whichever program started that.
    pub live: Option<LiveProcess>,
    /// The profile whose agents keep it, in a folder of their own; `null` if it is in Claude Code's usual folder.
    pub profile: Option<String>,
    /// The name of the agent that keeps it, as its last process listed it; `null` if it is in Claude Code's store.
    #[serde(default)]
    pub agent: Option<String>,
}

/// The end of a stored conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum StoredState {
    /// The last turn ended with an answer.
    Completed,
    /// The last turn was stopped, or its process ended before the answer.
    Interrupted,
    /// The last turn ended with an error of the API.
    Failed { message: String },
    /// The end of the file could not be interpreted.
    Unknown,
}

/// A process that has a conversation open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LiveProcess {
    pub pid: u32,
    pub activity: LiveActivity,
}

/// The activity of such a process, as it reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum LiveActivity {
    Working,
    NeedsInput,
    /// Idle, or not reported.
    Open,
}

/// A session that begins as a copy of another one.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ForkedSession {
    pub session: Session,
    /// The prompt before which the copy ends; the user may change and send it.
    pub draft: Option<String>,
}

/// A mark of the user on a session, in Deskbell's list only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum SessionMark {
    /// Listed before the others.
    Pinned,
    /// Listed in a group that is closed by default.
    Archived,
}

/// A session with a mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MarkedSession {
    /// The agent's id of the conversation; the session's own id if the agent had none yet.
    pub id: String,
    pub mark: SessionMark,
}

/// A change of the list of stored sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StoredChange {
    /// New or changed sessions.
    pub changed: Vec<StoredSession>,
    /// The agent's ids of sessions that are gone.
    pub removed: Vec<String>,
    /// The list is as the store was when it was last read; more changes follow only when the store changes.
    pub is_complete: bool,
    /// Files that could not be read.
    pub n_unreadable: u32,
    /// Why the store could not be read.
    pub problem: Option<String>,
}
