//! The facts of a session.

use super::agent::{AgentKind, Model, SlashCommand};
use super::id::SessionId;
use super::permission::PermissionRequest;
use super::prompt::QueuedPrompt;
use super::rules::{ChannelFault, RulesInForce};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// One conversation with one agent in one project.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    pub id: SessionId,
    pub title: String,
    /// The project's folder.
    pub project: String,
    /// Which agent: `claude` or `demo`.
    pub agent: AgentKind,
    /// The agent's own id of this conversation; `null` until it gave one.
    pub agent_session_id: Option<String>,
    pub status: Status,
    /// Is there a process? Not the same as working: an idle session may or may not have one.
    pub alive: bool,
    pub pid: Option<u32>,
    pub agent_version: Option<String>,
    pub model: Option<String>,
    pub mode: String,
    /// The level that counts; `null` where the model has none, or nobody said.
    pub effort: Option<String>,
    pub thinking: bool,
    /// As they were told last; `null` until somebody asked.
    pub rules: Option<RulesInForce>,
    /// The agent did not ask where it must: to be shown for as long as its process lives.
    pub channel_fault: Option<ChannelFault>,
    /// What the agent offers; empty until it said so.
    pub models: Vec<Model>,
    pub commands: Vec<SlashCommand>,
    /// Accepted prompts that were not sent yet, in order.
    pub queue: Vec<QueuedPrompt>,
    /// The turn that runs can take up another prompt: the agent tells which prompts it took.
    pub takes_into_turn: bool,
    /// Open permission requests, oldest first.
    pub requests: Vec<PermissionRequest>,
    pub usage: Usage,
    pub created_at: u64,
    /// The last time anything happened in it.
    pub changed_at: u64,
    /// The turn that runs now began then.
    pub turn_started_at: Option<u64>,
    /// Its agent runs, or ran last, without the folder's own settings: `--setting-sources=user --strict-mcp-config`.
    pub restricted: bool,
}

/// Whose turn it is, in the words that are shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Status {
    /// Nothing to do; the last turn, if any, was seen.
    Idle,
    /// The process is coming up.
    Starting,
    /// A turn runs. `activity` is what it does just now, in plain words.
    Working { activity: String },
    /// The user asked the turn to end; it has not yet.
    Interrupting,
    /// A person has to answer. `what` is one line: “Wants to run a command”.
    NeedsInput { what: String },
    /// The last turn ended well.
    Completed,
    /// The last turn, or the process, failed. `message` is one line for people.
    Failed { message: String },
    /// The process crashed and comes up again: attempt `attempt` at `at`.
    Restarting { attempt: u32, at: u64 },
    /// The process is being ended.
    Stopping,
    /// The user stopped it.
    Stopped,
}

/// Tokens and money. Cost is the agent's own figure in US dollars.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// In the context at the end of the last turn: input, cached or not, and output.
    pub context_tokens: u64,
    /// The model's window; `null` until the agent said so.
    pub context_window: Option<u64>,
    /// Of the whole session.
    pub cost_usd: f64,
    pub output_tokens: u64,
}
