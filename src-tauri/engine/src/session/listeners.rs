//! Who listens to a session, and what each of them is told.

use super::Subscriber;
use super::sight::Sight;
use crate::api::{Envelope, Event, Item, Rows, SessionId};
use crate::patch::item_of;
use crate::transcript::{News, Transcript};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How long a listener may hold a session that is to end.
const PATIENCE: Duration = Duration::from_secs(1);

/// Everybody who listens, and what they were told last.
pub struct Listeners {
    session_id: SessionId,
    subscribers: Vec<Subscriber>,
    seq: u64,
    told_at: u64,
    /// What windows know of long items.
    sight: Sight,
    ending: watch::Receiver<bool>,
}

impl Listeners {
    /// Nobody yet. Once `ending` says so, no listener holds the session for long.
    pub fn new(session_id: SessionId, now: u64, ending: watch::Receiver<bool>) -> Self {
        Self { session_id, subscribers: Vec::new(), seq: 0, told_at: now, sight: Sight::default(), ending }
    }

    /// The number of the last event.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// When it was told.
    pub fn told_at(&self) -> u64 {
        self.told_at
    }

    /// The rows that a new listener begins with, and what it is told of their items.
    pub fn begin(&mut self, subscriber: &Subscriber, transcript: &Transcript) -> (Rows, Vec<Item>) {
        let total = transcript.n_rows();
        match subscriber {
            Subscriber::Merged(feed) => {
                if !self.subscribers.iter().any(|one| matches!(one, Subscriber::Merged(_))) {
                    self.sight.begin(transcript);
                }
                let rows = feed.begin(self.seq, total);
                let items = transcript.items_of(rows.first, rows.end);
                (rows, items.map(|item| self.drawn(item)).collect())
            }
            Subscriber::Every(_) => {
                (Rows { end: total, total, ..Rows::default() }, transcript.items().cloned().collect())
            }
            Subscriber::Facts(_) => (Rows { total, ..Rows::default() }, Vec::new()),
        }
    }

    /// An item as windows are told of it.
    pub fn drawn(&self, item: &Item) -> Item {
        self.sight.of(item)
    }

    pub fn is_empty(&self) -> bool {
        self.subscribers.is_empty()
    }

    /// Rows are counted anew, of which there are so many: windows have to start over.
    pub fn start_over(&mut self, now: u64, n_rows: u32) {
        self.seq += 1;
        self.told_at = now;
        for subscriber in &self.subscribers {
            if let Subscriber::Merged(feed) = subscriber {
                feed.start_over(self.seq, n_rows);
            }
        }
    }

    /// What is told from now on goes to this one too.
    pub fn add(&mut self, subscriber: Subscriber) {
        self.subscribers.push(subscriber);
    }

    /// Tells everybody that it is for, with no more copies of it than there are listeners: a text may be very long.
    pub async fn tell(&mut self, now: u64, news: News, transcript: &Transcript) {
        self.seq += 1;
        self.told_at = now;
        // A window that is gone has let go of its feed.
        self.subscribers
            .retain(|one| !matches!(one, Subscriber::Merged(feed) if Arc::strong_count(feed) == 1));
        let is_fact = matches!(&news, News::Event(event) if is_fact(event));
        let mut listeners: Vec<usize> = Vec::new();
        let mut has_window = false;
        for (at, subscriber) in self.subscribers.iter().enumerate() {
            match subscriber {
                Subscriber::Merged(_) => has_window = true,
                Subscriber::Every(_) => listeners.push(at),
                Subscriber::Facts(_) if is_fact => listeners.push(at),
                Subscriber::Facts(_) => {}
            }
        }
        let whole = match news {
            News::Event(event) if !has_window => Some(event),
            news => {
                let whole = if listeners.is_empty() { None } else { news.whole(transcript) };
                if has_window {
                    self.tell_windows(news, transcript);
                }
                whole
            }
        };
        let Some(event) = whole else { return };
        let mut envelope = Some(Envelope { seq: self.seq, session_id: self.session_id.clone(), event });
        let mut n_left = listeners.len();
        let mut gone = Vec::new();
        for at in listeners {
            n_left -= 1;
            // The last one gets the event itself.
            let copy = if n_left > 0 { envelope.clone() } else { envelope.take() };
            let Some(envelope) = copy else { break };
            let is_gone = match &self.subscribers[at] {
                Subscriber::Every(sender) => tokio::select! {
                    biased;
                    sent = sender.send(envelope) => sent.is_err(),
                    () = out_of_patience(self.ending.clone()) => true,
                },
                Subscriber::Facts(sender) => sender.send(envelope).is_err(),
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

    /// Windows have the items that they show, and no more of each than they draw.
    fn tell_windows(&mut self, news: News, transcript: &Transcript) {
        let events: Vec<(Event, Option<u32>)> = news
            .into_patch()
            .into_iter()
            .flat_map(|event| self.sight.events(event, transcript))
            .map(|event| {
                let row = item_of(&event).and_then(|id| transcript.row_of(id));
                (event, row)
            })
            .collect();
        let feeds = self.subscribers.iter().filter_map(|one| match one {
            Subscriber::Merged(feed) => Some(feed),
            Subscriber::Every(_) | Subscriber::Facts(_) => None,
        });
        let (n_rows, mut n_left) = (transcript.n_rows(), feeds.clone().count());
        let mut events = Some(events);
        for feed in feeds {
            n_left -= 1;
            feed.pass(self.seq, n_rows);
            let copy = if n_left > 0 { events.clone() } else { events.take() };
            copy.into_iter().flatten().for_each(|(event, row)| feed.push(event, row));
        }
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
            | Event::BeginningGone { .. }
            | Event::TextFinished { .. }
    )
}

/// When the session has been about to end for as long as a listener may hold it.
async fn out_of_patience(mut ending: watch::Receiver<bool>) {
    // An error means that the last handle is gone, which is an end as well.
    let _ = ending.wait_for(|is_ending| *is_ending).await;
    tokio::time::sleep(PATIENCE).await;
}
