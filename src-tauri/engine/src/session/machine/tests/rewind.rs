//! Rewinding: what is asked, in which order, and what stops it.

use super::life::{ASKS_COST, Life, resumable};
use super::*;
use crate::agent::{Answer, Refused, RewindReport};
use crate::rewind::{Checked, Copied, UndoFault, Undone, Wish};

fn job(wish: Wish) -> Input {
    let item = ItemId::new("p");
    Input::Rewind(Job { item, wire_id: "p".to_owned(), text: "fix it".to_owned(), wish })
}

fn both(files: bool, conversation: bool) -> Input {
    job(Wish::Rewind { files, conversation })
}

/// Resumed and ready.
fn ready() -> Life {
    let mut life = Life::new(resumable());
    life.happens("start");
    assert_eq!(life.happens("answer 1").join("; "), ASKS_COST);
    life.happens("answer 2");
    life
}

fn done(life: &mut Life, done: Done) -> Vec<String> {
    life.step(Input::RewindWorked(done))
}

fn answered(life: &mut Life, n: u32, outcome: Result<Answer, Refused>) -> Vec<String> {
    life.step(Input::Line(AgentEvent::Response { request_id: format!("deskbell-{n}"), outcome }))
}

fn answers(life: &mut Life, n: u32, files: &[&str]) -> Vec<String> {
    let files = files.iter().map(|file| (*file).to_owned()).collect();
    answered(life, n, Ok(Answer::Rewind(RewindReport { files, problem: None })))
}

fn cannot(life: &mut Life, n: u32, problem: &str) -> Vec<String> {
    let report = RewindReport { files: Vec::new(), problem: Some(problem.to_owned()) };
    answered(life, n, Ok(Answer::Rewind(report)))
}

fn listed(life: &mut Life, n: u32) -> Vec<String> {
    answers(life, n, &["/a", "/b"])
}

fn copied() -> Done {
    Done::Copied(Ok(Copied { n_copied: 2, left_out: Vec::new() }))
}

fn checked() -> Done {
    Done::Checked(Ok(Checked { changed: vec!["/a".to_owned()], unexpected: Vec::new() }))
}

fn state(life: &Life) -> RewindState {
    life.machine.rewind.state()
}

const ASKS: &str = "ask rewind_files; arm Rewind +30000";

#[test]
fn files_are_copied_before_the_agent_rewinds_them_and_checked_after() {
    let mut life = ready();
    assert_eq!(life.step(both(true, false)).join("; "), ASKS);
    assert!(state(&life).is_pending && !life.machine.is_idle());
    assert_eq!(listed(&mut life, 3), ["disk Copy"]);
    assert_eq!(done(&mut life, copied()).join("; "), ASKS);
    assert!(life.machine.memory().rewound.is_some(), "saved before the files change");
    assert_eq!(answers(&mut life, 4, &[]), ["disk Check"]);
    assert_eq!(done(&mut life, checked()).join("; "), "Info; rewound ; arm Hibernate +60000");
    let undo = state(&life).undo.unwrap();
    assert_eq!((undo.n_files, undo.conversation, undo.prompt.as_str()), (2, false, "fix it"));
    assert!(!state(&life).is_pending && life.machine.is_alive());
}

#[test]
fn the_conversation_continues_after_the_message_before_the_prompt() {
    let mut life = ready();
    assert_eq!(life.step(both(true, true)), ["disk Place"]);
    assert_eq!(done(&mut life, Done::Placed(Ok(Some("m".to_owned())))).join("; "), ASKS);
    listed(&mut life, 3);
    done(&mut life, copied());
    answers(&mut life, 4, &[]);
    assert_eq!(done(&mut life, checked()).join("; "), "close; arm Stop +1000");
    // A prompt that comes meanwhile waits.
    assert_eq!(life.happens("prompt q"), [""; 0]);
    assert_eq!(
        life.happens("exit 0").join("; "),
        "exited as expected; disk Reread; Info; rewound fix it; spawn --resume=s at m; ask initialize; arm Initialize \
         +60000"
    );
    assert_eq!(life.machine.memory().resume_at.as_deref(), Some("m"));
    // The undo of the conversation ends with the next turn; that of the files does not.
    life.happens("answer 5");
    assert!(state(&life).undo.unwrap().conversation);
    life.happens("answer 6");
    let undo = state(&life).undo.unwrap();
    assert_eq!((undo.n_files, undo.conversation), (2, false));
    assert!(life.machine.memory().resume_at.is_some(), "until the agent has stored a turn");
    life.happens("init s");
    life.happens("result q");
    assert_eq!(life.machine.memory().resume_at, None);
}

