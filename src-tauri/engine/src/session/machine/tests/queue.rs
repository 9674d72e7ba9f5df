//! Delivery of prompts: after the turn, now, or into the current turn.

use super::life::{ASKS_COST, Life, UP, live, live_from_ready, prompt, resumable};
use super::*;
use crate::agent::TurnResult;

/// A turn of `a` that the agent has accepted.
const AT_WORK: [(&str, &str); 4] =
    [UP[0], UP[1], ("prompt a", "send a; a Sent; begin [a]"), ("init-new", "")];

#[track_caller]
fn live_at_work(table: &[(&str, &str)]) -> Machine {
    live(SavedSession::default(), &[&AT_WORK, table].concat())
}

#[test]
fn what_shall_go_now_ends_the_turn_and_goes_first() {
    live_at_work(&[
        ("prompt b", ""),
        ("now c", "ask interrupt; arm Interrupt +10000"),
        ("now d", ""),
        ("answer 2", ""),
        ("result a aborted", "a Done; end [a] Interrupted; send c; c Sent; begin [c]"),
        ("result c", "c Done; end [c] Done; send d; d Sent; begin [d]"),
        ("result d", "d Done; end [d] Done; send b; b Sent; begin [b]"),
    ]);
}

#[test]
fn what_shall_go_now_goes_first_when_there_is_no_turn_yet() {
    live(
        SavedSession::default(),
        &[
            ("prompt a", "spawn; ask initialize; arm Initialize +60000"),
            ("now b", ""),
            ("answer 1", "send b; b Sent; begin [b]"),
        ],
    );
}

#[test]
fn a_prompt_joins_the_turn_at_its_next_step_and_ends_with_it() {
    let machine = live_at_work(&[
        ("prompt b", ""),
        ("into c", "send c; c Sent"),
        ("into d", "send d; d Sent"),
        ("started c", ""),
        // The result alone is enough.
        ("result a,c,d", "a Done; c Done; d Done; end [a,c,d] Done; send b; b Sent; begin [b]"),
    ]);
    assert_eq!(machine.memory().prompts.len(), 1);
}

#[test]
fn what_the_turn_did_not_take_up_is_the_next_turn() {
    live_at_work(&[
        ("prompt b", ""),
        ("into c", "send c; c Sent"),
        ("into d", "send d; d Sent"),
        ("result a", "a Done; end [a] Done; begin [c,d]"),
        ("started c", ""),
        ("result c,d", "c Done; d Done; end [c,d] Done; send b; b Sent; begin [b]"),
    ]);
    live_at_work(&[
        ("into c", "send c; c Sent"),
        ("interrupt-and-continue", "ask interrupt; arm Interrupt +10000"),
        ("missed 2 c", ""),
        ("result a aborted", "a Done; end [a] Interrupted; begin [c]"),
        // A prompt that arrives before the next turn has begun waits for that.
        ("now d", "ask interrupt; arm Interrupt +10000"),
        ("missed 3 c", ""),
        ("init-new", "ask interrupt"),
        ("result c aborted", "c Done; end [c] Interrupted; send d; d Sent; begin [d]"),
    ]);
}

#[test]
fn a_prompt_that_the_agent_does_not_take_up_is_offered_again() {
    live_at_work(&[
        ("into b", "send b; b Sent"),
        ("cancelled b", "Warning; b Held"),
        ("cancelled a", ""),
        ("result a", "a Done; end [a] Done; arm Hibernate +60000"),
        ("resend b", "b Queued; send b.1; b Sent; begin [b]"),
    ]);
}

#[test]
fn into_a_turn_that_cannot_tell_a_prompt_waits() {
    // 2.1.197 joins it to the turn without a report.
    live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("init s", ""),
        ("into b", ""),
        ("result ?", "a Done; end [a] Done; send b; b Sent; begin [b]"),
    ]);
    // It is sent as soon as the turn has begun, and not during an interrupt.
    live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("into b", ""),
        ("init-new", "send b; b Sent"),
        ("interrupt-and-continue", "ask interrupt; arm Interrupt +10000"),
        ("into c", ""),
        ("result a,b aborted", "a Done; b Done; end [a,b] Interrupted; send c; c Sent; begin [c]"),
    ]);
}

