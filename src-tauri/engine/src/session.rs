//! A session: a handle to the task that owns it, and what can be listened to.

mod actor;
mod channel;
mod feed;
mod listeners;
mod log;
pub mod machine;
mod outcome;
mod prompt;
mod rules;
mod sight;
#[cfg(test)]
pub(crate) mod simulation;

pub use feed::Feed;

use crate::api::*;
use crate::launch::Launch;
use crate::recorder::Recorder;
use crate::store::{Record, Store};
use crate::transcript::find::{Search, Slice};
use crate::transcript::output::{Reader, Source};
use crate::transcript::parts;
use machine::Limits;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{mpsc, oneshot, watch};

/// Finds the program anew at each start, since it may have been installed, moved or replaced in between.
pub type Launcher = Arc<dyn Fn() -> Result<Launch, CommandError> + Send + Sync>;

/// What a session is opened with.
pub struct Open {
    pub record: Record,
    pub launcher: Launcher,
    /// Where the record is kept; `None` keeps nothing (`deskbell relay`).
    pub store: Option<Store>,
    /// The agent's configuration folder, where it keeps its transcripts.
    pub agent_config: PathBuf,
    /// Where Deskbell marks the conversations it has open; `None` marks none.
    pub locks: Option<PathBuf>,
    pub limits: Limits,
    /// Off unless someone switches it on.
    pub recorder: Recorder,
}

/// Who listens, and how.
pub enum Subscriber {
    /// Every event, one by one. A listener that does not keep up holds the session, and at last its agent; but not
    /// the session's end.
    Every(mpsc::Sender<Envelope>),
    /// Every event that is about what is shown, those of one frame merged. A listener that does not keep up costs
    /// bounded memory.
    Merged(Arc<Feed>),
    /// What changes the session's facts, without the transcript: a few events a turn.
    Facts(mpsc::UnboundedSender<Envelope>),
}

pub(crate) enum Message {
    Command {
        command: Command,
        reply: Option<oneshot::Sender<Result<(), CommandError>>>,
    },
    Complain(String),
    Start,
    StartWithoutAsking(oneshot::Sender<Result<(), CommandError>>),
    Subscribe {
        subscriber: Subscriber,
        reply: oneshot::Sender<Snapshot>,
    },
    Snapshot(oneshot::Sender<Snapshot>),
    Show {
        feed: Arc<Feed>,
        show: Show,
        reply: oneshot::Sender<()>,
    },
    Earlier {
        feed: Arc<Feed>,
        item_id: ItemId,
        before: u32,
        until: Option<ItemId>,
        reply: oneshot::Sender<()>,
    },
    /// The items from one on that a find looks through next.
    Slice {
        first: usize,
        reply: oneshot::Sender<Slice>,
    },
    Output {
        item_id: ItemId,
        reply: oneshot::Sender<Option<Source>>,
    },
    Item {
        item_id: ItemId,
        reply: oneshot::Sender<Option<Arc<Item>>>,
    },
    Copy {
        copy: CopyOf,
        reply: oneshot::Sender<Option<String>>,
    },
    /// Ends the process as soon as nothing is left to do, then replies.
    Finish(oneshot::Sender<()>),
    /// Ends the process now, then replies.
    Close(oneshot::Sender<()>),
}

/// A handle to a session. The session lives as long as a handle does, or as its process needs to end.
#[derive(Clone)]
pub struct SessionHandle {
    id: SessionId,
    messages: mpsc::Sender<Message>,
    /// Says that the session is to end, to one that is held by a listener and reads no message. Its loss says so, too.
    ending: Arc<watch::Sender<bool>>,
    /// Reads the outputs that are looked at.
    reader: Arc<Reader>,
    /// How many finds have begun: only the last one goes on.
    finds: Arc<AtomicU64>,
}

