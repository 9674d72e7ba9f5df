//! Start, crash, stop and hibernation of an agent.

use super::life::{ASKS_COST, Life, ids, live, live_from_ready, prompt, resumable, status};
use super::*;

#[test]
fn the_first_prompt_starts_the_agent_and_goes_when_it_is_ready() {
    live(
        SavedSession::default(),
        &[
            ("prompt a", "spawn; ask initialize; arm Initialize +60000"),
            ("prompt b", ""),
            ("answer 1", "send a; a Sent; begin [a]"),
            ("running", ""),
            ("init s", ""),
            ("result a", "a Done; end [a] Done; send b; b Sent; begin [b]"),
            ("result b", "b Done; end [b] Done; arm Hibernate +60000"),
        ],
    );
}

#[test]
fn an_agent_that_never_answers_is_given_up() {
    live(
        SavedSession::default(),
        &[
            ("prompt a", "spawn; ask initialize; arm Initialize +60000"),
            ("timer Initialize", "Error; a Held; close; terminate; arm Stop +2500"),
            ("timer Stop", "kill"),
            ("exit 137", "exited as expected"),
            ("resend a", "a Queued; spawn; ask initialize; arm Initialize +60000"),
            ("answer 2 refused", "send a.1; a Sent; begin [a]"),
        ],
    );
}

#[test]
fn a_crash_offers_what_it_cut_off_and_sends_what_waited() {
    let machine = live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("result a", "a Done; end [a] Done; arm Hibernate +60000"),
        ("prompt b", "send b; b Sent; begin [b]"),
        ("prompt c", ""),
        ("ask r", "show r"),
        ("exit 1", "r withdrawn; exited; b Held; end [b] Crashed; Error; arm Restart +1000"),
        ("timer Restart", "spawn --resume=s; ask initialize; arm Initialize +60000"),
        ("answer 2", ASKS_COST),
        ("answer 3", "send c; c Sent; begin [c]"),
        ("resend b", "b Queued"),
        ("result c", "c Done; end [c] Done; send b.1; b Sent; begin [b]"),
    ]);
    assert_eq!(ids(&machine.memory().prompts.into_iter().map(|prompt| prompt.id).collect::<Vec<_>>()), "b");
}

#[test]
fn three_crashes_end_the_restarts() {
    let machine = live(
        SavedSession::default(),
        &[
            ("prompt a", "spawn; ask initialize; arm Initialize +60000"),
            ("exit 1 no", "exited; Error; arm Restart +1000"),
            ("wait 1000", ""),
            ("timer Restart", "spawn; ask initialize; arm Initialize +60000"),
            // It makes no difference that its stdin breaks first.
            ("broken", "Warning; close; terminate; arm Stop +2500"),
            ("exit 1 no", "exited; Error; arm Restart +2000"),
            ("wait 2000", ""),
            ("timer Restart", "spawn; ask initialize; arm Initialize +60000"),
            ("exit 1 no", "exited; Error; a Held"),
            ("wait 1000", ""),
            ("prompt b", "spawn; ask initialize; arm Initialize +60000"),
            ("exit 1 no", "exited; Error; arm Restart +1000"),
        ],
    );
    assert_eq!(status(&machine), Status::Restarting { attempt: 1, at: 5000 });
}

#[test]
fn crashes_far_apart_do_not_add_up() {
    live(
        SavedSession::default(),
        &[
            ("prompt a", "spawn; ask initialize; arm Initialize +60000"),
            ("exit 1", "exited; Error; arm Restart +1000"),
            ("timer Restart", "spawn; ask initialize; arm Initialize +60000"),
            ("wait 300001", ""),
            ("exit 1", "exited; Error; arm Restart +1000"),
        ],
    );
}

#[test]
fn a_restart_with_nothing_left_to_send_comes_to_rest() {
    let mut machine = live(
        SavedSession::default(),
        &[
            ("prompt a", "spawn; ask initialize; arm Initialize +60000"),
            ("exit 1", "exited; Error; arm Restart +1000"),
            ("withdraw a", "a Withdrawn"),
        ],
    );
    machine.take_changed();
    assert_eq!(machine.step(1000, Input::Timer(Timer::Restart)), []);
    assert!(machine.take_changed() && machine.is_idle());
    assert!(matches!(status(&machine), Status::Failed { .. }));
}

