//! Conversation messages and their content blocks.

use crate::call::ToolCall;
use crate::outcome::ToolResult;
use crate::schedule::ScheduleReport;
use serde_json::Value;

/// One content block of the agent's reply, or all of a short reply. The blocks of one reply share `message.id`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assistant {
    pub message: AssistantMessage,
    /// The id of this part of the reply; `None` from an agent that repeats a call whenever the call changes.
    pub uuid: Option<String>,
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
    ToolUse { id: String, call: Box<ToolCall> },
    ToolResult(Box<ToolResult>),
    Image,
    Document,
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
    /// The id of the background task that the call started: a command or a subagent that continues after the result.
    pub background_task: Option<String>,
    /// That task is a monitor: what it reports begins turns.
    pub is_monitor: bool,
    /// The file that receives the output of this task, as the agent names it. Nothing has checked it.
    pub background_output: Option<String>,
    /// The call planned a turn, listed those that are planned, or cancelled one.
    pub schedule: Option<ScheduleReport>,
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

    /// The results of calls in this message.
    pub fn results(&self) -> impl Iterator<Item = &ToolResult> {
        self.message.content.iter().filter_map(|block| match block {
            ContentBlock::ToolResult(result) => Some(&**result),
            _ => None,
        })
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserMessage {
    pub content: Vec<ContentBlock>,
}

/// A message that the agent of another session wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionMessage {
    pub uuid: Option<String>,
    /// The name that the sender gives itself.
    pub name: Option<String>,
    /// The process that sent it, as the system reports it.
    pub pid: Option<u32>,
    /// The sender's conversation in the agent's store, found by its process.
    pub conversation: Option<String>,
    /// The folder of the sender's process.
    pub folder: Option<String>,
    pub text: String,
    pub timestamp: Option<String>,
}

/// The content of a prompt in a stored conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PastPrompt {
    pub text: String,
    pub n_images: u32,
    pub n_documents: u32,
}

impl From<String> for PastPrompt {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}
