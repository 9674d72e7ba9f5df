//! The subscribers of a session, and the events each of them receives.

use super::window_view::WindowView;
use super::{Feed, Subscriber};
use crate::api::{ChangedFile, Envelope, Event, Item, RowRange, SessionId};
use crate::transcript::colours::Colouring;
use crate::transcript::{Transcript, TranscriptChange};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// The longest time that a slow subscriber may block a session that is about to end.
const SLOW_SUBSCRIBER_GRACE: Duration = Duration::from_secs(1);

/// All subscribers and the number and time of the last event.
pub struct Subscribers {
    session_id: SessionId,
    subscribers: Vec<Subscriber>,
    seq: u64,
    last_event_at: u64,
    /// What windows have, and in which rows.
    window_view: WindowView,
    ending: watch::Receiver<bool>,
}

impl Subscribers {
    /// Creates an empty list. `ending` becomes `true` when the session is about to end; from then on, no subscriber
    /// blocks it for long.
    pub fn new(session_id: SessionId, now: u64, ending: watch::Receiver<bool>) -> Self {
        Self {
            session_id,
            subscribers: Vec::new(),
            seq: 0,
            last_event_at: now,
            window_view: WindowView::default(),
            ending,
        }
    }

    /// The number of the last event.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The time of the last event, in milliseconds since the epoch.
    pub fn last_event_at(&self) -> u64 {
        self.last_event_at
    }

    /// Returns the rows and items of a new subscriber's snapshot.
    pub fn begin(&mut self, subscriber: &Subscriber, transcript: &Transcript) -> (RowRange, Vec<Item>) {
        let total = transcript.n_rows();
        match subscriber {
            Subscriber::Merged(feed) => {
                // A session has one window. It subscribes again after a gap, and when the user unfolds or folds an item.
                let n_before = self.subscribers.len();
                self.subscribers.retain(|one| !matches!(one, Subscriber::Merged(_)));
                if self.subscribers.len() < n_before {
                    self.window_view.unfold(transcript, feed.unfolded());
                } else {
                    self.window_view.begin(transcript, feed.unfolded());
                }
                let rows = feed.begin(self.seq, self.window_view.n_rows());
                (rows, self.window_items(transcript, rows.first, rows.end).collect())
            }
            Subscriber::Every(_) => {
                (RowRange { end: total, total, ..RowRange::default() }, transcript.items().cloned().collect())
            }
            Subscriber::Summary(_) => (RowRange { total, ..RowRange::default() }, Vec::new()),
        }
    }

