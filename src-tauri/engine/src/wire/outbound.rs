//! From us to the agent: each function gives one whole line, without its newline.

use crate::api::Image;
use serde_json::{Value, json};

/// A prompt. `uuid` names it in the agent's results; `origin` makes it count as a person's (2.1.329).
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

/// Asks something of the agent.
pub fn control_request(request_id: &str, request: Value) -> String {
    json!({"type": "control_request", "request_id": request_id, "request": request}).to_string()
}

pub fn initialize() -> Value {
    json!({"subtype": "initialize"})
}

pub fn interrupt() -> Value {
    json!({"subtype": "interrupt"})
}

pub fn set_permission_mode(mode: &str) -> Value {
    json!({"subtype": "set_permission_mode", "mode": mode})
}

pub fn set_model(model: &str) -> Value {
    json!({"subtype": "set_model", "model": model})
}

/// Sets the effort as a flag would: for this process, in no file. Any word is answered with success (2.1.329).
pub fn set_effort(level: Option<&str>) -> Value {
    json!({"subtype": "apply_flag_settings", "settings": {"effortLevel": level}})
}

/// No tokens to think with is no thinking; `null` is the model's own measure (2.1.329).
pub fn set_thinking(on: bool) -> Value {
    let tokens = if on { Value::Null } else { json!(0) };
    json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": tokens})
}

/// The rules in force; an error on 2.1.197.
pub fn list_permission_rules() -> Value {
    json!({"subtype": "list_permission_rules"})
}

/// What the agent works with, and which files said so.
pub fn get_settings() -> Value {
    json!({"subtype": "get_settings"})
}

/// Allows a tool to run with exactly this input, one line of JSON that goes byte for byte, keeping these rules.
pub fn allow(request_id: &str, input: &str, rules: &[Value]) -> String {
    let rules =
        if rules.is_empty() { String::new() } else { format!(r#","updatedPermissions":{}"#, json!(rules)) };
    let answer = format!(r#"{{"behavior":"allow","updatedInput":{input}{rules}}}"#);
    let id = json!(request_id);
    format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":{id},"response":{answer}}}}}"#
    )
}

/// Denies a tool. The message is mandatory, and the agent's model reads it.
pub fn deny(request_id: &str, message: &str, interrupt: bool) -> String {
    let mut answer = json!({"behavior": "deny", "message": message});
    if interrupt {
        answer["interrupt"] = json!(true);
    }
    success(request_id, answer)
}

/// Answers a request that we do not serve.
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
