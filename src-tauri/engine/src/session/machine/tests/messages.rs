//! Messages of other sessions: held ones are asked about, and only so many are received in a row.

use super::super::parts::messages::MOST_IN_A_ROW;
use super::life::{Life, resumable};
use super::*;
use serde_json::json;

fn receiving() -> Life {
    let options = SessionOptions { receives_messages: true, ..SessionOptions::default() };
    let mut life = Life::new(SavedSession { options, ..resumable() });
    life.happens("start");
    let asked = life.happens("answer 1").join("; ");
    assert!(asked.contains("ask set_peer_delivery"), "{asked}");
    life
}

/// A line of 2.1.332.
fn message(life: &mut Life, nr: u32) -> Vec<String> {
    life.hears(&json!({"type": "user", "uuid": format!("m{nr}"), "isReplay": true, "isSynthetic": true,
        "message": {"role": "user", "content": "Another Claude session sent a message"},
        "origin": {"kind": "peer", "from": "uds:/tmp/1.sock", "verifiedPeerPid": 1, "name": "docs",
            "body": "Go on"}}))
}

#[test]
fn sessions_that_write_to_each_other_end_by_a_limit() {
    let mut life = receiving();
    for nr in 1..MOST_IN_A_ROW {
        assert_eq!(message(&mut life, nr), Vec::<String>::new());
    }
    assert_eq!(message(&mut life, 0).join("; "), "ask apply_flag_settings; Warning");
    assert_eq!(message(&mut life, MOST_IN_A_ROW), Vec::<String>::new(), "it is said once");
    // The next process refuses them as well, until the user sends a prompt.
    life.happens("exit 0");
    life.happens("start");
    let asked = life.happens("answer 5").join("; ");
    assert!(asked.contains("ask apply_flag_settings"), "{asked}");
    let asked = life.happens("prompt a").join("; ");
    assert!(asked.starts_with("ask apply_flag_settings"), "{asked}");
    assert!(!life.happens("prompt b").join("; ").contains("apply_flag_settings"));
}

#[test]
fn a_session_that_receives_none_asks_for_none() {
    let mut life = Life::new(resumable());
    life.happens("start");
    let asked = life.happens("answer 1").join("; ");
    assert!(!asked.contains("set_peer_delivery"), "{asked}");
}
