//! What a folder would make its agent do, and whether its user lets it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// What a window shows before any agent starts in a folder that is not trusted.
#[derive(Clone, Debug, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TrustView {
    /// The folder, whole, links resolved.
    pub project: String,
    pub standing: TrustStanding,
    /// What the folder says now, the most dangerous first.
    pub findings: Vec<Finding>,
    /// If it changed since it was trusted: what is new, and what is gone. Both may be empty, if only the writing changed.
    pub added: Vec<Finding>,
    pub removed: Vec<Finding>,
    /// Nothing runs, sends anything elsewhere or widens what the agent may do: ask briefly.
    pub nothing_to_run: bool,
    /// Names exactly what is shown here, and goes back with `trust`. `null`: a file could not be read or shown whole, so
    /// the folder cannot be trusted as it is.
    pub fingerprint: Option<String>,
}

/// What the user decided about a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum TrustStanding {
    /// Nothing yet: ask.
    Unknown,
    /// Its settings are loaded.
    Trusted,
    /// Its settings are not loaded, nor its `CLAUDE.md`, skills and agents. Never asked again by itself.
    Restricted,
    /// It was trusted, and its files are not the same any more: ask again.
    Changed,
}

/// The answer to whether a folder is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum TrustDecision {
    /// Loads its settings, for as long as they stay the same.
    Trust,
    /// Works without them.
    Restrict,
}

/// One thing that a folder's settings say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    pub kind: FindingKind,
    pub severity: Severity,
    /// The file that says it, from the folder: `.claude/settings.json`, `../.mcp.json`.
    pub file: String,
    /// Where that file really lies, if a link leads there.
    pub link: Option<String>,
    /// In words: “Runs when a session starts”.
    pub title: String,
    /// What it goes by: a server's name, the tools that a hook is for, a setting's key.
    pub name: Option<String>,
    /// The command, address, rule or value, exactly and whole: to be drawn so that every code point shows.
    pub text: String,
    /// Whatever else the entry says.
    pub details: Vec<FindingDetail>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FindingDetail {
    pub name: String,
    pub value: String,
}

/// How bad a finding can be, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// Runs a program as the user, or may: what cannot be judged is here too.
    Runs,
    /// Sends a key or data elsewhere, or changes who is believed.
    Redirects,
    /// Lets the agent do more unasked.
    Allows,
    /// Changes something else.
    Changes,
}

/// What sort of thing a finding is, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum FindingKind {
    /// A file that cannot be judged.
    Unreadable,
    /// Where requests to the model go, and the API key with them.
    ApiAddress,
    Hook,
    /// An MCP server.
    Server,
    /// A command that makes a key or logs in.
    Helper,
    StatusLine,
    Plugin,
    Environment,
    /// The permission mode.
    Mode,
    AllowRule,
    /// A folder that is opened beside the project.
    Directory,
    /// Approves or turns off servers.
    ServerApproval,
    Sandbox,
    /// A rule that denies or asks.
    NarrowingRule,
    Setting,
    /// A file that is written in an unusual way.
    Oddity,
}
