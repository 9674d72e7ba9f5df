//! The saved part of a session: what outlives the app and the agent's process.

use crate::api::{PermissionMode, SessionOptions};
use crate::launch::Fork;
use crate::ledger::{LastCounters, Ledger};
use crate::prompt::Prompt;
use crate::rewind::SavedRewind;
use crate::transcript::changed_inputs::ChangedInput;
use deskbell_acp::ChosenAgent;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;

/// The part of a session that outlives the app. It is written to disk before any effect that depends on it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedSession {
    /// The agent, if it speaks ACP. The record's kind says whether it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acp: Option<ChosenAgent>,
    /// The name of the profile in the settings that it was begun with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The agent's folder of configuration, with its transcripts, if the profile had one of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_folder: Option<PathBuf>,
    pub agent_session_id: Option<String>,
    /// The agent can find the session again only after a finished turn (2.1.329).
    pub resumable: bool,
    /// The conversation is a copy of this one that the agent has not made yet. Until then the session shows the
    /// original's messages.
    pub fork: Option<Fork>,
    /// The conversation continues after this message, by its uuid; the agent has not stored a turn there yet.
    pub resume_at: Option<String>,
    /// Deskbell has no copy of the messages before the session: the agent is asked for them.
    pub lacks_past: bool,
    /// The last rewind, as long as it can be undone.
    pub rewound: Option<SavedRewind>,
    /// In order; prompts in flight come first.
    pub prompts: Vec<Prompt>,
    pub model: Option<String>,
    #[serde(deserialize_with = "known_mode")]
    pub mode: Option<PermissionMode>,
    pub title: Option<String>,
    /// The user chose the title, and the agent does not know it yet.
    pub renames: bool,
    pub effort: Option<String>,
    pub thinking_off: bool,
    /// What the agent is started with, without model and effort.
    pub options: SessionOptions,
    /// The user changed the system prompt after the conversation had begun.
    pub renews_system_prompt: bool,
    /// The session ran without asking. Its next process does not.
    pub bypassed: bool,
    pub cost_usd: f64,
    /// Cost and tokens by day and model. Its sum is `cost_usd`.
    pub ledger: Ledger,
    /// The last known counters of the agent.
    pub counters: Option<LastCounters>,
    /// Tool inputs that the user changed before they ran, oldest first.
    pub changed_inputs: Vec<ChangedInput>,
}

/// Reads a saved mode. An unknown mode becomes `None`: the agent then asks for everything.
fn known_mode<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<PermissionMode>, D::Error> {
    let saved = Value::deserialize(deserializer)?;
    let mode = saved.as_str().map(str::parse::<PermissionMode>);
    if let Some(Err(problem)) = &mode {
        tracing::warn!(%problem, "unknown permission mode in a saved session");
    }
    Ok(mode.and_then(Result::ok))
}
