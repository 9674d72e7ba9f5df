//! An interrupt ends exactly one turn, and the right one.

use super::life::{live, live_from_ready};
use super::*;

#[test]
fn an_interrupt_ends_the_turn_and_keeps_the_agent() {
    live_from_ready(&[
        ("interrupt", ""),
        ("prompt a", "send a; a Sent; begin [a]"),
        ("prompt b", ""),
        ("ask r", "show r"),
        ("interrupt", "b Held; ask interrupt; arm Interrupt +10000"),
        ("interrupt", ""),
        ("cancel r", "r withdrawn"),
        ("answer 2", ""),
        ("result a aborted", "a Done; end [a] Interrupted; arm Hibernate +60000"),
    ]);
}

#[test]
fn an_interrupt_holds_the_queue_until_the_user_continues_it() {
    live_from_ready(&[
        ("continue", "arm Hibernate +60000"),
        ("prompt a", "send a; a Sent; begin [a]"),
        ("prompt b", ""),
        ("prompt c", ""),
        ("interrupt", "b Held; c Held; ask interrupt; arm Interrupt +10000"),
        // A prompt that is sent after the interrupt is not held by it.
        ("prompt d", ""),
        ("result a aborted", "a Done; end [a] Interrupted; send d; d Sent; begin [d]"),
        ("continue", "b Queued; c Queued"),
        ("continue", ""),
        ("result d", "d Done; end [d] Done; send b.1; b Sent; begin [b]"),
        ("result b.1", "b Done; end [b] Done; send c.1; c Sent; begin [c]"),
    ]);
}

#[test]
fn an_interrupt_that_continues_ends_the_turn_and_sends_the_next_prompt() {
    live_from_ready(&[
        ("interrupt-and-continue", ""),
        ("prompt a", "send a; a Sent; begin [a]"),
        ("prompt b", ""),
        ("prompt c", ""),
        ("interrupt-and-continue", "ask interrupt; arm Interrupt +10000"),
        ("result a aborted", "a Done; end [a] Interrupted; send b; b Sent; begin [b]"),
        ("interrupt-and-continue", "ask interrupt; arm Interrupt +10000"),
        // The user changed their mind.
        ("interrupt", "c Held"),
        ("result b aborted", "b Done; end [b] Interrupted; arm Hibernate +60000"),
    ]);
}

#[test]
fn a_prompt_that_goes_now_leaves_the_rest_of_the_queue_as_it_was() {
    live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("prompt b", ""),
        ("interrupt", "b Held; ask interrupt; arm Interrupt +10000"),
        ("prompt c", ""),
        ("now d", ""),
        ("result a aborted", "a Done; end [a] Interrupted; send d; d Sent; begin [d]"),
        ("result d", "d Done; end [d] Done; send c; c Sent; begin [c]"),
        ("result c", "c Done; end [c] Done; arm Hibernate +60000"),
    ]);
}

#[test]
fn a_denial_that_stops_the_turn_holds_the_queue() {
    live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("prompt b", ""),
        ("ask r", "show r"),
        ("deny-and-stop gone", "refuse NoSuchRequest"),
        ("deny-and-stop r", "reply r deny; r denied; b Held"),
        ("result a aborted", "a Done; end [a] Interrupted; arm Hibernate +60000"),
    ]);
}

#[test]
fn what_was_cut_off_is_not_continued_with_the_rest_of_the_queue() {
    let machine = live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("prompt b", ""),
        ("stop", "b Held; close; terminate; arm Stop +2500"),
        ("exit 143", "exited as expected; a Held; end [a] Interrupted"),
        ("continue", "b Queued; spawn; ask initialize; arm Initialize +60000"),
    ]);
    assert!(machine.queue.waiting().next().is_some_and(|prompt| prompt.held && prompt.cut_off));
}

#[test]
fn what_was_written_into_a_turn_that_is_stopped_is_taken_back() {
    let stopped = [
        ("prompt a", "send a; a Sent; begin [a]"),
        ("init-new", ""),
        ("prompt b", ""),
        ("into c", "send c; c Sent"),
        ("into d", "send d; d Sent"),
        (
            "interrupt",
            "b Held; ask cancel_async_message d; ask cancel_async_message c; ask interrupt; arm Interrupt +10000",
        ),
        // The agent reports it twice.
        ("given-back 2", "d Held"),
        ("cancelled d", ""),
        ("cancelled c", "c Held"),
        ("given-back 3", ""),
        ("result a aborted", "a Done; end [a] Interrupted; arm Hibernate +60000"),
    ];
    let machine = live_from_ready(&stopped);
    let queue: Vec<_> = machine.queue.waiting().map(|prompt| (prompt.id.as_str(), prompt.cut_off)).collect();
    assert_eq!(queue, [("c", false), ("d", false), ("b", false)]);
}

