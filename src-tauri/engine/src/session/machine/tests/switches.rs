//! What is chosen for the agent, and what it says of it.

use super::life::{live, live_from_ready};
use super::*;

#[test]
fn the_last_wish_for_a_mode_holds() {
    let machine = live_from_ready(&[
        ("mode nonsense", "refuse BadCommand"),
        ("mode plan", "ask set_permission_mode plan"),
        ("mode auto", "ask set_permission_mode auto"),
        ("answer 2 refused", "Warning; failed Refused"),
        ("mode-is auto", ""),
        ("answer 3", ""),
        // The agent leaves it of itself: a plan was allowed.
        ("mode-is default", ""),
        // Nobody chose that.
        ("mode-is bypassPermissions", "Warning; ask set_permission_mode default"),
        ("mode-is default", ""),
        // What it cannot be asked for is shown, and not kept.
        ("mode-is dreaming", ""),
    ]);
    assert_eq!(machine.memory().mode.as_deref(), Some("default"));
    assert_eq!(machine.shown_mode(), Some("default"), "a wish is open");
}

#[test]
fn what_is_chosen_while_it_comes_up_is_asked_for_once_it_is_ready() {
    let memory = Memory { mode: Some("acceptEdits".to_owned()), ..Memory::default() };
    live(
        memory,
        &[
            ("start", "spawn; ask initialize; arm Initialize +60000"),
            ("mode plan", ""),
            ("model opus", ""),
            ("answer 1", "ask set_permission_mode plan; ask set_model opus; arm Hibernate +60000"),
        ],
    );
}
