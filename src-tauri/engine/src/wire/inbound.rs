//! From the agent to us.

use super::json::{self, Input, without_lone_surrogates};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

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

/// A piece of a reply as it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Stream {
    pub event: StreamEvent,
    pub parent_tool_use_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum StreamEvent {
    /// A second one for the same reply means that the first copy is void (a retry).
    MessageStart {
        message_id: String,
    },
    BlockStart {
        index: u32,
        block: ContentBlock,
    },
    TextDelta {
        index: u32,
        text: String,
    },
    ThinkingDelta {
        index: u32,
        text: String,
    },
    InputDelta {
        index: u32,
        json: String,
    },
    BlockStop {
        index: u32,
    },
    MessageDelta {
        usage: Option<TokenUsage>,
    },
    MessageStop,
    Other,
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

/// What the agent may ask of its host.
#[derive(Clone, Debug, PartialEq)]
pub enum ControlRequest {
    CanUseTool(Box<CanUseTool>),
    /// Answered with an error, never with an allow.
    Unknown {
        subtype: String,
    },
    /// A permission request that cannot be read: answered with a denial.
    MalformedCanUseTool {
        error: String,
    },
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct CanUseTool {
    pub tool_name: String,
    pub input: Input,
    pub tool_use_id: Option<String>,
    pub permission_suggestions: Vec<Value>,
    pub blocked_path: Option<String>,
    pub decision_reason: Option<Value>,
    pub suppress_always_allow_rule: bool,
}

/// Reads one line. Never fails: what cannot be read is data too.
pub fn parse(line: &[u8]) -> Inbound {
    let text = String::from_utf8_lossy(line);
    let is_changed = matches!(text, Cow::Owned(_));
    let inbound = parse_text(text.trim_ascii());
    match inbound {
        // What would be shown is not what the agent has in hand.
        Inbound::ControlRequest { request_id, request: ControlRequest::CanUseTool(_) } if is_changed => {
            let request = ControlRequest::MalformedCanUseTool { error: "it is not UTF-8".to_owned() };
            Inbound::ControlRequest { request_id, request }
        }
        inbound => inbound,
    }
}

fn parse_text(text: &str) -> Inbound {
    match read(text) {
        Ok(inbound) => inbound,
        Err(error) => match without_lone_surrogates(text) {
            // `\ud83d` alone is legal JSON that no Rust string can hold.
            Some(repaired) => read(&repaired).unwrap_or_else(|error| unreadable(text, &error)),
            None => unreadable(text, &error),
        },
    }
}

fn unreadable(text: &str, error: &serde_json::Error) -> Inbound {
    let mut end = text.len().min(4096);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Inbound::Unreadable { line: text[..end].to_owned(), error: error.to_string() }
}

/// Only what decides which struct to read; on `result`, `type` is the nineteenth key.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    subtype: Option<Cow<'a, str>>,
}

fn read(text: &str) -> Result<Inbound, serde_json::Error> {
    // A list would do for an object, its values taken for fields in their order.
    if !text.starts_with('{') {
        return Err(serde::de::Error::custom("not an object"));
    }
    // Most lines are pieces of a reply, and say so first: they are gone through once.
    if text.starts_with(r#"{"type":"stream_event","#) {
        return Ok(Inbound::Stream(Box::new(read_stream(text)?)));
    }
    let head: Head<'_> = serde_json::from_str(text)?;
    let kind = head.kind.as_deref().unwrap_or("");
    let subtype = head.subtype.as_deref().unwrap_or("");
    Ok(match kind {
        "assistant" => Inbound::Assistant(serde_json::from_str(text)?),
        "user" => Inbound::User(serde_json::from_str(text)?),
        "stream_event" => Inbound::Stream(Box::new(read_stream(text)?)),
        "result" => Inbound::Result(read_as_far_as_known(text)?),
        "control_request" => read_control_request(text)?,
        "control_response" => read_control_response(text)?,
        "control_cancel_request" => {
            #[derive(Deserialize)]
            struct Cancel {
                request_id: String,
            }
            Inbound::ControlCancel { request_id: serde_json::from_str::<Cancel>(text)?.request_id }
        }
        "conversation_reset" => Inbound::ConversationReset,
        "command_lifecycle" => {
            #[derive(Deserialize)]
            struct Lifecycle {
                command_uuid: String,
                state: String,
            }
            let Lifecycle { command_uuid: uuid, state } = serde_json::from_str(text)?;
            Inbound::Lifecycle { uuid, state }
        }
        "rate_limit_event" => read_rate_limit(&serde_json::from_str(text)?),
        "system" if subtype == "init" => Inbound::Init(read_as_far_as_known(text)?),
        "system" if subtype == "api_retry" => Inbound::ApiRetry(serde_json::from_str(text)?),
        "system" => read_system(subtype, &serde_json::from_str(text)?),
        _ => Inbound::Unknown { kind: kind.to_owned() },
    })
}

/// What begins and ends a turn is not lost with a field that has another shape than it had: such a field counts as
/// absent.
fn read_as_far_as_known<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(text).or_else(|_| {
        let mut fields: Map<String, Value> = serde_json::from_str(text)?;
        fields.retain(|name, value| T::deserialize(json!({ name.as_str(): value.clone() })).is_ok());
        T::deserialize(Value::Object(fields))
    })
}

