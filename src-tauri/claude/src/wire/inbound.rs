//! Messages from the agent, one variant per kind of line.

use super::control::ControlRequest;
use super::message::{Assistant, TokenUsage, User};
use super::stream::Stream;
use super::task::Task;
use crate::limits::LimitReport;
use serde::Deserialize;
use serde_json::{Map, Value};

/// One line of the agent's stdout, or of its transcript on disk: both use the same shapes.
#[derive(Clone, Debug, PartialEq)]
pub enum Inbound {
    Init(Box<Init>),
    Assistant(Box<Assistant>),
    User(Box<User>),
    Stream(Box<Stream>),
    Result(Box<TurnResult>),
    /// A request from the agent, which waits for the response.
    ControlRequest {
        request_id: String,
        request: ControlRequest,
    },
    /// The response to a request of ours.
    ControlResponse {
        request_id: String,
        outcome: Result<Value, String>,
    },
    /// The agent withdraws a request.
    ControlCancel {
        request_id: String,
    },
    /// `requesting`, `compacting` or none; or a new permission mode.
    Status {
        status: Option<String>,
        permission_mode: Option<String>,
    },
    /// `running`, `requires_action`, `idle`.
    SessionState {
        state: String,
    },
    ApiRetry(Retry),
    CompactBoundary {
        trigger: String,
        pre_tokens: Option<u64>,
        /// Tokens in the context after compaction.
        post_tokens: Option<u64>,
    },
    /// `/clear`: the next `init` has a new session id. (`new_conversation_id` is not that id.)
    ConversationReset,
    /// A denial without a permission request.
    PermissionDenied {
        tool: String,
        message: String,
    },
    RateLimit(LimitReport),
    /// A hook began, or ended if there is an outcome.
    Hook {
        event: String,
        name: String,
        outcome: Option<String>,
        exit_code: Option<i64>,
        /// Both outputs.
        output: String,
        /// The message for the user in its output.
        message: Option<String>,
    },
    /// The agent could not compact the conversation.
    CompactFailed {
        error: Option<String>,
    },
    /// A message of the agent for the user, outside of any reply.
    Informational {
        level: String,
        text: String,
    },
    /// A tool that runs for long still runs (2.1.329: every 30 s). Has no output.
    Heartbeat,
    /// `queued`, `started`, `completed`, `cancelled`; absent on 2.1.197.
    Lifecycle {
        uuid: String,
        state: String,
    },
    /// A background task or subagent ended, with its summary.
    TaskEnded {
        task_id: String,
        /// The tool call that started the task.
        tool_use_id: Option<String>,
        status: String,
        summary: String,
        /// The report of a subagent. If the agent's summary is the report itself, `summary` is empty.
        report: Option<String>,
    },
    /// A command or a subagent began, or a subagent reports its progress. It does not have to be in the background.
    Task(Box<Task>),
    /// The running background tasks. Absent on 2.1.197.
    BackgroundTasks {
        tasks: Vec<Task>,
    },
    Title {
        title: String,
    },
    /// The agent failed outside of any reply; contains its message. No `result` follows.
    Error {
        words: String,
    },
    /// Before it exits, the agent reports data that it could not write to disk (2.1.329).
    WritesLost {
        /// `ENOSPC` or `EDQUOT`.
        error_code: String,
        /// Lost lines belong to the conversation, not only to the agent's own settings.
        transcript: bool,
    },
    /// A kind of message that needs no action.
    Unknown {
        kind: String,
    },
    /// Not a message. `line` is truncated to 4 KiB.
    Unreadable {
        line: String,
        error: String,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Init {
    pub session_id: String,
    pub model: Option<String>,
    /// `none`, or the place of the API key, such as a variable.
    #[serde(rename = "apiKeySource")]
    pub api_key_source: Option<String>,
    #[serde(rename = "permissionMode")]
    pub permission_mode: Option<String>,
    pub claude_code_version: Option<String>,
    /// Absent on versions without this field: treat them as old.
    pub capabilities: Option<Vec<Value>>,
    pub slash_commands: Vec<String>,
    pub terminal_slash_commands: Vec<String>,
    pub tools: Vec<String>,
    /// Folders where the agent keeps its own notes.
    pub memory_paths: Map<String, Value>,
}

/// Tools that the agent offers its model only if it can ask.
const ASKING: [&str; 2] = ["AskUserQuestion", "ExitPlanMode"];

impl Init {
    /// Whether the agent reports its tools, and none of them asks the user.
    pub fn cannot_ask(&self) -> bool {
        !self.tools.is_empty() && !self.tools.iter().any(|tool| ASKING.contains(&tool.as_str()))
    }

    /// Folders where the agent keeps its own notes. It writes to them unasked, by design.
    pub fn own_folders(&self) -> impl Iterator<Item = &str> {
        self.memory_paths.values().filter_map(Value::as_str)
    }

    /// Whether the agent uses an API key instead of a login.
    pub fn has_api_key(&self) -> bool {
        self.api_key_source.as_deref().is_some_and(|source| !source.is_empty() && source != "none")
    }

    /// Does the agent report which prompts joined a turn, and when? (2.1.329 does, 2.1.197 does not.)
    pub fn reports_prompts(&self) -> bool {
        self.capabilities.iter().flatten().any(|capability| capability == "msg_lifecycle_v1")
    }
}

/// The end of a turn. Use `is_error` to detect failure, never `subtype` alone.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct TurnResult {
    pub subtype: String,
    pub is_error: bool,
    pub result: Option<String>,
    pub errors: Vec<String>,
    pub api_error_status: Option<u16>,
    pub terminal_reason: Option<String>,
    pub session_id: Option<String>,
    pub duration_ms: u64,
    pub num_turns: u64,
    /// Total of the session, not of the turn.
    pub total_cost_usd: Option<f64>,
    pub usage: Option<TokenUsage>,
    #[serde(rename = "modelUsage")]
    pub model_usage: Map<String, Value>,
    /// The prompts that this turn included; absent on 2.1.197.
    pub user_message_uuids: Option<Vec<String>>,
    pub origin: Option<Origin>,
    pub uuid: Option<String>,
}

impl TurnResult {
    /// The context window of this model in tokens. `model_usage` lists every model that the session used, including
    /// those of subagents and those used earlier. If `model` is not listed, the largest window is returned.
    pub fn context_window(&self, model: Option<&str>) -> Option<u64> {
        let window = |usage: &Value| usage.get("contextWindow")?.as_u64();
        let own = model.and_then(|model| self.model_usage.get(model)).and_then(window);
        own.or_else(|| self.model_usage.values().filter_map(window).max())
    }

    /// The agent's message about a failure, or its result text; internal diagnostics are skipped.
    pub fn words(&self) -> Option<String> {
        let errors = self.errors.iter().filter(|error| !error.starts_with("[ede_diagnostic]"));
        let text = self.result.iter().chain(errors).find(|text| !text.trim().is_empty());
        text.map(|text| text.trim().to_owned())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Origin {
    pub kind: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Retry {
    pub attempt: u32,
    pub max_retries: u32,
    pub retry_delay_ms: f64,
    /// `None`: a network failure instead of an API error.
    pub error_status: Option<u16>,
    pub error: Option<String>,
}
