//! The lines of the wire format, with the keys in the order of the real CLI.

use serde_json::{Value, json};
use uuid::Uuid;

/// Adds the fields that nearly every line has.
pub fn stamp(line: &mut Value, session_id: &str) {
    if let Some(line) = line.as_object_mut() {
        line.entry("session_id").or_insert_with(|| session_id.into());
        line.entry("uuid").or_insert_with(|| uuid().into());
    }
}

/// A new uuid as text.
pub fn uuid() -> String {
    Uuid::new_v4().to_string()
}

/// An id such as `msg_…` or `toolu_…`.
pub fn short_id(prefix: &str) -> String {
    format!("{prefix}_demo_{}", &Uuid::new_v4().simple().to_string()[..16])
}

/// A control request of the agent.
pub fn control_request(id: &str, request: Value) -> Value {
    json!({"type": "control_request", "request_id": id, "request": request})
}

/// The withdrawal of a control request.
pub fn cancel_request(id: &str) -> Value {
    json!({"type": "control_cancel_request", "request_id": id})
}

/// The answer to a control request of the host, with or without a body.
pub fn success(id: &Value, body: Option<Value>) -> Value {
    let mut response = json!({"subtype": "success", "request_id": id});
    if let Some(body) = body {
        response["response"] = body;
    }
    json!({"type": "control_response", "response": response})
}

/// The error response to a control request of the host.
pub fn error(id: &Value, error: &str, code: &str) -> Value {
    json!({
        "type": "control_response",
        "response": {"subtype": "error", "request_id": id, "error": error, "error_code": code},
    })
}

/// A sign that a control request of the host is being worked on.
pub fn request_progress(id: &Value) -> Value {
    json!({"type": "system", "subtype": "control_request_progress", "request_id": id, "status": "started"})
}

/// A change of a prompt's state.
pub fn lifecycle(command_uuid: &str, state: &str) -> Value {
    json!({"type": "command_lifecycle", "command_uuid": command_uuid, "state": state})
}

/// The state of the session: `running`, `requires_action` or `idle`.
pub fn state_changed(state: &str) -> Value {
    json!({"type": "system", "subtype": "session_state_changed", "state": state})
}

/// The agent's activity: `requesting`, `compacting`, or none.
pub fn status(status: Option<&str>) -> Value {
    json!({"type": "system", "subtype": "status", "status": status})
}

/// The new permission mode.
pub fn mode_changed(mode: &str) -> Value {
    json!({"type": "system", "subtype": "status", "status": null, "permissionMode": mode})
}

/// The new title.
pub fn title_changed(title: &str) -> Value {
    json!({"type": "system", "subtype": "session_title_changed", "title": title})
}

/// A failed attempt to reach the service, and the wait before the next.
pub fn api_retry(attempt: u32, max: u32, delay_ms: u64, status: Option<u16>, error: &str) -> Value {
    json!({
        "type": "system",
        "subtype": "api_retry",
        "attempt": attempt,
        "max_retries": max,
        "retry_delay_ms": delay_ms,
        "error_status": status,
        "error": error,
    })
}

/// An event of the service's stream.
pub fn stream_event(event: Value, session_id: &str, message_id: &str) -> Value {
    json!({
        "type": "stream_event",
        "event": event,
        "session_id": session_id,
        "parent_tool_use_id": null,
        "uuid": uuid(),
        "api_message_id": message_id,
    })
}

/// The result that a host receives when a session cannot be resumed.
pub fn start_failure(session_id: &str, error: &str) -> Value {
    json!({
        "type": "result",
        "subtype": "error_during_execution",
        "duration_ms": 0,
        "duration_api_ms": 0,
        "is_error": true,
        "num_turns": 0,
        "stop_reason": null,
        "session_id": session_id,
        "total_cost_usd": 0,
        "usage": crate::usage::TokenCounts::default().of_result(),
        "modelUsage": {},
        "permission_denials": [],
        "uuid": uuid(),
        "errors": [error],
        "result_index": 0,
    })
}

/// The text of a message's content, in either of its two forms.
pub fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str));
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
