//! The first thing a session does: it takes over the conversation as the agent kept it, once somebody wants to know it. A
//! long one takes a while to read, and a window need not wait for all of it: it gets the end, and a new snapshot when the
//! rest is there.

use super::{Actor, now};
use crate::api::{Level, PromptId, PromptState};
use crate::history;
use crate::session::machine::Note;
use crate::session::{Message, Subscriber};
use crate::transcript::Transcript;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use tokio::sync::mpsc;

impl Actor {
    /// Takes over the conversation. Gives what was asked for meanwhile, and has to wait for all of it.
    pub(super) async fn take_over(&mut self, inbox: &mut mpsc::Receiver<Message>) -> VecDeque<Message> {
        let mut waiting = VecDeque::new();
        if let Some(path) = self.kept_at() {
            let Some(wish) = self.first_wish(inbox).await else { return waiting };
            let project = self.open.record.project.clone();
            let mut whole = tokio::task::spawn_blocking({
                let path = path.clone();
                move || history::read(&path, &project)
            });
            if let Some(message) = wish {
                waiting.extend(self.meanwhile(message, &path).await);
            }
            let mut is_open = true;
            let read = loop {
                tokio::select! {
                    read = &mut whole => break read,
                    message = inbox.recv(), if is_open => match message {
                        Some(message) => waiting.extend(self.meanwhile(message, &path).await),
                        // What was asked before the last handle went is still done.
                        None => is_open = false,
                    },
                }
            };
            self.transcript = match read {
                Ok(read) => read.unwrap_or_else(|error| self.unreadable(&error)),
                Err(panic) => std::panic::resume_unwind(panic.into_panic()),
            };
        }
        self.hold_prompts();
        // Nobody listens to these yet, or starts over; whoever does gets them in the snapshot.
        self.transcript.take_events();
        if std::mem::take(&mut self.is_partial) {
            self.listeners.start_over(now(), self.transcript.n_rows());
        }
        if self.listeners.is_empty() {
            self.machine.take_changed();
        } else {
            self.flush().await;
        }
        waiting
    }

    /// Waits until somebody wants more than the facts of the session, if that can wait: prompts of an earlier process are
    /// looked for at once. `None`: nobody is left to want anything.
    async fn first_wish(&mut self, inbox: &mut mpsc::Receiver<Message>) -> Option<Option<Message>> {
        while self.machine.prompts().next().is_none() {
            match inbox.recv().await? {
                message @ Message::Subscribe { subscriber: Subscriber::Facts(_), .. } => {
                    self.message(message).await;
                }
                message => return Some(Some(message)),
            }
        }
        Some(None)
    }

    /// Where the agent kept it, if there is one.
    fn kept_at(&self) -> Option<PathBuf> {
        let record = &self.open.record;
        let id = record.memory.agent_session_id.as_ref()?;
        Some(history::transcript_path(&self.open.agent_config, &record.project, id))
    }

    fn unreadable(&self, error: &io::Error) -> Transcript {
        let mut transcript = Transcript::new(&self.open.record.project);
        let text = "The conversation so far could not be read".to_owned();
        transcript.note(now(), Note::Notice { level: Level::Warning, text, detail: Some(error.to_string()) });
        transcript
    }

    /// Deals with what is asked for while the conversation is read: a window is shown its end. Gives back what has to wait.
    async fn meanwhile(&mut self, message: Message, path: &std::path::Path) -> Option<Message> {
        match message {
            Message::Subscribe { subscriber: Subscriber::Merged(_), .. } => {
                if !self.is_partial {
                    let (path, project) = (path.to_owned(), self.open.record.project.clone());
                    let read = tokio::task::spawn_blocking(move || history::read_end(&path, &project)).await;
                    // What cannot be read, the reading of the whole tells.
                    let Ok(Ok(Some(end))) = read else { return Some(message) };
                    self.transcript = end;
                    self.transcript.take_events();
                    self.is_partial = true;
                }
                self.message(message).await;
                None
            }
            // Facts are not in the conversation.
            Message::Subscribe { subscriber: Subscriber::Facts(_), .. } => {
                self.message(message).await;
                None
            }
            Message::Show { .. } if self.is_partial => {
                self.message(message).await;
                None
            }
            message => Some(message),
        }
    }

    /// Prompts of an earlier process of ours are held: what became of them stands in the agent's own transcript.
    fn hold_prompts(&mut self) {
        for prompt in self.machine.prompts().cloned().collect::<Vec<_>>() {
            // Under which name the agent got it, if it did.
            let known = prompt.wire_ids().filter(|id| self.transcript.knows(id)).last();
            if known.is_some() {
                self.machine.found_cut_off(&prompt.id);
            }
            let id = known.map_or(prompt.id.clone(), PromptId::new);
            self.transcript.note(now(), Note::PromptAccepted(prompt));
            self.transcript.note(now(), Note::PromptState { id, state: PromptState::Held });
        }
    }
}
