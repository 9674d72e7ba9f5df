//! A session: the handle to the task that owns it, in this process or in a server, and the ways to subscribe to its events.

mod actor;
pub(crate) mod core;
mod export;
mod feed;
mod folder;
mod local;
mod log;
pub(crate) mod machine;
mod mailbox;
mod mirror;
mod outcome;
mod permission_audit;
mod queries;
mod recording;
mod server_log;
#[cfg(test)]
pub(crate) mod simulation;
mod subscribers;
mod task_output;
mod window_view;

use crate::api::*;
use crate::host::Host;
use crate::launch::Launch;
use crate::recorder::Recorder;
use crate::store::{Record, Store};
pub use feed::Feed;
pub use folder::CheckedAnswer;
pub(crate) use local::LocalMessage;
use local::{CallImages, LocalSession};
pub use machine::Timeouts;
pub use mirror::MirroredSession;
pub use queries::SessionRead;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Finds the agent program and its launch settings. Called at each start, because the program may have been installed,
/// moved or replaced in between.
pub type Launcher = Arc<dyn Fn() -> Result<Launch, CommandError> + Send + Sync>;

/// The parameters of [`SessionHandle::open`].
pub struct Open {
    pub record: Record,
    pub launcher: Launcher,
    /// The machine that its agent runs on.
    pub host: Arc<dyn Host>,
    /// The store for the record. `None` saves nothing (`deskbell relay`).
    pub store: Option<Store>,
    /// The agent's configuration folder, which contains its transcripts.
    pub agent_config: PathBuf,
    /// The folder for the lock files of open conversations. `None` takes no locks.
    pub locks: Option<PathBuf>,
    /// The folder for the lists of the sessions that agents have stored. `None` keeps none.
    pub agent_sessions: Option<PathBuf>,
    pub timeouts: Timeouts,
    /// Off by default.
    pub recorder: Recorder,
}

/// A subscriber to a session's events, by the kind of delivery.
pub enum Subscriber {
    /// Every event, one by one. A slow subscriber blocks the session, and through it the agent. It cannot block the end
    /// of the session.
    Every(mpsc::Sender<Envelope>),
    /// Every event for the rows in the viewport; the events of one frame are merged. A slow subscriber costs bounded
    /// memory.
    Merged(Arc<Feed>),
    /// Events that change the session's summary, without the transcript: a few events a turn.
    Summary(mpsc::UnboundedSender<Envelope>),
}

/// The messages that both kinds of session handle.
pub(crate) enum Message {
    Command {
        command: Command,
        reply: Option<oneshot::Sender<Result<(), CommandError>>>,
    },
    Complain(String),
    Start,
    Subscribe {
        subscriber: Subscriber,
        reply: oneshot::Sender<Snapshot>,
    },
    Snapshot(oneshot::Sender<Snapshot>),
    Show {
        feed: Arc<Feed>,
        show: Viewport,
        reply: oneshot::Sender<()>,
    },
    /// Returns the row in which windows have a part of an item, and the part of that row.
    Place {
        item_id: ItemId,
        part: u32,
        reply: oneshot::Sender<Option<(u32, u32)>>,
    },
    /// Returns the session that sent a message.
    Sender {
        item_id: ItemId,
        reply: oneshot::Sender<Option<Sender>>,
    },
    /// Stops the process as soon as the session is idle, then replies. A mirror ends at once.
    Finish(oneshot::Sender<()>),
    /// Stops the process now, then replies. Of a mirror only the mirror ends.
    Close(oneshot::Sender<()>),
}

/// A handle to a session. After the last handle is dropped, the session lives on only until its process has exited.
#[derive(Clone)]
pub enum SessionHandle {
    /// It runs in this process.
    Local(LocalSession),
    /// It runs in a server, and goes on without this process.
    Mirror(MirroredSession),
}

impl SessionHandle {
    /// Opens a session on the current tokio runtime. Its transcript is read from the agent's own files.
    pub fn open(open: Open) -> Self {
        Self::Local(LocalSession::open(open))
    }

    pub fn id(&self) -> &SessionId {
        match self {
            Self::Local(session) => session.mailbox.id(),
            Self::Mirror(session) => session.mailbox.id(),
        }
    }

    /// The session, if a server runs it.
    pub fn mirrored(&self) -> Option<&MirroredSession> {
        match self {
            Self::Local(_) => None,
            Self::Mirror(session) => Some(session),
        }
    }

    /// Executes a command. A prompt is on disk when this returns.
    pub async fn command(&self, command: Command) -> Result<(), CommandError> {
        self.ask(|reply| Message::Command { command, reply: Some(reply) }).await?
    }

