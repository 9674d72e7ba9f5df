//! The agent's requests to the host.

use crate::api::{Form, Question};
use crate::call::ServerToolNames;
use crate::json::Input;
use crate::option::{AnswerOption, OptionKind};
use crate::tool::ToolKind;
use std::sync::Arc;

/// The tool of a request about a message of another session: its answer lets the message in or drops it.
pub const HELD_MESSAGE: &str = "Message of another session";

/// The message to the agent for a denial without a reason.
pub const NO_REASON: &str = "The user said no.";

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
    /// What the call would do, as the driver reads it.
    pub asked: AskedCall,
    /// The answers that the agent offers, in its order. Their ids are unique.
    pub options: Vec<AnswerOption>,
    pub blocked_path: Option<String>,
    /// The reason for the request. It may contain terminal colours.
    pub reason: Option<String>,
    /// What the agent does not say about the call, in words of the driver.
    pub unreported: Option<String>,
    /// The name of the tool as the agent displays it, if it says one.
    pub display_name: Option<String>,
    /// The MCP server of the tool, by its name.
    pub mcp_server: Option<String>,
    /// The same names, if the tool's own name is that of a server's tool.
    pub server_tool: Option<ServerToolNames>,
    /// The subagent that asks; `None` for the main agent. It is the id of its task.
    pub agent_id: Option<String>,
    /// The agent takes no answer but its options, and only the input that it asked for.
    pub takes_only_options: bool,
}

impl ToolRequest {
    /// The option that allows this call and nothing else: the agent's first one.
    pub fn allow_once(&self) -> Option<&AnswerOption> {
        self.options.iter().find(|option| option.kind == OptionKind::AllowOnce)
    }
}

/// What a call would do. Texts are read from the text of the input, never from the agent's own description of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AskedCall {
    pub kind: ToolKind,
    /// The raw text of the command, file or address. `None` if the input has none, and for a tool whose whole input is
    /// shown.
    pub action: Option<String>,
    /// Every path in the input.
    pub paths: Vec<String>,
    /// The change of a file, if the input has it.
    pub change: Option<FileChange>,
    /// The input contains more than its action and, for an edit, its change.
    pub has_more: bool,
    /// The command alone, or the file and the change alone, say what would happen. Any other field, such as running
    /// unsandboxed, would too.
    pub is_only_action: bool,
    /// The instruction about a fetched page, if address and instruction alone say what would happen.
    pub fetch_prompt: Option<String>,
    /// The questions to the user; `None` if there is no list of them.
    pub questions: Option<Vec<Question>>,
    /// The plan that is proposed, which may be empty.
    pub plan: String,
    /// The file that the agent takes the plan from when it is approved.
    pub plan_file: Option<String>,
    /// The form to fill in. Then it is no tool call: the input is the request itself.
    pub form: Option<Form>,
}

/// A change of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileChange {
    pub path: String,
    /// Empty for the whole content of a file.
    pub old: String,
    pub new: String,
}