#[test]
fn what_the_agent_does_not_give_back_is_interrupted_as_soon_as_it_begins() {
    live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("init-new", ""),
        ("into b", "send b; b Sent"),
        ("interrupt", "ask cancel_async_message b; ask interrupt; arm Interrupt +10000"),
        ("answer 2 unsupported", ""),
        ("result a aborted", "a Done; end [a] Interrupted; begin [b]; ask interrupt; arm Interrupt +10000"),
        ("result b aborted", "b Done; end [b] Interrupted; arm Hibernate +60000"),
    ]);
}

#[test]
fn what_is_given_back_after_it_counted_as_the_next_turn_is_held() {
    let stopped = [
        ("prompt a", "send a; a Sent; begin [a]"),
        ("init-new", ""),
        ("into b", "send b; b Sent"),
        ("into c", "send c; c Sent"),
        (
            "interrupt",
            "ask cancel_async_message c; ask cancel_async_message b; ask interrupt; arm Interrupt +10000",
        ),
        ("result a aborted", "a Done; end [a] Interrupted; begin [b,c]; ask interrupt; arm Interrupt +10000"),
        ("cancelled c", "c Held"),
        ("given-back 2", ""),
    ];
    // The other one had begun, and is interrupted.
    let begun = [
        ("missed 5 b", ""),
        ("init-new", "ask interrupt"),
        ("result b aborted", "b Done; end [b] Interrupted; arm Hibernate +60000"),
    ];
    live_from_ready(&[&stopped[..], &begun[..]].concat());
    // Both are given back, so no turn follows and no agent is ended for it.
    let given_back =
        [("given-back 3", "b Held; end [] Interrupted; arm Hibernate +60000"), ("missed 5 x", "")];
    let machine = live_from_ready(&[&stopped[..], &given_back[..]].concat());
    let queue: Vec<_> = machine.queue.waiting().map(|prompt| prompt.id.as_str()).collect();
    assert_eq!(queue, ["b", "c"]);
}

#[test]
fn an_agent_that_ignores_an_interrupt_is_ended_and_the_queue_stays_held() {
    live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("prompt b", ""),
        ("ask r", "show r"),
        ("interrupt", "b Held; ask interrupt; arm Interrupt +10000"),
        ("timer Interrupt", "Warning; r withdrawn; close; terminate; arm Stop +2500"),
        ("ask late", ""),
        ("ask-unknown late", ""),
        ("timer Stop", "kill"),
        ("exit 137", "exited as expected; a Done; end [a] Interrupted"),
        ("continue", "b Queued; spawn; ask initialize; arm Initialize +60000"),
    ]);
}

#[test]
fn an_interrupt_that_another_turn_took_is_given_again() {
    live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("interrupt", "ask interrupt; arm Interrupt +10000"),
        ("result - unasked-aborted", "ask interrupt"),
        ("result a aborted", "a Done; end [a] Interrupted; arm Hibernate +60000"),
    ]);
}

#[test]
fn an_interrupt_between_a_turn_that_nobody_asked_for_and_what_was_written_into_it_is_given_again() {
    let interrupted = [
        ("init-new", "begin []"),
        ("into a", "send a; a Sent"),
        ("interrupt-and-continue", "ask interrupt; arm Interrupt +10000"),
        ("missed 2 a", ""),
    ];
    // The turn was over and had no result.
    let silent = [
        ("running", ""),
        ("init-new", "ask interrupt"),
        ("result a aborted", "a Done; end [a] Interrupted; arm Hibernate +60000"),
    ];
    live_from_ready(&[&interrupted[..], &silent[..]].concat());
    // The turn was not over: the prompt that was written into it continues.
    let aborted = [("result - unasked-aborted", "end [] Interrupted; begin [a]"), ("init-new", "")];
    live_from_ready(&[&interrupted[..], &aborted[..]].concat());
}

#[test]
fn an_interrupt_that_came_too_early_is_given_again() {
    let interrupted = [
        ("prompt a", "send a; a Sent; begin [a]"),
        ("interrupt", "ask interrupt; arm Interrupt +10000"),
        ("missed 2 a", ""),
    ];
    live_from_ready(
        &[
            &interrupted[..],
            &[
                ("init s", "ask interrupt"),
                ("result a aborted", "a Done; end [a] Interrupted; arm Hibernate +60000"),
            ],
        ]
        .concat(),
    );
    // The interrupt is not kept for another turn.
    live_from_ready(
        &[
            &interrupted[..],
            &[
                ("exit 1", "exited; a Held; end [a] Crashed; Error"),
                ("prompt b", "spawn; ask initialize; arm Initialize +60000"),
                ("answer 3", "send b; b Sent; begin [b]"),
                ("init s", ""),
            ],
        ]
        .concat(),
    );
}

#[test]
fn an_interrupt_before_anything_began_holds_all_that_waits() {
    live(
        SavedSession::default(),
        &[
            ("prompt a", "spawn; ask initialize; arm Initialize +60000"),
            ("prompt b", ""),
            ("interrupt", "a Held; b Held"),
            ("answer 1", "arm Hibernate +60000"),
        ],
    );
}
