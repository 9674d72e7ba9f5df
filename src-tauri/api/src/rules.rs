//! Permission rules of an agent, and failures to ask for permission.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The rules that allow or deny actions of a session's agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RulesInForce {
    pub basis: RulesBasis,
    pub rules: Vec<Rule>,
    /// Folders in addition to the project in which it may work.
    pub directories: Vec<String>,
}

/// The reliability of a list of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum RulesBasis {
    /// The agent's own list of the rules in force.
    Agent,
    /// The agent does not list its rules. These are from the settings that it loaded, or were added in this session;
    /// whether each one is in force is unknown.
    Settings,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    pub effect: RuleEffect,
    /// The rule as written: `Bash(touch *)`.
    pub rule: String,
    pub origin: RuleOrigin,
}

/// The effect of a rule on the calls that it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum RuleEffect {
    Deny,
    Ask,
    Allow,
}

/// The origin of a rule, in display order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum RuleOrigin {
    /// Added in this session; lost when its process exits.
    Session,
    /// `.claude/settings.local.json`: this project, for me.
    Local,
    /// `.claude/settings.json`: this project, for everyone.
    Project,
    /// The folder's settings as the user trusted them: both of its files in one.
    Folder,
    /// The user's own settings, for all projects.
    User,
    /// The organisation's policy.
    Policy,
    /// The command line.
    Arguments,
    /// An unknown origin.
    Other,
}

/// A failure of the permission channel: the agent did not ask where it must, or cannot ask at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MissedPrompt {
    pub kind: MissedPromptKind,
    /// One line to show: “The agent ran a command without asking.”
    pub words: String,
    /// Exactly what it did without asking.
    pub subject: Option<String>,
}

/// The kind of failure of the permission channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum MissedPromptKind {
    /// It did something that needs permission, without a request.
    Unasked,
    /// It cannot send requests, so everything that needs permission is denied.
    CannotAsk,
}