fn read_system(subtype: &str, value: &Value) -> Inbound {
    let string = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let text = |key: &str| string(key).unwrap_or_default();
    match subtype {
        "status" => Inbound::Status { status: string("status"), permission_mode: string("permissionMode") },
        "session_state_changed" => Inbound::SessionState { state: text("state") },
        "compact_boundary" => {
            let metadata = value.get("compact_metadata").or_else(|| value.get("compactMetadata"));
            let field =
                |snake: &str, camel: &str| metadata.and_then(|m| m.get(snake).or_else(|| m.get(camel)));
            Inbound::CompactBoundary {
                trigger: field("trigger", "trigger").and_then(Value::as_str).unwrap_or("auto").to_owned(),
                pre_tokens: field("pre_tokens", "preTokens").and_then(Value::as_u64),
            }
        }
        "permission_denied" => {
            Inbound::PermissionDenied { tool: text("tool_name"), message: text("message") }
        }
        "hook_started" => Inbound::Hook { event: text("hook_event"), name: text("hook_name"), outcome: None },
        "hook_response" => Inbound::Hook {
            event: text("hook_event"),
            name: text("hook_name"),
            outcome: Some(string("outcome").unwrap_or_else(|| "done".to_owned())),
        },
        "task_notification" => Inbound::TaskEnded {
            task_id: text("task_id"),
            tool_use_id: string("tool_use_id"),
            status: text("status"),
            summary: text("summary"),
        },
        "background_tasks_changed" => {
            Inbound::BackgroundTasks { n: value.get("tasks").and_then(Value::as_array).map_or(0, Vec::len) }
        }
        "session_title_changed" => Inbound::Title { title: text("title") },
        _ => Inbound::Unknown { kind: format!("system/{subtype}") },
    }
}

fn read_rate_limit(value: &Value) -> Inbound {
    let info = value.get("rate_limit_info").unwrap_or(value);
    let status = info.get("status").and_then(Value::as_str).unwrap_or("").to_owned();
    // Seconds since the epoch in 2.1.329.
    let resets_at = info.get("resetsAt").and_then(Value::as_u64).map(|seconds| seconds.saturating_mul(1000));
    Inbound::RateLimit { status, resets_at }
}

