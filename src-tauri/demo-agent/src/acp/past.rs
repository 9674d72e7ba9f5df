//! The conversation that the agent repeats, as `DESKBELL_DEMO_ACP` says.

use super::{AcpDemoAgent, id_of_session, update};
use serde_json::{Value, json};

/// Two turns: a prompt in two pieces, and one with an image, whose call was never over.
fn conversation() -> Vec<Value> {
    let said =
        |kind: &str, text: &str| json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
    let output = json!([{"type": "content", "content": {"type": "text", "text": "high at 6:12\n"}}]);
    let image = json!({"type": "image", "mimeType": "image/png", "data": "aGVsbG8="});
    vec![
        said("user_message_chunk", "When is "),
        said("user_message_chunk", "high tide?"),
        said("agent_thought_chunk", "There is a table."),
        json!({"sessionUpdate": "tool_call", "toolCallId": "call-1", "kind": "execute", "title": "cat tides.txt",
            "status": "in_progress", "rawInput": {"command": "cat tides.txt"}}),
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "call-1", "status": "completed", "content": output}),
        said("agent_message_chunk", "At "),
        said("agent_message_chunk", "**6:12**."),
        json!({"sessionUpdate": "user_message_chunk", "content": image}),
        said("user_message_chunk", "And on this coast?"),
        json!({"sessionUpdate": "plan", "entries": [
            {"content": "Find the coast", "priority": "high", "status": "in_progress"}]}),
        json!({"sessionUpdate": "tool_call", "toolCallId": "call-1", "kind": "execute", "title": "find .",
            "status": "in_progress", "rawInput": {"command": "find ."}}),
    ]
}

impl AcpDemoAgent {
    /// Repeats the conversation before the answer to `session/load`.
    pub(super) fn repeat_past(&mut self) {
        let kind = self.repeats().unwrap_or_default().to_owned();
        if kind == "-nothing" {
            return;
        }
        conversation().into_iter().for_each(update);
        match kind.as_str() {
            "-dies" => std::process::exit(3),
            "-forever" => loop {
                self.said("user_message_chunk", "again");
                self.said("agent_message_chunk", &"and again ".repeat(6_000));
            },
            "-asks" => {
                let options = json!([{"optionId": "once", "name": "Allow", "kind": "allow_once"}]);
                let call = json!({"toolCallId": "call-1"});
                let params = json!({"sessionId": id_of_session(), "toolCall": call, "options": options});
                // Whatever the answers are, there is no turn that they could be for.
                let _ = self.request("session/request_permission", params);
                let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
                let params = json!({"sessionId": id_of_session(), "mode": "form", "message": "Which name?",
                    "requestedSchema": schema});
                let _ = self.request("elicitation/create", params);
            }
            _ => {}
        }
    }
}
