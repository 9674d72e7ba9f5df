//! The agent program: its location, its permission check, and the models and commands it offers.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The agent program of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum AgentKind {
    Claude,
    Demo,
}

/// The agent program that a new session would run, and where it was found.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AgentView {
    Found {
        kind: AgentKind,
        program: String,
        source: String,
    },
    /// Not found: every place that was searched, and the problem there.
    Missing {
        tried: Vec<Tried>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Tried {
    /// A path, or the name of an environment variable.
    pub place: String,
    pub problem: String,
}

/// Result of the agent check (`deskbell doctor`).
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Checkup {
    /// The program and its source, or the places that were tried.
    pub agent: AgentView,
    pub version: Option<String>,
    pub channel: PermissionChannel,
}

/// Whether an agent asks for permission before it acts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PermissionChannel {
    Asks,
    /// It acted without asking where it must ask.
    NeverAsks,
    /// The check could not be completed; `reason` says why.
    Unknown {
        reason: String,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// The value for `setModel`.
    pub name: String,
    pub label: String,
    pub description: String,
    /// The full model name for `name`, as in `Session::model` after the first turn has begun.
    pub resolved: Option<String>,
    /// From lowest to highest; empty if the model has none.
    pub effort_levels: Vec<String>,
    pub can_stop_thinking: bool,
    /// The model can decide by itself which calls need permission: the mode `auto`.
    pub can_decide: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SlashCommand {
    /// Without the slash.
    pub name: String,
    pub description: String,
    pub argument_hint: String,
}
