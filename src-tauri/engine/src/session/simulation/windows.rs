//! A window and the relay, served as in the app. Each applies the events that it gets to what it has.

use super::rules::{RuleResult, hold};
use crate::api::*;
use crate::chance::Chance;
use crate::patch;
use crate::session::subscribers::Subscribers;
use crate::session::{Feed, Subscriber};
use crate::transcript::{Transcript, TranscriptChange};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tokio::sync::{mpsc, watch};

/// Rows that the window draws. Few, so that rows leave its viewport often.
const COUNT: u32 = 5;

/// One event in this many goes through JSON, as a server sends it.
const EVERY_AS_LINE: u64 = 16;

fn as_line(envelope: &Envelope) -> Envelope {
    let line = serde_json::to_string(envelope).expect("an event is JSON");
    let read: Envelope = serde_json::from_str(&line).expect("a client reads what a server writes");
    // The rules that an answer would save in a folder stay with the engine beside it.
    if !matches!(envelope.event, Event::SessionChanged { .. } | Event::PermissionRequested { .. }) {
        assert_eq!(read, *envelope);
    }
    read
}

pub struct SimulatedWindows {
    subscribers: Subscribers,
    feed: Arc<Feed>,
    n_asked: u32,
    /// What the window has: the number of its last event, its rows and their items.
    seq: u64,
    rows: RowRange,
    items: Vec<Item>,
    relay: mpsc::Receiver<Envelope>,
    whole: Vec<Item>,
    /// What a mirror of the session has: it gets the events as lines of a server.
    mirror: Transcript,
    /// The session is not about to end.
    _ending: watch::Sender<bool>,
}

impl SimulatedWindows {
    pub fn open(transcript: &Transcript) -> Self {
        let (ending, is_ending) = watch::channel(false);
        let id = SessionId::new("session");
        let show = Viewport { first: None, count: COUNT, request_id: 0 };
        let feed = Arc::new(Feed::new(id.clone(), show, Vec::new()));
        let mut subscribers = Subscribers::new(id, 0, is_ending);
        let (sender, relay) = mpsc::channel(64);
        let every = Subscriber::Every(sender);
        let (_, whole) = subscribers.begin(&every, transcript);
        subscribers.add(every);
        let window = Subscriber::Merged(feed.clone());
        let (rows, items) = subscribers.begin(&window, transcript);
        subscribers.add(window);
        let seq = subscribers.seq();
        let mirror = Transcript::mirrored(transcript);
        Self { mirror, subscribers, feed, n_asked: 0, seq, rows, items, relay, whole, _ending: ending }
    }

    pub fn publish(&mut self, change: TranscriptChange, transcript: &Transcript) {
        let told = pin!(self.subscribers.tell(0, change, transcript));
        // The relay has taken everything so far, so nothing is waited for.
        let polled = told.poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(polled, Poll::Ready(()), "a subscriber blocks the session");
        while let Ok(envelope) = self.relay.try_recv() {
            patch::apply(&mut self.whole, &envelope.event);
            let read = if envelope.seq % EVERY_AS_LINE == 0 { as_line(&envelope) } else { envelope };
            self.mirror.mirror_event(&read.event);
        }
    }

    /// The user scrolls, or returns to the end.
    pub fn scroll(&mut self, chance: &mut Chance, transcript: &Transcript) {
        self.n_asked += 1;
        let n_rows = self.rows.total;
        let first = chance.one_in(2).then(|| chance.below(u64::from(n_rows) + 1) as u32);
        let show = Viewport { first, count: COUNT, request_id: self.n_asked };
        self.feed.show(show, |first, end| self.subscribers.window_items(transcript, first, end));
        if self.n_asked.is_multiple_of(4) {
            self.unfold(transcript, show);
        }
    }

    /// The user unfolds some thoughts and calls and folds the others: the window subscribes again. This takes no chance,
    /// so that it changes nothing else.
    fn unfold(&mut self, transcript: &Transcript, show: Viewport) {
        let is_foldable = |item: &&Item| matches!(item.body, Body::Thinking { .. } | Body::ToolCall(_));
        let foldable = transcript.items().filter(is_foldable).map(|item| item.id.clone());
        let unfolded = foldable.skip(self.n_asked as usize / 4 % 2).step_by(2).collect();
        self.feed = Arc::new(Feed::new(self.feed.session_id().clone(), show, unfolded));
        self.subscribe(transcript);
    }

    fn subscribe(&mut self, transcript: &Transcript) {
        let window = Subscriber::Merged(self.feed.clone());
        (self.rows, self.items) = self.subscribers.begin(&window, transcript);
        self.subscribers.add(window);
        self.seq = self.subscribers.seq();
    }

    /// Compares what the window has with the snapshot that a new window would get for the same rows.
    pub fn check(&mut self, transcript: &Transcript) -> RuleResult {
        if let Some(batch) = self.feed.take_after(self.seq) {
            if batch.after == self.seq {
                batch.events.iter().for_each(|event| patch::apply(&mut self.items, event));
                (self.seq, self.rows) = (batch.seq, batch.rows);
            } else {
                // Rows got other numbers: a text grew that is not the last one.
                let has_more = batch.after > self.seq && batch.rows.total > self.rows.total;
                hold!(has_more, Windows, "a gap: {} after {}", batch.after, self.seq);
                self.subscribe(transcript);
            }
            let RowRange { first, end, .. } = self.rows;
            self.items.retain(|item| (first..end).contains(&item.row));
            self.items.sort_by_key(|item| (item.row, item.nr));
        }
        let n_rows = self.subscribers.window_rows();
        hold!(self.rows.total == n_rows, Windows, "the window knows of {} rows", self.rows.total);
        let RowRange { first, end, .. } = self.rows;
        let expected: Vec<Item> = self.subscribers.window_items(transcript, first, end).collect();
        hold!(self.items == expected, Windows, "a window has\n{:?}\nand not\n{expected:?}", self.items);
        Ok(())
    }

    /// Compares what the relay has with the transcript. More expensive, because it has all of it.
    pub fn check_whole(&self, transcript: &Transcript) -> RuleResult {
        hold!(self.whole.iter().eq(transcript.items()), Windows, "the relay has\n{:?}", self.whole);
        hold!(self.mirror.items().eq(transcript.items()), Windows, "the mirror has other items");
        let end = transcript.n_rows();
        let rows = |transcript: &Transcript| {
            transcript.items_of(0, end).map(|item| item.id.clone()).collect::<Vec<_>>()
        };
        hold!(rows(&self.mirror) == rows(transcript), Windows, "the mirror has other rows");
        hold!(self.mirror.files() == transcript.files(), Windows, "the mirror has other changed files");
        hold!(self.mirror.tasks() == transcript.tasks(), Windows, "the mirror has other tasks");
        hold!(self.mirror.prompts() == transcript.prompts(), Windows, "the mirror has other prompts");
        Ok(())
    }
}
