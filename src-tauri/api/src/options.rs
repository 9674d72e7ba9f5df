//! Options of a session: what its agent is started with. Presets of them are in the settings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use ts_rs::TS;

/// What a session's agent is started with, beyond the user's own configuration. Every field is optional. A change takes
/// effect at the next start of the agent, except those of the model, the effort and the hibernation.
///
/// None of them turns off asking or trust. [`OptionProblem`] says what is refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SessionOptions {
    /// A model that the agent knows; `null` is the agent's default.
    pub model: Option<String>,
    /// Models for when the first one is overloaded or unavailable, in order. At most 8.
    pub fallback_models: Vec<String>,
    /// An effort level of the model, such as `low` or `high`; `null` is the agent's default.
    pub effort: Option<String>,
    pub system_prompt: Option<SystemPrompt>,
    /// The most turns of the model for one prompt, 1 to 10,000: its replies with their tool calls.
    pub max_turns: Option<u32>,
    /// The most that one start of the agent may cost, in US dollars: 0.01 to 100,000. The agent counts from 0 at each
    /// start and checks after each of the model's replies, so the last one can exceed it.
    pub max_budget_usd: Option<f64>,
    /// More folders that the agent works in, as absolute paths. It reads there without asking. At most 16.
    pub folders: Vec<String>,
    /// Permission rules that allow without asking, such as `Bash(git status)`. At most 100 of 500 bytes each.
    pub allowed_tools: Vec<String>,
    /// Permission rules that deny. A tool without parentheses is not offered to the model. At most 100 of 500 bytes each.
    pub disallowed_tools: Vec<String>,
    /// The absolute path of a JSON file with MCP servers (`mcpServers`), outside of the project, of at most 256 KiB. Its
    /// servers are started with the agent.
    #[schemars(extend("startsPrograms" = true))]
    pub mcp_config: Option<String>,
    /// Receives messages of your other sessions of Claude Code, in a folder that is trusted. Each begins a turn or joins one.
    pub receives_messages: bool,
    /// Environment variables of the agent and of everything that it runs. At most 50.
    #[schemars(extend("startsPrograms" = true))]
    pub environment: Vec<EnvironmentVariable>,
    /// More arguments of the agent, from a fixed list, each as `--flag` or `--flag=value`. At most 20.
    pub arguments: Vec<String>,
    /// Idle time in minutes after which the agent's process ends: 0 to 10,080, 0 is never. `null` is the setting
    /// `agent.hibernateMinutes`.
    pub hibernate_minutes: Option<u32>,
}

/// A system prompt of the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SystemPrompt {
    /// At most 16 KiB.
    pub text: String,
    /// It replaces the agent's own system prompt; otherwise it is appended to it.
    pub replace: bool,
}

/// An environment variable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentVariable {
    /// Letters, digits and `_`, at most 100. Names that make programs run other code or send data elsewhere are refused.
    pub name: String,
    /// At most 4,096 bytes.
    #[serde(default)]
    pub value: String,
}

/// Options under a name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Preset {
    /// One line of at most 60 characters; unique.
    pub name: String,
    #[serde(default)]
    pub options: SessionOptions,
    /// The projects whose new sessions begin with it, as absolute paths.
    #[serde(default)]
    pub projects: Vec<String>,
}

/// A field of [`SessionOptions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum OptionField {
    Model,
    FallbackModels,
    Effort,
    SystemPrompt,
    MaxTurns,
    MaxBudgetUsd,
    Folders,
    AllowedTools,
    DisallowedTools,
    McpConfig,
    ReceivesMessages,
    Environment,
    Arguments,
    HibernateMinutes,
}

/// Something about a field: why its value is refused, or what it means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OptionProblem {
    pub field: OptionField,
    /// The entry of a list, from 0.
    pub index: Option<u32>,
    pub message: String,
}

/// In one line: `folders[1]: The folder does not exist.`
impl fmt::Display for OptionProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = serde_json::to_value(self.field).unwrap_or_default();
        f.write_str(name.as_str().unwrap_or_default())?;
        if let Some(index) = self.index {
            write!(f, "[{index}]")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// A server that the MCP config of the options would start or connect to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OptionServer {
    /// The finding in words: “Starts a server”.
    pub title: String,
    pub name: Option<String>,
    /// Its command with arguments, or its address.
    pub command: String,
}

/// What an agent would be started with, and what is wrong with the options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OptionsReview {
    /// Reasons why the options are refused. Without any, they can be saved.
    pub problems: Vec<OptionProblem>,
    /// What to know about accepted values.
    pub warnings: Vec<OptionProblem>,
    pub servers: Vec<OptionServer>,
    /// The program; `null` if the agent cannot be started now.
    pub program: Option<String>,
    /// The reason why the agent cannot be started now.
    pub obstacle: Option<String>,
    /// The arguments of the next start. Without a program only those of the options.
    pub arguments: Vec<String>,
    /// The variables that the options set.
    pub environment: Vec<EnvironmentVariable>,
}
