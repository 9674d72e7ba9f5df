//! Messages of the simulated agent.

use super::{ACTS, ASKS};
use crate::chance::Chance;
use serde_json::{Value, json};

/// The ids of the options of a permission request.
pub const OPTIONS: [&str; 3] = ["once", "always", "reject"];

pub fn initialized(is_new: bool) -> Value {
    let session = if is_new { json!({"resume": {}, "list": {}, "close": {}}) } else { json!({}) };
    json!({
        "protocolVersion": 1,
        "agentInfo": {"name": "simulated", "version": "1.0.0"},
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": {"image": is_new, "embeddedContext": is_new},
            "sessionCapabilities": session,
        },
    })
}

/// The answer to a request for a session.
pub fn opened(session: Option<&str>, mode: &str) -> Value {
    let modes = [ASKS, "plan", ACTS].map(|id| json!({"id": id, "name": id}));
    let mut opened = json!({"modes": {"currentModeId": mode, "availableModes": modes}});
    if let Some(id) = session {
        opened["sessionId"] = json!(id);
    }
    opened
}

/// A message of a conversation that is repeated.
pub fn repeated(n: u64) -> Value {
    let kind = if n == 0 { "user_message_chunk" } else { "agent_message_chunk" };
    json!({"sessionUpdate": kind, "content": {"type": "text", "text": format!("earlier {n}")}})
}

pub fn permission(session: &Option<String>, call: &str, chance: &mut Chance) -> Value {
    let option = |id: &str| {
        let kind = match id {
            "once" => "allow_once",
            "always" => "allow_always",
            _ => "reject_once",
        };
        json!({"optionId": id, "name": id, "kind": kind})
    };
    let options: Vec<Value> = match chance.below(6) {
        0 => vec![option("always"), option("reject")],
        1 => vec![option("once")],
        2 if chance.one_in(3) => Vec::new(),
        _ => OPTIONS.map(option).into(),
    };
    let call = json!({
        "toolCallId": call,
        "title": "touch b.txt",
        "kind": "execute",
        "status": "pending",
        "rawInput": {"command": "touch b.txt"},
    });
    json!({"sessionId": session, "toolCall": call, "options": options})
}

/// A question of a server, as a form.
pub fn form() -> Value {
    let colour = json!({"type": "string", "enum": ["A", "B"]});
    let schema = json!({"type": "object", "required": ["colour"], "properties": {"colour": colour}});
    json!({"mode": "form", "message": "Which?", "requestedSchema": schema})
}

/// A report that must not affect the session's lifecycle.
pub fn update(n_calls: u64, chance: &mut Chance) -> Value {
    let text =
        |kind: &str| json!({"sessionUpdate": kind, "content": {"type": "text", "text": "Some *text*.\n\n"}});
    let call = format!("tool-{}", n_calls / 2);
    match chance.below(10) {
        0..3 => text("agent_message_chunk"),
        3 => text("agent_thought_chunk"),
        4 => {
            let input = json!({"path": "/project/a.rs"});
            json!({"sessionUpdate": "tool_call", "toolCallId": call, "title": "Read a.rs", "kind": "read",
                   "status": "in_progress", "rawInput": input})
        }
        5 => {
            let status = *chance.pick(&["in_progress", "completed", "failed"]).unwrap();
            let content = json!([{"type": "content", "content": {"type": "text", "text": "1 fn main() {}"}}]);
            json!({"sessionUpdate": "tool_call_update", "toolCallId": call, "status": status, "content": content})
        }
        6 => {
            let entry = json!({"content": "one", "priority": "high", "status": "pending"});
            json!({"sessionUpdate": "plan", "entries": [entry]})
        }
        7 => {
            let command = json!({"name": "compact", "description": ""});
            json!({"sessionUpdate": "available_commands_update", "availableCommands": [command]})
        }
        8 => json!({"sessionUpdate": "session_info_update", "title": format!("Title {}", chance.below(3))}),
        _ => json!({"sessionUpdate": "brand_new"}),
    }
}
