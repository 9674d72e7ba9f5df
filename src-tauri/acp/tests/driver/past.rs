//! The earlier messages of a conversation that Deskbell has no copy of: repeated by the real agents, by one that repeats
//! without an end, and by others that cannot.

use crate::double::Agent;
use crate::player::recording;
use deskbell_agent::{AgentEvent, AgentRequest, Assistant, ContentBlock, Past, PastConversation, PastPart};
use serde_json::{Value, json};

const RESUMES: &str = r#"{"sessionCapabilities": {"resume": {}}}"#;

fn offers(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A process of this row that was asked for the conversation.
fn loading(row: &str) -> Agent {
    let agent = Agent::without_past(row, offers(RESUMES));
    assert_eq!(agent.sent().0, "session/load");
    assert_eq!(agent.events, [AgentEvent::Past(Past::Requested)]);
    agent
}

fn update(agent: &mut Agent, update: Value) {
    agent.says(json!({"method": "session/update", "params": {"sessionId": "s", "update": update}}));
}

fn said(agent: &mut Agent, who: &str, text: &str) {
    let content = json!({"type": "text", "text": text});
    update(agent, json!({"sessionUpdate": format!("{who}_chunk"), "content": content}));
}

fn modes() -> Value {
    json!({"modes": {"currentModeId": "default", "availableModes": [{"id": "default", "name": "Default"}]}})
}

fn past(agent: &Agent) -> &Past {
    let reports = agent.events.iter().filter_map(|event| match event {
        AgentEvent::Past(past) if *past != Past::Requested => Some(past),
        _ => None,
    });
    let reports: Vec<&Past> = reports.collect();
    let [past] = reports[..] else { panic!("{:?}", agent.events) };
    past
}

fn whole(agent: &Agent) -> &PastConversation {
    let Past::Whole(conversation) = past(agent) else { panic!("{:?}", past(agent)) };
    conversation
}

fn reason(agent: &Agent) -> &str {
    let Past::Missing { reason } = past(agent) else { panic!("{:?}", past(agent)) };
    reason
}

fn is_ready(agent: &Agent) -> bool {
    agent.events.iter().any(|event| matches!(event, AgentEvent::Response { outcome: Ok(_), .. }))
}

/// The parts in short: prompts, texts, thoughts, calls and results.
fn outline(past: &PastConversation) -> Vec<String> {
    let of_block = |block: &ContentBlock| match block {
        ContentBlock::Text { text } => format!("text {text}"),
        ContentBlock::Thinking { text } => format!("thought {text}"),
        ContentBlock::ToolUse { id, call } => format!("call {id} {}", call.name),
        other => format!("{other:?}"),
    };
    let of_part = |part: &PastPart| match part {
        PastPart::Prompt { prompt, .. } => format!("prompt {}", prompt.text),
        PastPart::Event(AgentEvent::Assistant(assistant)) => {
            let Assistant { message, .. } = &**assistant;
            message.content.iter().map(of_block).collect()
        }
        PastPart::Event(AgentEvent::User(user)) => user
            .results()
            .map(|result| format!("result {} {}", result.tool_use_id, result.text.trim()))
            .collect(),
        PastPart::Event(other) => format!("{other:?}"),
    };
    past.parts.iter().map(of_part).collect()
}

#[test]
fn a_repeated_conversation_is_reported_at_once_and_is_no_turn() {
    let mut agent = loading("qwen");
    said(&mut agent, "user_message", "When is ");
    said(&mut agent, "user_message", "high tide?");
    said(&mut agent, "agent_thought", "A table.");
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "kind": "execute", "title": "cat",
        "status": "in_progress", "rawInput": {"command": "cat t"}});
    update(&mut agent, call.clone());
    let output = json!([{"type": "content", "content": {"type": "text", "text": "6:12"}}]);
    let ended = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed", "content": output});
    update(&mut agent, ended);
    said(&mut agent, "agent_message", "At ");
    said(&mut agent, "agent_message", "6:12.");
    said(&mut agent, "user_message", "And here?");
    // The same id again, which is never over.
    update(&mut agent, call);
    let n_before = agent.events.iter().filter(|event| **event != AgentEvent::Heartbeat).count();
    assert_eq!(n_before, 1, "nothing is reported until the session is usable: {:?}", agent.events);
    agent.answers(1, modes());
    assert!(is_ready(&agent));
    assert_eq!(
        outline(whole(&agent)),
        [
            "prompt When is high tide?",
            "thought A table.",
            "call c@acp-past-1 command",
            "result c@acp-past-1 6:12",
            "text At 6:12.",
            "prompt And here?",
            "call c@acp-past-2 command",
            "result c@acp-past-2 The agent did not report how this ended.",
        ]
    );
    let at = |is_it: fn(&AgentEvent) -> bool| agent.events.iter().position(is_it).unwrap();
    assert!(
        at(|event| matches!(event, AgentEvent::Past(Past::Whole(_))))
            < at(|event| matches!(event, AgentEvent::Response { .. })),
        "a prompt that waits comes below it"
    );
    let is_of_a_turn = |event: &AgentEvent| {
        matches!(
            event,
            AgentEvent::Stream(_) | AgentEvent::Assistant(_) | AgentEvent::Init(_) | AgentEvent::TurnEnded(_)
        )
    };
    assert!(!agent.events.iter().any(is_of_a_turn), "{:?}", agent.events);
}

