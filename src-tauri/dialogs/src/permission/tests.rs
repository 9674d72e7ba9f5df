//! Tests of dialogs from the request to the decision, without a display.

use super::scripted::Scripted;
use super::*;
use deskbell_engine::permission::AlwaysAllow;
use std::sync::mpsc;

fn id(n: u32) -> DialogId {
    DialogId { session_id: SessionId::new("session"), request_id: RequestId::new(format!("request-{n}")) }
}

/// A request to run a command that is unique to `n`.
pub fn ask(n: u32) -> DialogRequest {
    DialogRequest {
        id: id(n),
        project: "lighthouse".to_owned(),
        session_title: "Tidy up".to_owned(),
        tool: "Bash".to_owned(),
        question: "Run this command?".to_owned(),
        asked_by: None,
        unreported: None,
        shown: format!("hash of {n}"),
        subject: Some(format!("touch {n}.txt")),
        always: None,
        notices: Vec::new(),
    }
}

/// A controller with a scripted screen and its outcomes.
struct Stage {
    asking: DialogController,
    screen: Scripted,
    outcomes: mpsc::Receiver<Outcome>,
}

impl Stage {
    fn new() -> Self {
        let screen = Scripted::default();
        let (sender, outcomes) = mpsc::channel();
        let carry_out = move |outcome| sender.send(outcome).expect("the test listens");
        Self { asking: DialogController::new(Box::new(screen.clone()), carry_out), screen, outcomes }
    }

    fn resolved(&self, n: u32) {
        self.asking.resolved(&id(n).session_id, &id(n).request_id);
    }

    fn outcomes(&self) -> Vec<Outcome> {
        self.outcomes.try_iter().collect()
    }

    fn subjects(&self) -> Vec<String> {
        self.screen.screen().into_iter().map(|(_, subject)| subject).collect()
    }
}

fn decided(n: u32, decision: Decision) -> Outcome {
    Outcome::Decide { id: id(n), shown: format!("hash of {n}"), decision }
}

#[test]
fn each_answer_is_one_decision_and_the_next_dialog_follows() {
    let stage = Stage::new();
    (1..=3).for_each(|n| stage.asking.ask("a", ask(n)));
    assert_eq!(stage.subjects(), ["touch 1.txt"], "two would hide each other");
    stage.screen.press(&id(1), DialogResponse::AllowOnce);
    assert_eq!(stage.outcomes(), [decided(1, Decision::AllowOnce { updated_input: None })]);
    assert_eq!(stage.subjects(), ["touch 2.txt"]);
    stage.screen.press(&id(2), DialogResponse::Deny { reason: "Not now.".to_owned() });
    let denied = Decision::Deny { message: "Not now.".to_owned(), interrupt: false };
    assert_eq!(stage.outcomes(), [decided(2, denied)]);
    stage.screen.press(&id(3), DialogResponse::Review);
    assert_eq!(stage.outcomes(), [Outcome::BringUp { window: "a".to_owned(), id: id(3) }]);
    assert!(stage.subjects().is_empty());
}

#[test]
fn closing_a_dialog_answers_nothing() {
    let stage = Stage::new();
    stage.asking.ask("a", ask(1));
    stage.screen.press(&id(1), DialogResponse::Dismissed);
    assert!(stage.outcomes().is_empty());
    assert!(stage.subjects().is_empty(), "it does not come again by itself");
}

#[test]
fn what_a_dialog_did_not_show_it_cannot_allow() {
    let stage = Stage::new();
    stage.asking.ask("a", DialogRequest { subject: None, ..ask(1) });
    stage.screen.press(&id(1), DialogResponse::AllowOnce);
    assert!(stage.outcomes().is_empty());
}

