//! Opening a session: reads the conversation from the agent's own transcript once it is needed.
//!
//! A long conversation takes a while to read. A window does not wait for all of it: it receives the end first, and a
//! new snapshot when the rest has been read.

use super::{Actor, now};
use crate::api::{AgentKind, Level};
use crate::disk;
use crate::history::{self, Additions, Colouring, Kept, Own, Subagents, Tail};
use crate::launch::Fork;
use crate::owner;
use crate::session::machine::Input;
use crate::session::{LocalMessage, Message, Subscriber};
use crate::transcript::Transcript;
use crate::transcript::TranscriptEvent;
use crate::transcript::supplement::Supplement;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::mpsc;

/// Time limit for reading a long conversation from disk.
const READ_DEADLINE: Duration = Duration::from_secs(20);

/// The location of a conversation in the agent's own files. The path is computed on demand, because that resolves
/// the project's path on disk.
#[derive(Clone)]
struct KeptAt {
    config: PathBuf,
    project: PathBuf,
    id: String,
    /// The last message to show: of the original, if the conversation is a fork that has not begun; or the one that a
    /// rewind leads to.
    leaf: Option<String>,
    additions: Additions,
    /// Prompts of an earlier process wait, and the transcript shows what became of them once its agent has ended.
    awaits_end: bool,
}

impl KeptAt {
    fn path(&self) -> PathBuf {
        history::transcript_path(&self.config, &self.project, &self.id)
    }
}

