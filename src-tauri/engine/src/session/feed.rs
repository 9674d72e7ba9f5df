//! Events on their way to a window: merged while they wait, bounded however long that is.

use crate::api::{Batch, Envelope, SessionId};
use crate::patch::Pending;
use std::sync::{Mutex, PoisonError};
use tokio::sync::Notify;

/// Events that may wait. Beyond it they are dropped for a gap, which makes the window ask for a snapshot.
const BOUND: usize = 4096;

/// One window's view of one session.
pub struct Feed {
    session_id: SessionId,
    state: Mutex<State>,
    more: Notify,
}

#[derive(Default)]
struct State {
    after: u64,
    seq: u64,
    pending: Pending,
}

impl Feed {
    /// `seq`: the last event that the window's snapshot contains is told when it subscribes.
    pub fn new(session_id: SessionId) -> Self {
        Self { session_id, state: Mutex::default(), more: Notify::new() }
    }

    pub fn session_id(&self) -> &SessionId {
        &self.session_id
    }

    pub(crate) fn begin(&self, seq: u64) {
        *self.lock() = State { after: seq, seq, pending: Pending::default() };
    }

    pub(crate) fn push(&self, envelope: Envelope) {
        let mut state = self.lock();
        state.seq = envelope.seq;
        state.pending.push(envelope.event);
        if state.pending.len() > BOUND {
            state.pending.take();
            state.after = state.seq;
        }
        drop(state);
        self.more.notify_one();
    }

    /// Returns as soon as there is something to take; it may go on merging until it is taken.
    pub async fn ready(&self) {
        while self.lock().pending.is_empty() {
            self.more.notified().await;
        }
    }

    /// The events that waited, as soon as there are any.
    pub async fn next(&self) -> Batch {
        loop {
            if let Some(batch) = self.take() {
                return batch;
            }
            self.more.notified().await;
        }
    }

    fn take(&self) -> Option<Batch> {
        let mut state = self.lock();
        if state.pending.is_empty() {
            return None;
        }
        let (after, seq) = (state.after, state.seq);
        state.after = seq;
        Some(Batch { session_id: self.session_id.clone(), after, seq, events: state.pending.take() })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