#[test]
fn a_rule_is_saved_by_one_press_only_where_it_was_shown() {
    let stage = Stage::new();
    let always = Some(AlwaysAllow { suggestion: "s0".to_owned(), scope: "Bash(touch:*) · Here".to_owned() });
    stage.asking.ask("a", DialogRequest { always: always.clone(), ..ask(1) });
    stage.screen.press(&id(1), DialogResponse::AlwaysAllow);
    assert_eq!(stage.outcomes(), [decided(1, Decision::AllowAlways { suggestion: "s0".into() })]);
    for unseen in [ask(2), DialogRequest { always, subject: None, ..ask(2) }] {
        stage.asking.ask("a", unseen);
        stage.screen.press(&id(2), DialogResponse::AlwaysAllow);
        assert!(stage.outcomes().is_empty());
    }
}

#[test]
fn a_request_that_is_over_takes_its_dialog_away() {
    let stage = Stage::new();
    (1..=3).for_each(|n| stage.asking.ask("a", ask(n)));
    stage.resolved(2);
    assert_eq!(stage.subjects(), ["touch 1.txt"]);
    stage.resolved(1);
    assert_eq!(stage.subjects(), ["touch 3.txt"]);
    stage.resolved(3);
    assert!(stage.subjects().is_empty());
    assert!(stage.outcomes().is_empty());
}

#[test]
fn a_press_that_comes_too_late_counts_for_nothing() {
    let stage = Stage::new();
    stage.asking.ask("a", ask(1));
    let respond = stage.screen.pressing(&id(1));
    stage.resolved(1);
    respond(DialogResponse::AllowOnce);
    assert!(stage.outcomes().is_empty());
}

#[test]
fn a_late_press_does_not_allow_another_request_of_the_same_name() {
    let stage = Stage::new();
    stage.asking.ask("a", ask(1));
    let respond = stage.screen.pressing(&id(1));
    stage.resolved(1);
    let other =
        DialogRequest { shown: "another hash".to_owned(), subject: Some("git push".to_owned()), ..ask(1) };
    stage.asking.ask("a", other);
    respond(DialogResponse::AllowOnce);
    assert!(stage.outcomes().is_empty());
    assert_eq!(stage.subjects(), ["git push"], "it still waits");
}

#[test]
fn a_window_that_goes_takes_only_its_own_dialogs() {
    let stage = Stage::new();
    stage.asking.ask("a", ask(1));
    stage.asking.ask("a", ask(2));
    stage.asking.ask("b", ask(3));
    let respond = stage.screen.pressing(&id(1));
    stage.asking.window_gone("a");
    respond(DialogResponse::AllowOnce);
    assert!(stage.outcomes().is_empty());
    assert_eq!(stage.screen.screen(), [("b".to_owned(), "touch 3.txt".to_owned())]);
}

#[test]
fn a_dialog_that_cannot_be_shown_keeps_nobody_waiting() {
    let stage = Stage::new();
    stage.screen.refuse(&id(1));
    stage.asking.ask("a", ask(1));
    stage.asking.ask("a", ask(2));
    assert_eq!(stage.subjects(), ["touch 2.txt"]);
    assert!(stage.outcomes().is_empty(), "the card has it");
}

#[test]
fn only_the_dialog_of_that_window_is_in_front() {
    let stage = Stage::new();
    stage.asking.ask("a", ask(1));
    stage.asking.ask("b", ask(2));
    assert!(!stage.asking.is_in_front("a"));
    stage.screen.focus(&id(1));
    assert!(stage.asking.is_in_front("a") && !stage.asking.is_in_front("b"));
}

#[test]
fn a_card_in_sight_sends_the_dialog_away_and_an_old_press_still_counts_for_nothing() {
    let stage = Stage::new();
    stage.asking.ask("a", ask(1));
    let respond = stage.screen.pressing(&id(1));
    stage.asking.view_changed("a", |view| {
        view.focused = true;
        view.cards.insert(id(1));
    });
    respond(DialogResponse::AllowOnce);
    assert!(stage.outcomes().is_empty(), "it was withdrawn at that moment");
    assert!(stage.subjects().is_empty());
}

#[test]
fn going_to_the_card_closes_the_dialog_and_answers_nothing() {
    let stage = Stage::new();
    (1..=2).for_each(|n| stage.asking.ask("a", ask(n)));
    stage.asking.reviewed(&id(1));
    assert_eq!(stage.subjects(), ["touch 2.txt"]);
    assert!(stage.outcomes().is_empty());
}
