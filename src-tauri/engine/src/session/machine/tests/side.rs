//! Side questions: asked at any time, answered, cancelled, and ended with the process.

use super::life::{Life, UP};
use super::*;
use serde_json::{Value, json};

fn ready() -> Life {
    let mut life = Life::new(SavedSession::default());
    for (event, _) in UP {
        life.happens(event);
    }
    life
}

fn ask_for(life: &mut Life, id: &str, question: &str, purpose: SidePurpose) -> Vec<String> {
    let (id, question) = (id.to_owned(), question.to_owned());
    life.step(Input::Command(Command::AskSide { id, question, purpose }))
}

fn ask(life: &mut Life, id: &str, question: &str) -> Vec<String> {
    ask_for(life, id, question, SidePurpose::Reading)
}

fn cancel(life: &mut Life, id: &str) -> Vec<String> {
    life.step(Input::Command(Command::CancelSide { id: id.to_owned() }))
}

fn responds(life: &mut Life, n: u32, body: Value) -> Vec<String> {
    let mut response = body;
    response["request_id"] = json!(format!("deskbell-{n}"));
    life.hears(&json!({"type": "control_response", "response": response}))
}

fn answers(life: &mut Life, n: u32, words: Value) -> Vec<String> {
    let response = json!({"response": words, "synthetic": false});
    responds(life, n, json!({"subtype": "success", "response": response}))
}

fn refuses(life: &mut Life, n: u32, error: &str) {
    responds(life, n, json!({"subtype": "error", "error": error}));
}

fn outcome(life: &Life, id: &str) -> SideOutcome {
    life.machine.side.all().iter().find(|one| one.id == id).map(|one| one.outcome.clone()).unwrap()
}

