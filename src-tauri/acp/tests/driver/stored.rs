//! The list of an agent's stored sessions: of the real agents, of one without a list, and of hostile ones.

use crate::double::Agent;
use crate::player::{names, recording};
use deskbell_agent::{AgentEvent, HostRequest, ListedSession};
use serde_json::{Value, json};

/// The lists that were reported.
fn lists(agent: &Agent) -> Vec<&[ListedSession]> {
    let mut lists = Vec::new();
    for event in &agent.events {
        if let AgentEvent::StoredSessions(listed) = event {
            lists.push(&listed[..]);
        }
    }
    lists
}

fn n_asked(agent: &Agent) -> usize {
    agent.written.iter().filter(|line| line["method"] == "session/list").count()
}

fn one(id: &str) -> Value {
    json!({"sessionId": id, "cwd": "/project", "title": id, "updatedAt": "2026-01-02T00:00:00Z"})
}

fn is_ready(agent: &Agent) -> bool {
    agent.outcome().is_ok()
        && !agent.events.iter().any(|event| matches!(event, AgentEvent::CannotStart { .. }))
}

/// Each agent that was recorded with a list: all of its sessions are of the folder, and have an id, a title and a time.
#[test]
fn the_lists_of_the_real_agents_are_read() {
    let mut found = Vec::new();
    for name in names() {
        let lines = recording(&name);
        let Some(asked) = lines.iter().find(|line| line.line["method"] == "session/list") else { continue };
        let answer = lines.iter().find(|line| line.is_out && line.line["id"] == asked.line["id"]);
        let Some(result) = answer.and_then(|line| line.line.get("result")) else { continue };
        let mut agent = Agent::with_list();
        assert_eq!(agent.sent(), ("session/list", &json!({"cwd": "/project"})));
        agent.answers(2, result.clone());
        let [listed] = lists(&agent)[..] else { panic!("{name}: {:?}", agent.events) };
        let has_all = |one: &ListedSession| one.title.is_some() && one.changed_at.is_some();
        assert!(listed.iter().all(has_all), "{name}: {listed:?}");
        found.push((name, listed.len()));
    }
    let n_sessions: Vec<(&str, usize)> = found.iter().map(|(name, n)| (name.as_str(), *n)).collect();
    assert_eq!(
        n_sessions,
        [
            ("claude-acp", 2),
            ("claude-acp-question", 1),
            ("codex-acp", 1),
            ("codex-acp-noterm", 1),
            ("codex-acp-question", 1),
            ("codex-acp-zed", 1),
            ("copilot", 1),
            ("opencode", 1),
            ("opencode-question", 1),
            ("qwen", 1)
        ]
    );
}

#[test]
fn an_agent_without_a_list_is_not_asked_and_one_with_it_is_asked_once() {
    let modes = json!({"currentModeId": "default", "availableModes": [{"id": "default", "name": "Default"}]});
    let agent = Agent::with("qwen", json!({ "modes": modes }));
    assert!(is_ready(&agent));
    assert_eq!(n_asked(&agent), 0);
    let mut agent = Agent::with_list();
    assert!(is_ready(&agent), "the session does not wait for the list");
    agent.answers(2, json!({"sessions": [one("a")]}));
    agent.asks(HostRequest::ReadSettings);
    assert_eq!((n_asked(&agent), lists(&agent).len()), (1, 1));
}

#[test]
fn pages_become_one_list_without_other_folders_repeated_ids_and_ids_that_are_none() {
    let mut agent = Agent::with_list();
    let long = "x".repeat(257);
    let mut elsewhere = one("elsewhere");
    elsewhere["cwd"] = json!("/project/inner");
    let mut slash = one("slash");
    slash["cwd"] = json!("/project/");
    let odd = json!({"sessions": [one("a"), one(""), one(" "), one("a\u{0}"), one(&long), elsewhere, one("a"), slash,
        7, null, {"sessionId": "no-folder"}, {"cwd": "/project"}], "nextCursor": "next"});
    agent.answers(2, odd);
    assert_eq!(agent.sent(), ("session/list", &json!({"cwd": "/project", "cursor": "next"})));
    assert!(lists(&agent).is_empty());
    let bare =
        json!({"sessionId": "bare", "cwd": "/project", "title": "t".repeat(10_000), "updatedAt": null});
    agent.answers(3, json!({"sessions": [one("a"), bare], "nextCursor": null}));
    let [listed] = lists(&agent)[..] else { panic!() };
    let ids: Vec<&str> = listed.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids, ["a", "slash", "bare"]);
    assert_eq!(listed[2].title.as_ref().map(String::len), Some(1_000));
    assert_eq!(listed[2].changed_at, None);
}

#[test]
fn a_list_without_an_end_is_cut() {
    // A next page that is always another one, one that was read already, and one whose place is too long.
    for (cursors, most) in [(["a", "b"], 3), (["a", "a"], 2)] {
        let mut agent = Agent::with_list();
        for nr in 0..10 {
            agent.answers(
                2 + nr,
                json!({"sessions": [one(&nr.to_string())], "nextCursor": cursors[nr as usize % 2]}),
            );
        }
        assert_eq!((n_asked(&agent), lists(&agent).len()), (most, 1), "{cursors:?}");
    }
    let mut agent = Agent::with_list();
    for nr in 0..100_u64 {
        agent.answers(2 + nr, json!({"sessions": [one(&nr.to_string())], "nextCursor": nr.to_string()}));
    }
    assert_eq!((n_asked(&agent), lists(&agent)[0].len()), (20, 20));
    let mut agent = Agent::with_list();
    let many: Vec<Value> = (0..5_000).map(|nr| one(&nr.to_string())).collect();
    agent.answers(2, json!({"sessions": many, "nextCursor": "x".repeat(100_000)}));
    assert_eq!((n_asked(&agent), lists(&agent)[0].len()), (1, 1_000));
}

/// An error, one that asks for a login, and an answer that is no list: the session works, and the user reads nothing.
#[test]
fn a_list_that_fails_is_of_no_consequence() {
    for code in [-32603, -32601, -32000] {
        let mut agent = Agent::with_list();
        let before = agent.events.len();
        agent.says(json!({"jsonrpc": "2.0", "id": 2, "error": {"code": code, "message": "no"}}));
        assert!(is_ready(&agent) && lists(&agent).is_empty(), "{code}");
        assert_eq!(agent.events[before..], [AgentEvent::Heartbeat], "{code}");
    }
    for odd in
        [json!(null), json!({}), json!({"sessions": 7}), json!([]), json!({"sessions": {"a": one("a")}})]
    {
        let mut agent = Agent::with_list();
        agent.answers(2, odd.clone());
        assert!(is_ready(&agent), "{odd}");
        assert_eq!(lists(&agent), [&[] as &[ListedSession]], "{odd}");
    }
    let mut agent = Agent::with_list();
    agent.answers(2, json!({"sessions": [one("a")], "nextCursor": "two"}));
    agent.says(json!({"jsonrpc": "2.0", "id": 3, "error": {"code": -32603, "message": "no"}}));
    assert_eq!(lists(&agent)[0].len(), 1, "the page before the error");
}
