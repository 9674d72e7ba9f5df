//! The messages of a conversation, and the blocks they are made of.

use serde::Deserialize;
use serde_json::Value;

/// One content block of the agent's reply, or the whole of a short one; the blocks of a reply share `message.id`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Assistant {
    pub message: AssistantMessage,
    pub parent_tool_use_id: Option<String>,
    pub uuid: Option<String>,
    pub session_id: Option<String>,
    /// A class of failure: the text is then about the failure.
    pub error: Option<String>,
    /// Cut by an interrupt.
    pub aborted: bool,
    pub timestamp: Option<String>,
    pub thinking_duration_ms: Option<u64>,
    #[serde(rename = "isSidechain")]
    pub is_sidechain: bool,
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
    /// Tokens that are in the context after this reply.
    pub fn context_tokens(&self) -> u64 {
        self.input_tokens
            .saturating_add(self.cache_creation_input_tokens)
            .saturating_add(self.cache_read_input_tokens)
            .saturating_add(self.output_tokens)
    }
}

/// A block of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentBlock {
    Text { text: String },
    Thinking { text: String },
    ToolUse { id: String, name: String, input: Value },
    ToolResult { tool_use_id: String, content: Value, is_error: bool },
    Image,
    Unknown { kind: String, raw: Value },
}

/// A tool's result, an echo, or a message the agent wrote in the user's name.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct User {
    pub message: UserMessage,
    pub parent_tool_use_id: Option<String>,
    pub uuid: Option<String>,
    /// The result as data: an object, or a string when the tool failed. On disk it is called `toolUseResult`.
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
    /// How each call of the message came to run, or not; absent on 2.1.197.
    pub tool_result_meta: Option<Value>,
}

impl User {
    /// Who decided on a call: `{decision, source, reason_type}`.
    pub fn decision_on(&self, tool_use_id: &str) -> Option<&Value> {
        let of_call = |meta: &&Value| meta.get("id").and_then(Value::as_str) == Some(tool_use_id);
        let meta = self.tool_result_meta.as_ref()?.as_array()?.iter().find(of_call)?;
        meta.get("permission_decision").filter(|decision| decision.is_object())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct UserMessage {
    #[serde(deserialize_with = "content_blocks")]
    pub content: Vec<ContentBlock>,
}

/// A message's content is one string or a list of blocks.
fn content_blocks<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<ContentBlock>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => vec![ContentBlock::Text { text }],
        Value::Array(blocks) => blocks.into_iter().map(read_content_block).collect(),
        _ => Vec::new(),
    })
}

/// A block of whatever kind.
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
            input: block.get_mut("input").map(Value::take).unwrap_or(Value::Null),
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
