//! The prompts and results of each turn, and the conversation they belong to.

use super::life::{ASKS_COST, Life, live, live_from_ready, prompt, resumable, status};
use super::*;

#[test]
fn one_prompt_is_in_flight_and_the_others_go_in_order() {
    live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("prompt b", ""),
        ("prompt c", ""),
        ("edit c text", "c is text"),
        ("edit a text", "refuse NoSuchPrompt"),
        ("withdraw a", "refuse NoSuchPrompt"),
        ("withdraw b", "b Withdrawn"),
        ("result a", "a Done; end [a] Done; send c; c Sent; begin [c]"),
        ("result c overloaded", "c Failed; end [c] Failed; arm Hibernate +60000"),
    ]);
}

#[test]
fn a_prompt_that_is_not_on_disk_is_not_accepted() {
    let mut machine = Machine::new(SavedSession::default(), Timeouts::default());
    let effects = machine.step(0, Input::Prompt(prompt("a")));
    assert_eq!(effects, [Effect::Save(Some(PromptId::new("a")))]);
    assert_eq!(machine.memory().prompts.len(), 1, "it is in what is written");
    let effects = machine.step(0, Input::SaveFailed(PromptId::new("a"), "the disk is full".to_owned()));
    assert!(matches!(&effects[..], [Effect::Refuse(_)]));
    assert_eq!(machine.memory(), SavedSession::default());
}

#[test]
fn a_result_of_another_turn_leaves_the_prompt_in_flight() {
    live_from_ready(&[
        ("prompt a", "send a; a Sent; begin [a]"),
        ("init s", ""),
        ("result - unasked", ""),
        ("result other", ""),
        ("idle", ""),
        // A turn that the agent started by itself may have included the prompt.
        ("result a unasked", "a Done; end [a] Done; arm Hibernate +60000"),
        ("prompt b", "send b; b Sent; begin [b]"),
        ("result ? unasked", ""),
        ("result ?", "b Done; end [b] Done; arm Hibernate +60000"),
    ]);
}

#[test]
fn a_turn_that_nobody_asked_for_is_shown_and_waited_for() {
    live_from_ready(&[
        ("running", ""),
        ("init s", "begin []"),
        ("prompt a", ""),
        ("result - unasked", "end [] Done; send a; a Sent; begin [a]"),
        ("result a", "a Done; end [a] Done; arm Hibernate +60000"),
        ("init s", "begin []"),
        ("prompt b", ""),
        // The turn ended without work: no result will follow.
        ("idle", "end [] Done; send b; b Sent; begin [b]"),
    ]);
}

#[test]
fn another_conversation_in_the_same_process_is_told() {
    let machine = live(
        resumable(),
        &[
            ("prompt a", "spawn --resume=s; ask initialize; arm Initialize +60000"),
            ("answer 1", ASKS_COST),
            ("answer 2", "send a; a Sent; begin [a]"),
            // Resuming may change the id of a conversation. Nothing is lost.
            ("init t", ""),
            ("init t", ""),
            ("init u", "Info"),
        ],
    );
    assert_eq!(machine.memory().agent_session_id.as_deref(), Some("u"));
}

#[test]
fn what_was_meant_for_a_conversation_that_is_gone_is_held() {
    let table = [
        ("prompt a", "spawn --resume=s; ask initialize; arm Initialize +60000"),
        ("no-conversation", "a Held; Warning"),
        ("prompt late", ""),
        ("exit 1", "exited as expected; late Held"),
    ];
    let machine = live(resumable(), &table);
    assert!(
        matches!(status(&machine), Status::Failed { message } if message.contains("no longer has this conversation"))
    );
    // Its stdin may break before it reports this.
    let broken = ("broken", "Warning; close; terminate; arm Stop +2500");
    live(resumable(), &[table[0], broken, table[1], table[2], table[3]]);
    // The user has been notified.
    let begun_anew = [
        ("resend a", "a Queued; spawn; ask initialize; arm Initialize +60000"),
        ("answer 2", "send a.1; a Sent; begin [a]"),
    ];
    live(resumable(), &[&table[..], &begun_anew].concat());
}

/// The user, or a time server, sets the clock while the agent works.
#[test]
fn a_turns_duration_does_not_follow_the_wall_clock_over_a_jump() {
    const HOUR: u64 = 3_600_000;
    for jump in [HOUR, 0] {
        let mut life = Life::new(SavedSession::default());
        life.now = HOUR;
        for happens in ["start", "answer 1", "prompt a"] {
            life.machine.tick(500);
            life.happens(happens);
        }
        // Forward and back by an hour, while 2 s pass.
        life.now = jump * 2;
        life.machine.tick(2_500);
        let result = AgentEvent::TurnEnded(Box::new(crate::agent::TurnResult {
            prompts: Some(vec!["a".to_owned()]),
            ..crate::agent::TurnResult::default()
        }));
        let now = life.now;
        let effects = life.machine.step(now, Input::Line(result));
        let ended = effects.iter().find_map(|effect| match effect {
            Effect::Emit(Event::TurnEnded { turn }) => Some(turn.duration_ms),
            _ => None,
        });
        assert_eq!(ended, Some(2_000), "the clock jumped by {jump}");
    }
}
