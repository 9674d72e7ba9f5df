//! What is asked of a session through its handle, and the answers.

use super::Actor;
use crate::api::*;
use crate::attachment;
use crate::session::machine::{Input, Prompt};
use crate::session::{Message, Subscriber, gone};
use tokio::sync::oneshot;

impl Actor {
    /// Does what is asked, and answers whoever still waits for it.
    pub(super) async fn message(&mut self, message: Message) {
        match message {
            Message::Command { command, reply } => self.command(command, reply).await,
            Message::Complain(problem) => {
                let error = CommandError {
                    code: ErrorCode::BadCommand,
                    message: "The command could not be read.".to_owned(),
                    detail: Some(problem),
                };
                self.emit(Event::CommandFailed { error }).await;
            }
            Message::Start if self.close.is_empty() => self.step(Input::Start).await,
            Message::Start => {}
            Message::StartWithoutAsking(reply) => {
                let outcome = if self.close.is_empty() {
                    self.answered(Input::StartWithoutAsking).await
                } else {
                    Err(gone())
                };
                // A caller that no longer waits for the answer does not need it.
                drop(reply.send(outcome));
            }
            Message::Subscribe { subscriber, reply } => self.subscribe(subscriber, reply).await,
            Message::Show { feed, show, reply } => {
                self.flush_items().await;
                feed.show(show, |first, end| {
                    self.transcript.items_of(first, end).map(|item| self.listeners.drawn(item))
                });
                // Whoever asked may be gone; its window is still told.
                let _ = reply.send(());
            }
            Message::Earlier { feed, item_id, before, until, reply } => {
                self.flush_items().await;
                let items = self.transcript.earlier(&item_id, before, until.as_ref());
                feed.bring(items.map(|item| self.listeners.drawn(item)));
                // Whoever asked may be gone; its window is still told.
                let _ = reply.send(());
            }
            // Whoever asked and is gone needs no answer.
            Message::Slice { first, reply } => drop(reply.send(self.transcript.slice(first))),
            Message::Output { item_id, reply } => drop(reply.send(self.transcript.output(&item_id).cloned())),
            Message::Item { item_id, reply } => drop(reply.send(self.transcript.shared(&item_id).cloned())),
            Message::Copy { copy, reply } => {
                drop(reply.send(self.transcript.text_of(&self.session().title, &copy)));
            }
            Message::Snapshot(reply) => {
                self.flush().await;
                // A caller that is gone needs no snapshot.
                let total = self.transcript.n_rows();
                let rows = Rows { end: total, total, ..Rows::default() };
                drop(reply.send(self.snapshot(rows, self.transcript.items().cloned().collect())));
            }
            Message::Finish(reply) => self.finish.push(reply),
            Message::Close(reply) => {
                // A session that rests has nothing to end, and is not changed by being closed.
                if self.machine.is_alive() || !self.machine.is_idle() {
                    self.step(Input::Command(Command::Stop)).await;
                }
                self.close.push(reply);
            }
        }
    }

    async fn command(&mut self, command: Command, reply: Option<oneshot::Sender<Result<(), CommandError>>>) {
        let is_closing = !self.close.is_empty();
        let input = match command {
            Command::Prompt { text, images, delivery } => {
                attachment::check_all(&images).map(|images| {
                    let id = PromptId::new(uuid::Uuid::new_v4().to_string());
                    let mut prompt = Prompt::new(id, text, images, delivery);
                    if is_closing {
                        // Kept, and offered at the next start: now it would start the process that is being ended.
                        prompt.hold();
                    }
                    Input::Prompt(prompt)
                })
            }
            _ if is_closing => Err(gone()),
            command => Ok(Input::Command(command)),
        };
        let outcome = match input {
            Ok(input) => self.answered(input).await,
            Err(error) => Err(error),
        };
        match reply {
            // A caller that no longer waits for the answer does not need it.
            Some(reply) => drop(reply.send(outcome)),
            None => {
                if let Err(error) = outcome {
                    self.emit(Event::CommandFailed { error }).await;
                }
            }
        }
    }

    /// Gives a new listener all there is; what comes behind that, it is told.
    async fn subscribe(&mut self, subscriber: Subscriber, reply: oneshot::Sender<Snapshot>) {
        // What waits goes to those who listened before.
        self.flush().await;
        let (rows, items) = self.listeners.begin(&subscriber, &self.transcript);
        let snapshot = self.snapshot(rows, items);
        if reply.send(snapshot).is_ok() {
            self.listeners.add(subscriber);
        }
    }

    /// Takes a step, and says whether what was asked for was refused.
    async fn answered(&mut self, input: Input) -> Result<(), CommandError> {
        self.refused = None;
        self.step(input).await;
        self.refused.take().map_or(Ok(()), Err)
    }

    /// The session as it stands, with these items of these rows.
    fn snapshot(&self, rows: Rows, items: Vec<Item>) -> Snapshot {
        let transcript = &self.transcript;
        let (files, tasks) = (transcript.files().to_vec(), transcript.tasks().to_vec());
        let prompts = transcript.prompts();
        Snapshot {
            seq: self.listeners.seq(),
            told_at: self.listeners.told_at(),
            session: self.session(),
            rows,
            is_partial: self.is_partial,
            items,
            files,
            tasks,
            prompts,
        }
    }

    pub(super) fn session(&self) -> Session {
        let record = &self.open.record;
        let mut session = Session {
            id: record.id.clone(),
            title: "New session".to_owned(),
            project: record.project.display().to_string(),
            agent: record.agent,
            agent_session_id: None,
            status: Status::Idle,
            alive: false,
            pid: self.pid,
            agent_version: None,
            model: None,
            mode: "default".to_owned(),
            effort: None,
            thinking: true,
            rules: None,
            channel_fault: None,
            models: Vec::new(),
            commands: Vec::new(),
            queue: Vec::new(),
            takes_into_turn: false,
            requests: Vec::new(),
            usage: Usage::default(),
            created_at: record.created_at,
            changed_at: record.changed_at,
            turn_started_at: None,
            restricted: self.restricted,
        };
        self.machine.describe(&mut session, &self.transcript.activity());
        session
    }
}
