//! Messages of other sessions: held ones are asked about, and only so many are received in a row.

use super::super::parts::messages::{MOST_IN_A_ROW, MOST_OF_ONE};
use super::life::{Life, resumable};
use super::*;
use serde_json::json;
use std::collections::VecDeque;

fn receiving() -> Life {
    let options = SessionOptions { receives_messages: true, ..SessionOptions::default() };
    let mut life = Life::new(SavedSession { options, ..resumable() });
    life.happens("start");
    let asked = life.happens("answer 1").join("; ");
    assert!(asked.contains("ask set_peer_delivery"), "{asked}");
    life
}

/// A line of 2.1.332, of a sender with this process.
fn message_of(life: &mut Life, pid: u32, nr: u32) -> Vec<String> {
    life.hears(&json!({"type": "user", "uuid": format!("m{nr}"), "isReplay": true, "isSynthetic": true,
        "message": {"role": "user", "content": "Another Claude session sent a message"},
        "origin": {"kind": "peer", "from": format!("uds:/tmp/{pid}.sock"), "verifiedPeerPid": pid, "name": "docs",
            "body": "Go on"}}))
}

/// A message of one of several senders, so that the limit of one is not reached.
fn message(life: &mut Life, nr: u32) -> Vec<String> {
    message_of(life, nr % 3, nr)
}

/// Plays sessions that write to each other: the first gets a message, and a session that gets one writes to each session of
/// `to`. Returns the number of messages that each received.
fn written(n_sessions: usize, to: impl Fn(usize) -> Vec<usize>) -> Vec<u32> {
    let mut lives: Vec<Life> = (0..n_sessions).map(|_| receiving()).collect();
    let mut n_received = vec![0; n_sessions];
    let mut refuses = vec![false; n_sessions];
    let mut waiting = VecDeque::from([(n_sessions - 1, 0)]);
    while let Some((sender, receiver)) = waiting.pop_front() {
        if refuses[receiver] {
            continue;
        }
        n_received[receiver] += 1;
        assert!(n_received[receiver] <= MOST_IN_A_ROW, "it does not end");
        let effects = message_of(&mut lives[receiver], sender as u32, n_received[receiver]);
        refuses[receiver] = effects.iter().any(|effect| effect == "ask apply_flag_settings");
        waiting.extend(to(receiver).into_iter().map(|next| (receiver, next)));
    }
    n_received
}

#[test]
fn two_sessions_that_write_to_each_other_end() {
    assert_eq!(written(2, |session| vec![1 - session]), [MOST_OF_ONE; 2]);
}

#[test]
fn sessions_that_write_in_a_circle_end() {
    for n in [3, 4, 7] {
        assert_eq!(written(n, |session| vec![(session + 1) % n]), vec![MOST_OF_ONE; n]);
    }
}

#[test]
fn sessions_that_all_write_to_all_end() {
    for n in [3, 4, 7] {
        let received = written(n, |session| (0..n).filter(|other| *other != session).collect());
        assert!(received.iter().all(|n| (MOST_OF_ONE..=MOST_IN_A_ROW).contains(n)), "{received:?}");
    }
}

#[test]
fn the_limit_of_one_sender_names_it() {
    let mut life = receiving();
    for nr in 1..MOST_OF_ONE {
        assert_eq!(message_of(&mut life, 5, nr), Vec::<String>::new());
    }
    assert_eq!(message_of(&mut life, 6, 0), Vec::<String>::new());
    assert_eq!(message_of(&mut life, 5, MOST_OF_ONE).join("; "), "ask apply_flag_settings; Warning");
    // Until the user sends a prompt none of the others is received, too.
    assert!(life.happens("prompt a").join("; ").starts_with("ask apply_flag_settings"));
    assert_eq!(message_of(&mut life, 5, 1), Vec::<String>::new());
}

#[test]
fn messages_of_many_sessions_end_by_a_limit() {
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
