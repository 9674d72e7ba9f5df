//! One client of the server: the replies that wait for it, and its place in the events of each session.
//!
//! Events are not copied for a client. It reads them from the sessions' logs when its socket can take more, so a slow
//! client costs its replies and one snapshot.

use super::Line;
use deskbell_api::SessionId;
use std::collections::{BTreeMap, VecDeque};

/// Bytes and number of replies that may wait for a client. Above it the client is disconnected: it sends requests and
/// does not read the answers.
const MAX_REPLY_BYTES: usize = 4 << 20;
const MAX_REPLIES: usize = 8_192;

/// The place of a client in the events of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cursor {
    /// The next line is a snapshot.
    NeedsSnapshot,
    /// The events up to `seq` were sent, those up to `acked` were processed.
    At { seq: u64, acked: u64 },
}

#[derive(Debug)]
pub struct Outbox {
    replies: VecDeque<Line>,
    reply_bytes: usize,
    pub attached: BTreeMap<SessionId, Cursor>,
    /// The session whose snapshot is being made. One at a time, so that a client costs the memory of one.
    snapshot_of: Option<SessionId>,
    /// A snapshot that was not sent yet.
    snapshot: Option<(SessionId, Line)>,
    /// Questions that are being answered.
    pub n_questions: u32,
    /// When the last line of the client arrived, or when it connected.
    pub heard_at: u64,
    /// A line has arrived.
    pub has_spoken: bool,
}

impl Outbox {
    pub fn new(now: u64) -> Self {
        Self {
            replies: VecDeque::new(),
            reply_bytes: 0,
            attached: BTreeMap::new(),
            snapshot_of: None,
            snapshot: None,
            n_questions: 0,
            heard_at: now,
            has_spoken: false,
        }
    }

    /// A line of the client arrived.
    pub fn hear(&mut self, now: u64) {
        (self.heard_at, self.has_spoken) = (now, true);
    }

    /// Adds a reply. False: the client does not read its replies.
    #[must_use]
    pub fn reply(&mut self, line: Line) -> bool {
        self.reply_bytes += line.len();
        self.replies.push_back(line);
        self.reply_bytes <= MAX_REPLY_BYTES && self.replies.len() <= MAX_REPLIES
    }

    /// Adds the snapshot that was made, as of event `seq`. It is sent before any event.
    pub fn snapshot(&mut self, session_id: &SessionId, seq: u64, line: Line) {
        if self.snapshot_of.as_ref() != Some(session_id) {
            return;
        }
        self.snapshot_of = None;
        if let Some(cursor @ Cursor::NeedsSnapshot) = self.attached.get_mut(session_id) {
            *cursor = Cursor::At { seq, acked: seq };
            self.snapshot = Some((session_id.clone(), line));
        }
    }

    /// The session is gone, so there is no snapshot of it.
    pub fn no_snapshot(&mut self, session_id: &SessionId) {
        if self.snapshot_of.as_ref() == Some(session_id) {
            self.snapshot_of = None;
        }
        self.detach(session_id);
    }

    pub fn attach(&mut self, session_id: SessionId, cursor: Cursor) {
        self.detach(&session_id);
        self.attached.insert(session_id, cursor);
    }

    /// Ends a subscription; true if there was one. Its snapshot is not sent.
    pub fn detach(&mut self, session_id: &SessionId) -> bool {
        if self.snapshot.as_ref().is_some_and(|(id, _)| id == session_id) {
            self.snapshot = None;
        }
        self.attached.remove(session_id).is_some()
    }

    /// The events of the session have other numbers from now on; true if the client is subscribed to it.
    pub fn restart(&mut self, session_id: &SessionId) -> bool {
        let is_attached = self.detach(session_id);
        if is_attached {
            self.attached.insert(session_id.clone(), Cursor::NeedsSnapshot);
        }
        is_attached
    }

    /// The next session that needs a snapshot, if none is being made or sent. It counts as being made from now on.
    pub fn begin_snapshot(&mut self) -> Option<SessionId> {
        if self.snapshot_of.is_some() || self.snapshot.is_some() {
            return None;
        }
        let needs = self.attached.iter().find(|(_, cursor)| **cursor == Cursor::NeedsSnapshot);
        self.snapshot_of = needs.map(|(id, _)| id.clone());
        self.snapshot_of.clone()
    }

    pub fn next_reply(&mut self) -> Option<Line> {
        match self.replies.pop_front() {
            Some(line) => {
                self.reply_bytes -= line.len();
                Some(line)
            }
            None => self.snapshot.take().map(|(_, line)| line),
        }
    }
}
