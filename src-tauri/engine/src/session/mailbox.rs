//! The way to the task that owns a session or mirrors one.

use super::gone;
use crate::api::{CommandError, SessionId};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot, watch};

/// Messages that may wait for a task.
const BACKLOG: usize = 64;

/// Sends messages of one kind to the task of a session.
pub(super) struct Mailbox<M> {
    id: SessionId,
    messages: mpsc::Sender<M>,
    /// Signals that the session is about to end. A session that is blocked by a slow subscriber reads no messages, so
    /// it watches this channel. Dropping the last sender is a signal, too.
    ending: Arc<watch::Sender<bool>>,
}

// Derived, it would be only for messages that can be cloned.
impl<M> Clone for Mailbox<M> {
    fn clone(&self) -> Self {
        Self { id: self.id.clone(), messages: self.messages.clone(), ending: self.ending.clone() }
    }
}

impl<M> Mailbox<M> {
    /// With the ends for the task: its messages, and the signal that the session is about to end.
    pub fn new(id: SessionId) -> (Self, mpsc::Receiver<M>, watch::Receiver<bool>) {
        let (messages, inbox) = mpsc::channel(BACKLOG);
        let (ending, is_ending) = watch::channel(false);
        (Self { id, messages, ending: Arc::new(ending) }, inbox, is_ending)
    }

    pub fn id(&self) -> &SessionId {
        &self.id
    }

    pub async fn send(&self, message: impl Into<M>) -> Result<(), CommandError> {
        self.messages.send(message.into()).await.map_err(|_| gone())
    }

    /// Sends a message that is answered.
    pub async fn ask<T>(&self, message: impl FnOnce(oneshot::Sender<T>) -> M) -> Result<T, CommandError> {
        let (reply, answer) = oneshot::channel();
        self.send(message(reply)).await?;
        answer.await.map_err(|_| gone())
    }

    /// Signals that the session is about to end.
    pub fn end(&self) {
        self.ending.send_replace(true);
    }
}