#[test]
fn a_conversation_without_a_process_is_rewound_and_returns() {
    let mut life = Life::new(resumable());
    assert_eq!(life.step(both(false, true)), ["disk Place"]);
    let placed = done(&mut life, Done::Placed(Ok(Some("m".to_owned()))));
    assert_eq!(placed.join("; "), "disk Reread; Info; rewound fix it");
    // Once more, to the first prompt: nothing of it is left.
    life.now = 1;
    life.step(both(false, true));
    done(&mut life, Done::Placed(Ok(None)));
    let memory = life.machine.memory();
    assert_eq!((memory.agent_session_id, memory.resumable, memory.resume_at), (None, false, None));
    assert_eq!(
        life.step(Input::Command(Command::UndoRewind { overwrite: false })).join("; "),
        "disk Reread; Info"
    );
    let memory = life.machine.memory();
    assert_eq!((memory.agent_session_id.as_deref(), memory.resumable), (Some("s"), true));
    assert_eq!(memory.resume_at.as_deref(), Some("m"), "where it was before");
    assert_eq!(memory.rewound, None);
    assert_eq!(life.happens("start")[0], "spawn --resume=s at m");
}

#[test]
fn files_that_changed_since_need_another_word_before_the_undo() {
    let mut life = ready();
    life.step(both(true, false));
    listed(&mut life, 3);
    done(&mut life, copied());
    answers(&mut life, 4, &[]);
    done(&mut life, checked());
    let undo = |life: &mut Life, overwrite| life.step(Input::Command(Command::UndoRewind { overwrite }));
    assert_eq!(undo(&mut life, false), ["disk Undo"]);
    let changed = Done::Undone(Err(UndoFault::Changed(vec!["/a\n/b".to_owned()])));
    assert_eq!(done(&mut life, changed)[0], r#"refuse ChangedSince { files: ["/a\n/b"] }"#);
    assert!(state(&life).undo.is_some() && !state(&life).is_pending);
    assert_eq!(undo(&mut life, true), ["disk Undo"]);
    let undone = done(&mut life, Done::Undone(Ok(Undone { restored: vec!["/a".to_owned()] })));
    assert_eq!(undone[..2], ["disk Discard", "Info"]);
    assert_eq!(state(&life).undo, None);
    assert_eq!(undo(&mut life, false), ["refuse BadCommand"]);
}

#[test]
fn nothing_is_rewound_while_the_agent_works_or_has_no_conversation() {
    let mut life = Life::new(SavedSession::default());
    assert_eq!(life.step(both(true, true)), ["refuse BadCommand"], "nothing is stored");
    let mut life = ready();
    assert_eq!(life.step(both(false, false)), ["refuse BadCommand"]);
    life.happens("prompt a");
    assert_eq!(life.step(both(true, false)), ["refuse BadCommand"]);
    assert_eq!(life.step(job(Wish::Preview)), ["refuse BadCommand"]);
    let mut life = ready();
    life.step(both(true, false));
    assert_eq!(life.step(both(true, false)), ["refuse BadCommand"], "one at a time");
    life.happens("stop");
    assert_eq!(life.step(Input::Command(Command::UndoRewind { overwrite: true })), ["refuse BadCommand"]);
}

#[test]
fn a_preview_starts_the_agent_and_changes_nothing() {
    let mut life = Life::new(resumable());
    assert_eq!(life.step(job(Wish::Preview))[0], "spawn --resume=s");
    assert!(life.happens("answer 1").contains(&"ask rewind_files".to_owned()));
    assert_eq!(listed(&mut life, 3)[..], ["disk Preview"]);
    done(&mut life, Done::Previewed);
    assert_eq!(state(&life), RewindState::default());
}

#[test]
fn an_agent_that_cannot_rewind_says_why_and_nothing_changes() {
    let mut life = ready();
    life.step(both(true, false));
    let refused = cannot(&mut life, 3, "No file checkpoint found");
    assert_eq!(refused[0], "failed Refused");
    assert!(state(&life).problem.unwrap().contains("No file checkpoint"));
    // A preview reports it with the rest.
    life.step(job(Wish::Preview));
    assert_eq!(cannot(&mut life, 4, ""), ["disk Preview"]);
    done(&mut life, Done::Previewed);
    // An agent that does not know the request is not asked again.
    life.step(both(true, false));
    assert!(life.machine.rewind.is_known());
    life.happens("answer 5 Unsupported_control_request");
    assert!(life.machine.rewind.is_known(), "other words are another problem");
    life.step(both(true, false));
    answered(&mut life, 6, Err(Refused { message: "No such request".to_owned(), is_unknown: true }));
    assert!(!life.machine.rewind.is_known());
    assert_eq!(life.step(both(true, false))[0], "failed Refused");
}

#[test]
fn copies_that_cannot_be_made_stop_the_rewind() {
    let mut life = ready();
    life.step(both(true, true));
    done(&mut life, Done::Placed(Ok(Some("m".to_owned()))));
    listed(&mut life, 3);
    assert_eq!(done(&mut life, Done::Copied(Err("disk full".to_owned())))[0], "failed Refused");
    assert_eq!((state(&life).undo, life.machine.memory().resume_at), (None, None));
}

#[test]
fn an_agent_that_says_nothing_ends_the_wait_and_its_late_answer_counts_for_nothing() {
    let mut life = ready();
    life.step(both(true, false));
    assert_eq!(life.happens("timer Rewind")[0], "failed Refused");
    assert_eq!(listed(&mut life, 3), [""; 0], "too late");
    // Without the answer to the rewind itself the files show what happened.
    life.now = 1;
    life.step(both(true, false));
    listed(&mut life, 4);
    done(&mut life, copied());
    assert_eq!(life.happens("timer Rewind"), ["disk Check"]);
    assert_eq!(done(&mut life, checked())[0], "Warning");
    assert!(state(&life).undo.is_some());
}

#[test]
fn an_agent_that_stops_in_the_middle_leaves_the_undo_of_what_changed() {
    let mut life = ready();
    life.step(both(true, false));
    assert!(life.happens("exit 1").contains(&"failed Refused".to_owned()));
    let mut life = ready();
    life.step(both(true, false));
    listed(&mut life, 3);
    done(&mut life, copied());
    assert!(life.happens("exit 1").contains(&"disk Check".to_owned()));
    let unchanged = Done::Checked(Ok(Checked::default()));
    assert_eq!(done(&mut life, unchanged)[..2], ["disk Discard", "failed Refused"]);
    assert_eq!(state(&life).undo, None, "nothing changed");
}

#[test]
fn a_later_rewind_replaces_the_undo_and_removes_its_copies() {
    let mut life = ready();
    for (at, first) in [(10, 3), (20, 5)] {
        life.now = at;
        life.step(both(true, false));
        listed(&mut life, first);
        done(&mut life, copied());
        answers(&mut life, first + 1, &[]);
        let effects = done(&mut life, checked());
        assert_eq!(effects.contains(&"disk Discard".to_owned()), at == 20, "{effects:?}");
        assert_eq!(state(&life).undo.unwrap().at, at);
    }
}

#[test]
fn a_rewind_waits_for_a_process_that_is_being_stopped_already() {
    let mut life = ready();
    life.step(both(true, true));
    done(&mut life, Done::Placed(Ok(Some("m".to_owned()))));
    assert_eq!(life.happens("stop").join("; "), "close; arm Stop +1000");
    assert_eq!(answers(&mut life, 3, &[]), [""; 0], "it is not stopped a second time");
    assert!(state(&life).is_pending);
    assert_eq!(life.happens("exit 0").join("; "), "exited as expected; disk Reread; Info; rewound fix it");
    assert_eq!(life.machine.memory().resume_at.as_deref(), Some("m"));
    assert!(life.machine.is_idle() && !life.machine.is_alive());
}

#[test]
fn a_rewind_of_files_outlives_a_crash_and_its_restart_resumes_before_the_prompt() {
    let mut life = ready();
    life.step(both(true, true));
    done(&mut life, Done::Placed(Ok(Some("m".to_owned()))));
    listed(&mut life, 3);
    done(&mut life, copied());
    life.happens("prompt q");
    let crashed = life.happens("exit 1");
    assert!(crashed.contains(&"arm Restart +1000".to_owned()), "{crashed:?}");
    assert_eq!(crashed.last().map(String::as_str), Some("disk Check"));
    // There is no process to stop.
    assert_eq!(done(&mut life, checked()).join("; "), "disk Reread; Warning; rewound fix it");
    assert_eq!(life.happens("timer Restart")[0], "spawn --resume=s at m");
}

#[test]
fn a_conversation_that_the_agent_lost_is_not_rewound_and_does_not_return() {
    let mut life = Life::new(resumable());
    life.happens("start");
    life.step(both(false, true));
    life.happens("no-conversation");
    assert_eq!(done(&mut life, Done::Placed(Ok(Some("m".to_owned())))), ["failed Refused"]);
    assert_eq!(state(&life).undo, None);

    let mut life = Life::new(resumable());
    life.step(both(false, true));
    done(&mut life, Done::Placed(Ok(Some("m".to_owned()))));
    assert!(state(&life).undo.is_some());
    life.happens("start");
    life.happens("no-conversation");
    assert_eq!(state(&life).undo, None, "the undo would resume what is gone");
    assert_eq!(life.machine.memory().agent_session_id, None);
}
