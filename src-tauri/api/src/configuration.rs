//! The configuration of a session's agent and its live state: MCP servers, hooks, plugins, skills, subagents and memory
//! files. All texts are the agent's own, and bounded.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// The parts that the agent reported last, and the state of the last request for them. A part is `null` until the agent
/// reported it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Configuration {
    /// When it was requested last.
    pub requested_at: Option<u64>,
    /// The parts that the agent has not reported yet since then.
    pub pending: Vec<ConfigurationPart>,
    /// Why parts are missing or old.
    pub problems: Vec<ConfigurationProblem>,
    pub servers: Option<Vec<McpServer>>,
    pub hooks: Option<Hooks>,
    /// Reported with the first turn of a process, and by `reloadPlugins`.
    pub plugins: Option<Vec<Plugin>>,
    pub skills: Option<Vec<Extension>>,
    pub subagents: Option<Vec<Extension>>,
    pub memory: Option<Vec<MemoryFile>>,
    /// Changes of servers that the agent has not confirmed yet, by the names of the servers.
    pub changing: Vec<String>,
    /// Changes of servers that failed, until the next change of that server.
    pub failures: Vec<ServerFailure>,
    /// The agent has not answered `reloadPlugins` yet.
    pub is_reloading: bool,
    /// Why the last `reloadPlugins` failed, or how many plugins have errors.
    pub reload_problem: Option<String>,
    /// How many entries were left out of the lists: too many of them, or names that are too long to show.
    pub n_left_out: u32,
}

/// A part of the configuration that is requested by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ConfigurationPart {
    Servers,
    Hooks,
    /// Skills, subagents and memory files.
    Extensions,
}

/// Why a part is missing or old.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ConfigurationProblem {
    pub part: ConfigurationPart,
    /// A text to show.
    pub text: String,
}

/// A change of a server that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ServerFailure {
    pub server: String,
    /// A text to show.
    pub text: String,
}

/// An MCP server that the agent knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct McpServer {
    /// Exactly as the agent reports it. Commands name the server by it.
    pub name: String,
    pub status: McpStatus,
    /// The agent's own word where `status` is `other`.
    pub status_word: Option<String>,
    /// Where it is configured: `project`, `user`, `local`, `dynamic`, …
    pub scope: Option<String>,
    /// `stdio`, `http`, `sse`, …
    pub transport: Option<String>,
    /// The command with its arguments, or the address without its query.
    pub target: Option<String>,
    /// The name and version that the server reports of itself.
    pub server_info: Option<String>,
    /// Why it is not connected, in the agent's words.
    pub error: Option<String>,
    pub tools: Vec<McpTool>,
    /// All of its tools; `tools` may have fewer.
    pub n_tools: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum McpStatus {
    Connected,
    Failed,
    /// It needs a login.
    NeedsAuth,
    Pending,
    /// Turned off.
    Disabled,
    /// A status that Deskbell does not know.
    Other,
}

/// A tool of an MCP server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct McpTool {
    pub name: String,
    /// The server says that it changes nothing.
    pub is_read_only: bool,
}

/// The hooks that the agent loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Hooks {
    pub hooks: Vec<Hook>,
    /// All hooks are turned off.
    pub are_disabled: bool,
    /// Only hooks of the organisation's policy run.
    pub are_managed: bool,
}

/// One hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Hook {
    /// `PreToolUse`, `Stop`, …
    pub event: String,
    /// The tools or events that it is for; `null` for all.
    pub matcher: Option<String>,
    /// `command`, `prompt`, …
    pub kind: String,
    /// What it runs.
    pub text: String,
    /// Where it is configured, in the agent's words.
    pub origin: String,
    /// In seconds.
    pub timeout_s: Option<u64>,
}

/// A plugin that the agent loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Plugin {
    pub name: String,
    /// Its folder, or `builtin`.
    pub path: Option<String>,
    /// Where it was installed from: `name@marketplace`.
    pub origin: Option<String>,
}

/// A skill or a subagent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Extension {
    pub name: String,
    pub description: Option<String>,
    /// `null` for a subagent of the agent's own.
    pub origin: Option<String>,
    pub path: Option<String>,
    pub model: Option<String>,
}

/// A file that the agent's context begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MemoryFile {
    pub path: String,
    /// The agent's own word: `Project`, `User`, …
    pub kind: Option<String>,
    pub tokens: Option<u64>,
}
