//! Parsing of the agent's lines. Any line is valid data.

use super::control::{read_control_request, read_control_response};
use super::head::Head;
use super::hook::read_hook;
use super::init::InitLine;
use super::message::{AssistantLine, UserLine};
use super::peer;
use super::result::ResultLine;
use super::stream::read_stream;
use super::task::read_task;
use crate::answer::refused;
use crate::limits;
use deskbell_agent::json::{read_leniently, read_value, representable, without_lone_surrogates};
use deskbell_agent::{AgentEvent, AgentRequest, Answer, Retry, WokenBy};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Gives the answer in a response to the request with this id.
pub(crate) type ReadAnswer<'a> = dyn FnMut(&str, &Value) -> Answer + 'a;

/// Parses one line without knowing what was asked, such as a stored one.
pub fn parse(line: &[u8]) -> AgentEvent {
    read_line(line, &mut |_, _| Answer::Done)
}

/// Parses one line. Never fails: a line that cannot be parsed is data too.
pub(crate) fn read_line(line: &[u8], answer: &mut ReadAnswer<'_>) -> AgentEvent {
    // The strict check reads a word at a time, the lossy conversion a byte.
    let text = str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed);
    let is_changed = matches!(text, Cow::Owned(_));
    let inbound = parse_text(text.trim_ascii(), answer);
    match inbound {
        // The text was changed by the UTF-8 conversion, so the window would not show what the agent will run.
        AgentEvent::Request { request_id, request: AgentRequest::Tool(_) } if is_changed => {
            let request = AgentRequest::Malformed { error: "it is not UTF-8".to_owned() };
            AgentEvent::Request { request_id, request }
        }
        inbound => inbound,
    }
}

fn parse_text(text: &str, answer: &mut ReadAnswer<'_>) -> AgentEvent {
    match read(text, answer) {
        Ok(inbound) => inbound,
        Err(error) => {
            // A lone `\ud83d` is legal JSON that no Rust string can contain.
            let repaired = without_lone_surrogates(text).and_then(|repaired| read(&repaired, answer).ok());
            // Nor can a Rust number be `1e999`. Only a request has to keep its text.
            let with_texts = || match first_kind(text) {
                Some("control_request") => None,
                _ => read(&representable(text)?, answer)
                    .ok()
                    .filter(|event| !matches!(event, AgentEvent::Request { .. })),
            };
            repaired.or_else(with_texts).unwrap_or_else(|| unreadable(text, &error))
        }
    }
}

fn unreadable(text: &str, error: &serde_json::Error) -> AgentEvent {
    let mut end = text.len().min(4096);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    AgentEvent::Unreadable { line: text[..end].to_owned(), error: error.to_string() }
}

fn read(text: &str, answer: &mut ReadAnswer<'_>) -> Result<AgentEvent, serde_json::Error> {
    // Serde would also accept a list for a struct, with its values as fields in order.
    if !text.starts_with('{') {
        return Err(serde::de::Error::custom("not an object"));
    }
    // Most lines are stream events, the longest are messages, and their first key says so: parse them in one pass.
    match first_kind(text) {
        Some("stream_event") => return Ok(AgentEvent::Stream(Box::new(read_stream(text)?))),
        Some("assistant") => return assistant(text),
        Some("user") => return user(text),
        _ => {}
    }
    let head: Head<'_> = serde_json::from_str(text)?;
    let kind = head.kind.as_deref().unwrap_or("");
    let subtype = head.subtype.as_deref().unwrap_or("");
    Ok(match kind {
        "assistant" => assistant(text)?,
        "user" => user(text)?,
        "stream_event" => AgentEvent::Stream(Box::new(read_stream(text)?)),
        "result" => AgentEvent::TurnEnded(Box::new(read_as_far_as_known::<ResultLine>(text)?.into())),
        "control_request" => {
            let (request_id, request) = read_control_request(text)?;
            AgentEvent::Request { request_id, request }
        }
        "control_response" => {
            let (request_id, outcome) = read_control_response(text)?;
            let outcome = outcome.map(|response| answer(&request_id, &response)).map_err(refused);
            AgentEvent::Response { request_id, outcome }
        }
        "control_cancel_request" => {
            #[derive(Deserialize)]
            struct Cancel {
                request_id: String,
            }
            AgentEvent::RequestWithdrawn { request_id: serde_json::from_str::<Cancel>(text)?.request_id }
        }
        "conversation_reset" => AgentEvent::ConversationReset,
        "tool_progress" => AgentEvent::Heartbeat,
        "command_lifecycle" => {
            #[derive(Deserialize)]
            struct Lifecycle {
                command_uuid: String,
                state: String,
                wakeup_source: Option<String>,
            }
            let Lifecycle { command_uuid: uuid, state, wakeup_source } = serde_json::from_str(text)?;
            match wakeup_source.as_deref() {
                // 2.1.329, with `started` only.
                Some("loop_wakeup") => AgentEvent::Woken { by: WokenBy::WakeUp, uuid },
                Some(_) => AgentEvent::Woken { by: WokenBy::ScheduledJob, uuid },
                None => AgentEvent::PromptState { uuid, state },
            }
        }
        "error" => AgentEvent::Error { words: error_words(&serde_json::from_str(text)?) },
        "rate_limit_event" => read_rate_limit(&serde_json::from_str(text)?),
        "system" if subtype == "init" => {
            AgentEvent::Init(Box::new(read_as_far_as_known::<InitLine>(text)?.into()))
        }
        "system" if subtype == "api_retry" => AgentEvent::ApiRetry(retry(text)?),
        "system" if subtype == "control_request_progress" => {
            #[derive(Deserialize)]
            struct Progress {
                request_id: String,
                status: String,
            }
            let Progress { request_id, status } = serde_json::from_str(text)?;
            let retry = if status == "api_retry" { Some(retry(text)?) } else { None };
            AgentEvent::RequestProgress { request_id, retry }
        }
        "system" => read_system(subtype, &serde_json::from_str(text)?),
        _ => AgentEvent::Unknown { kind: kind.to_owned() },
    })
}

