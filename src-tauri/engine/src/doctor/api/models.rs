//! Replies in the formats of OpenAI and of Gemini: a call of the tool that is named, or a text.

use super::{COMMAND, EVENTS, named, reply};
use http_body_util::Full;
use hyper::Response;
use hyper::body::Bytes;
use serde_json::{Value, json};

/// OpenAI's chat completions.
pub(super) fn chat(streams: bool, tool: Option<&str>) -> Response<Full<Bytes>> {
    let (delta, reason) = match tool {
        Some(name) => {
            let function = json!({"name": name, "arguments": input().to_string()});
            let call = json!([{"index": 0, "id": "call_deskbell", "type": "function", "function": function}]);
            (json!({"role": "assistant", "content": null, "tool_calls": call}), "tool_calls")
        }
        None => (json!({"role": "assistant", "content": "Checked."}), "stop"),
    };
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2});
    let whole = |kind: &str, choices: Value, usage: &Value| json!({"id": "deskbell", "object": kind, "created": 1, "model": "doctor-1", "choices": choices, "usage": usage});
    if !streams {
        let choice = json!([{"index": 0, "message": delta, "finish_reason": reason}]);
        return reply("application/json", whole("chat.completion", choice, &usage).to_string());
    }
    let chunk = |choices: Value, usage: &Value| whole("chat.completion.chunk", choices, usage);
    let chunks = [
        chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]), &Value::Null),
        chunk(json!([{"index": 0, "delta": {}, "finish_reason": reason}]), &Value::Null),
        chunk(json!([]), &usage),
    ];
    let lines: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    reply(EVENTS, lines + "data: [DONE]\n\n")
}

/// OpenAI's responses, always as a stream.
pub(super) fn responses(tool: Option<&str>) -> Response<Full<Bytes>> {
    let item = match tool {
        Some(name) => {
            // Codex does not ask about what stays in its sandbox.
            let input = json!({"cmd": COMMAND, "sandbox_permissions": "require_escalated",
                "justification": "Checks the permission channel"});
            json!({"type": "function_call", "call_id": "call_deskbell", "name": name, "arguments": input.to_string()})
        }
        None => json!({"type": "message", "role": "assistant", "id": "msg_deskbell",
            "content": [{"type": "output_text", "text": "Checked."}]}),
    };
    let usage = json!({"input_tokens": 1, "input_tokens_details": null, "output_tokens": 1,
        "output_tokens_details": null, "total_tokens": 2});
    let events = [
        json!({"type": "response.created", "response": {"id": "deskbell"}}),
        json!({"type": "response.output_item.done", "item": item}),
        json!({"type": "response.completed", "response": {"id": "deskbell", "usage": usage}}),
    ];
    reply(EVENTS, named(&events))
}

/// Gemini.
pub(super) fn gemini(streams: bool, tool: Option<&str>) -> Response<Full<Bytes>> {
    let part = match tool {
        Some(name) => json!({"functionCall": {"name": name, "args": input()}}),
        None => json!({"text": "Checked."}),
    };
    let candidate =
        json!({"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0});
    let usage = json!({"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2});
    let answer = json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "doctor-1"});
    if streams {
        reply(EVENTS, format!("data: {answer}\n\n"))
    } else {
        reply("application/json", answer.to_string())
    }
}

/// The input of a tool that runs a command, with the fields that one of the agents requires.
fn input() -> Value {
    json!({"command": COMMAND, "description": "Checks the permission channel", "is_background": false})
}
