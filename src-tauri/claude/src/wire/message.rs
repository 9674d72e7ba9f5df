//! Conversation messages and their content blocks.

use super::peer;
use super::schedule::read_schedule;
use super::server_tools::{citations, server_result};
use crate::outcome::Outcome;
use crate::tool;
use deskbell_agent::{
    AgentEvent, Assistant, AssistantMessage, ContentBlock, DecidedBy, ReplyError, SessionMessage, TokenUsage,
    ToolResult, User, UserMessage,
};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The model of messages that the agent wrote itself.
pub(crate) const SYNTHETIC: &str = "<synthetic>";

/// The type of a message whose variant says it already.
#[derive(Clone, Copy, Default)]
struct Kind;

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

/// An `assistant` line.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct AssistantLine {
    /// Makes a line with two types an error.
    #[serde(rename = "type")]
    _kind: Kind,
    message: AssistantContent,
    uuid: Option<String>,
    parent_tool_use_id: Option<String>,
    error: Option<String>,
    aborted: bool,
    timestamp: Option<String>,
    thinking_duration_ms: Option<u64>,
    /// The display names of the calls of MCP servers' tools: `{id, display_name, server_display_name}` each. Absent on
    /// 2.1.197 and in the transcript on disk.
    tool_use_meta: Option<Value>,
    /// Result of a slash command that the CLI runs itself; absent on 2.1.197.
    local_command_outcome: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AssistantContent {
    id: String,
    model: Option<String>,
    #[serde(deserialize_with = "content_blocks")]
    content: Vec<ContentBlock>,
    usage: Option<TokenCounts>,
}

impl AssistantLine {
    /// The name of a slash command that the CLI does not run for a host, such as `/login` or `/status`. The CLI reports
    /// this in place of a reply and then ends the turn successfully.
    fn unavailable_command(&self) -> Option<&str> {
        let [ContentBlock::Text { text }] = self.message.content.as_slice() else { return None };
        let kind = self.local_command_outcome.as_ref().and_then(|outcome| outcome.get("kind"));
        // 2.1.197 sends only the text.
        let is_told = kind.is_none_or(|kind| kind == "unavailable_headless");
        let command = text.trim().strip_suffix(" isn't available in this environment.")?;
        let is_name = command.starts_with('/') && !command.contains(char::is_whitespace);
        Some(command).filter(|_| self.is_by_agent() && is_told && is_name)
    }

    fn is_by_agent(&self) -> bool {
        self.message.model.as_deref() == Some(SYNTHETIC)
    }
}

impl From<AssistantLine> for Assistant {
    fn from(line: AssistantLine) -> Self {
        let (is_by_agent, unavailable) = (line.is_by_agent(), line.unavailable_command().map(str::to_owned));
        let AssistantContent { id, model, mut content, usage } = line.message;
        if let Some(meta) = &line.tool_use_meta {
            name_calls(&mut content, &call_names(meta));
        }
        Self {
            message: AssistantMessage { id, model, content, usage: usage.map(TokenCounts::into) },
            uuid: line.uuid,
            parent_tool_use_id: line.parent_tool_use_id,
            error: line.error.as_deref().map(reply_error),
            aborted: line.aborted,
            timestamp: line.timestamp,
            thinking_duration_ms: line.thinking_duration_ms,
            is_by_agent,
            unavailable_command: unavailable,
        }
    }
}

/// Calls of one reply that can have names to display: each call looks for its own among them.
const MOST_NAMES: usize = 100;

/// The names to display of a call of a server's tool.
struct CallNames {
    call: String,
    server: Option<String>,
    tool: Option<String>,
}

fn name_calls(content: &mut [ContentBlock], names: &[CallNames]) {
    for block in content {
        let ContentBlock::ToolUse { id, call } = block else { continue };
        if let Some(names) = names.iter().find(|names| names.call == *id) {
            call.server_tool = tool::server_tool(&call.name, names.server.as_deref(), names.tool.as_deref());
        }
    }
}