fn problem(life: &Life, id: &str) -> String {
    match outcome(life, id) {
        SideOutcome::Failed { message } => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_answer_arrives_during_a_turn_and_leaves_the_conversation_as_it_is() {
    let mut life = ready();
    life.happens("prompt a");
    let asks = ["ask side_question why?", "arm Side +660000"];
    assert_eq!(ask(&mut life, "1", "why?"), asks);
    assert!(life.machine.side.is_any_waiting() && life.machine.take_changed());
    life.happens("init s");
    life.happens("result a");
    assert!(!life.machine.is_idle(), "it waits");
    assert_eq!(life.happens("timer Hibernate"), ["arm Hibernate +60000"], "the process stays");
    let before = life.machine.memory();
    assert_eq!(answers(&mut life, 2, json!("It is *42*.")), [""; 0]);
    let SideOutcome::Answered { text, blocks, is_cut } = outcome(&life, "1") else { panic!() };
    assert_eq!((text.as_str(), blocks.len(), is_cut), ("It is *42*.", 1, false));
    assert!(life.machine.is_idle() && life.machine.take_changed());
    assert_eq!(format!("{:?}", life.machine.memory()), format!("{before:?}"), "nothing of it is saved");
    assert_eq!(answers(&mut life, 2, json!("again")), [""; 0], "it is answered once");
}

/// The line that asks has the earlier questions of the same panel, and not those for a commit.
#[test]
fn a_question_for_the_user_follows_the_earlier_ones() {
    let mut life = ready();
    ask(&mut life, "1", "first");
    answers(&mut life, 2, json!("one"));
    ask_for(&mut life, "2", "message", SidePurpose::CommitMessage);
    answers(&mut life, 3, json!("two"));
    ask(&mut life, "3", "failing");
    answers(&mut life, 4, json!(null));
    let asked = |life: &mut Life, id: &str, purpose: SidePurpose| {
        let (id, question) = (id.to_owned(), "next".to_owned());
        let command = Input::Command(Command::AskSide { id, question, purpose });
        let effects = life.machine.step(0, command);
        let history = effects.into_iter().find_map(|effect| match effect {
            Effect::Write(AgentCommand::Request {
                request: HostRequest::AskSide { history, .. }, ..
            }) => Some(history),
            _ => None,
        });
        history.unwrap().into_iter().map(|one| (one.question, one.answer)).collect::<Vec<_>>()
    };
    assert_eq!(asked(&mut life, "4", SidePurpose::Reading), [("first".to_owned(), "one".to_owned())]);
    assert_eq!(asked(&mut life, "5", SidePurpose::CommitMessage), []);
}

#[test]
fn a_question_waits_for_the_process_and_starts_it() {
    let mut life = Life::new(SavedSession::default());
    assert_eq!(
        ask(&mut life, "1", "why?"),
        ["arm Side +660000", "spawn", "ask initialize", "arm Initialize +60000"]
    );
    let ready = life.happens("answer 1");
    assert!(ready.contains(&"ask side_question why?".to_owned()), "{ready:?}");
    answers(&mut life, 2, json!("so"));
    assert!(matches!(outcome(&life, "1"), SideOutcome::Answered { .. }));
    // It does not start.
    let mut life = Life::new(SavedSession::default());
    ask(&mut life, "1", "why?");
    life.happens("exit 1");
    assert_eq!(problem(&life, "1"), "The agent stopped before it answered.");
    assert!(!life.happens("start").is_empty());
    assert!(!life.happens("answer 2").join(" ").contains("side_question"), "it is not asked later");
}

#[test]
fn a_question_is_cancelled_and_a_late_answer_does_not_count() {
    let mut life = ready();
    ask(&mut life, "1", "why?");
    assert_eq!(cancel(&mut life, "1"), ["cancel deskbell-2"]);
    assert_eq!(outcome(&life, "1"), SideOutcome::Cancelled);
    answers(&mut life, 2, json!("late"));
    assert_eq!(outcome(&life, "1"), SideOutcome::Cancelled);
    assert_eq!(cancel(&mut life, "1"), ["refuse BadCommand"]);
    assert_eq!(cancel(&mut life, "2"), ["refuse BadCommand"]);
    // Before the process has it.
    let mut life = Life::new(SavedSession::default());
    ask(&mut life, "1", "why?");
    assert_eq!(cancel(&mut life, "1"), [""; 0]);
    assert!(!life.happens("answer 1").join(" ").contains("side_question"));
}

#[test]
fn a_question_without_an_answer_says_why() {
    let mut life = ready();
    for (n, id) in (2..8).zip(["null", "empty", "odd", "own", "busy", "gone"]) {
        ask(&mut life, id, "why?");
        match id {
            "null" => drop(answers(&mut life, n, json!(null))),
            "empty" => drop(answers(&mut life, n, json!(" "))),
            "odd" => drop(answers(&mut life, n, json!([7]))),
            "own" => {
                let response = json!({"response": "(API error: 529 busy)", "synthetic": true});
                responds(&mut life, n, json!({"subtype": "success", "response": response}));
            }
            "busy" => refuses(&mut life, n, "too many at once"),
            _ => drop(life.happens("exit 1")),
        }
    }
    for id in ["null", "empty", "odd"] {
        assert_eq!(problem(&life, id), "The agent gave no answer.");
    }
    assert_eq!(problem(&life, "own"), "API error: 529 busy");
    assert_eq!(problem(&life, "busy"), "The agent could not answer: too many at once");
    assert_eq!(problem(&life, "gone"), "The agent stopped before it answered.");
}

#[test]
fn an_agent_that_does_not_know_the_request_lacks_the_capability() {
    let mut life = ready();
    ask(&mut life, "1", "why?");
    refuses(&mut life, 2, "Unsupported control request subtype: side_question");
    assert!(!life.machine.side.is_known() && problem(&life, "1").contains("This version of the agent"));
    assert_eq!(ask(&mut life, "2", "why?"), ["refuse BadCommand"]);
    // The next process may be another version.
    life.happens("exit 0");
    life.happens("start");
    assert!(life.machine.side.is_known());
}

#[test]
fn a_retry_is_shown_and_the_wait_ends_after_eleven_minutes() {
    let mut life = ready();
    ask(&mut life, "1", "why?");
    life.happens("wait 60000");
    ask(&mut life, "2", "why?");
    let mut progress = json!({"type": "system", "subtype": "control_request_progress",
        "request_id": "deskbell-2", "status": "api_retry", "attempt": 2, "max_retries": 10});
    life.hears(&progress);
    let retry = Some(SideRetry { attempt: 2, most: 10 });
    assert_eq!(outcome(&life, "1"), SideOutcome::Waiting { retry });
    progress["request_id"] = json!("deskbell-77");
    life.hears(&progress);
    life.happens("wait 600000");
    assert_eq!(life.happens("timer Side"), ["cancel deskbell-2", "arm Side +60000"]);
    assert_eq!(problem(&life, "1"), "The agent did not answer within 11 minutes.");
    assert_eq!(outcome(&life, "2"), SideOutcome::Waiting { retry: None });
    life.happens("wait 60000");
    assert_eq!(life.happens("timer Side"), ["cancel deskbell-3"]);
}

#[test]
fn questions_are_bounded() {
    let mut life = ready();
    for (id, question) in [("", "why?"), ("1", " "), ("1", &"x".repeat(65 * 1024)), (&"i".repeat(65), "why?")]
    {
        assert_eq!(ask(&mut life, id, question), ["refuse BadCommand"]);
    }
    for id in ["a", "b", "c", "d"] {
        ask(&mut life, id, "why?");
    }
    assert_eq!(ask(&mut life, "e", "why?"), ["refuse BadCommand"], "four wait");
    cancel(&mut life, "a");
    assert_eq!(ask(&mut life, "a", "why?"), ["refuse BadCommand"], "the id was used");
    for n in 0..30 {
        life.happens("wait 1000");
        ask(&mut life, &n.to_string(), "why?");
        answers(&mut life, 6 + n, json!("y".repeat(70_000)));
    }
    let all = life.machine.side.all();
    assert_eq!(all.iter().filter(|one| matches!(one.outcome, SideOutcome::Waiting { .. })).count(), 3);
    let SideOutcome::Answered { text, is_cut, .. } = &all.last().unwrap().outcome else { panic!() };
    assert_eq!((text.len(), *is_cut), (64 * 1024, true));
    let answered = all.iter().filter(|one| matches!(one.outcome, SideOutcome::Answered { .. })).count();
    assert_eq!(answered, 3, "the oldest are forgotten");
}
