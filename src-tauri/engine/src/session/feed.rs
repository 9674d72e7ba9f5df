//! Events on their way to a window: only those of the rows it holds, merged while they wait, bounded however long
//! that is.

use crate::api::{Batch, Event, Item, Rows, SessionId, Show};
use crate::patch::{Pending, item_of};
use std::sync::{Mutex, PoisonError};
use tokio::sync::Notify;

/// Events that may wait. Beyond it they are dropped for a gap, which makes the window ask for a snapshot.
const BOUND: usize = 4096;
/// Rows that a window may hold.
const MOST_ROWS: u32 = 400;

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
    show: Option<Show>,
    rows: Rows,
    /// There is something to say besides events: other rows, or a gap.
    is_news: bool,
    pending: Pending,
}

impl State {
    /// The rows that belong to what is shown, of `total`.
    fn rows_of(&self, total: u32) -> Rows {
        let Show { first, count, ask } = self.show.unwrap_or(Show { first: None, count: MOST_ROWS, ask: 0 });
        let count = count.clamp(1, MOST_ROWS);
        let first =
            first.unwrap_or(u32::MAX).min(total.saturating_sub(if first.is_some() { 1 } else { count }));
        Rows { first, end: first.saturating_add(count).min(total), total, ask }
    }

    fn pass(&mut self, seq: u64, n_rows: u32) {
        self.seq = seq;
        if n_rows != self.rows.total {
            self.rows = self.rows_of(n_rows);
            self.is_news = true;
        }
    }

    /// Forgets what waits: the window has to start over from a snapshot.
    fn gap(&mut self) {
        self.pending = Pending::default();
        self.after = self.seq;
        self.is_news = true;
    }
}

impl Feed {
    /// What it shows is told when it subscribes, with the last event that the snapshot contains.
    pub fn new(session_id: SessionId, show: Show) -> Self {
        Self {
            session_id,
            state: Mutex::new(State { show: Some(show), ..State::default() }),
            more: Notify::new(),
        }
    }

    pub fn session_id(&self) -> &SessionId {
        &self.session_id
    }

    /// Begins after event `seq`, with a transcript of so many rows. Says which of them the snapshot has to have.
    pub(crate) fn begin(&self, seq: u64, n_rows: u32) -> Rows {
        let mut state = self.lock();
        state.rows = state.rows_of(n_rows);
        (state.after, state.seq) = (seq, seq);
        state.rows
    }

    /// Shows another part of the transcript. `items` gives those of the rows from one up to another.
    pub(crate) fn show<I: Iterator<Item = Item>>(&self, show: Show, items: impl Fn(u32, u32) -> I) {
        let mut state = self.lock();
        let before = state.rows;
        state.show = Some(show);
        state.rows = state.rows_of(before.total);
        let Rows { first, end, .. } = state.rows;
        // What is in both parts is known; the rest comes new, above it and below it.
        let (above, below) = if before.first < end && first < before.end {
            ((first, before.first.max(first)), (before.end.min(end), end))
        } else {
            ((first, end), (end, end))
        };
        for item in items(above.0, above.1).chain(items(below.0, below.1)) {
            let row = item.row;
            state.pending.push(Event::ItemAdded { item }, Some(row));
        }
        state.is_news = true;
        drop(state);
        self.more.notify_one();
    }

    /// What the window holds is no longer what there is: a gap, after which it asks for a snapshot.
    pub(crate) fn start_over(&self, seq: u64, n_rows: u32) {
        let mut state = self.lock();
        state.pass(seq, n_rows);
        state.gap();
        drop(state);
        self.more.notify_one();
    }

    /// Brings items that were asked for, unless their rows are no longer shown.
    pub(crate) fn bring(&self, items: impl Iterator<Item = Item>) {
        let mut state = self.lock();
        let Rows { first, end, .. } = state.rows;
        for item in items.filter(|item| (first..end).contains(&item.row)) {
            let row = item.row;
            state.pending.push(Event::ItemAdded { item }, Some(row));
        }
        state.is_news = true;
        drop(state);
        self.more.notify_one();
    }

    /// Event `seq` has happened, after which there are `n_rows`, whether anything of it is for this window or not.
    pub(crate) fn pass(&self, seq: u64, n_rows: u32) {
        self.lock().pass(seq, n_rows);
    }

    /// What has passed, or a part of it, for this window. `row`: where its item stands.
    pub(crate) fn push(&self, event: Event, row: Option<u32>) {
        let mut state = self.lock();
        let Rows { first, end, .. } = state.rows;
        if item_of(&event).is_none() || matches!(event, Event::ItemRemoved { .. }) {
            state.pending.push(event, None);
        } else if row.is_some_and(|row| (first..end).contains(&row)) {
            state.pending.push(event, row);
        }
        if state.pending.len() > BOUND {
            // The end has moved on: most of what waits is no longer shown.
            state.pending.drop_above(first);
            if state.pending.len() > BOUND / 2 {
                state.gap();
            }
        }
        let is_waiting = state.is_waiting();
        drop(state);
        if is_waiting {
            self.more.notify_one();
        }
    }

    /// Returns as soon as there is something to take; it may go on merging until it is taken.
    pub async fn ready(&self) {
        while !self.lock().is_waiting() {
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
        if !state.is_waiting() {
            return None;
        }
        state.is_news = false;
        let (after, seq, rows) = (state.after, state.seq, state.rows);
        state.after = seq;
        let events = state.pending.take_from(rows.first);
        Some(Batch { session_id: self.session_id.clone(), after, seq, rows, events })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_waiting(&self) -> bool {
        self.is_news || !self.pending.is_empty()
    }
}

#[cfg(test)]
mod tests;