/// What the recorded agents sent for `session/load`. Copilot CLI and Gemini CLI refused it in that recording.
#[test]
fn the_conversations_of_the_real_agents_are_read() {
    let rows =
        [("claude-acp", "claude-acp"), ("codex-acp", "codex"), ("opencode", "opencode"), ("qwen", "qwen")];
    for (name, row) in rows {
        let lines = recording(name);
        let at = lines.iter().position(|line| line.line["method"] == "session/load").unwrap();
        let id = &lines[at].line["id"];
        let mut agent = loading(row);
        let mut prompts = Vec::new();
        for line in lines[at..].iter().filter(|line| line.is_out) {
            if &line.line["id"] == id {
                break;
            }
            let mut update = line.line.clone();
            if update["method"] != "session/update" {
                continue;
            }
            update["params"]["sessionId"] = json!("s");
            let content = &update["params"]["update"];
            if content["sessionUpdate"] == "user_message_chunk" {
                prompts.push(format!("prompt {}", content["content"]["text"].as_str().unwrap()));
            }
            agent.says(update);
        }
        let answer = lines.iter().skip(at).find(|line| line.is_out && &line.line["id"] == id).unwrap();
        agent.answers(1, answer.line["result"].clone());
        for id in 2..6 {
            // The mode that asks is set and confirmed.
            agent.answers(id, json!({}));
        }
        let outline = outline(whole(&agent));
        let found: Vec<&String> = outline.iter().filter(|part| part.starts_with("prompt")).collect();
        assert_eq!(found, prompts.iter().collect::<Vec<_>>(), "{name}: {outline:#?}");
        for kind in ["text", "call", "result"] {
            assert!(outline.iter().any(|part| part.starts_with(kind)), "{name} has no {kind}: {outline:#?}");
        }
        assert!(!outline.iter().any(|part| part.contains("did not report how")), "{name}: {outline:#?}");
    }
}

#[test]
fn what_comes_after_the_answer_belongs_to_it() {
    let mut agent = loading("gemini");
    said(&mut agent, "user_message", "one");
    agent.answers(1, modes());
    said(&mut agent, "agent_message", "an old answer");
    agent.answers(2, Value::Null);
    assert!(!is_ready(&agent));
    agent.answers(3, json!({}));
    assert!(is_ready(&agent));
    assert_eq!(outline(whole(&agent)), ["prompt one", "text an old answer"]);
}

#[test]
fn nothing_that_is_repeated_asks() {
    let mut agent = loading("qwen");
    let option = json!([{"optionId": "once", "name": "Allow", "kind": "allow_once"}]);
    let params =
        json!({"sessionId": "s", "toolCall": {"toolCallId": "c", "kind": "execute"}, "options": option});
    agent.says(json!({"id": "a", "method": "session/request_permission", "params": params}));
    assert_eq!(agent.written.last().unwrap()["result"], json!({"outcome": {"outcome": "cancelled"}}));
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let params = json!({"sessionId": "s", "mode": "form", "message": "Which?", "requestedSchema": schema});
    agent.says(json!({"id": "b", "method": "elicitation/create", "params": params}));
    assert_eq!(agent.written.last().unwrap()["result"], json!({"action": "cancel"}));
    agent.answers(1, modes());
    let asks =
        |event: &AgentEvent| matches!(event, AgentEvent::Request { request: AgentRequest::Tool(_), .. });
    assert!(is_ready(&agent) && !agent.events.iter().any(asks), "{:?}", agent.events);
}