fn assistant(text: &str) -> Result<AgentEvent, serde_json::Error> {
    let line: AssistantLine = serde_json::from_str(text)?;
    Ok(AgentEvent::Assistant(Box::new(line.into())))
}

fn user(text: &str) -> Result<AgentEvent, serde_json::Error> {
    let line: UserLine = serde_json::from_str(text)?;
    Ok(line.event())
}

fn retry(text: &str) -> Result<Retry, serde_json::Error> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct RetryLine {
        attempt: u32,
        max_retries: u32,
        retry_delay_ms: f64,
        error_status: Option<u16>,
        error: Option<String>,
    }
    let RetryLine { attempt, max_retries, retry_delay_ms, error_status, error } = serde_json::from_str(text)?;
    Ok(Retry { attempt, max_retries, retry_delay_ms, error_status, error })
}

/// The `type` of a message that begins with it.
fn first_kind(text: &str) -> Option<&str> {
    text.strip_prefix(r#"{"type":""#)?.split_once(r#"","#).map(|(kind, _)| kind)
}

/// Parses the messages that begin and end a turn even if a field has an unexpected shape; such a field counts as
/// absent.
fn read_as_far_as_known<T: DeserializeOwned>(text: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(text).or_else(|_| {
        let mut fields: Map<String, Value> = read_leniently(text)?;
        fields.retain(|name, value| read_value::<T>(&json!({ name.as_str(): value.clone() })).is_ok());
        read_value(&Value::Object(fields))
    })
}

fn read_system(subtype: &str, value: &Value) -> AgentEvent {
    let string = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let text = |key: &str| string(key).unwrap_or_default();
    match subtype {
        "status" if string("compact_error").is_some() || text("compact_result") == "failed" => {
            AgentEvent::CompactFailed { error: string("compact_error") }
        }
        "informational" => AgentEvent::Informational { level: text("level"), text: text("content") },
        // “Switched to Sonnet 4.5 due to high demand for Opus 4.5” (2.1.197 and 2.1.329).
        "model_fallback" | "model_refusal_fallback" => {
            AgentEvent::Informational { level: "warning".to_owned(), text: text("content") }
        }
        "status" => {
            AgentEvent::Status { status: string("status"), permission_mode: string("permissionMode") }
        }
        "session_state_changed" => AgentEvent::SessionState { state: text("state") },
        "compact_boundary" => {
            let metadata = value.get("compact_metadata").or_else(|| value.get("compactMetadata"));
            let field =
                |snake: &str, camel: &str| metadata.and_then(|m| m.get(snake).or_else(|| m.get(camel)));
            AgentEvent::Compacted {
                trigger: field("trigger", "trigger").and_then(Value::as_str).unwrap_or("auto").to_owned(),
                pre_tokens: field("pre_tokens", "preTokens").and_then(Value::as_u64),
                post_tokens: field("post_tokens", "postTokens").and_then(Value::as_u64),
            }
        }
        "permission_denied" => {
            AgentEvent::PermissionDenied { tool: text("tool_name"), message: text("message") }
        }
        "hook_started" | "hook_progress" | "hook_response" => {
            AgentEvent::Hook(Box::new(read_hook(subtype, value)))
        }
        // A hint for the terminal, whose hook is reported by itself (2.1.197 and 2.1.329).
        "notification" if text("key") == "stop-hook-error" => AgentEvent::Ignored,
        "task_notification" => {
            // The summary of a background subagent can be its complete report (2.1.329).
            let is_report = value.get("summary_is_report").and_then(Value::as_bool).unwrap_or(false);
            AgentEvent::TaskEnded {
                task_id: text("task_id"),
                tool_use_id: string("tool_use_id"),
                status: text("status"),
                summary: if is_report { String::new() } else { text("summary") },
                report: string("summary").filter(|_| is_report),
            }
        }
        "background_tasks_changed" => {
            let tasks = value.get("tasks").and_then(Value::as_array);
            AgentEvent::BackgroundTasks { tasks: tasks.into_iter().flatten().filter_map(read_task).collect() }
        }
        "session_writes_lost" => {
            let lost = value.get("lost").and_then(Value::as_array);
            // A missing or malformed list may include the transcript.
            let transcript = lost.is_none_or(|lost| lost.iter().any(|kind| kind == "transcript"));
            AgentEvent::WritesLost { error_code: text("error_code"), transcript }
        }
        "peer_message_hold" => peer::hold(value),
        "session_title_changed" => AgentEvent::Title { title: text("title") },
        "task_started" | "task_progress" if let Some(task) = read_task(value) => {
            AgentEvent::Task(Box::new(task))
        }
        "task_updated" | "thinking_tokens" => AgentEvent::Ignored,
        _ => AgentEvent::Unknown { kind: format!("system/{subtype}") },
    }
}

/// The message of an `error` line in one of the known shapes, or else the whole line.
fn error_words(value: &Value) -> String {
    let places = ["/error/message", "/error", "/message", "/error/type"];
    let texts = places.iter().filter_map(|place| value.pointer(place)).filter_map(Value::as_str);
    let words = texts.map(str::trim).find(|text| !text.is_empty());
    words.map_or_else(|| value.to_string(), str::to_owned)
}

fn read_rate_limit(value: &Value) -> AgentEvent {
    AgentEvent::RateLimit(limits::read(value.get("rate_limit_info").unwrap_or(value)))
}

#[cfg(test)]
mod tests;
