//! OpenAI's chat completions.

use serde_json::{Value, json};

use super::{Act, Part, WRITTEN, texts, tools};

/// The reply to a request: its content type and its body.
pub fn reply(body: &Value) -> (&'static str, String) {
    let messages = body["messages"].as_array().into_iter().flatten();
    let parts: Vec<Part> = messages
        .filter_map(|message| match message["role"].as_str()? {
            "user" => Some(Part::User(texts(&message["content"]))),
            "tool" => Some(Part::ToolResult(texts(&message["content"]))),
            _ => None,
        })
        .collect();
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15});
    if body["stream"] != true {
        let message = json!({"role": "assistant", "content": "A title"});
        let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
        let reply = json!({"id": "1", "object": "chat.completion", "created": 1, "model": "mock-1",
            "choices": [choice], "usage": usage});
        return ("application/json", reply.to_string());
    }
    let tools = tools(body, |tool| &tool["function"]["name"]);
    let has = |name: &str| tools.contains(&name);
    let (mut thought, mut text) = (None, String::new());
    let call = match Act::of(&parts, &tools) {
        Act::Run(command) if has("bash") => {
            Some(("bash", json!({"command": command, "description": "Harmless"})))
        }
        Act::Run(command) if has("run_shell_command") => {
            let input = json!({"command": command, "description": "Harmless", "is_background": false});
            Some(("run_shell_command", input))
        }
        Act::Write(path) if has("create") => Some(("create", json!({"path": path, "file_text": WRITTEN}))),
        Act::Write(path) if has("write") => Some(("write", json!({"filePath": path, "content": WRITTEN}))),
        Act::Write(path) if has("write_file") => {
            Some(("write_file", json!({"file_path": path, "content": WRITTEN})))
        }
        Act::Ask(tool, input) => Some((tool, input)),
        Act::Think(first, then) => {
            (thought, text) = (Some(first), then);
            None
        }
        Act::Say(words) | Act::Run(words) | Act::Write(words) => {
            text = words;
            None
        }
    };
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        json!({"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "mock-1", "choices": [choice]})
    };
    // The field of DeepSeek's models, which other services have too.
    let thoughts =
        thought.map(|thought| chunk(json!({"role": "assistant", "reasoning_content": thought}), Value::Null));
    let mut chunks: Vec<Value> = thoughts.into_iter().collect();
    chunks.extend(match call {
        Some((name, input)) => {
            let function = json!({"name": name, "arguments": input.to_string()});
            let id = format!("call_{}", uuid::Uuid::new_v4().simple());
            let call = json!([{"index": 0, "id": id, "type": "function", "function": function}]);
            let delta = json!({"role": "assistant", "content": null, "tool_calls": call});
            vec![chunk(delta, Value::Null), chunk(json!({}), json!("tool_calls"))]
        }
        None => {
            let delta = json!({"role": "assistant", "content": text});
            vec![chunk(delta, Value::Null), chunk(json!({}), json!("stop"))]
        }
    });
    let mut last = chunk(json!({}), Value::Null);
    last["choices"] = json!([]);
    last["usage"] = usage;
    chunks.push(last);
    let lines: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    ("text/event-stream", lines + "data: [DONE]\n\n")
}