#[test]
fn an_agent_that_cannot_repeat_continues_without_it() {
    let cannot = json!({"loadSession": false, "sessionCapabilities": {"resume": {}}});
    let mut agent = Agent::without_past("qwen", cannot);
    assert_eq!(agent.sent().0, "session/resume");
    agent.answers(1, modes());
    assert!(is_ready(&agent));
    assert_eq!(reason(&agent), "Qwen Code does not give them to other programs. It still knows them.");

    // It refuses to, but resumes.
    let mut agent = loading("qwen");
    said(&mut agent, "agent_message", "a half");
    agent.says(json!({"id": 1, "error": {"code": -32603, "message": "damaged"}}));
    assert_eq!(agent.sent(), ("session/resume", &json!({"sessionId": "s", "cwd": "/project"})));
    said(&mut agent, "agent_message", "another half");
    agent.answers(2, modes());
    assert!(is_ready(&agent));
    assert_eq!(reason(&agent), "Qwen Code refused to repeat them: damaged");
    assert!(!format!("{:?}", agent.events).contains("half"));

    // It has none.
    let mut agent = loading("qwen");
    agent.answers(1, modes());
    assert!(is_ready(&agent));
    assert!(reason(&agent).contains("repeated none"));

    // It does neither: the conversation is lost.
    let mut agent = Agent::without_past("qwen", json!({}));
    agent.says(json!({"id": 1, "error": {"code": -32603, "message": "gone"}}));
    assert!(
        !is_ready(&agent) && agent.events.iter().any(|event| matches!(event, AgentEvent::CannotStart { .. }))
    );
}

#[test]
fn a_conversation_with_a_copy_is_not_repeated() {
    let mut agent = Agent::begun("qwen", Some("s"));
    said(&mut agent, "user_message", "one");
    agent.answers(1, modes());
    let reports = |event: &AgentEvent| matches!(event, AgentEvent::Past(_));
    assert!(is_ready(&agent) && !agent.events.iter().any(reports));
}

/// Hostile: more turns than are kept, one call that changes with every line, and a message without an end.
#[test]
fn a_long_conversation_is_kept_from_its_end() {
    let mut agent = loading("qwen");
    for nr in 0..6_000 {
        said(&mut agent, "user_message", &format!("prompt {nr}"));
        said(&mut agent, "agent_message", "answer");
    }
    said(&mut agent, "user_message", "last");
    for nr in 0..2_000 {
        let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": format!("{nr} {}", "x".repeat(9_000))});
        update(&mut agent, call);
    }
    for _ in 0..40 {
        said(&mut agent, "agent_message", &"y".repeat(100_000));
    }
    agent.answers(1, modes());
    let past = whole(&agent);
    let outline = outline(past);
    assert!(
        past.parts.len() <= 10_000 && past.n_left_out > 2_000,
        "{} {}",
        past.parts.len(),
        past.n_left_out
    );
    assert!(outline[0].starts_with("prompt "), "it begins with a prompt");
    let [.., last, call, text, result] = &outline[..] else { panic!() };
    assert_eq!(last, "prompt last");
    assert!(call.starts_with("call") && text.starts_with("text y") && result.starts_with("result"));
    assert_eq!(text.len(), "text ".len() + 1_000_000, "a longer message is cut");
    let n_bytes: usize = outline.iter().map(String::len).sum();
    assert!(n_bytes < 17 * 1024 * 1024, "{n_bytes}");
}

#[test]
fn an_agent_that_repeats_without_an_end_is_stopped_in_words() {
    let mut agent = loading("qwen");
    let text = "z".repeat(1 << 20);
    let mut n_lines = 0;
    while agent.events.len() < 2 || !matches!(agent.events.last(), Some(AgentEvent::CannotStart { .. })) {
        said(&mut agent, "agent_message", &text);
        n_lines += 1;
        assert!(n_lines < 100, "it is never stopped");
    }
    assert_eq!(reason(&agent), "Qwen Code repeated them without an end.");
    let n_events = agent.events.len();
    agent.answers(1, modes());
    said(&mut agent, "agent_message", "more");
    assert!(
        !is_ready(&agent) && agent.events[n_events..].iter().all(|event| *event == AgentEvent::Heartbeat)
    );
}