#[test]
fn a_prompt_joins_a_turn_that_nobody_asked_for() {
    live_from_ready(&[
        ("init-new", "begin []"),
        ("into a", "send a; a Sent"),
        ("result a unasked", "a Done; end [a] Done; arm Hibernate +60000"),
        ("init-new", "begin []"),
        ("into b", "send b; b Sent"),
        ("idle", "end [] Done; begin [b]"),
        ("result b", "b Done; end [b] Done; arm Hibernate +60000"),
    ]);
}

#[test]
fn a_crash_offers_all_that_was_written_again_in_order() {
    let machine = live_at_work(&[
        ("prompt b", ""),
        ("into c", "send c; c Sent"),
        ("into d", "send d; d Sent"),
        ("started d", ""),
        ("stop", "b Held; close; terminate; arm Stop +2500"),
        ("exit 143", "exited as expected; a Held; d Held; c Held; end [a,d] Interrupted"),
    ]);
    let queue: Vec<_> =
        machine.queue.waiting().map(|prompt| (prompt.id.as_str(), prompt.cut_off, prompt.held)).collect();
    assert_eq!(queue, [("a", true, true), ("d", true, true), ("c", true, true), ("b", false, true)]);
}

#[test]
fn an_interrupt_that_took_a_push_ends_the_turn_and_not_what_had_not_joined_it() {
    live_at_work(&[
        ("into b", "send b; b Sent"),
        ("interrupt", "ask cancel_async_message b; ask interrupt; arm Interrupt +10000"),
        ("timer Interrupt", "Warning; close; terminate; arm Stop +2500"),
        ("exit 143", "exited as expected; a Done; b Held; end [a] Interrupted"),
    ]);
}

#[test]
fn a_queued_prompt_is_moved_and_sent_at_once() {
    live_at_work(&[
        ("prompt b", ""),
        ("prompt c", ""),
        ("prompt d", ""),
        ("move d b", ""),
        ("move b", ""),
        ("move b b", ""),
        ("move b gone", "refuse NoSuchPrompt"),
        ("move gone b", "refuse NoSuchPrompt"),
        ("deliver-into c", "send c; c Sent"),
        ("deliver-now gone", "refuse NoSuchPrompt"),
        ("deliver-now b", "ask interrupt; arm Interrupt +10000"),
        ("result a,c aborted", "a Done; c Done; end [a,c] Interrupted; send b; b Sent; begin [b]"),
        ("result b", "b Done; end [b] Done; send d; d Sent; begin [d]"),
    ]);
}

#[test]
fn a_held_prompt_goes_when_it_is_told_to_go_now() {
    let memory = SavedSession { prompts: vec![prompt("a"), prompt("b")], ..resumable() };
    live(
        memory,
        &[
            ("start", "spawn --resume=s; ask initialize; arm Initialize +60000"),
            ("answer 1", ASKS_COST),
            ("answer 2", "arm Hibernate +60000"),
            ("deliver-now b", "b Queued; send b.1; b Sent; begin [b]"),
            ("deliver-into a", "a Queued"),
            ("init-new", "send a.1; a Sent"),
        ],
    );
}

#[test]
fn the_record_is_written_once_for_the_end_of_a_turn_and_the_next_prompt() {
    let mut life = Life::new(SavedSession::default());
    for event in ["start", "answer 1", "prompt a", "prompt b"] {
        life.happens(event);
    }
    let result = AgentEvent::TurnEnded(Box::new(TurnResult {
        session_id: Some("s".to_owned()),
        prompts: Some(vec!["a".to_owned()]),
        ..TurnResult::default()
    }));
    let effects = life.machine.step(0, Input::Line(result));
    let place = |is_it: &dyn Fn(&Effect) -> bool| effects.iter().position(is_it);
    let sent = place(&|effect| matches!(effect, Effect::Write(_))).unwrap();
    let saved = place(&|effect| matches!(effect, Effect::Save(_))).unwrap();
    assert!(sent < saved, "the agent does not wait for the disk");
    assert_eq!(effects.iter().filter(|effect| matches!(effect, Effect::Save(_))).count(), 1);
}