/// Never through a value: the input of a tool is kept as it was written.
fn read_control_request(text: &str) -> Result<Inbound, serde_json::Error> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        request_id: String,
        #[serde(borrow)]
        request: &'a RawValue,
    }
    let (request_id, request) = match serde_json::from_str::<Outer<'_>>(text) {
        Ok(Outer { request_id, request }) => (request_id, Ok(request.get())),
        Err(error) => {
            // Something asks and waits. It is turned down if it can be named at all.
            let outer: Value = json::read_leniently(text)?;
            let Some(id) = outer.get("request_id").and_then(Value::as_str) else { return Err(error) };
            let subtype = outer.get("request").and_then(|request| request.get("subtype"));
            let subtype = subtype.and_then(Value::as_str).unwrap_or("").to_owned();
            (id.to_owned(), Err((subtype, error)))
        }
    };
    let request = match request {
        Ok(request) => {
            // Only what decides: however deep the rest is, something waits for an answer.
            let head = serde_json::from_str::<Head<'_>>(request);
            match head.as_ref().ok().and_then(|head| head.subtype.as_deref()).unwrap_or("") {
                "can_use_tool" => read_can_use_tool(request).map_or_else(
                    |error| ControlRequest::MalformedCanUseTool { error: error.to_string() },
                    |request| ControlRequest::CanUseTool(Box::new(request)),
                ),
                subtype => ControlRequest::Unknown { subtype: subtype.to_owned() },
            }
        }
        Err((subtype, error)) if subtype == "can_use_tool" => {
            ControlRequest::MalformedCanUseTool { error: error.to_string() }
        }
        Err((subtype, _)) => ControlRequest::Unknown { subtype },
    };
    Ok(Inbound::ControlRequest { request_id, request })
}

fn read_can_use_tool(text: &str) -> Result<CanUseTool, serde_json::Error> {
    /// A field that stands twice is an error: which of the two the agent means cannot be known.
    #[derive(Deserialize)]
    struct Fields<'a> {
        #[serde(borrow)]
        tool_name: &'a RawValue,
        #[serde(borrow)]
        input: &'a RawValue,
        #[serde(borrow, default)]
        tool_use_id: Option<&'a RawValue>,
        #[serde(borrow, default)]
        permission_suggestions: Option<&'a RawValue>,
        #[serde(borrow, default)]
        blocked_path: Option<&'a RawValue>,
        #[serde(borrow, default)]
        decision_reason: Option<&'a RawValue>,
        #[serde(borrow, default)]
        suppress_always_allow_rule: Option<&'a RawValue>,
    }
    fn optional<T: DeserializeOwned>(field: Option<&RawValue>) -> Result<Option<T>, serde_json::Error> {
        field.map_or(Ok(None), |field| json::read_leniently(field.get()))
    }
    let fields: Fields<'_> = serde_json::from_str(text)?;
    Ok(CanUseTool {
        tool_name: json::read_leniently(fields.tool_name.get())?,
        input: Input::read(fields.input.get())?,
        tool_use_id: optional(fields.tool_use_id)?,
        permission_suggestions: optional(fields.permission_suggestions)?.unwrap_or_default(),
        blocked_path: optional(fields.blocked_path)?,
        decision_reason: optional(fields.decision_reason)?,
        suppress_always_allow_rule: optional(fields.suppress_always_allow_rule)?.unwrap_or(false),
    })
}

fn read_control_response(text: &str) -> Result<Inbound, serde_json::Error> {
    #[derive(Deserialize)]
    struct Outer {
        response: Inner,
    }
    #[derive(Deserialize)]
    struct Inner {
        subtype: String,
        request_id: String,
        #[serde(default)]
        response: Value,
        #[serde(default)]
        error: Option<Value>,
    }
    let Inner { subtype, request_id, response, error } = serde_json::from_str::<Outer>(text)?.response;
    let outcome = if subtype == "error" {
        Err(match error {
            Some(Value::String(error)) => error,
            Some(error) => error.to_string(),
            None => "no reason given".to_owned(),
        })
    } else {
        Ok(response)
    };
    Ok(Inbound::ControlResponse { request_id, outcome })
}

