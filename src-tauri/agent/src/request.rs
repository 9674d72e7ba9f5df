//! The agent's requests to the host.

use crate::json::Input;
use serde_json::Value;
use std::sync::Arc;

/// A request from the agent.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentRequest {
    /// Shared, because its input can be large: the session keeps it until it is answered.
    Tool(Arc<ToolRequest>),
    /// Unsupported request: answered with an error, never with an allow.
    Unknown { name: String },
    /// A permission request that cannot be parsed: answered with a denial.
    Malformed { error: String },
}

/// A permission request: the agent asks whether it may use a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolRequest {
    pub tool_name: String,
    pub input: Input,
    pub tool_use_id: Option<String>,
    /// What the agent offers for “always allow”, in its own form.
    pub suggestions: Vec<Value>,
    pub blocked_path: Option<String>,
    /// The reason for the request. It may contain terminal colours.
    pub reason: Option<String>,
    /// The name of the tool as the agent displays it, if it says one.
    pub display_name: Option<String>,
    /// The MCP server of the tool, by its name.
    pub mcp_server: Option<String>,
    /// The subagent that asks; `None` for the main agent. It is the id of its task.
    pub agent_id: Option<String>,
}