    /// Returns the items of these rows of a window.
    pub fn window_items<'a>(
        &'a self,
        transcript: &'a Transcript,
        first: u32,
        end: u32,
    ) -> impl Iterator<Item = Item> + 'a {
        self.window_view.items(transcript, first, end)
    }

    /// Gives the changed files in the snapshot of a window the rows that it has.
    pub fn place_files(&self, subscriber: &Subscriber, files: &mut [ChangedFile]) {
        if matches!(subscriber, Subscriber::Merged(_)) {
            files.iter_mut().for_each(|file| self.window_view.place_file(file));
        }
    }

    /// The row in which windows have part `part` of an item, and the part of that row.
    pub fn window_place(&self, item: &Item, part: u32, transcript: &Transcript) -> (u32, u32) {
        if self.has_window() { self.window_view.place(item, part, transcript) } else { (item.row, part) }
    }

    /// The number of rows that windows have.
    #[cfg(test)]
    pub fn window_rows(&self) -> u32 {
        self.window_view.n_rows().all
    }

    fn has_window(&self) -> bool {
        self.subscribers.iter().any(|one| feed_of(one).is_some())
    }

    /// The colours that a stored conversation needs now: windows get those of the rows near them.
    pub fn colouring(&self) -> Colouring {
        let gets_all = |one: &Subscriber| matches!(one, Subscriber::Every(_));
        if self.subscribers.iter().any(gets_all) { Colouring::All } else { Colouring::End }
    }

    pub fn is_empty(&self) -> bool {
        self.subscribers.is_empty()
    }

    /// The transcript is another one: windows have to start over.
    pub fn start_over(&mut self, now: u64, transcript: &Transcript) {
        self.seq += 1;
        self.last_event_at = now;
        if self.has_window() {
            let feeds = self.subscribers.iter().filter_map(feed_of);
            let unfolded = feeds.flat_map(|feed| feed.unfolded()).cloned().collect();
            self.window_view.begin(transcript, &unfolded);
            self.renumber_windows();
        }
    }

    /// Rows got other numbers: windows have to start over.
    fn renumber_windows(&self) {
        let feeds = self.subscribers.iter().filter_map(feed_of);
        feeds.for_each(|feed| feed.start_over(self.seq, self.window_view.n_rows()));
    }

    /// Adds a subscriber. It receives all later events.
    pub fn add(&mut self, subscriber: Subscriber) {
        self.subscribers.push(subscriber);
    }

    /// Sends a change to every matching subscriber. Clones as rarely as possible, because texts can be large.
    pub async fn tell(&mut self, now: u64, change: TranscriptChange, transcript: &Transcript) {
        #[cfg(test)]
        crate::stages::passed(module_path!(), &change);
        self.seq += 1;
        self.last_event_at = now;
        // A closed window has dropped its reference to the feed.
        self.subscribers
            .retain(|one| !matches!(one, Subscriber::Merged(feed) if Arc::strong_count(feed) == 1));
        let is_fact = matches!(&change, TranscriptChange::Event(event) if is_fact(event));
        let mut listeners: Vec<usize> = Vec::new();
        let mut has_window = false;
        for (at, subscriber) in self.subscribers.iter().enumerate() {
            match subscriber {
                Subscriber::Merged(_) => has_window = true,
                Subscriber::Every(_) => listeners.push(at),
                Subscriber::Summary(_) if is_fact => listeners.push(at),
                Subscriber::Summary(_) => {}
            }
        }
        let whole = match change {
            TranscriptChange::Event(event) if !has_window => Some(event),
            change => {
                let whole = if listeners.is_empty() { None } else { change.whole(transcript) };
                if has_window {
                    self.tell_windows(change, transcript);
                }
                whole
            }
        };
        if let Some(event) = whole {
            self.deliver(event, listeners).await;
        }
    }

    /// The transcript was replaced: windows start over, and the others get all items.
    pub async fn replaced(&mut self, now: u64, transcript: &Transcript) {
        self.start_over(now, transcript);
        let is_every = |(_, one): &(usize, &Subscriber)| matches!(one, Subscriber::Every(_));
        let listeners: Vec<usize> =
            self.subscribers.iter().enumerate().filter(is_every).map(|(at, _)| at).collect();
        if !listeners.is_empty() {
            let items = transcript.items().cloned().collect();
            let (files, tasks) = (transcript.files().to_vec(), transcript.tasks().to_vec());
            self.deliver(Event::TranscriptReplaced { items, files, tasks }, listeners).await;
        }
    }

    /// Sends an event to these subscribers under the current number. Drops those that are gone.
    async fn deliver(&mut self, event: Event, listeners: Vec<usize>) {
        let mut envelope = Some(Envelope { seq: self.seq, session_id: self.session_id.clone(), event });
        let mut n_left = listeners.len();
        let mut gone = Vec::new();
        for at in listeners {
            n_left -= 1;
            // The last subscriber gets the event itself.
            let copy = if n_left > 0 { envelope.clone() } else { envelope.take() };
            let Some(envelope) = copy else { break };
            let is_gone = match &self.subscribers[at] {
                Subscriber::Every(sender) => tokio::select! {
                    biased;
                    sent = sender.send(envelope) => sent.is_err(),
                    () = out_of_patience(self.ending.clone()) => true,
                },
                Subscriber::Summary(sender) => sender.send(envelope).is_err(),
                Subscriber::Merged(_) => false,
            };
            if is_gone {
                gone.push(at);
            }
        }
        for at in gone.into_iter().rev() {
            self.subscribers.remove(at);
        }
    }

    /// Sends windows the items in their viewports, and no more of each than they draw.
    fn tell_windows(&mut self, change: TranscriptChange, transcript: &Transcript) {
        let events: Vec<(Event, Option<u32>)> = change
            .into_patch()
            .into_iter()
            .flat_map(|event| self.window_view.events(event, transcript))
            .collect();
        if self.window_view.take_renumbered() {
            return self.renumber_windows();
        }
        let feeds = self.subscribers.iter().filter_map(feed_of);
        let (n_rows, mut n_left) = (self.window_view.n_rows(), feeds.clone().count());
        let mut events = Some(events);
        for feed in feeds {
            n_left -= 1;
            feed.pass(self.seq, n_rows);
            let copy = if n_left > 0 { events.clone() } else { events.take() };
            copy.into_iter().flatten().for_each(|(event, row)| feed.push(event, row));
        }
    }
}

fn feed_of(subscriber: &Subscriber) -> Option<&Arc<Feed>> {
    match subscriber {
        Subscriber::Merged(feed) => Some(feed),
        Subscriber::Every(_) | Subscriber::Summary(_) => None,
    }
}

fn is_fact(event: &Event) -> bool {
    !matches!(
        event,
        Event::ItemAdded { .. }
            | Event::ItemChanged { .. }
            | Event::ItemRemoved { .. }
            | Event::BlocksChanged { .. }
            | Event::CodeGrew { .. }
            | Event::EntriesGrew { .. }
            | Event::ThoughtGrew { .. }
            | Event::CallChanged { .. }
            | Event::TextFinished { .. }
            | Event::TranscriptReplaced { .. }
    )
}

/// Waits until the session is about to end and a subscriber has had its grace period.
async fn out_of_patience(mut ending: watch::Receiver<bool>) {
    // An error means that the last handle was dropped, which also ends the session.
    let _ = ending.wait_for(|is_ending| *is_ending).await;
    tokio::time::sleep(SLOW_SUBSCRIBER_GRACE).await;
}
