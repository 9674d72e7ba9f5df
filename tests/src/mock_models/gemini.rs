//! Gemini.

use serde_json::{Value, json};

use super::{Part, WRITTEN, directive};

/// The reply to a request, as a stream or at once: its content type and its body.
pub fn reply(body: &Value, streams: bool) -> (&'static str, String) {
    let contents = body["contents"].as_array().into_iter().flatten();
    let parts: Vec<Part> = contents
        .filter(|content| content["role"] == "user")
        .flat_map(|content| content["parts"].as_array().into_iter().flatten())
        .filter_map(|part| match part.get("functionResponse") {
            Some(_) => Some(Part::ToolResult),
            None => Some(Part::User(part["text"].as_str()?.to_owned())),
        })
        .collect();
    let (word, rest) = directive(&parts);
    let part = match word.as_str() {
        "RUN" => {
            json!({"functionCall": {"name": "run_shell_command", "args": {"command": rest, "description": "Harmless"}}})
        }
        "WRITE" => {
            json!({"functionCall": {"name": "write_file", "args": {"file_path": rest, "content": WRITTEN}}})
        }
        _ => json!({"text": rest}),
    };
    let content = json!({"role": "model", "parts": [part]});
    let usage = json!({"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15});
    let candidate = json!({"content": content, "finishReason": "STOP", "index": 0});
    let reply = json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "mock-1"});
    if streams {
        ("text/event-stream", format!("data: {reply}\n\n"))
    } else {
        ("application/json", reply.to_string())
    }
}
