//! The settings that the user chooses, and the agent's reports of them.

use super::life::{live, live_from_ready, resumable};
use super::*;

#[test]
fn the_last_wish_for_a_mode_holds() {
    let machine = live_from_ready(&[
        ("mode plan", "ask set_permission_mode plan; arm Switch +20000"),
        ("mode auto", "ask set_permission_mode auto; arm Switch +20000"),
        ("answer 2 refused", "Warning; failed Refused"),
        ("mode-is auto", ""),
        ("answer 3", "arm Hibernate +60000"),
        // The agent changes it by itself: a plan was approved.
        ("mode-is default", ""),
        // The user did not choose that.
        ("mode-is bypassPermissions", "Warning; ask set_permission_mode default; arm Switch +20000"),
        ("mode-is default", ""),
        // A mode that cannot be requested is shown, but not saved.
        ("mode-is dreaming", ""),
    ]);
    assert_eq!(machine.memory().mode, Some(PermissionMode::Default));
    assert_eq!(machine.shown_mode(), Some("dreaming"), "what is in force, though a wish is open");
}

#[test]
fn what_is_chosen_while_it_comes_up_is_asked_for_once_it_is_ready() {
    let memory = SavedSession { mode: Some(PermissionMode::AcceptEdits), ..SavedSession::default() };
    live(
        memory,
        &[
            ("start", "spawn; ask initialize; arm Initialize +60000"),
            ("mode plan", ""),
            ("model opus", ""),
            (
                "answer 1",
                "ask set_permission_mode plan; arm Switch +20000; ask set_model opus; arm Switch +20000; \
                 arm Hibernate +60000",
            ),
        ],
    );
}

#[test]
fn a_prompt_waits_until_a_change_is_confirmed() {
    live_from_ready(&[
        ("mode plan", "ask set_permission_mode plan; arm Switch +20000"),
        ("model opus", "ask set_model opus; arm Switch +20000"),
        ("prompt a", "arm Hibernate +60000"),
        ("prompt b", "arm Hibernate +60000"),
        ("answer 2", ""),
        ("answer 3", "send a; a Sent; begin [a]"),
        ("init-new", ""),
        // Also into the current turn.
        ("mode default", "ask set_permission_mode default; arm Switch +20000"),
        ("into c", ""),
        ("answer 4 refused", "Warning; failed Refused; send c; c Sent"),
        // The turn ends before the answer arrives.
        ("mode plan", "ask set_permission_mode plan; arm Switch +20000"),
        ("result a,c", "a Done; c Done; end [a,c] Done; arm Hibernate +60000"),
        ("answer 5", "send b; b Sent; begin [b]"),
    ]);
}

#[test]
fn a_change_that_is_not_confirmed_holds_what_waits_for_it() {
    let table = [
        ("mode plan", "ask set_permission_mode plan; arm Switch +20000"),
        ("prompt a", "arm Hibernate +60000"),
        ("wait 20000", ""),
        ("timer Switch", "Warning; a Held; arm Hibernate +60000"),
        // The user has been notified: prompts no longer wait for this answer, only for those to later requests.
        ("resend a", "a Queued; send a.20000; a Sent; begin [a]"),
        ("result a.20000", "a Done; end [a] Done; arm Hibernate +60000"),
        ("model opus", "ask set_model opus; arm Switch +20000"),
        ("prompt b", "arm Hibernate +60000"),
        ("answer 3", "send b; b Sent; begin [b]"),
        ("answer 2", ""),
    ];
    live_from_ready(&table);
    live_from_ready(&[
        ("mode plan", "ask set_permission_mode plan; arm Switch +20000"),
        ("prompt a", "arm Hibernate +60000"),
        // Interrupting a prompt that has not been sent holds it.
        ("interrupt", "a Held"),
        ("answer 2", "arm Hibernate +60000"),
    ]);
}

/// A resumed process reports its cost counter before the first turn adds to it.
#[test]
fn a_prompt_waits_for_the_cost_so_far_and_goes_without_it() {
    let start = ("start", "spawn --resume=s; ask initialize; arm Initialize +60000");
    let ready = ("answer 1", "ask get_usage; arm Switch +2000; arm Hibernate +60000");
    let prompt = ("prompt a", "arm Hibernate +60000");
    live(resumable(), &[start, ready, prompt, ("answer 2", "send a; a Sent; begin [a]")]);
    live(resumable(), &[start, ready, prompt, ("timer Switch", "send a; a Sent; begin [a]")]);
}
