//! A permission request gets one answer.

use super::life::{Life, live_from_ready, resumable};
use super::*;
use serde_json::{Value, json};

#[test]
fn a_request_gets_one_answer() {
    live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("ask r", "show r"),
        ("ask q", "show q"),
        ("ask r", ""),
        ("ask-unknown u", "reply u error"),
        ("ask-malformed m", "Warning; reply m deny"),
        ("deny q", "reply q deny; q denied"),
        ("allow q", "refuse NoSuchRequest"),
        ("cancel q", ""),
        ("cancel r", "r withdrawn"),
        ("allow r", "refuse NoSuchRequest"),
    ]);
}

#[test]
fn two_requests_with_one_id_are_both_denied() {
    live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("ask r", "show r"),
        ("ask-other r", "reply r deny; r denied; reply r deny; Warning"),
        ("allow r", "refuse NoSuchRequest"),
        ("ask r", "show r"),
        ("allow r", "reply r allow; r allowed"),
    ]);
}

/// The lines of 2.1.329 for a subagent that asks: its request has only its id.
#[test]
fn a_request_says_which_subagent_asks() {
    let mut life = Life::new(resumable());
    for happens in ["start", "answer 1", "answer 2", "prompt a"] {
        life.happens(happens);
    }
    let line = |life: &mut Life, line: Value| life.hears(&line);
    let ask = |id: &str, agent_id: Option<&str>| {
        let mut request = json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}});
        if let Some(agent_id) = agent_id {
            request["agent_id"] = json!(agent_id);
        }
        json!({"type": "control_request", "request_id": id, "request": request})
    };
    let words = |life: &Life, id: &str| {
        let subagent = life.machine.requests().get(&RequestId::new(id)).unwrap().subagent.clone();
        subagent.map(|subagent| (subagent.words, subagent.item_id))
    };
    line(
        &mut life,
        json!({"type": "system", "subtype": "task_started", "task_id": "a1", "tool_use_id": "t",
               "description": "Explore the parser", "task_type": "local_agent"}),
    );
    line(
        &mut life,
        json!({"type": "system", "subtype": "task_progress", "task_id": "a1", "tool_use_id": "t",
               "description": "Running ls", "usage": {"total_tokens": 1, "tool_uses": 1}}),
    );
    line(&mut life, ask("r", Some("a1")));
    line(&mut life, ask("q", None));
    line(&mut life, ask("p", Some("a2")));
    let named = "Asked by the subagent “Explore the parser”".to_owned();
    assert_eq!(words(&life, "r"), Some((named, Some(ItemId::new("t")))));
    assert_eq!(words(&life, "q"), None);
    assert_eq!(words(&life, "p"), Some(("Asked by a subagent".to_owned(), None)));
    // Another process has other subagents.
    for happens in ["exit 0", "start", "answer 3", "answer 4"] {
        life.happens(happens);
    }
    line(&mut life, ask("o", Some("a1")));
    assert_eq!(words(&life, "o"), Some(("Asked by a subagent".to_owned(), None)));
}
