//! Conversation messages and their content blocks.

use crate::tool::RawInput;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The type of a message whose variant says it already.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Kind;

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

/// One content block of the agent's reply, or all of a short reply. The blocks of one reply share `message.id`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Assistant {
    /// Makes a line with two types an error.
    #[serde(rename = "type")]
    pub kind: Kind,
    pub message: AssistantMessage,
    pub parent_tool_use_id: Option<String>,
    pub uuid: Option<String>,
    pub session_id: Option<String>,
    /// The class of a failure; the text then describes the failure.
    pub error: Option<String>,
    /// Interrupted before its end.
    pub aborted: bool,
    pub timestamp: Option<String>,
    pub thinking_duration_ms: Option<u64>,
    #[serde(rename = "isSidechain")]
    pub is_sidechain: bool,
    /// Result of a slash command that the CLI runs itself; absent on 2.1.197.
    pub local_command_outcome: Option<Value>,
}

impl Assistant {
    /// The name of a slash command that the CLI does not run for a host, such as `/login` or `/status`. The CLI reports
    /// this in place of a reply and then ends the turn successfully.
    pub fn unavailable_command(&self) -> Option<&str> {
        let [ContentBlock::Text { text }] = self.message.content.as_slice() else { return None };
        let is_the_clis_own = self.message.model.as_deref() == Some("<synthetic>");
        let kind = self.local_command_outcome.as_ref().and_then(|outcome| outcome.get("kind"));
        // 2.1.197 sends only the text.
        let is_told = kind.is_none_or(|kind| kind == "unavailable_headless");
        let command = text.trim().strip_suffix(" isn't available in this environment.")?;
        let is_name = command.starts_with('/') && !command.contains(char::is_whitespace);
        Some(command).filter(|_| is_the_clis_own && is_told && is_name)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct AssistantMessage {
    pub id: String,
    pub model: Option<String>,
    #[serde(deserialize_with = "content_blocks")]
    pub content: Vec<ContentBlock>,
    pub usage: Option<TokenUsage>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
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

/// A user message: a tool result, an echo, or a message that the agent wrote in the user's name.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct User {
    /// Makes a line with two types an error.
    #[serde(rename = "type")]
    pub kind: Kind,
    pub message: UserMessage,
    pub parent_tool_use_id: Option<String>,
    pub uuid: Option<String>,
    /// The result as data: an object, or a string when the tool failed. In the transcript on disk the field is
    /// `toolUseResult`.
    #[serde(alias = "toolUseResult")]
    pub tool_use_result: Option<Value>,
    #[serde(rename = "isReplay")]
    pub is_replay: bool,
    #[serde(rename = "isSynthetic")]
    pub is_synthetic: bool,
    #[serde(rename = "isMeta")]
    pub is_meta: bool,
    #[serde(rename = "isSidechain")]
    pub is_sidechain: bool,
    #[serde(rename = "isCompactSummary")]
    pub is_compact_summary: bool,
    pub timestamp: Option<String>,
    /// Per call of the message: why it ran or did not run. Absent on 2.1.197.
    pub tool_result_meta: Option<Value>,
    /// The same in the transcript on disk, for the only call of the line (2.1.329).
    #[serde(rename = "toolDenialKind")]
    pub tool_denial_kind: Option<String>,
}

impl User {
    /// The summary that replaces a compacted conversation. Live lines are only marked as synthetic (2.1.329).
    pub fn compact_summary(&self) -> Option<&str> {
        let is_summary = self.is_compact_summary || (self.is_synthetic && self.parent_tool_use_id.is_none());
        match self.message.content.as_slice() {
            [ContentBlock::Text { text }] if is_summary => Some(text),
            _ => None,
        }
    }

    /// The permission decision on a call.
    pub fn decision_on(&self, tool_use_id: &str) -> Option<Decided<'_>> {
        let of_call = |meta: &&Value| meta.get("id").and_then(Value::as_str) == Some(tool_use_id);
        let meta = self.tool_result_meta.as_ref()?.as_array()?.iter().find(of_call)?;
        meta.get("permission_decision").filter(|decision| decision.is_object()).map(Decided)
    }

    /// The reason why a call did not run or did not complete: `permission-rule`, `user-rejected`. Absent on 2.1.197.
    pub fn refusal(&self, tool_use_id: &str) -> Option<&str> {
        let of_call = |meta: &&Value| meta.get("id").and_then(Value::as_str) == Some(tool_use_id);
        let meta = self.tool_result_meta.as_ref().and_then(|meta| meta.as_array()?.iter().find(of_call));
        let live = meta.and_then(|meta| meta.get("non_execution_kind")?.as_str());
        live.or(self.tool_denial_kind.as_deref())
    }

    /// The id of the background task that the call started: a command or a subagent that continues after the result.
    pub fn background_task(&self) -> Option<&str> {
        let result = self.tool_use_result.as_ref()?;
        let text = |key: &str| result.get(key).and_then(Value::as_str);
        // The task of a subagent has the subagent's id (2.1.197 and 2.1.329).
        text("backgroundTaskId")
            .or_else(|| text("agentId").filter(|_| text("status") == Some("async_launched")))
    }
}

/// The permission decision on a call, as the agent reports it: `{decision, source, reason_type}`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decided<'a>(&'a Value);

impl Decided<'_> {
    fn is_accepted_by(&self, source: &str) -> bool {
        let is = |key: &str, value: &str| self.0.get(key).and_then(Value::as_str) == Some(value);
        is("decision", "accept") && is("source", source)
    }