#[test]
fn a_stop_walks_the_ladder_and_holds_the_queue() {
    let machine = live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("prompt b", ""),
        ("ask r", "show r"),
        ("stop", "reply r deny; r denied; b Held; close; terminate; arm Stop +2500"),
        ("allow r", "refuse NoSuchRequest"),
        ("timer Stop", "kill"),
        ("timer Stop", ""),
        ("exit 143", "exited as expected; a Held; end [a] Interrupted"),
        ("resend b", "b Queued; spawn; ask initialize; arm Initialize +60000"),
    ]);
    assert_eq!(status(&machine), Status::Starting);
}

#[test]
fn an_exit_code_of_one_at_the_end_of_input_is_no_crash() {
    let machine = live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("result a overloaded", "a Failed; end [a] Failed; arm Hibernate +60000"),
        ("stop", "close; arm Stop +1000"),
        ("exit 1", "exited as expected"),
    ]);
    assert_eq!(status(&machine), Status::Stopped);
}

#[test]
fn a_prompt_given_while_the_agent_is_being_stopped_starts_the_next() {
    live_from_ready(&[
        ("stop", "close; arm Stop +1000"),
        ("prompt a", ""),
        ("exit 0", "exited as expected; spawn; ask initialize; arm Initialize +60000"),
        ("answer 2", "send a; a Sent; begin [a]"),
    ]);
}

#[test]
fn an_idle_agent_hibernates_and_wakes_for_a_prompt() {
    let machine = live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("result a", "a Done; end [a] Done; arm Hibernate +60000"),
        ("timer Hibernate", "close; arm Stop +1000"),
        ("exit 0", "exited as expected"),
        ("prompt b", "spawn --resume=s; ask initialize; arm Initialize +60000"),
        ("answer 3", ""),
        ("answer 2", ASKS_COST),
        ("answer 3", "send b; b Sent; begin [b]"),
        ("result b", "b Done; end [b] Done; arm Hibernate +60000"),
        ("timer Hibernate", "close; arm Stop +1000"),
        // The prompt arrives while the agent is exiting.
        ("prompt c", ""),
        ("exit 0", "exited as expected; spawn --resume=s; ask initialize; arm Initialize +60000"),
    ]);
    assert_eq!(status(&machine), Status::Starting);
}

#[test]
fn an_agent_is_started_again_at_the_next_idle_moment() {
    let soon = "arm Hibernate +1000";
    live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("reload", ""),
        ("prompt b", ""),
        ("result a", "a Done; end [a] Done; send b; b Sent; begin [b]"),
        ("result b", &format!("b Done; end [b] Done; {soon}")),
        ("timer Hibernate", "close; arm Stop +1000"),
        ("exit 0", "exited as expected; spawn --resume=s; ask initialize; arm Initialize +60000"),
        // One restart is enough.
        ("answer 2", ASKS_COST),
        ("answer 3", "arm Hibernate +60000"),
        ("reload", soon),
        // Not while a request is open.
        ("ask r", "show r"),
        ("timer Hibernate", soon),
    ]);
}

#[test]
fn an_agent_with_something_to_do_does_not_hibernate() {
    // Armed again for the next idle moment.
    let quiet = "arm Hibernate +60000";
    live_from_ready(&[("ask r", "show r"), ("timer Hibernate", quiet)]);
    // The agent could not find its conversation again.
    live_from_ready(&[
        ("init s", "begin []"),
        ("idle", &format!("end [] Done; {quiet}")),
        ("timer Hibernate", quiet),
    ]);
}

#[test]
fn nothing_goes_by_itself_after_the_app_was_gone() {
    let memory = SavedSession { prompts: vec![prompt("a"), prompt("b")], ..resumable() };
    live(
        memory,
        &[
            ("start", "spawn --resume=s; ask initialize; arm Initialize +60000"),
            ("answer 1", ASKS_COST),
            ("answer 2", "arm Hibernate +60000"),
            ("prompt c", "send c; c Sent; begin [c]"),
            ("resend b", "b Queued"),
            ("withdraw a", "a Withdrawn"),
            ("result c", "c Done; end [c] Done; send b.1; b Sent; begin [b]"),
        ],
    );
}

#[test]
fn a_changed_idle_time_counts_from_the_change() {
    let mut life = Life::new(resumable());
    for event in ["start", "answer 1", "answer 2"] {
        life.happens(event);
    }
    assert_eq!(life.happens("hibernate-after 5000"), ["arm Hibernate +5000"]);
    assert_eq!(life.happens("hibernate-after 5000"), [""; 0], "nothing changed");
    assert_eq!(life.happens("hibernate-after 0"), [""; 0], "never");
    life.happens("prompt a");
    assert_eq!(life.happens("hibernate-after 7000"), [""; 0], "a turn runs");
    assert!(life.happens("result a").contains(&"arm Hibernate +7000".to_owned()));
}
