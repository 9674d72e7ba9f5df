//! Profiles: an agent with its program, environment and choices, under a name.

use super::mode::PermissionMode;
use super::options::EnvironmentVariable;
use super::settings::UserCommand;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// An agent with what it is started with. No field of it turns off asking or trust.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Profile {
    /// One line of at most 60 characters; unique.
    pub name: String,
    /// An agent by its name on the command line, such as `gemini`; `null` is Claude Code, unless there is a `command`.
    #[serde(default)]
    pub agent: Option<String>,
    /// Any other agent that speaks the Agent Client Protocol. It starts only in a folder that you trust.
    #[serde(default)]
    pub command: Option<UserCommand>,
    /// The absolute path of the agent's program; `null` searches the usual places.
    #[serde(default)]
    #[schemars(extend("startsPrograms" = true))]
    pub program: Option<String>,
    /// Variables of the agent, such as the folder of its configuration (`CLAUDE_CONFIG_DIR`, `CODEX_HOME`). At most 50.
    #[serde(default)]
    #[schemars(extend("startsPrograms" = true))]
    pub environment: Vec<EnvironmentVariable>,
    /// A model that the agent knows.
    #[serde(default)]
    pub model: Option<String>,
    /// An effort level of the model.
    #[serde(default)]
    pub effort: Option<String>,
    /// A permission mode of Claude Code. Other agents begin in their mode that asks.
    #[serde(default)]
    pub mode: Option<PermissionMode>,
    /// The projects whose new sessions begin with it, as absolute paths.
    #[serde(default)]
    pub projects: Vec<String>,
}