impl SessionHandle {
    /// Opens a session on the current tokio runtime. Its transcript is read from the agent's own store.
    pub fn open(open: Open) -> Self {
        let (messages, inbox) = mpsc::channel(64);
        let (ending, is_ending) = watch::channel(false);
        let id = open.record.id.clone();
        tokio::spawn(actor::run(open, inbox, is_ending));
        Self { id, messages, ending: Arc::new(ending), reader: Arc::default(), finds: Arc::default() }
    }

    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Carries out a command. A prompt is on disk when this returns.
    pub async fn command(&self, command: Command) -> Result<(), CommandError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Command { command, reply: Some(reply) }).await?;
        answer.await.map_err(|_| gone())?
    }

    /// As `command`, but a refusal comes as an event in the session's order.
    pub async fn post(&self, command: Command) -> Result<(), CommandError> {
        self.send(Message::Command { command, reply: None }).await
    }

    /// Tells, as an event, of a command that could not be read.
    pub async fn complain(&self, problem: String) -> Result<(), CommandError> {
        self.send(Message::Complain(problem)).await
    }

    /// Brings the process up before there is anything to send.
    pub async fn start(&self) -> Result<(), CommandError> {
        self.send(Message::Start).await
    }

    /// Brings the process up in a mode that asks nothing: for the one that a person chose that for, and not while
    /// another runs.
    pub async fn start_without_asking(&self) -> Result<(), CommandError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::StartWithoutAsking(reply)).await?;
        answer.await.map_err(|_| gone())?
    }

    /// Begins to listen; the snapshot is what was before the first event, of the rows that the listener shows.
    pub async fn subscribe(&self, subscriber: Subscriber) -> Result<Snapshot, CommandError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Subscribe { subscriber, reply }).await?;
        answer.await.map_err(|_| gone())
    }

    /// Shows another part of the transcript through a feed that listens. What comes into it comes as events.
    pub async fn show(&self, feed: Arc<Feed>, show: Show) -> Result<(), CommandError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Show { feed, show, reply }).await?;
        answer.await.map_err(|_| gone())
    }

    /// Tells a feed that listens more of what a subagent did: items in the row of this one, that come before number
    /// `before`, and from `until` on if that is near enough. They come as events.
    pub async fn earlier(
        &self,
        feed: Arc<Feed>,
        item_id: ItemId,
        before: u32,
        until: Option<ItemId>,
    ) -> Result<(), CommandError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Earlier { feed, item_id, before, until, reply }).await?;
        answer.await.map_err(|_| gone())
    }

    /// Finds words in the whole transcript: the item of that number among those that hold them, or the last. `None` if
    /// another find began meanwhile, which is the one that counts.
    pub async fn find(&self, query: String, index: Option<i64>) -> Result<Option<Found>, CommandError> {
        let nr = self.finds.fetch_add(1, Ordering::Relaxed) + 1;
        let Some(mut search) = Search::new(&query) else { return Ok(Some(Found { count: 0, hit: None })) };
        loop {
            if self.finds.load(Ordering::Relaxed) != nr {
                return Ok(None);
            }
            let (reply, answer) = oneshot::channel();
            self.send(Message::Slice { first: search.next(), reply }).await?;
            let slice = answer.await.map_err(|_| gone())?;
            let looking = tokio::task::spawn_blocking(move || (search.look(slice), search));
            let (is_last, looked) = looking.await.map_err(|_| gone())?;
            search = looked;
            if is_last {
                break;
            }
        }
        let found = tokio::task::spawn_blocking(move || search.found(index)).await;
        found.map(Some).map_err(|_| gone())
    }

    /// Some lines of what a tool put out, from `first` on; `None` if there is no such output. It is read beside the
    /// session, which goes on meanwhile.
    pub async fn output(
        &self,
        item_id: ItemId,
        first: u32,
        count: u32,
    ) -> Result<Option<Output>, CommandError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Output { item_id, reply }).await?;
        let Some(source) = answer.await.map_err(|_| gone())? else { return Ok(None) };
        let reader = self.reader.clone();
        let part = tokio::task::spawn_blocking(move || reader.part(&source, first, count)).await;
        part.map(Some).map_err(|_| gone())
    }

    /// A part of an item that a window does not draw at once, counted from 0; `None` if there is none. It is cut beside
    /// the session, which goes on meanwhile.
    pub async fn part(&self, item_id: ItemId, part: u32) -> Result<Option<Body>, CommandError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Item { item_id, reply }).await?;
        let Some(item) = answer.await.map_err(|_| gone())? else { return Ok(None) };
        let cut = tokio::task::spawn_blocking(move || {
            let cut = parts::part(&item.body, part);
            cut.filter(|(_, n_parts)| part < *n_parts).map(|(body, _)| body)
        });
        cut.await.map_err(|_| gone())
    }

    /// A text to take along; `None` if there is no such item.
    pub async fn copy(&self, copy: CopyOf) -> Result<Option<String>, CommandError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Copy { copy, reply }).await?;
        answer.await.map_err(|_| gone())
    }

    /// The whole of it.
    pub async fn snapshot(&self) -> Result<Snapshot, CommandError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Snapshot(reply)).await?;
        answer.await.map_err(|_| gone())
    }

    /// Lets it finish what is queued, denying whatever would need a person, then ends the process.
    pub async fn finish(&self) -> Result<(), CommandError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Finish(reply)).await?;
        answer.await.map_err(|_| gone())
    }

    /// Denies what is open and ends the process, by the ladder. Returns when it is gone.
    pub async fn close(&self) -> Result<(), CommandError> {
        self.ending.send_replace(true);
        let (reply, answer) = oneshot::channel();
        self.send(Message::Close(reply)).await?;
        answer.await.map_err(|_| gone())
    }

    async fn send(&self, message: Message) -> Result<(), CommandError> {
        self.messages.send(message).await.map_err(|_| gone())
    }
}

fn gone() -> CommandError {
    CommandError {
        code: ErrorCode::NoSuchSession,
        message: "The session is closed.".to_owned(),
        detail: None,
    }
}

#[cfg(test)]
mod tests;
