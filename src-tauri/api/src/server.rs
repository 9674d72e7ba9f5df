//! The protocol of `deskbell relay --serve`: requests of a client and replies of the server, one JSON object per line.
//!
//! Events of sessions are sent as `Envelope`, as by `deskbell relay`. docs/relay.md is the specification.

use super::agent::AgentKind;
use super::changes::{Against, HunkPlace};
use super::command::{Command, CommandError};
use super::id::SessionId;
use super::mode::PermissionMode;
use super::options::SessionOptions;
use super::query::SessionQuery;
use super::session::Status;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the protocol. It grows with every change that an older client or server cannot ignore.
pub const PROTOCOL: u32 = 1;

/// A request of a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Request {
    /// Opens a new session. Counts once per `id`, as do all requests with an `id`.
    Open {
        id: String,
        /// The run of the server to which the request was first sent. Another run refuses it, because it cannot know
        /// whether the request counted already.
        #[serde(default)]
        run: Option<String>,
        session: NewSession,
    },
    /// Subscribes to a session: to the events after number `after` of run `run` if the server still has them, otherwise
    /// to a snapshot and the events after it.
    Attach {
        session_id: SessionId,
        #[serde(default)]
        after: Option<u64>,
        #[serde(default)]
        run: Option<String>,
    },
    /// Ends the subscription to a session.
    Detach { session_id: SessionId },
    /// A command to a session.
    Command {
        id: String,
        #[serde(default)]
        run: Option<String>,
        session_id: SessionId,
        command: Command,
    },
    /// Ends a session and removes it from the server. The agent's own transcript stays where it is.
    Remove {
        id: String,
        #[serde(default)]
        run: Option<String>,
        session_id: SessionId,
    },
    /// Reverts a change in the session's folder, or undoes that. Only to a server that names `revert` in `hello`.
    Revert {
        id: String,
        #[serde(default)]
        run: Option<String>,
        session_id: SessionId,
        change: RevertRequest,
    },
    /// The client has processed every event of the session up to `seq`.
    Ack { session_id: SessionId, seq: u64 },
    /// Asks for a text of a session. It changes nothing, so it can be asked again. Answered by `answer`.
    Ask { nr: u64, session_id: SessionId, question: SessionQuery },
    /// Answered by `pong`. A client that sends nothing for a minute is disconnected.
    Ping { nr: u64 },
    /// Answered by `sessions`.
    List,
    /// A server of this newer version asks this one to leave, if it is idle.
    Retire { version: String },
}

/// The parameters of a new session, as the options of `deskbell relay`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewSession {
    /// The agent's working folder, as an absolute path.
    pub project: String,
    /// A program path, `demo`, or the name of another agent. `null` searches for Claude Code.
    #[serde(default)]
    pub agent: Option<String>,
    /// The name of a profile in the settings, instead of `agent`. What is given here counts before its choices.
    #[serde(default)]
    pub profile: Option<String>,
    /// The `agentSessionId` of the conversation to continue.
    #[serde(default)]
    pub resume: Option<String>,
    /// The conversation to begin as a copy of. Only to a server that names `fork` in `hello`.
    #[serde(default)]
    pub fork: Option<NewFork>,
    /// The title, until the conversation has one of its own.
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default)]
    pub model: Option<String>,
    #[serde(default)]
    pub mode: Option<PermissionMode>,
    /// What the agent is started with. `model` counts before the one in it.
    #[serde(default)]
    pub options: Box<SessionOptions>,
    /// Loads the folder's own settings while this server runs, whatever the user decided earlier.
    #[serde(default)]
    pub trust: bool,
}

/// The conversation that a new session begins as a copy of. It is only read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewFork {
    /// Its `agentSessionId`.
    pub of: String,
    /// The copy ends before the prompt with this id; `null` copies all.
    #[serde(default)]
    pub before: Option<String>,
}

