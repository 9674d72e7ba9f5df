//! An interrupt ends one turn: the one that was meant.

use super::life::{live, live_from_ready};
use super::*;

#[test]
fn an_interrupt_ends_the_turn_and_keeps_the_agent() {
    live_from_ready(&[
        ("interrupt", ""),
        ("prompt a", "send a; a Sent; begin [a]"),
        ("prompt b", ""),
        ("ask r", "show r"),
        ("interrupt", "ask interrupt; arm Interrupt +10000"),
        ("interrupt", ""),
        ("cancel r", "r withdrawn"),
        ("answer 2", ""),
        ("result a aborted", "a Done; end [a] Interrupted; send b; b Sent; begin [b]"),
    ]);
}

#[test]
fn an_agent_that_ignores_an_interrupt_is_ended_and_the_queue_goes_on() {
    live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("prompt b", ""),
        ("ask r", "show r"),
        ("interrupt", "ask interrupt; arm Interrupt +10000"),
        ("timer Interrupt", "Warning; r withdrawn; close; terminate; arm Stop +2500"),
        ("ask late", ""),
        ("ask-unknown late", ""),
        ("timer Stop", "kill"),
        (
            "exit 137",
            "exited as expected; a Done; end [a] Interrupted; spawn; ask initialize; arm Initialize +60000",
        ),
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
        ("interrupt", "ask interrupt; arm Interrupt +10000"),
        ("missed 2 a", ""),
    ];
    // It was over, and said nothing.
    let silent = [
        ("running", ""),
        ("init-new", "ask interrupt"),
        ("result a aborted", "a Done; end [a] Interrupted; arm Hibernate +60000"),
    ];
    live_from_ready(&[&interrupted[..], &silent[..]].concat());
    // It was not over: what was written into it goes on.
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
    // It is not kept for another turn.
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
fn an_interrupt_before_anything_began_holds_the_prompt_that_would_begin() {
    live(
        Memory::default(),
        &[
            ("prompt a", "spawn; ask initialize; arm Initialize +60000"),
            ("prompt b", ""),
            ("interrupt", "a Held"),
            ("answer 1", "send b; b Sent; begin [b]"),
        ],
    );
}
