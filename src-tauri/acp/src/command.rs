//! Commands to an agent, and why one is refused before anything is written.

use crate::event::RequestKey;
use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub enum AcpCommand {
    /// The first command. Says what this side can do, and learns what the agent can.
    Initialize {
        /// The version of Deskbell.
        version: String,
    },
    Login {
        method: String,
    },
    Logout,
    NewSession {
        folder: String,
    },
    /// Continues a stored session and has its history repeated as events.
    LoadSession {
        id: String,
        folder: String,
    },
    /// Continues a stored session without its history.
    ResumeSession {
        id: String,
        folder: String,
    },
    ListSessions {
        folder: Option<String>,
        /// From `Stored`: the next page.
        next: Option<String>,
    },
    DeleteSession {
        id: String,
    },
    Prompt(Vec<PromptPart>),
    /// Ends the turn: open requests are cancelled first.
    Interrupt,
    SetMode {
        id: String,
    },
    SetModel {
        id: String,
    },
    SetOption {
        id: String,
        value: NewValue,
    },
    /// Answers a permission request with one of its options.
    Choose {
        request: RequestKey,
        option: String,
    },
    /// Answers the questions of a permission request, by their index, with the option that lets the call go on.
    Answer {
        request: RequestKey,
        option: String,
        answers: Vec<(usize, String)>,
    },
    /// Answers a question. The values are by the names of its fields.
    Fill {
        request: RequestKey,
        values: Vec<(String, Value)>,
    },
    /// The user does not answer this question.
    Decline {
        request: RequestKey,
    },
    /// Cancels an open request of either kind.
    Cancel {
        request: RequestKey,
    },
    /// The last command: cancels what is open, ends the turn and closes the session, in this order.
    Stop,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptPart {
    Text(String),
    Image {
        media_type: String,
        data: String,
    },
    /// A document that is no text, as base64.
    Document {
        uri: String,
        media_type: String,
        data: String,
    },
    /// A file of the project that the agent may read.
    Link {
        uri: String,
        name: String,
    },
    /// A file with its text. An agent that takes no files gets the text alone.
    File {
        uri: String,
        text: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewValue {
    Choice(String),
    Switch(bool),
}

/// Why a command was not sent. Nothing changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AcpRefusal {
    /// `Initialize` was sent already, or is not answered yet.
    NotNow,
    /// The agent does not offer this.
    NotOffered,
    /// There is no session yet.
    NoSession,
    /// This process has a session already. Loading a live one repeats, fails or overwrites it, by agent.
    HasSession,
    /// A turn is running.
    TurnRunning,
    /// No turn is running.
    NoTurn,
    /// The request is answered or withdrawn, or is of the other kind.
    NotOpen,
    /// The request has no such option.
    NoSuchOption,
    /// The session has no such mode or setting, or the setting no such value.
    NoSuchSetting,
    /// The value of this field is missing or of a wrong type, or there is no such field.
    WrongField(String),
    /// The prompt is empty.
    Empty,
    /// The agent is stopping.
    Stopping,
}
