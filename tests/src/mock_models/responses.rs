//! OpenAI's responses, always as a stream.

use serde_json::{Value, json};

use super::{Part, WRITTEN, directive, texts, tools};

/// The reply to a request: its content type and its body.
pub fn reply(body: &Value) -> (&'static str, String) {
    let input = body["input"].as_array().into_iter().flatten();
    let parts: Vec<Part> = input
        .filter_map(|item| match (item["type"].as_str()?, item["role"].as_str()) {
            ("message", Some("user")) => Some(Part::User(texts(&item["content"]))),
            ("function_call_output" | "custom_tool_call_output", _) => Some(Part::ToolResult),
            _ => None,
        })
        .collect();
    let (word, rest) = directive(&parts);
    let tools = tools(body, |tool| &tool["name"]);
    let call = |arguments: Value| {
        let call_id = format!("call_{}", uuid::Uuid::new_v4().simple());
        let arguments = arguments.to_string();
        json!({"type": "function_call", "call_id": call_id, "name": "exec_command", "arguments": arguments})
    };
    let item = match word.as_str() {
        // What stays in the sandbox is not asked about.
        "RUN" if tools.contains(&"exec_command") => call(
            json!({"cmd": rest, "sandbox_permissions": "require_escalated", "justification": "Harmless"}),
        ),
        "WRITE" if tools.contains(&"exec_command") => {
            let patch = format!("*** Begin Patch\n*** Add File: {rest}\n+{WRITTEN}*** End Patch\n");
            call(json!({"cmd": format!("apply_patch <<'EOF'\n{patch}EOF")}))
        }
        _ => json!({"type": "message", "role": "assistant", "id": "msg_1",
            "content": [{"type": "output_text", "text": rest}]}),
    };
    let usage = json!({"input_tokens": 10, "input_tokens_details": null, "output_tokens": 5,
        "output_tokens_details": null, "total_tokens": 15});
    let events = [
        json!({"type": "response.created", "response": {"id": "1"}}),
        json!({"type": "response.output_item.done", "item": item}),
        json!({"type": "response.completed", "response": {"id": "1", "usage": usage}}),
    ];
    let line =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    ("text/event-stream", events.iter().map(line).collect())
}