fn call_names(meta: &Value) -> Vec<CallNames> {
    let names = |meta: &Value| {
        let text = |key: &str| meta.get(key).and_then(Value::as_str).map(str::to_owned);
        Some(CallNames { call: text("id")?, server: text("server_display_name"), tool: text("display_name") })
    };
    meta.as_array().into_iter().flatten().take(MOST_NAMES).filter_map(names).collect()
}

fn reply_error(class: &str) -> ReplyError {
    match class {
        "authentication_failed" => ReplyError::NotLoggedIn,
        "model_not_found" => ReplyError::UnknownModel,
        "rate_limit" => ReplyError::RateLimited,
        "server_error" => ReplyError::Api,
        _ => ReplyError::Other,
    }
}

#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct TokenCounts {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
}

impl From<TokenCounts> for TokenUsage {
    fn from(counts: TokenCounts) -> Self {
        let TokenCounts { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens } =
            counts;
        Self { input_tokens, cache_creation_input_tokens, cache_read_input_tokens, output_tokens }
    }
}

/// A `user` line.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct UserLine {
    /// Makes a line with two types an error.
    #[serde(rename = "type")]
    _kind: Kind,
    message: UserContent,
    parent_tool_use_id: Option<String>,
    uuid: Option<String>,
    /// The result as data: an object, or a string when the tool failed. In the transcript on disk the field is
    /// `toolUseResult`.
    #[serde(alias = "toolUseResult")]
    tool_use_result: Option<Value>,
    #[serde(rename = "isSynthetic")]
    is_synthetic: bool,
    #[serde(rename = "isMeta")]
    is_meta: bool,
    #[serde(rename = "isSidechain")]
    is_sidechain: bool,
    #[serde(rename = "isCompactSummary")]
    is_compact_summary: bool,
    timestamp: Option<String>,
    /// Per call of the message: why it ran or did not run. Absent on 2.1.197.
    tool_result_meta: Option<Value>,
    /// Who wrote it: `{kind: human | peer | …}` (2.1.332).
    origin: Option<Value>,
    /// The line repeats input of the host (`--replay-user-messages`).
    #[serde(rename = "isReplay")]
    is_replay: bool,
    /// The same in the transcript on disk, for the only call of the line (2.1.329).
    #[serde(rename = "toolDenialKind")]
    tool_denial_kind: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct UserContent {
    #[serde(deserialize_with = "content_blocks")]
    content: Vec<ContentBlock>,
}

impl UserLine {
    /// A message of another session, or a message in the user's name.
    pub fn event(self) -> AgentEvent {
        let kind = self.origin.as_ref().and_then(|origin| origin.get("kind")).and_then(Value::as_str);
        match (&self.origin, kind) {
            (Some(origin), Some("peer")) => {
                let texts = self.message.content.iter().filter_map(|block| match block {
                    ContentBlock::Text { text } => Some(text.as_str()),
                    _ => None,
                });
                let message = peer::message(origin, texts.collect::<Vec<_>>().join("\n"));
                let (uuid, timestamp) = (self.uuid.clone(), self.timestamp.clone());
                AgentEvent::Message(Box::new(SessionMessage { uuid, timestamp, ..message }))
            }
            // Prompts are shown from the queue, when they are sent, and what woke the agent by its own report.
            (_, Some(_)) if self.is_replay => AgentEvent::Ignored,
            _ => AgentEvent::User(Box::new(self.into())),
        }
    }
}

