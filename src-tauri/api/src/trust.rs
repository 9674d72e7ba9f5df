//! Folder trust: what a folder's settings would make the agent do, and the user's decision.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The trust view: shown in a window before an agent starts in a folder that is not trusted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TrustView {
    /// Absolute path of the folder, with links resolved.
    pub project: String,
    /// The agent that the decision is for; `null` for Claude Code. Each agent has a decision of its own.
    pub agent: Option<TrustAgent>,
    pub state: TrustStatus,
    /// The current findings, most dangerous first.
    pub findings: Vec<Finding>,
    /// Findings added and removed since the folder was trusted. Both may be empty if only the formatting changed.
    pub added: Vec<Finding>,
    pub removed: Vec<Finding>,
    /// Nothing runs, sends data elsewhere or gives the agent more permissions: a short question is enough.
    pub nothing_to_run: bool,
    /// Identifies exactly what is shown, and is returned with `trust`. `null` if a file could not be read or shown
    /// completely, so that the folder cannot be trusted in its current state.
    pub fingerprint: Option<String>,
    /// The previously trusted settings still exist, so `keep` is possible.
    pub can_keep: bool,
    /// Settings with unknown effects. They are left out unless the user names them.
    #[serde(default)]
    pub unknown_settings: Vec<UnknownSetting>,
}

/// A setting with unknown effects. It is loaded only if the user trusts it by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UnknownSetting {
    /// The key in the settings file.
    pub name: String,
    /// The user has named it.
    pub is_loaded: bool,
}

/// An agent other than Claude Code that a trust decision is for. It loads the folder's own files, and no copy of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TrustAgent {
    /// Names the decision.
    pub id: String,
    /// “Gemini CLI”
    pub name: String,
    /// The list of its files was not checked with its program: it may load more.
    pub unchecked: bool,
    /// The reason why it does not start in a folder that is not trusted; `null` if it can be restricted.
    pub trusted_only: Option<String>,
}

/// The trust state of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum TrustStatus {
    /// Not decided yet: ask.
    Unknown,
    /// Its settings are loaded, from a copy.
    Trusted,
    /// Its settings, its `CLAUDE.md`, skills and agents are not loaded. The app does not ask again by itself.
    Restricted,
    /// It was trusted, and its files have changed: ask again. Running agents keep the trusted settings.
    Changed,
    /// Its files have changed, and the user keeps the previously trusted settings. Ask again at the next change.
    Kept,
}

/// The user's decision about trusting a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum TrustDecision {
    /// Loads its settings, as long as they do not change.
    Trust,
    /// Works without its settings.
    Restrict,
    /// Continues with the previously trusted settings, without the change that was shown.
    Keep,
}

/// One relevant entry of a folder's settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    pub kind: FindingKind,
    pub severity: Severity,
    /// The file with the entry, relative to the folder: `.claude/settings.json`, `../.mcp.json`.
    pub file: String,
    /// The real path of the file, if it is reached through a link.
    pub link: Option<String>,
    /// In words: “Runs when a session starts”.
    pub title: String,
    /// Its name: a server's name, the tools that a hook applies to, a setting's key.
    pub name: Option<String>,
    /// The exact and complete command, address, rule or value. Must be drawn with every code point visible.
    pub text: String,
    /// All other fields of the entry.
    pub details: Vec<FindingDetail>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FindingDetail {
    pub name: String,
    pub value: String,
}

/// The severity of a finding, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// Runs a program as the user, or may do so. Includes entries that cannot be judged.
    Runs,
    /// Sends a key or data elsewhere, or changes which certificates or hosts are trusted.
    Redirects,
    /// Lets the agent do more without asking.
    Allows,
    /// Changes something else.
    Changes,
}

/// The kind of a finding, in display order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum FindingKind {
    /// A file that cannot be judged.
    Unreadable,
    /// The address for model requests, which also receives the API key.
    ApiAddress,
    Hook,
    /// An MCP server.
    Server,
    /// A command that generates a key or logs in.
    Helper,
    StatusLine,
    Plugin,
    Environment,
    /// The permission mode.
    Mode,
    AllowRule,
    /// A folder that is opened in addition to the project.
    Directory,
    /// Approves or disables servers.
    ServerApproval,
    Sandbox,
    /// A rule that denies or asks.
    NarrowingRule,
    Setting,
    /// A file with unusual syntax.
    Oddity,
}
