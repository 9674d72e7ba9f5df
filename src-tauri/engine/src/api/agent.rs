//! The agent program: which one, whether it asks, and what it offers.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Which program speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum AgentKind {
    Claude,
    Demo,
}

/// Which agent program a new session would run, and why that one.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AgentView {
    Found {
        kind: AgentKind,
        program: String,
        source: String,
    },
    /// Not found: every place that was looked at, and what was wrong there.
    Missing {
        tried: Vec<Tried>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Tried {
    /// A path, or the name of a variable.
    pub place: String,
    pub problem: String,
}

/// What the doctor says of the agent.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Checkup {
    /// Which one, and why that one; or what was tried.
    pub agent: AgentView,
    pub version: Option<String>,
    pub channel: PermissionChannel,
}

/// Whether an agent asks before it acts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PermissionChannel {
    Asks,
    /// It went on without a word where it must ask.
    NeverAsks,
    /// It could not be seen: why.
    Unknown {
        reason: String,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// What `setModel` takes.
    pub name: String,
    pub label: String,
    pub description: String,
    /// The full name behind `name`, as `Session::model` has it once a turn began.
    pub resolved: Option<String>,
    /// From the least to the most; empty if it has none.
    pub effort_levels: Vec<String>,
    pub can_stop_thinking: bool,
    /// It can judge by itself what needs asking: the mode `auto`.
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
