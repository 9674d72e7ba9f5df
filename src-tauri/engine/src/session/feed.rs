//! The feed of events to one window: only the rows of its viewport, merged while they wait, in bounded memory.

use crate::api::{Batch, Event, Item, ItemId, RowRange, SessionId, Viewport};
use crate::patch::{Pending, item_of};
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use tokio::sync::Notify;

/// Events that may wait. Above this limit the feed drops them and reports a gap, and the window requests a snapshot.
const BOUND: usize = 4096;
/// Rows that a window may have.
const MOST_ROWS: u32 = 400;

/// The number of rows of a window.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowCount {
    pub all: u32,
    /// Rows that continue a long text.
    pub continued: u32,
}

/// One window's view of one session.
pub struct Feed {
    session_id: SessionId,
    unfolded: HashSet<ItemId>,
    state: Mutex<State>,
    more: Notify,
}

#[derive(Default)]
struct State {
    after: u64,
    seq: u64,
    show: Option<Viewport>,
    rows: RowRange,
    /// The next batch has changes in addition to events: other rows, or a gap.
    is_change: bool,
    pending: Pending,
}

impl State {
    /// The rows in the viewport, in a transcript of `total` rows.
    fn rows_of(&self, RowCount { all: total, continued: n_continued }: RowCount) -> RowRange {
        let Viewport { first, count, request_id } =
            self.show.unwrap_or(Viewport { first: None, count: MOST_ROWS, request_id: 0 });
        let count = count.clamp(1, MOST_ROWS);
        let first =
            first.unwrap_or(u32::MAX).min(total.saturating_sub(if first.is_some() { 1 } else { count }));
        RowRange { first, end: first.saturating_add(count).min(total), total, n_continued, request_id }
    }

    fn pass(&mut self, seq: u64, n_rows: RowCount) {
        self.seq = seq;
        if n_rows.all != self.rows.total {
            self.rows = self.rows_of(n_rows);
            self.is_change = true;
        }
    }

    /// Drops all pending events: the window has to start over from a snapshot.
    fn gap(&mut self) {
        self.pending = Pending::default();
        self.after = self.seq;
        self.is_change = true;
    }
}

impl Feed {
    /// Creates a feed. It has no rows until it subscribes; `begin` sets them with the last event that the snapshot
    /// contains. `unfolded`: the items that the user unfolded. A long thought among them has a row for each slice, and a
    /// call one for each item of its subagent.
    pub fn new(session_id: SessionId, show: Viewport, unfolded: Vec<ItemId>) -> Self {
        Self {
            session_id,
            unfolded: unfolded.into_iter().collect(),
            state: Mutex::new(State { show: Some(show), ..State::default() }),
            more: Notify::new(),
        }
    }

    pub fn session_id(&self) -> &SessionId {
        &self.session_id
    }

    pub(super) fn unfolded(&self) -> &HashSet<ItemId> {
        &self.unfolded
    }

    /// Begins after event `seq`, in a transcript of `n_rows` rows. Returns the rows that the snapshot must contain.
    pub(crate) fn begin(&self, seq: u64, n_rows: RowCount) -> RowRange {
        let mut state = self.lock();
        state.rows = state.rows_of(n_rows);
        (state.after, state.seq) = (seq, seq);
        state.rows
    }

    /// Moves the viewport. `items` returns the items of a range of rows.
    pub(crate) fn show<I: Iterator<Item = Item>>(&self, show: Viewport, items: impl Fn(u32, u32) -> I) {
        let mut state = self.lock();
        let before = state.rows;
        state.show = Some(show);
        state.rows = state.rows_of(RowCount { all: before.total, continued: before.n_continued });
        let RowRange { first, end, .. } = state.rows;
        // The window has the rows in the overlap. It receives the others, above and below.
        let (above, below) = if before.first < end && first < before.end {
            ((first, before.first.max(first)), (before.end.min(end), end))
        } else {
            ((first, end), (end, end))
        };
        for item in items(above.0, above.1).chain(items(below.0, below.1)) {
            let row = item.row;
            state.pending.push(Event::ItemAdded { item }, Some(row));
        }
        state.is_change = true;
        drop(state);
        self.more.notify_one();
    }

    /// Reports a gap, because the window's rows are no longer valid. It then requests a snapshot.
    pub(crate) fn start_over(&self, seq: u64, n_rows: RowCount) {
        let mut state = self.lock();
        state.pass(seq, n_rows);
        state.gap();
        drop(state);
        self.more.notify_one();
    }

    /// Records event `seq`, after which the transcript has `n_rows` rows, whether or not the event is for this window.
    pub(crate) fn pass(&self, seq: u64, n_rows: RowCount) {
        self.lock().pass(seq, n_rows);
    }

    /// Adds an event, or a part of it, for this window. `row`: the row of its item.
    pub(crate) fn push(&self, event: Event, row: Option<u32>) {
        #[cfg(test)]
        crate::stages::passed(module_path!(), &event);
        let mut state = self.lock();
        let RowRange { first, end, .. } = state.rows;
        if item_of(&event).is_none() || matches!(event, Event::ItemRemoved { .. }) {
            state.pending.push(event, None);
        } else if row.is_some_and(|row| (first..end).contains(&row)) {
            state.pending.push(event, row);
        }
        if state.pending.len() > BOUND {
            // The viewport has moved down: most pending events are outside it.
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

    /// Waits until a batch is ready. Events keep merging until it is taken.
    pub async fn ready(&self) {
        while !self.lock().is_waiting() {
            self.more.notified().await;
        }
    }

    /// Waits for events and returns them as a batch.
    #[cfg(test)]
    pub async fn next(&self) -> Batch {
        self.ready().await;
        self.take().expect("it is ready, and this is its only reader")
    }

    /// Returns what waits as a batch, if anything does, for a window that has everything up to event `after`. A window
    /// that missed a batch gets one in any case: it begins later, and the window requests a snapshot.
    pub fn take_after(&self, after: u64) -> Option<Batch> {
        let mut state = self.lock();
        if !state.is_waiting() && after >= state.after {
            return None;
        }
        state.is_change = false;
        let (after, seq, rows) = (state.after, state.seq, state.rows);
        state.after = seq;
        let events = state.pending.take_from(rows.first);
        Some(Batch { session_id: self.session_id.clone(), after, seq, rows, events })
    }

    /// The same for a window that missed nothing.
    #[cfg(test)]
    pub(super) fn take(&self) -> Option<Batch> {
        self.take_after(u64::MAX)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_waiting(&self) -> bool {
        self.is_change || !self.pending.is_empty()
    }
}

#[cfg(test)]
mod tests;
