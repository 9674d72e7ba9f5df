//! A bot without a window: sends one prompt, denies every permission request, and prints the conversation.
//!
//! `cargo run -p deskbell-engine --example headless_bot -- AGENT PROJECT PROMPT`

mod support;

use deskbell_engine::api::{Command, CopyOf, CopyQuery, Decision, Delivery, Event, Outcome};
use std::process::ExitCode;
use support::Failed;

#[tokio::main]
async fn main() -> Result<ExitCode, Failed> {
    let mut arguments = std::env::args().skip(1);
    let (Some(agent), Some(project), Some(prompt)) = (arguments.next(), arguments.next(), arguments.next())
    else {
        return Err("usage: headless_bot AGENT PROJECT PROMPT".into());
    };
    let session = support::open(agent.into(), project.into())?;
    let mut events = support::events(&session).await?;
    session
        .command(Command::Prompt { text: prompt, attachments: Vec::new(), delivery: Delivery::default() })
        .await?;

    let mut end = None;
    while let Some(event) = events.recv().await {
        match event {
            Event::PermissionRequested { request, .. } => {
                eprintln!("denied: {} {}", request.question, request.subject);
                let message = "This bot may only read.".to_owned();
                let decision = Decision::Deny { message, interrupt: false };
                session.command(Command::Decide { request_id: request.id, shown: None, decision }).await?;
            }
            Event::TurnEnded { turn } => {
                end = Some(turn);
                break;
            }
            Event::CommandFailed { error } => return Err(error.into()),
            _ => {}
        }
    }
    if let Some(conversation) = session.query(CopyQuery { copy: CopyOf::Conversation }).await? {
        println!("{conversation}");
    }
    // Ends the agent and everything that it started.
    session.close().await?;
    let turn = end.ok_or("the session ended before its turn")?;
    eprintln!("{}, after {} ms", turn.words, turn.duration_ms);
    Ok(if turn.outcome == Outcome::Done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
