//! Messages to the agent. Each function returns one complete line without its newline, or the body of a request.

use crate::api::{Image, PermissionMode};
use serde_json::{Value, json};

/// A prompt. Results refer to it by `uuid`. `origin` marks it as written by a person (2.1.329).
pub fn user(uuid: &str, text: &str, images: &[Image]) -> String {
    let content = if images.is_empty() {
        json!(text)
    } else {
        let mut blocks: Vec<Value> = images
            .iter()
            .map(|image| json!({"type": "image", "source": {"type": "base64", "media_type": image.media_type, "data": image.data}}))
            .collect();
        if !text.is_empty() {
            blocks.push(json!({"type": "text", "text": text}));
        }
        json!(blocks)
    };
    json!({
        "type": "user",
        "uuid": uuid,
        "origin": {"kind": "human"},
        "message": {"role": "user", "content": content},
    })
    .to_string()
}

/// A control request to the agent.
pub fn control_request(request_id: &str, request: Value) -> String {
    json!({"type": "control_request", "request_id": request_id, "request": request}).to_string()
}

pub fn initialize() -> Value {
    json!({"subtype": "initialize"})
}

/// Cancels a prompt that has not joined a turn. The response is `{"cancelled": bool}` (2.1.329).
pub fn cancel_prompt(wire_id: &str) -> Value {
    json!({"subtype": "cancel_async_message", "message_uuid": wire_id})
}

pub fn interrupt() -> Value {
    json!({"subtype": "interrupt"})
}

pub fn set_permission_mode(mode: PermissionMode) -> Value {
    json!({"subtype": "set_permission_mode", "mode": mode.name()})
}

pub fn set_model(model: &str) -> Value {
    json!({"subtype": "set_model", "model": model})
}

/// Sets the effort for this process only, like a flag; no file is written. The agent accepts any value (2.1.329).
pub fn set_effort(level: Option<&str>) -> Value {
    json!({"subtype": "apply_flag_settings", "settings": {"effortLevel": level}})
}

/// 0 thinking tokens disables thinking; `null` restores the model's default (2.1.329).
pub fn set_thinking(on: bool) -> Value {
    let tokens = if on { Value::Null } else { json!(0) };
    json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": tokens})
}

/// Stops a background task. The response is a success for an unknown id too (2.1.329).
pub fn stop_task(task_id: &str) -> Value {
    json!({"subtype": "stop_task", "task_id": task_id})
}

/// Requests the permission rules in effect; 2.1.197 responds with an error.
pub fn list_permission_rules() -> Value {
    json!({"subtype": "list_permission_rules"})
}

/// Requests the exact usage of the session; `get_session_cost` rounds it.
pub fn get_usage() -> Value {
    json!({"subtype": "get_usage"})
}

/// Requests what fills the context window (2.1.197 and 2.1.329).
pub fn get_context_usage() -> Value {
    json!({"subtype": "get_context_usage"})
}

/// Names the conversation, as a choice of the user. The agent saves it in its transcript (2.1.329).
pub fn rename_session(title: &str) -> Value {
    json!({"subtype": "rename_session", "title": title, "source": "host"})
}

/// Requests a title for a text. This is a call of the model; the agent saves the title (2.1.329).
pub fn generate_session_title(description: &str) -> Value {
    json!({"subtype": "generate_session_title", "description": description, "persist": true})
}

/// Requests the agent's effective settings and the files that they come from.
pub fn get_settings() -> Value {
    json!({"subtype": "get_settings"})
}

/// Allows a tool call with exactly this input, one line of JSON that is sent byte for byte, and adds these rules.
pub fn allow(request_id: &str, input: &str, rules: &[Value]) -> String {
    let rules =
        if rules.is_empty() { String::new() } else { format!(r#","updatedPermissions":{}"#, json!(rules)) };
    let answer = format!(r#"{{"behavior":"allow","updatedInput":{input}{rules}}}"#);
    let id = json!(request_id);
    format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":{id},"response":{answer}}}}}"#
    )
}

/// Denies a tool call. The message is required; the agent's model reads it.
pub fn deny(request_id: &str, message: &str, interrupt: bool) -> String {
    let mut answer = json!({"behavior": "deny", "message": message});
    if interrupt {
        answer["interrupt"] = json!(true);
    }
    success(request_id, answer)
}

/// Rejects a request that Deskbell does not support.
pub fn refuse(request_id: &str, error: &str) -> String {
    json!({"type": "control_response", "response": {"subtype": "error", "request_id": request_id, "error": error}})
        .to_string()
}

fn success(request_id: &str, response: Value) -> String {
    json!({
        "type": "control_response",
        "response": {"subtype": "success", "request_id": request_id, "response": response},
    })
    .to_string()
}