/// A change in the folder of a session that is reverted, or a revert that is undone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum RevertRequest {
    /// Makes a file, or one hunk of it, what it was in the last commit, or at a prompt.
    Revert {
        #[serde(default)]
        against: Against,
        path: String,
        /// The earlier name of a renamed file, which it gets back.
        #[serde(default)]
        old_path: Option<String>,
        /// That of the diff that was shown. A file that has changed since is left alone.
        version: String,
        #[serde(default)]
        hunk: Option<HunkPlace>,
    },
    /// Undoes the revert with this request id, if the server still knows it and no file has changed since.
    Undo { of: String },
}

/// The names of the queries and requests that came after the first servers of this protocol. `hello` has those that a
/// server answers.
pub fn later_names() -> impl Iterator<Item = &'static str> {
    SessionQuery::later_names().chain(["revert", "fork"])
}

impl Request {
    /// Its name in `hello`; `None` if every server of this protocol carries it out.
    pub fn later_name(&self) -> Option<&'static str> {
        match self {
            Self::Revert { change: RevertRequest::Revert { against, .. }, .. } => {
                against.later_name().or(Some("revert"))
            }
            Self::Revert { .. } => Some("revert"),
            // An older server would begin an empty conversation instead.
            Self::Open { session, .. } if session.fork.is_some() => Some("fork"),
            Self::Ask { question, .. } => question.later_name(),
            _ => None,
        }
    }
}

/// A line of the server that is not an event of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Reply {
    /// The first line of every connection.
    Hello {
        protocol: u32,
        version: String,
        host: String,
        /// Changes with every start of the machine; `null` where the system has none.
        boot_id: Option<String>,
        /// Changes with every start of the server. Event numbers and request ids are valid within a run.
        run: String,
        pid: u32,
        sessions: Vec<SessionSummary>,
        /// Those of [`later_names`] that it answers. An earlier server names none.
        #[serde(default)]
        questions: Vec<String>,
    },
    Sessions {
        sessions: Vec<SessionSummary>,
    },
    /// The subscription begins. The events after `after` follow; `null`: first a snapshot.
    Attached {
        session_id: SessionId,
        after: Option<u64>,
    },
    /// The request with this id counted. A prompt is on disk.
    Accepted {
        id: String,
        /// The session that was opened, or that the command was for.
        session_id: SessionId,
    },
    /// The request with this id did not count, or the server cannot know whether it did: see `reason`.
    Refused {
        id: String,
        reason: Refusal,
        error: CommandError,
    },
    /// The session was removed. The subscription ended.
    Removed {
        session_id: SessionId,
    },
    /// The answer to `ask`; `error` if there is none.
    Answer {
        nr: u64,
        #[serde(default)]
        answer: Value,
        #[serde(default)]
        error: Option<CommandError>,
    },
    Pong {
        nr: u64,
    },
    /// The server leaves, as a newer version asked.
    Retiring,
    /// The server does not leave.
    Busy,
    /// A line that is not a request, or a limit that was reached.
    Problem {
        error: CommandError,
    },
}

/// The reason of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Refusal {
    /// The session refused the command; nothing happened.
    Command,
    /// The request was first sent to an earlier run of the server. It may have counted there: the session shows it.
    Restarted,
    /// There is no such session; nothing happened.
    NoSession,
    /// Too many sessions, or too many requests at once; nothing happened.
    Limit,
    /// The server is about to leave; nothing happened. Connect again.
    Leaving,
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSummary {
    pub id: SessionId,
    pub title: String,
    pub project: String,
    pub agent: AgentKind,
    pub status: Status,
    /// Whether the agent's process is running.
    pub alive: bool,
    pub pid: Option<u32>,
    /// Open permission requests.
    pub n_requests: u32,
    /// Prompts that will be sent.
    pub n_queued: u32,
    /// Prompts that are kept until the user sends them.
    pub n_held: u32,
    pub n_background: u32,
    /// Turns that the agent will begin by itself.
    #[serde(default)]
    pub n_scheduled: u32,
    /// What the session cost so far, in US dollars, as the agent says; 0 if nothing is known.
    #[serde(default)]
    pub cost_usd: f64,
    pub changed_at: u64,
    /// The number of the last event.
    pub seq: u64,
}
