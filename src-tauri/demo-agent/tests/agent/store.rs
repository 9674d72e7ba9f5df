//! Tests of the transcript on disk, and of resuming a session.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::support::{Setup, session_of, shapes, texts};

#[test]
fn what_is_live_is_on_disk_under_the_same_uuids() {
    let setup = Setup::new();
    let mut agent = setup.start();
    let uuid = agent.named_prompt(1, "THINK a thought | a word\nTOOL Read {\"file_path\":\"a\"}\nSAY done");
    let lines = agent.turn();
    let session = session_of(&lines);
    assert_eq!(agent.end().code(), Some(0));
    let stored = setup.transcript(&session);

    let live = lines.iter().filter(|line| line["type"] == "assistant" || line["type"] == "user");
    let mut expected: Vec<&str> = vec![&uuid];
    expected.extend(live.map(|line| line["uuid"].as_str().unwrap()));
    let messages: Vec<&Value> = stored.iter().filter(|line| line.get("uuid").is_some()).collect();
    let found: Vec<&str> = messages.iter().map(|line| line["uuid"].as_str().unwrap()).collect();
    assert_eq!(found, expected);

    let mut parent = Value::Null;
    for message in &messages {
        assert_eq!(message["parentUuid"], parent, "each message follows the one before");
        assert_eq!(message["sessionId"], *session);
        assert_eq!(message["isSidechain"], false);
        assert_eq!(message["version"], "2.1.329");
        assert!(message["timestamp"].is_string() && message["cwd"].is_string());
        parent = message["uuid"].clone();
    }
    let result = messages.iter().find(|line| line.get("toolUseResult").is_some()).unwrap();
    assert_eq!(result["toolUseResult"]["type"], "text");
    let kinds: HashSet<&str> = stored.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, HashSet::from(["queue-operation", "user", "assistant", "last-prompt", "cost-state"]));
    let last = stored.iter().find(|line| line["type"] == "last-prompt").unwrap();
    assert_eq!(last["leafUuid"], parent);
}

#[test]
fn a_session_can_be_taken_up_again() {
    let setup = Setup::new();
    let mut agent = setup.start();
    let first = agent.play("SAY one");
    let session = session_of(&first);
    agent.play("SAY two");
    agent.end();

    let mut agent = setup.again().arg(&format!("--resume={session}")).start();
    let lines = agent.play("RECALL");
    assert_eq!(session_of(&lines), session);
    assert_eq!(texts(&lines), ["SAY one\nSAY two"]);
    let cost = |lines: &[Value]| lines.last().unwrap()["total_cost_usd"].as_f64().unwrap();
    assert!(cost(&lines) > cost(&first), "the cost goes on");
    agent.end();

    let stored = setup.transcript(&session);
    let prompts = stored.iter().filter(|line| line.get("promptSource").is_some()).count();
    assert_eq!(prompts, 3, "in the same file");
}

#[test]
fn a_session_can_be_continued_forked_and_named() {
    let setup = Setup::new();
    let mut agent = setup.start();
    let session = session_of(&agent.play("SAY one"));
    agent.end();

    let mut agent = setup.again().arg("--continue").start();
    let lines = agent.play("RECALL");
    assert_eq!((session_of(&lines), texts(&lines)), (session.clone(), vec!["SAY one".to_owned()]));
    agent.end();

    let mut agent = setup.again().arg(&format!("--resume={session}")).arg("--fork-session").start();
    let lines = agent.play("RECALL");
    assert_ne!(session_of(&lines), session);
    assert_eq!(texts(&lines), ["SAY one\nRECALL"]);
    let fork = session_of(&lines);
    agent.end();
    assert!(setup.transcript(&fork).iter().all(|line| line["sessionId"] == *fork));

    let id = "11111111-2222-4333-8444-555555555555";
    let lines = setup.again().arg(&format!("--session-id={id}")).start().play("SAY x");
    assert_eq!(session_of(&lines), id);
}

#[test]
fn an_unknown_session_is_refused_before_any_input() {
    let id = "00000000-0000-4000-8000-0000000000ff";
    for (given, session, error) in [
        (id, Some(id), "No conversation found with session ID: 00000000-0000-4000-8000-0000000000ff"),
        ("nonsense", None, "Error: --resume requires a valid session ID"),
    ] {
        let ended = Setup::new().arg(&format!("--resume={given}")).start().wait();
        assert_eq!(ended.code(), Some(1));
        assert!(ended.stderr.starts_with(error), "{}", ended.stderr);
        let lines: Vec<Value> = ended.lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(shapes(&lines), ["result/error_during_execution"]);
        assert_eq!(lines[0]["is_error"], true);
        assert!(lines[0]["errors"][0].as_str().unwrap().starts_with(error));
        assert!(session.is_none_or(|session| lines[0]["session_id"] == *session));
    }
}

#[test]
fn a_living_process_is_marked_and_a_gone_one_is_not() {
    let setup = Setup::new();
    let mut agent = setup.start();
    let session = session_of(&agent.play("SAY x"));
    let mark = format!("sessions/{}.json", agent.pid());
    let marker = setup.stored().into_iter().find(|file| file.ends_with(&mark)).expect("there is a mark");
    let mark: Value = serde_json::from_str(&std::fs::read_to_string(&marker).unwrap()).unwrap();
    assert_eq!(mark["sessionId"], *session);
    agent.end();
    assert!(!marker.exists());
}

#[test]
fn without_a_configuration_folder_nothing_is_written() {
    let setup = Setup::new().env("CLAUDE_CONFIG_DIR", "");
    let mut agent = setup.start();
    agent.play("SAY x");
    agent.end();
    let setup = setup.again().arg("--no-session-persistence");
    let mut agent = setup.start();
    agent.play("SAY x");
    agent.end();
    assert!(setup.stored().is_empty());
}

#[test]
fn a_title_is_kept() {
    let setup = Setup::new();
    let mut agent = setup.start();
    let session = session_of(&agent.play("SAY x"));
    agent.control(json!({"subtype": "rename_session", "title": "A name", "source": "host"}));
    let lines = agent.until(|line| line["type"] == "control_response");
    assert_eq!(lines[0]["title"], "A name");
    let reply = agent
        .ask(json!({"subtype": "generate_session_title", "description": "fix the bug", "persist": true}));
    assert_eq!(reply["response"]["title"], "Fix the bug");
    agent.end();
    let stored = setup.transcript(&session);
    assert!(stored.iter().any(|line| line["customTitle"] == "A name"));
    assert!(stored.iter().any(|line| line["aiTitle"] == "Fix the bug"));
}

#[test]
fn a_late_store_loses_what_a_crash_cuts_off() {
    let setup = Setup::new().fault("late-store");
    let mut agent = setup.start();
    agent.prompt("SAY x\nCRASH 3");
    let session = session_of(&agent.until(|line| line["type"] == "assistant"));
    assert_eq!(agent.wait().code(), Some(3));
    let ended = setup.again().arg(&format!("--resume={session}")).start().wait();
    assert_eq!(ended.code(), Some(1), "there is nothing to take up");

    let setup = Setup::new();
    let mut agent = setup.start();
    agent.prompt("SAY x\nCRASH 3");
    let session = session_of(&agent.until(|line| line["type"] == "assistant"));
    agent.wait();
    let lines = setup.again().arg(&format!("--resume={session}")).start().play("RECALL");
    assert_eq!(texts(&lines), ["SAY x\nCRASH 3"]);
}
