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

/// The settings files of Claude Code that may have rules, for a folder and its user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RuleFileList {
    pub files: Vec<RuleFile>,
    pub folder: FolderRules,
}

/// The effect of the rules in a folder's own files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum FolderRules {
    /// The folder is trusted as it is now.
    InEffect,
    /// The folder's own settings are not loaded.
    Restricted,
    /// The files changed, and the user keeps the settings that were trusted before.
    Kept,
    /// The user has not decided yet, or not about the last change.
    Undecided,
}

/// A settings file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RuleFile {
    /// `local`, `project` or `user`.
    pub origin: RuleOrigin,
    /// Absolute path.
    pub path: String,
    /// The real path, if a link leads there.
    pub link: Option<String>,
    /// By effect, in the order in which they are written.
    pub rules: Vec<FileRule>,
    /// The reason why the file could not be read. Its rules are unknown then.
    pub problem: Option<String>,
}

/// A rule in a settings file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FileRule {
    pub effect: RuleEffect,
    /// As it is written: `Read(/src/**)`.
    pub rule: String,
    /// Other forms in which the agent lists it: a copy of the settings has `Read(//home/me/project/src/**)`.
    pub forms: Vec<String>,
}

/// Names a rule in a settings file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RulePlace {
    /// The path of the file, from [`RuleFileList`].
    pub path: String,
    pub effect: RuleEffect,
    pub rule: String,
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
