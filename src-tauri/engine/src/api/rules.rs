//! The rules that an agent works by, and whether it asks as it must.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What lets a session's agent do things unasked, or keeps it from them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RulesInForce {
    pub basis: RulesBasis,
    pub rules: Vec<Rule>,
    /// Folders beside the project's that it may work in.
    pub directories: Vec<String>,
}

/// How far a list of rules can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum RulesBasis {
    /// The agent's own list of what is in force.
    Agent,
    /// The agent does not list its rules: these stand in the settings that it loaded, or were given in this session.
    /// Whether each of them counts, it does not say.
    Settings,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    pub effect: RuleEffect,
    /// As it is written: `Bash(touch *)`.
    pub rule: String,
    pub origin: RuleOrigin,
}

/// What a rule does with the calls that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum RuleEffect {
    Deny,
    Ask,
    Allow,
}

/// Where a rule comes from, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum RuleOrigin {
    /// Given in this session, and gone with its process.
    Session,
    /// `.claude/settings.local.json`: this project, for me.
    Local,
    /// `.claude/settings.json`: this project, for everyone.
    Project,
    /// The user's own settings, everywhere.
    User,
    /// The organisation's.
    Policy,
    /// The command line.
    Arguments,
    /// A place that is not known here.
    Other,
}

/// The agent did not ask where it must, or cannot ask at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ChannelFault {
    pub kind: ChannelFaultKind,
    /// One line for people: “The agent ran a command without asking.”
    pub words: String,
    /// What it did so, exactly.
    pub subject: Option<String>,
}

/// In which way the permission channel failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ChannelFaultKind {
    /// It did something that needs an answer, and nobody was asked.
    Unasked,
    /// It has nobody to ask, so whatever needs an answer is denied.
    CannotAsk,
}
