//! Forks: a session that begins as a copy of another conversation.

use super::life::{Life, live};
use super::*;
use crate::launch::Fork;

fn forked() -> SavedSession {
    let fork = Fork { of: "o".to_owned(), until: Some("m".to_owned()) };
    SavedSession { fork: Some(fork), ..SavedSession::default() }
}

#[test]
fn a_fork_is_made_by_the_agent_and_then_resumed_by_its_own_id() {
    let machine = live(
        forked(),
        &[
            ("prompt a", "spawn a fork of o; ask initialize; arm Initialize +60000"),
            ("answer 1", "ask get_usage; arm Switch +2000; arm Hibernate +60000"),
            ("answer 2", "send a; a Sent; begin [a]"),
            ("init s", ""),
            ("result a", "a Done; end [a] Done; arm Hibernate +60000"),
        ],
    );
    let memory = machine.memory();
    assert_eq!((memory.fork, memory.agent_session_id.as_deref(), memory.resumable), (None, Some("s"), true));
}

#[test]
fn a_fork_that_was_cut_off_before_its_first_result_is_made_again() {
    let mut life = Life::new(forked());
    for event in ["prompt a", "answer 1", "answer 2", "init n", "exit 1 killed"] {
        life.happens(event);
    }
    assert!(life.machine.memory().fork.is_some(), "the agent cannot resume the copy");
    let started = life.happens("resend a");
    assert!(started.contains(&"spawn a fork of o".to_owned()), "{started:?}");
}

#[test]
fn a_fork_of_nothing_holds_its_prompts() {
    let mut life = Life::new(forked());
    for event in ["prompt a", "no-conversation", "exit 1 No_conversation"] {
        life.happens(event);
    }
    let memory = life.machine.memory();
    assert!(memory.prompts[0].held, "it goes into no other conversation");
    assert!(memory.fork.is_some());
    assert_eq!(life.happens("timer Restart"), [""; 0], "and nothing is tried again by itself");
}

#[test]
fn an_id_that_is_none_is_not_forked() {
    let fork = Fork { of: "../x".to_owned(), until: None };
    let machine = live(SavedSession { fork: Some(fork), ..SavedSession::default() }, &[]);
    assert_eq!(machine.memory().fork, None);
}
