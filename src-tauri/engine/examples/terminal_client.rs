//! A small terminal client: a line is a prompt, `/stop` interrupts, `/quit` ends. A permission request is answered with
//! `y` or `n`.
//!
//! `cargo run -p deskbell-engine --example terminal_client -- AGENT PROJECT`

mod support;

use deskbell_engine::api::{
    Body, Command, CopyOf, CopyQuery, Decision, Delivery, Event, Item, PermissionRequest,
};
use deskbell_engine::session::SessionHandle;
use std::collections::VecDeque;
use std::io::Write;
use support::Failed;
use tokio::io::{AsyncBufReadExt, BufReader};

/// The client's state between two lines.
struct Client {
    session: SessionHandle,
    /// Requests that wait for an answer, the oldest first.
    requests: VecDeque<Box<PermissionRequest>>,
    /// The end of input ends the client after the turn.
    is_leaving: bool,
    n_running: usize,
}

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let mut arguments = std::env::args().skip(1);
    let (Some(agent), Some(project)) = (arguments.next(), arguments.next()) else {
        return Err("usage: terminal_client AGENT PROJECT".into());
    };
    let session = support::open(agent.into(), project.into())?;
    let mut events = support::events(&session).await?;
    let mut client = Client { session, requests: VecDeque::new(), is_leaving: false, n_running: 0 };
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    prompt_sign()?;
    loop {
        tokio::select! {
            line = lines.next_line(), if !client.is_leaving => match line? {
                Some(line) if line == "/quit" => break,
                Some(line) => client.line(line).await?,
                None => client.is_leaving = true,
            },
            event = events.recv() => match event {
                Some(event) => client.event(event).await?,
                None => break,
            },
        }
        if client.is_leaving && client.n_running == 0 && client.requests.is_empty() {
            break;
        }
    }
    client.session.close().await?;
    Ok(())
}

impl Client {
    /// A line of the user: an answer if a request waits, else a command or a prompt.
    async fn line(&mut self, line: String) -> Result<(), Failed> {
        if let Some(request) = self.requests.front()
            && ["y", "n"].contains(&line.as_str())
        {
            let decision = if line == "y" {
                Decision::AllowOnce { updated_input: None }
            } else {
                Decision::Deny { message: String::new(), interrupt: false }
            };
            let shown = Some(request.shown.clone());
            let request_id = request.id.clone();
            return Ok(self.session.command(Command::Decide { request_id, shown, decision }).await?);
        }
        match line.trim() {
            "" => prompt_sign()?,
            "/stop" => self.session.command(Command::Interrupt).await?,
            _ => {
                let prompt =
                    Command::Prompt { text: line, attachments: Vec::new(), delivery: Delivery::default() };
                self.session.command(prompt).await?;
                self.n_running += 1;
            }
        }
        Ok(())
    }

    async fn event(&mut self, event: Event) -> Result<(), Failed> {
        match event {
            Event::ItemAdded { item } | Event::ItemChanged { item } => self.show(item).await?,
            Event::CallChanged { call, .. } => {
                println!("  [{:?}] {} {}", call.state, call.verb, plain(&call.subject));
            }
            Event::PermissionRequested { request, .. } => {
                self.requests.push_back(request);
                self.ask()?;
            }
            Event::PermissionResolved { request_id, .. } => {
                self.requests.retain(|request| request.id != request_id);
                self.ask()?;
            }
            Event::TurnEnded { turn } => {
                self.n_running = self.n_running.saturating_sub(1);
                println!("— {}", turn.words);
                prompt_sign()?;
            }
            Event::AgentExited { report } if !self.is_leaving => println!("— the agent exited: {report:?}"),
            Event::CommandFailed { error } => println!("— {error}"),
            _ => {}
        }
        Ok(())
    }

    /// Prints a complete answer as Markdown, and each tool call with its state. Control characters are replaced: text of
    /// an agent must not steer the terminal.
    async fn show(&self, item: Item) -> Result<(), Failed> {
        match item.body {
            Body::Text { streaming: false, .. } => {
                let text = self
                    .session
                    .query(CopyQuery { copy: CopyOf::Message { item_id: item.id } })
                    .await?
                    .unwrap_or_default();
                println!("{}", plain(&text));
            }
            Body::ToolCall(call) => println!("  [{:?}] {} {}", call.state, call.verb, plain(&call.subject)),
            Body::Notice { text, .. } => println!("— {}", plain(&text)),
            _ => {}
        }
        Ok(())
    }

    /// Shows the oldest request that waits.
    fn ask(&self) -> Result<(), Failed> {
        if let Some(request) = self.requests.front() {
            println!("{}\n{}", request.question, plain(&request.subject));
            for notice in &request.notices {
                println!("  ! {}", plain(&notice.words));
            }
            print!("y/n> ");
            std::io::stdout().flush()?;
        }
        Ok(())
    }
}

fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

fn prompt_sign() -> Result<(), Failed> {
    print!("> ");
    std::io::stdout().flush()?;
    Ok(())
}