    fn reason(&self) -> Option<&str> {
        self.0.get("reason_type")?.as_str()
    }

    /// A hook allowed the call.
    pub fn is_by_a_hook(&self) -> bool {
        self.is_accepted_by("hook") || (self.is_accepted_by("config") && self.reason() == Some("hook"))
    }

    /// The user allowed the call. A rule that the user gave for the session is also reported as `user_temporary`
    /// (2.1.329), and does not count.
    pub fn is_by_the_user(&self) -> bool {
        self.is_accepted_by("user_temporary") && self.reason() != Some("rule")
    }

    /// The mode alone allowed the call, or no reason is given.
    pub fn is_by_mode(&self) -> bool {
        self.is_accepted_by("config") && matches!(self.reason(), Some("mode") | None)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct UserMessage {
    #[serde(deserialize_with = "content_blocks")]
    pub content: Vec<ContentBlock>,
}

/// Parses the content of a message: a string or a list of blocks.
fn content_blocks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ContentBlock>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => vec![ContentBlock::Text { text }],
        Value::Array(blocks) => blocks.into_iter().map(read_content_block).collect(),
        _ => Vec::new(),
    })
}

/// Parses one content block of any kind.
pub(super) fn read_content_block(mut block: Value) -> ContentBlock {
    let kind = block.get("type").and_then(Value::as_str).unwrap_or("").to_owned();
    let mut string = |key: &str| match block.get_mut(key).map(Value::take) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    match kind.as_str() {
        "text" => ContentBlock::Text { text: string("text") },
        "thinking" => ContentBlock::Thinking { text: string("thinking") },
        "redacted_thinking" => ContentBlock::Thinking { text: String::new() },
        "tool_use" | "server_tool_use" => ContentBlock::ToolUse {
            id: string("id"),
            name: string("name"),
            input: block.get_mut("input").map(Value::take).unwrap_or(Value::Null).into(),
        },
        "tool_result" => ContentBlock::ToolResult {
            tool_use_id: string("tool_use_id"),
            is_error: block.get("is_error").and_then(Value::as_bool).unwrap_or(false),
            content: block.get_mut("content").map(Value::take).unwrap_or(Value::Null),
        },
        "image" => ContentBlock::Image,
        _ => ContentBlock::Unknown { kind, raw: block },
    }
}
