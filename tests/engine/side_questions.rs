//! Side questions to a real process.

use crate::life::Setup;
use deskbell_engine::api::*;

fn ask(id: &str, question: &str) -> Command {
    let (id, question) = (id.to_owned(), question.to_owned());
    Command::AskSide { id, question, purpose: SidePurpose::Reading }
}

fn outcome<'a>(session: &'a Session, id: &str) -> Option<&'a SideOutcome> {
    session.side_questions.iter().find(|one| one.id == id).map(|one| &one.outcome)
}

fn is_over(session: &Session, id: &str) -> bool {
    outcome(session, id).is_some_and(|outcome| !matches!(outcome, SideOutcome::Waiting { .. }))
}

/// The first one starts the process. No prompt was sent, and none is in the conversation afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn side_questions_are_answered_refused_and_cancelled_beside_the_conversation() {
    let mut life = Setup::faulty("").open().await;
    life.command(ask("1", "SAY It is *42*.")).await.unwrap();
    let session = life.facts("an answer", |session| is_over(session, "1")).await;
    let Some(SideOutcome::Answered { text, blocks, is_cut: false }) = outcome(&session, "1") else {
        panic!("{session:?}")
    };
    assert_eq!((text.as_str(), blocks.len()), ("It is *42*.", 1));
    life.command(ask("2", "FAIL")).await.unwrap();
    let session = life.facts("a failure", |session| is_over(session, "2")).await;
    let message = "API error: 529 The demo agent was told to fail".to_owned();
    assert_eq!(outcome(&session, "2"), Some(&SideOutcome::Failed { message }));
    life.command(ask("3", "HANG")).await.unwrap();
    life.turn("SAY hello").await;
    let session = life.snapshot().await.session;
    assert!(!is_over(&session, "3"), "it survives the end of a turn");
    life.command(Command::CancelSide { id: "3".to_owned() }).await.unwrap();
    let session = life.facts("the end", |session| is_over(session, "3")).await;
    assert_eq!(outcome(&session, "3"), Some(&SideOutcome::Cancelled));
    let snapshot = life.snapshot().await;
    let prompts = snapshot.items.iter().filter(|item| matches!(item.body, Body::Prompt { .. })).count();
    assert_eq!((prompts, snapshot.session.queue.len()), (1, 0));
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_does_not_know_side_questions_says_so_once() {
    let mut life = Setup::faulty("no-side-questions").open().await;
    life.command(ask("1", "why?")).await.unwrap();
    let session = life.facts("the refusal", |session| is_over(session, "1")).await;
    assert!(!session.capabilities.side_questions);
    assert_eq!(life.command(ask("2", "why?")).await.unwrap_err().code, ErrorCode::BadCommand);
    life.close().await;
}
