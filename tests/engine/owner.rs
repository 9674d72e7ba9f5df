//! A conversation that another process has open is not resumed, and nothing of it is lost: with two processes on one
//! conversation, one loses its changes.

use crate::life::{Life, Setup};
use deskbell_engine::api::*;
use deskbell_engine::owner::Lock;
use deskbell_engine::store::SavedSession;
use serde_json::json;
use std::process::Command as Program;

/// A closed conversation of one turn, and the id to resume it by.
async fn conversation() -> (Setup, String) {
    let mut life = Setup::demo().open().await;
    life.turn("SAY one").await;
    let id = life.snapshot().await.session.agent_session_id.unwrap();
    let mut setup = life.close().await;
    setup.memory =
        SavedSession { agent_session_id: Some(id.clone()), resumable: true, ..SavedSession::default() };
    (setup, id)
}

/// Prompts it while another process has it open: the prompt is kept, and no agent is spawned.
async fn is_refused(life: &mut Life) -> CommandError {
    life.prompt("RECALL").await;
    let error = life.failure().await;
    assert_eq!(error.code, ErrorCode::OpenElsewhere);
    let is_failed = |session: &Session| matches!(session.status, Status::Failed { .. });
    let session = life.facts("failed session", is_failed).await;
    assert!(!session.alive && session.pid.is_none());
    assert_eq!(session.queue.iter().map(|prompt| prompt.held).collect::<Vec<_>>(), [true]);
    error
}

/// The other process has closed it.
async fn goes_on(mut life: Life) {
    let prompt_id = life.snapshot().await.session.queue[0].id.clone();
    life.command(Command::Resend { prompt_id }).await.unwrap();
    assert_eq!(life.answer().await, "SAY one");
    assert_eq!(life.turn_end().await.outcome, Outcome::Done);
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn by_another_deskbell() {
    let (setup, id) = conversation().await;
    let lock = Lock::take(&setup.folder.path().join("locks"), &id).unwrap();
    assert!(lock.is_some());
    let mut life = setup.open().await;
    let error = is_refused(&mut life).await;
    assert!(error.message.contains("another running Deskbell"), "{error:?}");
    drop(lock);
    goes_on(life).await;
}

/// The agent's own list of live processes, which includes those in terminals.
#[tokio::test(flavor = "multi_thread")]
async fn by_an_agent_in_a_terminal() {
    let (setup, id) = conversation().await;
    let mut elsewhere = Program::new("sleep").arg("600").spawn().unwrap();
    let sessions = setup.folder.path().join("config/sessions");
    std::fs::create_dir_all(&sessions).unwrap();
    let entry = json!({"pid": elsewhere.id(), "sessionId": id, "cwd": "/elsewhere"});
    std::fs::write(sessions.join(format!("{}.json", elsewhere.id())), entry.to_string()).unwrap();
    let mut life = setup.open().await;
    let error = is_refused(&mut life).await;
    for part in [&format!("process {}", elsewhere.id()), "/elsewhere"] {
        assert!(error.message.contains(part), "{error:?}");
    }
    // It is killed, and its file stays.
    elsewhere.kill().unwrap();
    elsewhere.wait().unwrap();
    goes_on(life).await;
}