impl From<UserLine> for User {
    fn from(line: UserLine) -> Self {
        let structured = line.tool_use_result.as_ref();
        let monitor = structured.and_then(monitor);
        let background_task = monitor.or_else(|| structured.and_then(background_task)).map(str::to_owned);
        let is_monitor = monitor.is_some();
        let schedule = structured.and_then(read_schedule);
        let mut background_output = None;
        let reports = line.tool_result_meta.as_ref().and_then(Value::as_array).into_iter().flatten();
        let reports: Vec<CallReport<'_>> = reports.filter_map(CallReport::read).collect();
        let mut content = line.message.content;
        for block in &mut content {
            let ContentBlock::ToolResult(result) = block else { continue };
            let report = reports.iter().find(|report| report.tool_use_id == result.tool_use_id);
            let refusal = report.and_then(|report| report.refusal).or(line.tool_denial_kind.as_deref());
            let raw = std::mem::take(&mut result.raw);
            if let Some(task) = &background_task {
                background_output = background_output.or_else(|| task_output(&raw, task));
            }
            let outcome = Outcome { content: &raw, structured, is_error: result.is_error, refusal };
            let read = outcome.read(&result.tool_use_id, report.and_then(|report| report.decision));
            **result = ToolResult { raw, ..read };
        }
        Self {
            background_task,
            is_monitor,
            background_output,
            schedule,
            is_remark: line.is_meta || line.is_synthetic || line.is_sidechain || line.is_compact_summary,
            // Live lines are only marked as synthetic (2.1.329).
            is_compact_summary: line.is_compact_summary
                || (line.is_synthetic && line.parent_tool_use_id.is_none()),
            message: UserMessage { content },
            parent_tool_use_id: line.parent_tool_use_id,
            uuid: line.uuid,
            timestamp: line.timestamp,
        }
    }
}

/// The id of the background task that a call started.
fn background_task(result: &Value) -> Option<&str> {
    let text = |key: &str| result.get(key).and_then(Value::as_str);
    // The task of a subagent has the subagent's id (2.1.197 and 2.1.329).
    text("backgroundTaskId").or_else(|| text("agentId").filter(|_| text("status") == Some("async_launched")))
}

/// The id of the task of a call of Monitor: `{taskId, timeoutMs, persistent}` (2.1.329).
fn monitor(result: &Value) -> Option<&str> {
    result.get("persistent").and_then(Value::as_bool)?;
    result.get("timeoutMs")?;
    result.get("taskId")?.as_str()
}

/// The file with the output of a background task, from the text of a result: “Output is being written to: PATH. You will
/// be notified …” (2.1.197 and 2.1.329). The path is a word of the agent, so it must be one that the CLI makes:
/// `…/claude-UID/PROJECT/SESSION/tasks/TASK.output`.
fn task_output(result: &Value, task: &str) -> Option<String> {
    let text = match result {
        Value::Array(blocks) => blocks.iter().find_map(|block| block.get("text")?.as_str())?,
        other => other.as_str()?,
    };
    let rest = text.split_once("Output is being written to: ")?.1;
    let end = format!("/tasks/{task}.output");
    let path = &rest[..rest.find(&end)? + end.len()];
    let mut names = path.strip_prefix('/')?.split('/');
    let is_plain = |name: &str| !matches!(name, "" | "." | "..") && !name.contains(char::is_control);
    let is_of_the_cli = path.split('/').rev().nth(4).is_some_and(|name| name.starts_with("claude-"));
    (is_of_the_cli
        && task.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        && names.all(is_plain))
    .then(|| path.to_owned())
}

/// An entry of `tool_result_meta`: `{id, permission_decision: {decision, source, reason_type}, non_execution_kind}`.
struct CallReport<'a> {
    tool_use_id: &'a str,
    decision: Option<DecidedBy>,
    /// Why the call did not run or did not finish: `permission-rule`, `user-rejected`.
    refusal: Option<&'a str>,
}

impl<'a> CallReport<'a> {
    fn read(meta: &'a Value) -> Option<Self> {
        let text = |key: &str| meta.get(key).and_then(Value::as_str);
        Some(Self {
            tool_use_id: text("id")?,
            decision: meta.get("permission_decision").filter(|decision| decision.is_object()).map(decided_by),
            refusal: text("non_execution_kind"),
        })
    }
}

