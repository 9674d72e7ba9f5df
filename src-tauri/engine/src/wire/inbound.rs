//! What the agent says, each line by its kind.

use super::control::ControlRequest;
use super::message::{Assistant, TokenUsage, User};
use super::stream::Stream;
use serde::Deserialize;
use serde_json::{Map, Value};

/// One line of the agent's stdout, or of its transcript on disk: both have the same shapes.
#[derive(Clone, Debug, PartialEq)]
pub enum Inbound {
    Init(Box<Init>),
    Assistant(Box<Assistant>),
    User(Box<User>),
    Stream(Box<Stream>),
    Result(Box<TurnResult>),
    /// The agent asks something of us; it waits for the answer.
    ControlRequest {
        request_id: String,
        request: ControlRequest,
    },
    /// The answer to something we asked.
    ControlResponse {
        request_id: String,
        outcome: Result<Value, String>,
    },
    /// The agent takes a request back.
    ControlCancel {
        request_id: String,
    },
    /// `requesting`, `compacting`, nothing; or a new permission mode.
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
    },
    /// `/clear`: the next `init` brings a new session id. (`new_conversation_id` is not it.)
    ConversationReset,
    /// A denial that nobody was asked about.
    PermissionDenied {
        tool: String,
        message: String,
    },
    RateLimit {
        status: String,
        resets_at: Option<u64>,
    },
    Hook {
        event: String,
        name: String,
        outcome: Option<String>,
    },
    /// `queued`, `started`, `completed`, `cancelled`; absent on 2.1.197.
    Lifecycle {
        uuid: String,
        state: String,
    },
    /// A background task or subagent ended, with its summary.
    TaskEnded {
        task_id: String,
        /// The call that began it.
        tool_use_id: Option<String>,
        status: String,
        summary: String,
    },
    BackgroundTasks {
        n: usize,
    },
    Title {
        title: String,
    },
    /// Of a kind that needs nothing from us.
    Unknown {
        kind: String,
    },
    /// Not a message. `line` is cut to its first 4 KiB.
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
    #[serde(rename = "permissionMode")]
    pub permission_mode: Option<String>,
    pub claude_code_version: Option<String>,
    /// Absent on versions that feature nothing of it: treat them as old.
    pub capabilities: Option<Vec<Value>>,
    pub slash_commands: Vec<String>,
    pub terminal_slash_commands: Vec<String>,
    pub tools: Vec<String>,
    /// Where the agent keeps its own notes.
    pub memory_paths: Map<String, Value>,
}

impl Init {
    /// Does it tell which prompts it took up, and when? (2.1.329 does, 2.1.197 does not.)
    pub fn tells_prompts(&self) -> bool {
        self.capabilities.iter().flatten().any(|capability| capability == "msg_lifecycle_v1")
    }
}

/// The end of a turn. Judge it by `is_error`, never by `subtype` alone.
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
    /// Of the whole session, not of the turn.
    pub total_cost_usd: f64,
    pub usage: Option<TokenUsage>,
    #[serde(rename = "modelUsage")]
    pub model_usage: Map<String, Value>,
    /// The prompts that this turn consumed; absent on 2.1.197.
    pub user_message_uuids: Option<Vec<String>>,
    pub origin: Option<Origin>,
    pub uuid: Option<String>,
}

impl TurnResult {
    /// The window of the model that works. Every model that the session used is told of, those of subagents and those
    /// that were switched away from among them; for one that is not, the largest window is taken.
    pub fn context_window(&self, model: Option<&str>) -> Option<u64> {
        let window = |usage: &Value| usage.get("contextWindow")?.as_u64();
        let own = model.and_then(|model| self.model_usage.get(model)).and_then(window);
        own.or_else(|| self.model_usage.values().filter_map(window).max())
    }

    /// What failed, in the agent's words; internal diagnostics are not for people.
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
    /// `None`: the network, not the service.
    pub error_status: Option<u16>,
    pub error: Option<String>,
}
