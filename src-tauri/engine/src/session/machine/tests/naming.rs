//! Titles: the user's reaches the agent, and the agent's is shown.

use super::life::{Life, live, live_from_ready};
use super::*;

fn title(machine: &Machine) -> (Option<String>, bool) {
    let memory = machine.memory();
    (memory.title, memory.renames)
}

#[test]
fn a_title_reaches_the_agent_at_once() {
    let machine = live_from_ready(&[
        ("rename One", "ask rename_session One"),
        ("rename Two", "ask rename_session Two"),
        // The name as of the first request.
        ("named One", ""),
        ("answer 2", ""),
        ("answer 3", ""),
    ]);
    assert_eq!(title(&machine), (Some("Two".to_owned()), false));
}

#[test]
fn a_title_waits_for_the_process_and_the_old_name_does_not_replace_it() {
    let mut life = Life::new(SavedSession::default());
    assert_eq!(life.happens("rename Mine"), [""; 0]);
    let memory = life.machine.memory();
    assert!(memory.renames);
    let machine = live(
        memory,
        &[
            ("start", "spawn; ask initialize; arm Initialize +60000"),
            ("named Old", ""),
            ("answer 1", "ask rename_session Mine; arm Hibernate +60000"),
            ("answer 2", ""),
        ],
    );
    assert_eq!(title(&machine), (Some("Mine".to_owned()), false));
}

#[test]
fn a_title_that_the_agent_refuses_stays() {
    let machine =
        live_from_ready(&[("rename Mine", "ask rename_session Mine"), ("answer 2 unknown", "Warning")]);
    assert_eq!(title(&machine), (Some("Mine".to_owned()), false), "it is not sent again");
}

#[test]
fn the_agents_own_name_is_shown() {
    let machine = live_from_ready(&[("named Theirs", "")]);
    assert_eq!(title(&machine), (Some("Theirs".to_owned()), false));
}

#[test]
fn a_title_is_generated_for_the_beginning_of_the_conversation() {
    let machine = live_from_ready(&[
        ("generate-title words", "ask generate_session_title words"),
        ("titled 2 Made", ""),
        ("generate-title words", "ask generate_session_title words"),
        ("answer 3", "Warning; failed Refused"),
    ]);
    assert_eq!(title(&machine).0.as_deref(), Some("Made"));
    live(
        SavedSession::default(),
        &[
            ("generate-title ", "refuse BadCommand"),
            ("generate-title words", "spawn; ask initialize; arm Initialize +60000"),
            ("answer 1", "ask generate_session_title words; arm Hibernate +60000"),
        ],
    );
}

#[test]
fn a_generated_title_does_not_replace_one_that_the_user_gave_meanwhile() {
    let machine = live_from_ready(&[
        ("generate-title words", "ask generate_session_title words"),
        ("rename Mine", "ask rename_session Mine"),
        ("titled 2 Made", ""),
        ("answer 3", ""),
        ("generate-title words", "ask generate_session_title words"),
        ("rename Again", "ask rename_session Again"),
        ("answer 4 unknown", ""),
        ("answer 5", ""),
    ]);
    assert_eq!(title(&machine), (Some("Again".to_owned()), false));
    let machine = live(
        SavedSession::default(),
        &[
            ("generate-title words", "spawn; ask initialize; arm Initialize +60000"),
            ("rename Mine", ""),
            ("answer 1", "ask rename_session Mine; arm Hibernate +60000"),
            ("answer 2", ""),
            ("generate-title words", "ask generate_session_title words"),
            ("titled 3 Made", ""),
        ],
    );
    assert_eq!(title(&machine), (Some("Made".to_owned()), false), "the user asked for it afterwards");
}

#[test]
fn a_title_is_that_of_the_prompt_until_another_one_is_asked_for_or_given() {
    let is_of_prompt = |events: &[&str]| {
        let mut life = Life::new(SavedSession::default());
        for event in ["start", "answer 1", "prompt a"].iter().chain(events) {
            life.happens(event);
        }
        let mut session = Session::new(SessionId::new("s"), String::new(), AgentKind::Claude, String::new());
        life.machine.describe(&mut session, "");
        (session.title, session.has_prompt_title)
    };
    assert_eq!(is_of_prompt(&[]), ("same".to_owned(), true));
    assert_eq!(is_of_prompt(&["rename Mine"]), ("Mine".to_owned(), false));
    assert_eq!(is_of_prompt(&["named Theirs"]), ("Theirs".to_owned(), false));
    // Also while it is being made, and if it cannot be made: it is asked for once.
    assert_eq!(is_of_prompt(&["generate-title words"]), ("same".to_owned(), false));
    let named = Life::new(SavedSession { title: Some("Mine".to_owned()), ..SavedSession::default() });
    let mut session = Session::new(SessionId::new("s"), String::new(), AgentKind::Claude, String::new());
    named.machine.describe(&mut session, "");
    assert!(!session.has_prompt_title, "a session that is opened again has a title already");
}
