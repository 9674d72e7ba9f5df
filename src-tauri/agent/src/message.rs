//! Conversation messages and their content blocks.

use crate::tool::RawInput;
use serde_json::Value;

/// One content block of the agent's reply, or all of a short reply. The blocks of one reply share `message.id`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assistant {
    pub message: AssistantMessage,
    /// The call of the subagent that wrote it; `None` for the main agent.
    pub parent_tool_use_id: Option<String>,
    /// The class of a failure; the text then describes the failure.
    pub error: Option<ReplyError>,
    /// Interrupted before its end.
    pub aborted: bool,
    pub timestamp: Option<String>,
    pub thinking_duration_ms: Option<u64>,
    /// The agent itself wrote it, not its model.
    pub is_by_agent: bool,
    /// The name of a slash command that the agent does not run for a host. It reports this in place of a reply and then
    /// ends the turn successfully.
    pub unavailable_command: Option<String>,
    /// The names to display of calls in it.
    pub names: Vec<CallNames>,
}

/// The names to display of a call of a server's tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallNames {
    pub call: String,
    pub server: Option<String>,
    pub tool: Option<String>,
}

/// Why a reply failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyError {
    NotLoggedIn,
    UnknownModel,
    RateLimited,
    /// The agent's API failed.
    Api,
    Other,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct AssistantMessage {
    pub id: String,
    pub model: Option<String>,
    pub content: Vec<ContentBlock>,
    pub usage: Option<TokenUsage>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenUsage {
    pub input_tokens: u64,
    pub cache_creation_input_tokens: u64,
    pub cache_read_input_tokens: u64,
    pub output_tokens: u64,
}

impl TokenUsage {
    /// Number of tokens in the context after this reply.
    pub fn context_tokens(&self) -> u64 {
        self.input_tokens
            .saturating_add(self.cache_creation_input_tokens)
            .saturating_add(self.cache_read_input_tokens)
            .saturating_add(self.output_tokens)
    }
}

/// A content block of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentBlock {
    Text { text: String },
    Thinking { text: String },
    ToolUse { id: String, name: String, input: RawInput },
    ToolResult { tool_use_id: String, content: Value, is_error: bool },
    Image,
    Unknown { kind: String, raw: Value },
}

/// A message in the user's name: a tool result, an echo, or one that the agent wrote.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct User {
    pub message: UserMessage,
    /// The call of the subagent that it belongs to; `None` for the main agent.
    pub parent_tool_use_id: Option<String>,
    pub uuid: Option<String>,
    pub timestamp: Option<String>,
    /// The result as data, in the agent's own form.
    pub tool_use_result: Option<Value>,
    /// What the agent reports of single calls of the message.
    pub calls: Vec<CallReport>,
    /// A reason why the only call of the message did not run or did not complete.
    pub refusal: Option<String>,
    /// The id of the background task that the call started: a command or a subagent that continues after the result.
    pub background_task: Option<String>,
    /// It is no prompt: the agent or a subagent wrote it in the user's name.
    pub is_remark: bool,
    /// It is the summary that replaces a compacted conversation.
    pub is_compact_summary: bool,
}

impl User {
    /// The summary that replaces a compacted conversation.
    pub fn compact_summary(&self) -> Option<&str> {
        match self.message.content.as_slice() {
            [ContentBlock::Text { text }] if self.is_compact_summary => Some(text),
            _ => None,
        }
    }

    fn report_on(&self, tool_use_id: &str) -> Option<&CallReport> {
        self.calls.iter().find(|call| call.tool_use_id == tool_use_id)
    }

    /// Who decided that a call may run; `None` if the agent does not say so.
    pub fn decision_on(&self, tool_use_id: &str) -> Option<DecidedBy> {
        self.report_on(tool_use_id)?.decision
    }

    /// The agent's reason why a call did not run or did not complete.
    pub fn refusal(&self, tool_use_id: &str) -> Option<&str> {
        let own = self.report_on(tool_use_id).and_then(|call| call.refusal.as_deref());
        own.or(self.refusal.as_deref())
    }
}

/// What the agent reports of a call in addition to its result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallReport {
    pub tool_use_id: String,
    pub decision: Option<DecidedBy>,
    /// The agent's reason code when the call did not run or did not finish.
    pub refusal: Option<String>,
}

/// Who or what decided on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecidedBy {
    /// A hook allowed the call.
    Hook,
    /// The user allowed the call.
    User,
    /// The mode alone allowed the call, or no reason is given.
    Mode,
    /// Anything else, such as a rule; or the call was denied.
    Other,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserMessage {
    pub content: Vec<ContentBlock>,
}