/// Only reading has a deadline. Folding the lines of a long conversation has none.
async fn read_whole(kept: KeptAt, colouring: Colouring) -> io::Result<(Transcript, Tail)> {
    let project = kept.project.clone();
    let at = kept.clone();
    let load = move || {
        let limit = if at.awaits_end { owner::LEFT_AGENT_ENDS_WITHIN } else { Duration::ZERO };
        let is_live = at.leaf.is_none() && owner::lasting_owner(&at.config, &at.id, limit).is_some();
        Kept::load(&at.path()).map(|lines| (lines, is_live))
    };
    let (lines, is_live) = disk::run(&project, READ_DEADLINE, load).await??;
    let path_of = kept.clone();
    let load = move || Subagents::load(&path_of.path());
    // Without its subagents the conversation is shown all the same, and says so.
    let subagents = disk::run(&project, disk::DEADLINE, load).await;
    let subagents = subagents.unwrap_or_else(|unfinished| Subagents::failed(unfinished.to_string()));
    let lines = lines.until(kept.leaf).with_subagents(subagents);
    let fold = move || lines.followed(&project, &kept.additions, is_live, colouring);
    match tokio::task::spawn_blocking(fold).await {
        Ok(read) => Ok(read),
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}

impl Actor {
    /// Reads the conversation. Returns the messages that arrived meanwhile and need the whole transcript.
    pub(super) async fn take_over(
        &mut self,
        inbox: &mut mpsc::Receiver<LocalMessage>,
    ) -> VecDeque<LocalMessage> {
        let mut waiting = VecDeque::new();
        if self.open.record.agent == AgentKind::Acp {
            let Some(wish) = self.first_wish(inbox).await else { return waiting };
            let colouring = self.colouring_for(wish.as_ref());
            waiting.extend(wish);
            let (transcript, lacks_past) = self.read_own(colouring).await;
            self.core.restore(transcript);
            if lacks_past {
                self.step(Input::LacksPast).await;
            }
        } else if let Some(mut kept) = self.kept_at() {
            let Some(wish) = self.first_wish(inbox).await else { return waiting };
            kept.additions.supplements = self.supplements().await;
            kept.awaits_end = self.core.has_prompts();
            let colouring = self.colouring_for(wish.as_ref());
            let mut whole = tokio::spawn(read_whole(kept.clone(), colouring));
            if let Some(message) = wish {
                waiting.extend(self.meanwhile(message, &kept).await);
            }
            let mut is_open = true;
            let read = loop {
                tokio::select! {
                    read = &mut whole => break read,
                    message = inbox.recv(), if is_open => match message {
                        Some(message) => waiting.extend(self.meanwhile(message, &kept).await),
                        // Messages sent before the last handle was dropped are still handled.
                        None => is_open = false,
                    },
                }
            };
            let read = match read {
                Ok(read) => read,
                Err(panic) => std::panic::resume_unwind(panic.into_panic()),
            };
            self.core.restore(match read {
                Ok((transcript, tail)) => {
                    self.tail = Some(tail);
                    transcript
                }
                Err(error) => self.unreadable(&error.to_string()),
            });
        }
        // No subscriber needs these changes: it has none yet, or is about to start over.
        self.core.take_over(now());
        if std::mem::take(&mut self.is_partial) {
            self.subscribers.start_over(now(), self.core.transcript());
        }
        if self.subscribers.is_empty() {
            self.core.take_changed();
        } else {
            self.flush().await;
        }
        waiting
    }

    /// Waits for the first message that needs more than the session's summary. Returns `Some(None)` at once if the
    /// session has prompts of an earlier process, because the transcript shows what became of them. Returns `None` when
    /// the last handle was dropped.
    async fn first_wish(&mut self, inbox: &mut mpsc::Receiver<LocalMessage>) -> Option<Option<LocalMessage>> {
        while !self.core.has_prompts() {
            match inbox.recv().await? {
                message @ LocalMessage::Any(Message::Subscribe {
                    subscriber: Subscriber::Summary(_), ..
                }) => {
                    self.message(message).await;
                }
                // It is read when it is needed.
                LocalMessage::Refresh { .. } => {}
                message => return Some(Some(message)),
            }
        }
        Some(None)
    }

    /// The colours that the conversation needs for the message that it is read for.
    fn colouring_for(&self, wish: Option<&LocalMessage>) -> Colouring {
        match wish {
            Some(LocalMessage::Any(Message::Subscribe { subscriber: Subscriber::Every(_), .. })) => {
                Colouring::All
            }
            _ => self.subscribers.colouring(),
        }
    }

    /// Reads the conversation that Deskbell keeps itself, because the agent has it in a form of its own. No process is
    /// started for it. Returns also whether the earlier messages are only the agent's: the session was opened from its
    /// list, or the file was removed.
    async fn read_own(&self, colouring: Colouring) -> (Transcript, bool) {
        let record = &self.open.record;
        let Some(store) = self.open.store.clone() else {
            return (Transcript::new(&record.project), record.memory.resumable);
        };
        let supplements = self.supplements().await;
        let (id, project) = (record.id.clone(), record.project.clone());
        let read = disk::run(&self.place, READ_DEADLINE, move || store.conversation(&id)).await;
        let bytes = match read {
            Ok(Ok(bytes)) => bytes,
            Ok(Err(error)) => return (self.unreadable(&error.to_string()), false),
            Err(unfinished) => return (self.unreadable(&unfinished.to_string()), false),
        };
        let may_lack = record.memory.lacks_past || (bytes.is_none() && record.memory.resumable);
        let fold = move || {
            let own = Own::parse(&bytes.unwrap_or_default());
            // What the agent repeated is written before the first prompt. The record may be older than that.
            let lacks_past = may_lack && !own.has_prompt();
            (own.transcript(&project, supplements, colouring), lacks_past)
        };
        match tokio::task::spawn_blocking(fold).await {
            Ok(read) => read,
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        }
    }

    /// Reads the conversation as the record says where it ends.
    pub(super) async fn read_again(&mut self) -> Transcript {
        self.tail = None;
        if self.open.record.agent == AgentKind::Acp {
            return self.read_own(self.subscribers.colouring()).await.0;
        }
        let Some(mut kept) = self.kept_at() else { return Transcript::new(&self.open.record.project) };
        kept.additions.supplements = self.supplements().await;
        match read_whole(kept, self.subscribers.colouring()).await {
            Ok((transcript, tail)) => {
                self.tail = Some(tail);
                transcript
            }
            Err(error) => self.unreadable(&error.to_string()),
        }
    }

    /// Adds what another process wrote since the transcript was read. `is_live`: that process is still running. Returns
    /// whether the transcript was replaced.
    pub(super) async fn refresh(&mut self, is_live: bool) -> bool {
        let Some(mut kept) = self.kept_at().filter(|kept| kept.leaf.is_none()) else { return false };
        if self.process.is_some() || (self.tail.is_none() && !is_live) {
            return false;
        }
        let grown = self.grow(&kept).await;
        if let Ok(true) = grown {
            if !is_live {
                self.core.extend(|transcript| transcript.apply(now(), TranscriptEvent::ProcessEnded));
            }
            return false;
        }
        let read = match grown {
            // The conversation continues on another branch, or a process of ours worked on it.
            Ok(_) => {
                kept.additions.supplements = self.supplements().await;
                read_whole(kept, self.subscribers.colouring()).await
            }
            Err(error) => Err(error),
        };
        match read {
            Ok((transcript, tail)) => {
                self.core.restore(transcript);
                self.tail = Some(tail);
                self.subscribers.start_over(now(), self.core.transcript());
                true
            }
            // The next change of the file tries again.
            Err(error) => {
                tracing::warn!(%error, "could not follow a conversation");
                false
            }
        }
    }

    /// Folds the lines that were added to the agent's file. `false`: the whole file has to be read.
    async fn grow(&mut self, kept: &KeptAt) -> io::Result<bool> {
        loop {
            let Some(position) = self.tail.as_ref().map(Tail::position) else { return Ok(false) };
            let at = kept.clone();
            let read = disk::run(&self.place, disk::DEADLINE, move || position.read(&at.path())).await??;
            let (Some(growth), Some(mut tail)) = (read, self.tail.take()) else { return Ok(false) };
            if !self.core.extend(|transcript| tail.fold(&growth, transcript)) {
                return Ok(false);
            }
            let is_behind = tail.is_behind();
            self.tail = Some(tail);
            if !is_behind {
                return Ok(true);
            }
        }
    }

    /// The location of the agent's transcript, if the session has a conversation. A fork has that of its original until
    /// the agent has made the copy.
    fn kept_at(&self) -> Option<KeptAt> {
        let record = &self.open.record;
        if record.agent == AgentKind::Acp {
            // Such an agent keeps its conversations in a form of its own: see `read_own`.
            return None;
        }
        let (id, leaf) = match record.memory.fork.clone().filter(|_| !record.memory.resumable) {
            Some(Fork { of, until }) => (of, until),
            None => (record.memory.agent_session_id.clone()?, record.memory.resume_at.clone()),
        };
        let changed_inputs = record.memory.changed_inputs.clone();
        let additions = Additions { changed_inputs, ..Additions::default() };
        let (config, project) = (self.open.agent_config.clone(), record.project.clone());
        Some(KeptAt { config, project, id, leaf, additions, awaits_end: false })
    }

    /// Reads what the agent's own transcript does not contain. If that fails, the conversation is shown as the agent
    /// saved it.
    async fn supplements(&self) -> Vec<Supplement> {
        let Some(store) = self.open.store.clone() else { return Vec::new() };
        let id = self.open.record.id.clone();
        let read = disk::run(&self.place, disk::DEADLINE, move || store.supplements(&id)).await;
        let problem = match read {
            Ok(Ok(supplements)) => return supplements,
            Ok(Err(error)) => error.to_string(),
            Err(unfinished) => unfinished.to_string(),
        };
        tracing::warn!(problem, "could not read the saved ends of turns");
        Vec::new()
    }

    fn unreadable(&self, error: &str) -> Transcript {
        let mut transcript = Transcript::new(&self.open.record.project);
        let text = "The conversation so far could not be read".to_owned();
        transcript.apply(
            now(),
            TranscriptEvent::Notice { level: Level::Warning, text, detail: Some(error.to_owned()) },
        );
        transcript
    }

    /// Handles messages while the conversation is being read: a window receives its end. Returns a message that has to
    /// wait.
    async fn meanwhile(&mut self, message: LocalMessage, kept: &KeptAt) -> Option<LocalMessage> {
        match message {
            LocalMessage::Any(Message::Subscribe { subscriber: Subscriber::Merged(_), .. }) => {
                if !self.is_partial {
                    if kept.leaf.is_some() {
                        return Some(message);
                    }
                    let at = kept.clone();
                    let read = move || history::read_end(&at.path(), &at.project, &at.additions);
                    let read = disk::run(&kept.project, disk::DEADLINE, read).await;
                    // If this fails, reading the whole transcript reports the error.
                    let Ok(Ok(Some(end))) = read else { return Some(message) };
                    self.core.restore(end);
                    self.is_partial = true;
                }
                self.message(message).await;
                None
            }
            // The summary needs no transcript.
            LocalMessage::Any(Message::Subscribe { subscriber: Subscriber::Summary(_), .. }) => {
                self.message(message).await;
                None
            }
            LocalMessage::Any(Message::Show { .. }) if self.is_partial => {
                self.message(message).await;
                None
            }
            message => Some(message),
        }
    }
}