fn read_stream(text: &str) -> Result<Stream, serde_json::Error> {
    #[derive(Deserialize)]
    struct Outer {
        event: Event,
        #[serde(default)]
        parent_tool_use_id: Option<String>,
    }
    #[derive(Deserialize)]
    struct Event {
        #[serde(rename = "type")]
        kind: String,
        #[serde(default)]
        index: u32,
        #[serde(default)]
        message: Option<Message>,
        #[serde(default)]
        content_block: Option<Value>,
        #[serde(default)]
        delta: Option<Delta>,
        #[serde(default)]
        usage: Option<TokenUsage>,
    }
    #[derive(Deserialize)]
    struct Message {
        #[serde(default)]
        id: String,
    }
    #[derive(Deserialize)]
    struct Delta {
        #[serde(default, rename = "type")]
        kind: String,
        #[serde(default)]
        text: String,
        #[serde(default)]
        thinking: String,
        #[serde(default)]
        partial_json: String,
    }
    let Outer { event, parent_tool_use_id } = serde_json::from_str(text)?;
    let index = event.index;
    let event = match (event.kind.as_str(), event.message, event.content_block, event.delta) {
        ("message_start", Some(message), ..) => StreamEvent::MessageStart { message_id: message.id },
        ("content_block_start", _, Some(block), _) => {
            StreamEvent::BlockStart { index, block: read_content_block(block) }
        }
        ("content_block_delta", .., Some(delta)) => match delta.kind.as_str() {
            "text_delta" => StreamEvent::TextDelta { index, text: delta.text },
            "thinking_delta" => StreamEvent::ThinkingDelta { index, text: delta.thinking },
            "input_json_delta" => StreamEvent::InputDelta { index, json: delta.partial_json },
            _ => StreamEvent::Other,
        },
        ("content_block_stop", ..) => StreamEvent::BlockStop { index },
        ("message_delta", ..) => StreamEvent::MessageDelta { usage: event.usage },
        ("message_stop", ..) => StreamEvent::MessageStop,
        _ => StreamEvent::Other,
    };
    Ok(Stream { event, parent_tool_use_id })
}

/// A message's content is one string or a list of blocks.
fn content_blocks<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<ContentBlock>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => vec![ContentBlock::Text { text }],
        Value::Array(blocks) => blocks.into_iter().map(read_content_block).collect(),
        _ => Vec::new(),
    })
}