#[test]
fn a_new_name_is_on_disk_before_the_agent_hears_of_it() {
    let memory = SavedSession { prompts: vec![prompt("a")], ..resumable() };
    let mut life = Life::new(memory);
    life.happens("start");
    life.happens("answer 1");
    life.happens("answer 2");
    let resend = Command::Resend { prompt_id: PromptId::new("a") };
    let effects = life.machine.step(0, Input::Command(resend));
    let place = |is_it: &dyn Fn(&Effect) -> bool| effects.iter().position(is_it).unwrap();
    let saved = place(&|effect| matches!(effect, Effect::Save(_)));
    assert!(saved < place(&|effect| matches!(effect, Effect::Write(_))));
    assert_eq!(life.machine.memory().prompts[0].renamed_at, [1]);
}

/// The turn of `a` failed at the five-hour limit, which resets after 100 s.
const LIMITED: [(&str, &str); 3] = [
    ("prompt b", ""),
    ("limit 100", ""),
    // What waits would fail in the same way.
    ("result a limited", "a Failed; end [a] RateLimited; b Held; arm Hibernate +60000"),
];

#[test]
fn a_prompt_goes_when_the_limit_has_reset() {
    let machine = live_at_work(
        &[
            &LIMITED[..],
            &[
                ("at-reset c", "c Held; arm Reset +60000"),
                ("wait 60000", ""),
                // The machine may have slept: the clock decides.
                ("timer Reset", "arm Reset +55000; arm Hibernate +60000"),
                ("wait 55000", ""),
                ("timer Reset", "c Queued; send c.115000; c Sent; begin [c]"),
                ("result c.115000", "c Done; end [c] Done; arm Hibernate +60000"),
            ],
        ]
        .concat(),
    );
    let left: Vec<_> = machine.prompts().map(|prompt| (prompt.id.as_str(), prompt.sends_at)).collect();
    assert_eq!(left, [("b", None)]);
}

#[test]
fn a_held_prompt_can_wait_for_the_reset_and_a_stop_ends_that() {
    let machine = live_at_work(
        &[
            &LIMITED[..],
            &[
                ("deliver-at-reset b", "arm Reset +60000"),
                ("deliver-at-reset x", "refuse NoSuchPrompt"),
                ("interrupt", ""),
                ("wait 200000", ""),
                ("timer Reset", "arm Hibernate +60000"),
            ],
        ]
        .concat(),
    );
    assert!(machine.prompts().all(|prompt| prompt.held && prompt.sends_at.is_none()));
}

#[test]
fn without_a_known_reset_no_prompt_waits_for_one() {
    live_from_ready(&[
        ("at-reset a", "refuse BadCommand"),
        ("limit never", ""),
        ("at-reset a", "refuse BadCommand"),
        ("limit 100", ""),
        ("wait 100000", ""),
        ("at-reset a", "refuse BadCommand"),
        ("limit 300", ""),
        ("at-reset a", "a Held; arm Reset +60000"),
    ]);
}

#[test]
fn after_a_restart_of_the_app_only_the_user_sends_it() {
    let machine = live_at_work(&[&LIMITED[..], &[("at-reset c", "c Held; arm Reset +60000")]].concat());
    let memory = machine.memory();
    assert!(memory.prompts.iter().any(|prompt| prompt.sends_at.is_some()));
    let machine = Machine::new(memory, Timeouts::default());
    assert!(machine.prompts().all(|prompt| prompt.held && prompt.sends_at.is_none()));
}
