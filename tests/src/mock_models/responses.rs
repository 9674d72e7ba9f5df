//! OpenAI's responses, always as a stream.

use serde_json::{Value, json};

use super::{Act, Part, WRITTEN, texts, tools};

/// The reply to a request: its content type and its body.
pub fn reply(body: &Value) -> (&'static str, String) {
    let input = body["input"].as_array().into_iter().flatten();
    let parts: Vec<Part> = input
        .filter_map(|item| match (item["type"].as_str()?, item["role"].as_str()) {
            ("message", Some("user")) => Some(Part::User(texts(&item["content"]))),
            ("function_call_output" | "custom_tool_call_output", _) => {
                Some(Part::ToolResult(texts(&item["output"])))
            }
            _ => None,
        })
        .collect();
    let tools = tools(body, |tool| &tool["name"]);
    let call = |name: &str, arguments: Value| {
        let call_id = format!("call_{}", uuid::Uuid::new_v4().simple());
        let arguments = arguments.to_string();
        vec![json!({"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments})]
    };
    let says = |text: &str| {
        json!({"type": "message", "role": "assistant", "id": "msg_1",
            "content": [{"type": "output_text", "text": text}]})
    };
    let items = match Act::of(&parts, &tools) {
        // What stays in the sandbox is not asked about.
        Act::Run(command) if tools.contains(&"exec_command") => call(
            "exec_command",
            json!({"cmd": command, "sandbox_permissions": "require_escalated", "justification": "Harmless"}),
        ),
        Act::Write(path) if tools.contains(&"exec_command") => {
            let patch = format!("*** Begin Patch\n*** Add File: {path}\n+{WRITTEN}*** End Patch\n");
            call("exec_command", json!({"cmd": format!("apply_patch <<'EOF'\n{patch}EOF")}))
        }
        Act::Ask(tool, input) => call(tool, input),
        Act::Think(thought, answer) => {
            let summary = json!([{"type": "summary_text", "text": thought}]);
            vec![json!({"type": "reasoning", "id": "rs_1", "summary": summary}), says(&answer)]
        }
        Act::Say(text) | Act::Run(text) | Act::Write(text) => vec![says(&text)],
    };
    let usage = json!({"input_tokens": 10, "input_tokens_details": null, "output_tokens": 5,
        "output_tokens_details": null, "total_tokens": 15});
    let mut events = vec![json!({"type": "response.created", "response": {"id": "1"}})];
    events.extend(items.into_iter().map(|item| json!({"type": "response.output_item.done", "item": item})));
    events.push(json!({"type": "response.completed", "response": {"id": "1", "usage": usage}}));
    let line =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    ("text/event-stream", events.iter().map(line).collect())
}