    /// Like `command`, but a refusal arrives as an event, in the session's order.
    pub async fn post(&self, command: Command) -> Result<(), CommandError> {
        self.send(Message::Command { command, reply: None }).await
    }

    /// Emits a `CommandFailed` event for a command that could not be parsed.
    pub async fn complain(&self, problem: String) -> Result<(), CommandError> {
        self.send(Message::Complain(problem)).await
    }

    /// Starts the process before there is anything to send.
    pub async fn start(&self) -> Result<(), CommandError> {
        self.send(Message::Start).await
    }

    /// Starts the process in the mode that skips all permission requests, as the user chose for this one process.
    /// Refused if the agent is running or about to start, and for a session of a server.
    pub async fn start_without_asking(&self) -> Result<(), CommandError> {
        match self {
            Self::Local(session) => session.mailbox.ask(LocalMessage::StartWithoutAsking).await?,
            Self::Mirror(_) => Err(CommandError {
                code: ErrorCode::Refused,
                message: "“Skip all permissions” is not available for a session that keeps running when Deskbell closes."
                    .to_owned(),
                detail: None,
            }),
        }
    }

    /// Subscribes to events. The snapshot is the state before the first event, limited to the rows in the subscriber's
    /// viewport.
    pub async fn subscribe(&self, subscriber: Subscriber) -> Result<Snapshot, CommandError> {
        self.ask(|reply| Message::Subscribe { subscriber, reply }).await
    }

    /// Moves the viewport of a subscribed feed. Rows that enter it arrive as events.
    pub async fn show(&self, feed: Arc<Feed>, show: Viewport) -> Result<(), CommandError> {
        self.ask(|reply| Message::Show { feed, show, reply }).await
    }

    /// Returns the row of an item; `None` if it does not exist, or is not loaded yet.
    pub async fn locate(&self, item_id: ItemId) -> Result<Option<u32>, CommandError> {
        Ok(self.place(item_id, 0).await?.map(|(row, _)| row))
    }

    async fn place(&self, item_id: ItemId, part: u32) -> Result<Option<(u32, u32)>, CommandError> {
        self.ask(|reply| Message::Place { item_id, part, reply }).await
    }

    /// Returns the session that sent the message in this item; `None` if there is no such message.
    pub async fn sender(&self, item_id: ItemId) -> Result<Option<Sender>, CommandError> {
        self.ask(|reply| Message::Sender { item_id, reply }).await
    }

    /// Shows what another process has added to the conversation. `is_live`: it still has the conversation open. Does
    /// nothing while the session has a process of its own, and for a session of a server, which follows its own files.
    /// Returns whether the transcript was replaced by that of another branch: windows then start over, and other
    /// subscribers need a snapshot.
    pub async fn refresh(&self, is_live: bool) -> Result<bool, CommandError> {
        match self {
            Self::Local(session) => session.refresh(is_live).await,
            Self::Mirror(_) => Ok(false),
        }
    }

    /// Returns a snapshot with all items of the transcript.
    pub async fn snapshot(&self) -> Result<Snapshot, CommandError> {
        self.ask(Message::Snapshot).await
    }

    /// Changes the idle time until the agent hibernates, in milliseconds; 0 means never. A server has its own.
    pub async fn hibernate_after(&self, after_ms: u64) -> Result<(), CommandError> {
        match self {
            Self::Local(session) => session.mailbox.send(LocalMessage::HibernateAfter(after_ms)).await,
            Self::Mirror(_) => Ok(()),
        }
    }

    /// Runs what is queued, denies every permission request, then stops the process. A mirror ends at once.
    pub async fn finish(&self) -> Result<(), CommandError> {
        self.ask(Message::Finish).await
    }

    /// Denies open requests and stops the process, forcibly if necessary. Returns when it has exited. Of a session of a
    /// server only the mirror ends.
    pub async fn close(&self) -> Result<(), CommandError> {
        match self {
            Self::Local(session) => session.mailbox.end(),
            Self::Mirror(session) => session.mailbox.end(),
        }
        self.ask(Message::Close).await
    }

    async fn send(&self, message: Message) -> Result<(), CommandError> {
        match self {
            Self::Local(session) => session.mailbox.send(message).await,
            Self::Mirror(session) => session.mailbox.send(message).await,
        }
    }

    async fn ask<T>(&self, message: impl FnOnce(oneshot::Sender<T>) -> Message) -> Result<T, CommandError> {
        let (reply, answer) = oneshot::channel();
        self.send(message(reply)).await?;
        answer.await.map_err(|_| gone())
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
pub(crate) mod tests;