fn decided_by(decision: &Value) -> DecidedBy {
    let text = |key: &str| decision.get(key).and_then(Value::as_str);
    match (text("decision"), text("source"), text("reason_type")) {
        (Some("accept"), Some("hook"), _) | (Some("accept"), Some("config"), Some("hook")) => DecidedBy::Hook,
        (Some("reject"), Some("hook"), _) => DecidedBy::DeniedByHook,
        // A rule that the user gave for the session is also reported as `user_temporary` (2.1.329).
        (Some("accept"), Some("user_temporary"), reason) if reason != Some("rule") => DecidedBy::User,
        (Some("accept"), Some("config"), Some("mode") | None) => DecidedBy::Mode,
        _ => DecidedBy::Other,
    }
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
        "text" => {
            let text = string("text");
            let sources = block.get("citations").map(citations).unwrap_or_default();
            ContentBlock::Text { text: text + &sources }
        }
        "thinking" => ContentBlock::Thinking { text: string("thinking") },
        "redacted_thinking" => ContentBlock::Thinking { text: String::new() },
        "tool_use" | "server_tool_use" | "mcp_tool_use" => ContentBlock::ToolUse {
            id: string("id"),
            call: {
                let mut name = string("name");
                if kind == "mcp_tool_use" {
                    name = format!("mcp__{}__{name}", string("server_name"));
                }
                let input = block.get_mut("input").map(Value::take).unwrap_or(Value::Null);
                Box::new(tool::call(name, input.into()))
            },
        },
        // The line says the rest of it.
        "tool_result" => ContentBlock::ToolResult(Box::new(ToolResult {
            tool_use_id: string("tool_use_id"),
            is_error: block.get("is_error").and_then(Value::as_bool).unwrap_or(false),
            raw: block.get_mut("content").map(Value::take).unwrap_or(Value::Null),
            ..ToolResult::default()
        })),
        "image" => ContentBlock::Image,
        "document" => ContentBlock::Document,
        kind if kind.ends_with("_tool_result") => {
            let id = string("tool_use_id");
            let is_error = block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
            let content = block.get_mut("content").map(Value::take).unwrap_or(Value::Null);
            ContentBlock::ToolResult(Box::new(server_result(id, content, is_error)))
        }
        _ => ContentBlock::Unknown { kind, raw: block },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_file_of_the_cli_is_the_output_of_a_task() {
        let of = |text: &str| task_output(&json!(text), "b88z");
        let path = "/tmp/claude-1000/-home-me-p/75e71681/tasks/b88z.output";
        let said = format!(
            "Command running in background with ID: b88z. Output is being written to: {path}. You will"
        );
        assert_eq!(of(&said).as_deref(), Some(path));
        assert_eq!(task_output(&json!([{"type": "text", "text": said}]), "b88z").as_deref(), Some(path));
        assert_eq!(task_output(&json!(said), "other"), None);
        for path in [
            "/etc/passwd",
            "/home/me/.ssh/tasks/b88z.output",
            "claude-1/p/s/tasks/b88z.output",
            "/tmp/claude-1/../s/tasks/b88z.output",
            "/tmp/./claude-1/p/s/tasks/b88z.output",
            "/tmp/claude-1//s/tasks/b88z.output",
            "/tmp/claude-1/p/s/t/tasks/b88z.output",
            "/tmp/claude-1/p/s\n/tasks/b88z.output",
            "/tmp/claude-1/p/s/tasks/../b88z.output",
        ] {
            assert_eq!(of(&format!("Output is being written to: {path}. You will")), None, "{path}");
        }
        for task in ["../x", "a/b", ".."] {
            let text = format!("Output is being written to: /tmp/claude-1/p/s/tasks/{task}.output.");
            assert_eq!(task_output(&json!(text), task), None, "{task}");
        }
        assert_eq!(task_output(&json!(null), "b88z"), None);
    }
}
