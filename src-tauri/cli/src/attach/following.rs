//! A client that follows one session of a server: what the server sends goes to a face, and what is typed becomes commands.

use super::LONGEST_WAIT;
use crate::exit::Exit;
use crate::link::Link;
use anyhow::Context;
use deskbell_engine::api::{Command, SessionId};
use deskbell_server::client::{Client, Effect, MAX_WAITING, Refused};
use std::process::ExitCode;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::time::{Instant, sleep};

/// What a typed line means.
#[derive(Debug, PartialEq)]
pub enum Typed {
    Send(Box<Command>),
    Leave,
    Nothing,
}

/// The side of the user: a person at a terminal, or a script.
pub trait Face {
    /// The next event of the session, as the server's line has it.
    fn event(&mut self, line: &[u8]) -> anyhow::Result<()>;
    /// The whole state of the session, which replaces everything so far.
    fn snapshot(&mut self, line: &[u8]) -> anyhow::Result<()>;
    /// A command was refused; `line` is the server's answer.
    fn refused(&mut self, refused: &Refused, line: &[u8]) -> anyhow::Result<()>;
    fn removed(&mut self) -> anyhow::Result<()>;
    /// A line was typed.
    fn typed(&mut self, text: &str, now: Instant) -> Typed;
    /// Everything that has arrived was passed on.
    fn is_up_to_date(&mut self) -> anyhow::Result<()>;
    /// The user left; the session continues.
    fn left(&self);
}

/// Follows a session until the user leaves it, it is removed or the link breaks.
pub async fn follow(
    mut link: Link,
    run: &str,
    session_id: SessionId,
    face: &mut impl Face,
) -> anyhow::Result<ExitCode> {
    let began_at = Instant::now();
    let now = || u64::try_from(began_at.elapsed().as_millis()).unwrap_or(u64::MAX);
    let mut client = Client::new(now());
    client.follow(session_id.clone());
    client.tick(now());
    let mut effects = client.greeted(now(), run.to_owned(), Vec::new());
    let mut input = BufReader::new(tokio::io::stdin()).lines();
    let (mut is_open, mut line) = (true, Vec::new());
    loop {
        for effect in std::mem::take(&mut effects) {
            match effect {
                Effect::Write(request) => link.send(&request).await?,
                Effect::Event(_) => face.event(&line)?,
                Effect::Snapshot(_) => face.snapshot(&line)?,
                Effect::Answered { result: Err(refused), .. } => face.refused(&refused, &line)?,
                Effect::Gone(_) => {
                    face.removed()?;
                    return Ok(ExitCode::SUCCESS);
                }
                // The link is given up. The caller can start this program again.
                Effect::Connect | Effect::Disconnect => {
                    eprintln!("deskbell: the server does not answer");
                    return Ok(Exit::NoConnection.into());
                }
                Effect::LinkChanged | Effect::Listed(_) | Effect::Told { .. } | Effect::Answered { .. } => {}
            }
        }
        face.is_up_to_date()?;
        if !is_open && client.n_waiting() == 0 {
            face.left();
            return Ok(ExitCode::SUCCESS);
        }
        let due =
            client.deadline().map_or(LONGEST_WAIT, |at| Duration::from_millis(at.saturating_sub(now())));
        tokio::select! {
            next = link.next() => match next? {
                Some(next) => {
                    line.clear();
                    line.extend_from_slice(next);
                    effects = client.line(now(), &line);
                }
                None => {
                    eprintln!("deskbell: the server closed the connection");
                    return Ok(Exit::NoConnection.into());
                }
            },
            typed = input.next_line(), if is_open && client.n_waiting() < MAX_WAITING => {
                let typed = typed.context("reading stdin")?;
                match typed.map_or(Typed::Leave, |text| face.typed(&text, Instant::now())) {
                    Typed::Send(command) => {
                        let id = uuid::Uuid::new_v4().to_string();
                        effects = client.command(id, session_id.clone(), *command)?;
                    }
                    Typed::Leave => is_open = false,
                    Typed::Nothing => {}
                }
            }
            () = sleep(due) => effects = client.tick(now()),
        }
    }
}
