//! A loaded conversation that the agent goes on to repeat after its answer, as Gemini CLI does.

use crate::double::Agent;
use deskbell_agent::driver::{Driver, Output};
use deskbell_agent::{AgentCommand, AgentEvent, Answer};
use serde_json::{Value, json};

/// Its session is loaded, in the mode that asks, and its conversation is not repeated yet.
fn loaded() -> Agent {
    let mut agent = Agent::begun("gemini", Some("s"));
    is_loaded(&mut agent);
    agent
}

fn is_loaded(agent: &mut Agent) {
    let modes = json!([{"id": "default", "name": "Default"}, {"id": "yolo", "name": "YOLO"}]);
    agent.answers(1, json!({"modes": {"currentModeId": "default", "availableModes": modes}}));
}

fn repeats(agent: &mut Agent, text: &str) {
    updates(
        agent,
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}),
    );
}

fn updates(agent: &mut Agent, update: Value) {
    agent.says(json!({"method": "session/update", "params": {"sessionId": "s", "update": update}}));
}

fn prompt(agent: &mut Agent) {
    let prompt =
        AgentCommand::Prompt { uuid: "u".to_owned(), text: "next".to_owned(), attachments: Vec::new() };
    let mut out = Output::default();
    agent.driver.write(&prompt, &mut out);
    agent.take(out);
}

fn is_ready(agent: &Agent) -> bool {
    let ready = |event: &AgentEvent| {
        matches!(event, AgentEvent::Response { outcome: Ok(Answer::Initialized(_)), .. })
    };
    agent.events.iter().any(ready)
}

fn says(agent: &Agent, text: &str) -> bool {
    format!("{:?}", agent.events).contains(text)
}

#[test]
fn what_comes_after_the_answer_is_no_part_of_the_next_turn() {
    let mut agent = loaded();
    for id in 2..5 {
        assert!(!is_ready(&agent));
        assert_eq!(agent.sent(), ("session/set_mode", &json!({"sessionId": "s", "modeId": "default"})));
        repeats(&mut agent, "an old answer");
        agent.answers(id, Value::Null);
    }
    assert!(!is_ready(&agent));
    agent.answers(5, json!({}));
    assert!(is_ready(&agent), "nothing came before this answer");
    prompt(&mut agent);
    repeats(&mut agent, "the new answer");
    assert!(says(&agent, "the new answer") && !says(&agent, "an old answer"), "{:?}", agent.events);
}

/// Copilot CLI reports the end of a call in the turn after its process was killed.
#[test]
fn a_late_end_of_a_repeated_call_adds_no_row_to_the_next_turn() {
    let call =
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "touch a", "status": "pending"});
    let end = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed",
        "rawOutput": {"message": "interrupted"}});
    let repeated = || {
        let mut agent = Agent::begun("gemini", Some("s"));
        updates(&mut agent, call.clone());
        is_loaded(&mut agent);
        agent.answers(2, json!({}));
        assert!(is_ready(&agent));
        prompt(&mut agent);
        let n_before = agent.events.len();
        (agent, n_before)
    };
    let (mut agent, n_before) = repeated();
    updates(&mut agent, end.clone());
    repeats(&mut agent, "the new answer");
    let shown = format!("{:?}", &agent.events[n_before..]);
    assert!(shown.contains("the new answer") && !shown.contains("c@u"), "{shown}");

    // An id that is used again is another call.
    let (mut agent, n_before) = repeated();
    updates(&mut agent, call.clone());
    updates(&mut agent, end);
    let shown = format!("{:?}", &agent.events[n_before..]);
    for part in ["ToolUse { id: \"c@u\"", "tool_use_id: \"c@u\""] {
        assert_eq!(shown.matches(part).count(), 1, "{part}: {shown}");
    }
}

#[test]
fn an_agent_that_repeats_without_end_or_refuses_the_request_is_used_all_the_same() {
    let mut agent = loaded();
    for id in 2..102 {
        repeats(&mut agent, "again");
        agent.answers(id, json!({}));
    }
    assert!(is_ready(&agent));

    let mut agent = loaded();
    agent.says(json!({"jsonrpc": "2.0", "id": 2, "error": {"code": -32603, "message": "no"}}));
    assert!(is_ready(&agent));
}

#[test]
fn a_new_session_is_ready_at_once() {
    let modes = json!({"currentModeId": "default", "availableModes": [{"id": "default", "name": "Default"}]});
    assert!(is_ready(&Agent::with("gemini", json!({"modes": modes}))));
}