fn read_content_block(mut block: Value) -> ContentBlock {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_surrogate_escape_costs_one_character() {
        let line = br#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"a\ud83db \ud83d\ude00"}]}}"#;
        let Inbound::Assistant(assistant) = parse(line) else { panic!("{:?}", parse(line)) };
        assert_eq!(assistant.message.content, [ContentBlock::Text { text: "a\u{fffd}b \u{1f600}".into() }]);
    }

    #[test]
    fn what_is_not_a_message_is_kept() {
        assert!(
            matches!(parse(b"Warning: error"), Inbound::Unreadable { line, .. } if line == "Warning: error")
        );
        assert!(matches!(parse(b"{\"type\":\"assistant\",\"message\":7}"), Inbound::Unreadable { .. }));
        assert!(matches!(parse(b"\xff\xfe"), Inbound::Unreadable { .. }));
        assert!(matches!(parse(b"[\"system\",\"init\"]"), Inbound::Unreadable { .. }));
        assert_eq!(parse(b"{\"type\":\"brand_new\"}"), Inbound::Unknown { kind: "brand_new".into() });
    }

    #[test]
    fn a_result_is_read_as_far_as_it_is_known() {
        let line = br#"{"type":"result","is_error":true,"result":"no","duration_ms":1.5,"errors":null}"#;
        let Inbound::Result(result) = parse(line) else { panic!("{:?}", parse(line)) };
        let known = TurnResult { is_error: true, result: Some("no".into()), ..TurnResult::default() };
        assert_eq!(*result, known);
    }

    #[test]
    fn numbers_beyond_all_measure_stop_at_the_largest() {
        let line = br#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":18446744073709551615}}"#;
        assert_eq!(parse(line), Inbound::RateLimit { status: "rejected".into(), resets_at: Some(u64::MAX) });
        let usage = TokenUsage { input_tokens: u64::MAX, output_tokens: 1, ..TokenUsage::default() };
        assert_eq!(usage.context_tokens(), u64::MAX);
    }

    #[test]
    fn a_number_is_kept_to_its_last_digit() {
        let line = br#"{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"T","input":{},"permission_suggestions":[1.085416e-19]}}"#;
        let Inbound::ControlRequest { request: ControlRequest::CanUseTool(request), .. } = parse(line) else {
            panic!()
        };
        assert_eq!(request.permission_suggestions[0].as_f64(), Some("1.085416e-19".parse().unwrap()));
    }

    #[test]
    fn a_request_that_cannot_be_read_is_malformed_not_unknown() {
        let line = br#"{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","input":"ls"}}"#;
        let Inbound::ControlRequest { request, .. } = parse(line) else { panic!() };
        assert!(matches!(request, ControlRequest::MalformedCanUseTool { .. }));
    }

    fn asked(fields: &str) -> ControlRequest {
        let line = format!(
            r#"{{"type":"control_request","request_id":"r","request":{{"subtype":"can_use_tool",{fields}}}}}"#
        );
        match parse(line.as_bytes()) {
            Inbound::ControlRequest { request_id, request } if request_id == "r" => request,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_input_is_kept_byte_for_byte() {
        for input in [
            r#"{"a":1e400,"b":1.0,"c":12345678901234567890123,"d":-0}"#,
            r#"{"command":"a\ud83d","x":"\u0041\/"}"#,
            r#"{ "k" : 1 , "k" : 2 }"#,
            "{\"tab\":\t\"\u{2028}\u{7f}\"}",
        ] {
            let ControlRequest::CanUseTool(request) = asked(&format!(r#""tool_name":"T","input":{input}"#))
            else {
                panic!("{input}")
            };
            assert_eq!(request.input.text(), input);
        }
    }

    #[test]
    fn whatever_asks_and_cannot_be_read_is_turned_down() {
        let deep = format!(r#""tool_name":"T","input":{{"a":{}{}}}"#, "[".repeat(500), "]".repeat(500));
        for fields in [
            r#""tool_name":"T""#,
            r#""input":{}"#,
            r#""tool_name":7,"input":{}"#,
            r#""tool_name":"T","input":null"#,
            r#""tool_name":"T","input":"ls""#,
            r#""tool_name":"T","input":[]"#,
            r#""tool_name":"T","input":{"command":"ls"},"input":{"command":"rm"}"#,
            r#""tool_name":"T","tool_name":"Bash","input":{}"#,
            r#""tool_name":"T","input":{},"permission_suggestions":{}"#,
            r#""tool_name":"T","input":{},"suppress_always_allow_rule":"no""#,
            &deep,
        ] {
            assert!(matches!(asked(fields), ControlRequest::MalformedCanUseTool { .. }), "{fields}");
        }
        let not_utf8 = b"{\"type\":\"control_request\",\"request_id\":\"r\",\"request\":{\"subtype\":\"can_use_tool\",\"tool_name\":\"T\",\"input\":{\"a\":\"\xff\"}}}";
        let Inbound::ControlRequest { request, .. } = parse(not_utf8) else { panic!() };
        assert!(matches!(request, ControlRequest::MalformedCanUseTool { .. }));
        for (line, is_permission) in [
            (r#"{"type":"control_request","request_id":"r"}"#, false),
            (r#"{"type":"control_request","request_id":"r","request":7}"#, false),
            (r#"{"type":"control_request","request_id":"r","request":{"subtype":7}}"#, false),
            (r#"{"type":"control_request","request_id":"r","request":{"subtype":"hook_callback"}}"#, false),
            (
                r#"{"type":"control_request","request_id":"q","request_id":"r","request":{"subtype":"can_use_tool"}}"#,
                true,
            ),
        ] {
            let Inbound::ControlRequest { request_id, request } = parse(line.as_bytes()) else {
                panic!("{line}")
            };
            assert_eq!(request_id, "r");
            assert_eq!(
                matches!(request, ControlRequest::MalformedCanUseTool { .. }),
                is_permission,
                "{line}"
            );
            assert!(!matches!(request, ControlRequest::CanUseTool(_)));
        }
    }

    #[test]
    fn nesting_costs_one_line() {
        let line = "[".repeat(100_000);
        assert!(matches!(parse(line.as_bytes()), Inbound::Unreadable { .. }));
    }

    #[test]
    fn the_window_is_that_of_the_model_that_works() {
        let line = br#"{"type":"result","subtype":"success","modelUsage":{"large":{"contextWindow":1000000},"small":{"contextWindow":200000},"odd":{}}}"#;
        let Inbound::Result(result) = parse(line) else { panic!("a result") };
        assert_eq!(result.context_window(Some("small")), Some(200_000));
        assert_eq!(result.context_window(Some("large")), Some(1_000_000));
        assert_eq!(result.context_window(Some("odd")), Some(1_000_000));
        assert_eq!(result.context_window(None), Some(1_000_000));
    }
}
