//! Gemini.

use serde_json::{Value, json};

use super::{Act, Part, WRITTEN};

/// The reply to a request, as a stream or at once: its content type and its body.
pub fn reply(body: &Value, streams: bool) -> (&'static str, String) {
    let contents = body["contents"].as_array().into_iter().flatten();
    let parts: Vec<Part> = contents
        .filter(|content| content["role"] == "user")
        .flat_map(|content| content["parts"].as_array().into_iter().flatten())
        .filter_map(|part| match part.get("functionResponse") {
            Some(result) => Some(Part::ToolResult(result.to_string())),
            None => Some(Part::User(part["text"].as_str()?.to_owned())),
        })
        .collect();
    let declared = body["tools"].as_array().into_iter().flatten();
    let declared = declared.filter_map(|tool| tool["functionDeclarations"].as_array()).flatten();
    let tools: Vec<&str> = declared.filter_map(|tool| tool["name"].as_str()).collect();
    let call = |name: &str, input: Value| vec![json!({"functionCall": {"name": name, "args": input}})];
    let parts = match Act::of(&parts, &tools) {
        Act::Run(command) => {
            call("run_shell_command", json!({"command": command, "description": "Harmless"}))
        }
        Act::Write(path) => call("write_file", json!({"file_path": path, "content": WRITTEN})),
        Act::Ask(tool, input) => call(tool, input),
        Act::Think(thought, answer) => {
            vec![json!({"text": thought, "thought": true}), json!({"text": answer})]
        }
        Act::Say(text) => vec![json!({"text": text})],
    };
    let content = json!({"role": "model", "parts": parts});
    let usage = json!({"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15});
    let candidate = json!({"content": content, "finishReason": "STOP", "index": 0});
    let reply = json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "mock-1"});
    if streams {
        ("text/event-stream", format!("data: {reply}\n\n"))
    } else {
        ("application/json", reply.to_string())
    }
}
