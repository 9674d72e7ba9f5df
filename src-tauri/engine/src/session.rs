//! A session: the handle to the task that owns it, and the ways to subscribe to its events.

mod actor;
pub(crate) mod core;
mod export;
mod feed;
mod folder;
mod log;
pub(crate) mod machine;
mod mirror;
mod outcome;
mod permission_audit;
mod recording;
mod server_log;
#[cfg(test)]
pub(crate) mod simulation;
mod subscribers;
mod task_output;
mod window_view;

use crate::api::*;
use crate::changes::EditedFiles;
use crate::disk;
use crate::host::Host;
use crate::launch::{Launch, Start};
use crate::options;
use crate::recorder::{NewFile, Recorder};
use crate::store::{Record, Store};
use crate::transcript::find::{Search, Slice};
use crate::transcript::output::{Reader, Source};
pub use feed::Feed;
pub use machine::Timeouts;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{mpsc, oneshot, watch};
use tracing::Instrument;

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

pub(crate) enum Message {
    Command {
        command: Command,
        reply: Option<oneshot::Sender<Result<(), CommandError>>>,
    },
    Complain(String),
    Start,
    HibernateAfter(u64),
    StartWithoutAsking(oneshot::Sender<Result<(), CommandError>>),
    Subscribe {
        subscriber: Subscriber,
        reply: oneshot::Sender<Snapshot>,
    },
    Snapshot(oneshot::Sender<Snapshot>),
    LastAnswer(oneshot::Sender<Option<String>>),
    Show {
        feed: Arc<Feed>,
        show: Viewport,
        reply: oneshot::Sender<()>,
    },
    /// Returns the next slice of items for a search, beginning with item number `first`.
    Slice {
        first: usize,
        reply: oneshot::Sender<Slice>,
    },
    /// Returns the file that receives the output of a task in the background.
    TaskOutput {
        task_id: String,
        reply: oneshot::Sender<Option<PathBuf>>,
    },
    /// Returns the files that the agent edited, with the place of its copies.
    Edited {
        since_prompt: bool,
        reply: oneshot::Sender<Option<EditedFiles>>,
    },
    /// Returns the project and the id of the conversation, if the agent reported an MCP server of this name.
    ServerLog {
        server: String,
        reply: oneshot::Sender<Option<(PathBuf, String)>>,
    },
    Output {
        item_id: ItemId,
        reply: oneshot::Sender<Option<Source>>,
    },
    /// Returns the row in which windows have a part of an item, and the part of that row.
    Place {
        item_id: ItemId,
        part: u32,
        reply: oneshot::Sender<Option<(u32, u32)>>,
    },
    /// The agent's file of the conversation was changed by another process.
    Refresh {
        is_live: bool,
        reply: oneshot::Sender<bool>,
    },
    StoredPrompt {
        item_id: ItemId,
        reply: oneshot::Sender<Option<(String, String)>>,
    },
    /// The next start of the agent, if the session had these options.
    NextStart {
        options: Box<SessionOptions>,
        reply: oneshot::Sender<(Start, Launcher, PathBuf)>,
    },
    Export {
        format: ExportFormat,
        reply: oneshot::Sender<export::Snapshot>,
    },
    Copy {
        copy: CopyOf,
        reply: oneshot::Sender<Option<String>>,
    },
    /// Asks the server that has the session. Only for a mirror.
    Ask {
        question: server::Question,
        reply: oneshot::Sender<Result<serde_json::Value, CommandError>>,
    },
    /// Ends the session and removes it from its server. Only for a mirror.
    Discard(oneshot::Sender<Result<(), CommandError>>),
    /// Records the session from now on.
    Record {
        file: NewFile,
        reply: oneshot::Sender<Result<RecordingState, CommandError>>,
    },
    /// Stops the process as soon as the session is idle, then replies.
    Finish(oneshot::Sender<()>),
    /// Stops the process now, then replies.
    Close(oneshot::Sender<()>),
}

/// A handle to a session. After the last handle is dropped, the session lives on only until its process has exited.
#[derive(Clone)]
pub struct SessionHandle {
    id: SessionId,
    messages: mpsc::Sender<Message>,
    /// Signals that the session is about to end. A session that is blocked by a slow subscriber reads no messages, so
    /// it watches this channel. Dropping the last sender is a signal, too.
    ending: Arc<watch::Sender<bool>>,
    /// Reads the tool outputs that are on display.
    reader: Arc<Reader>,
    /// Number of searches started. A search stops when a later one has started.
    finds: Arc<AtomicU64>,
    /// Has the last lines. A session that is blocked can be looked at too.
    recorder: Recorder,
    /// The session runs in a server.
    is_mirror: bool,
}

impl SessionHandle {
    /// Opens a session on the current tokio runtime. Its transcript is read from the agent's own files.
    pub fn open(open: Open) -> Self {
        let (messages, inbox) = mpsc::channel(64);
        let (ending, is_ending) = watch::channel(false);
        let (id, recorder) = (open.record.id.clone(), open.recorder.clone());
        tokio::spawn(actor::run(open, inbox, is_ending).instrument(log::span(&id)));
        Self {
            id,
            messages,
            ending: Arc::new(ending),
            reader: Arc::default(),
            finds: Arc::default(),
            recorder,
            is_mirror: false,
        }
    }

    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Executes a command. A prompt is on disk when this returns.
    pub async fn command(&self, command: Command) -> Result<(), CommandError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Command { command, reply: Some(reply) }).await?;
        answer.await.map_err(|_| gone())?
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
    /// Refused if the agent is running or about to start.
    pub async fn start_without_asking(&self) -> Result<(), CommandError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::StartWithoutAsking(reply)).await?;
        answer.await.map_err(|_| gone())?
    }

    /// Subscribes to events. The snapshot is the state before the first event, limited to the rows in the subscriber's
    /// viewport.
    pub async fn subscribe(&self, subscriber: Subscriber) -> Result<Snapshot, CommandError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Subscribe { subscriber, reply }).await?;
        answer.await.map_err(|_| gone())
    }

    /// Moves the viewport of a subscribed feed. Rows that enter it arrive as events.
    pub async fn show(&self, feed: Arc<Feed>, show: Viewport) -> Result<(), CommandError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Show { feed, show, reply }).await?;
        answer.await.map_err(|_| gone())
    }

    /// Searches the whole transcript for `query`. Returns match number `index` (it wraps around), or the last match
    /// without an index. Returns `None` if another search started meanwhile.
    pub async fn find(&self, query: String, index: Option<i64>) -> Result<Option<Found>, CommandError> {
        let Some(mut found) = self.found(query, index).await? else { return Ok(None) };
        if let Some(hit) = &mut found.hit
            && let Some((row, part)) = self.place(hit.item_id.clone(), hit.part).await?
        {
            (hit.row, hit.part) = (row, part);
        }
        Ok(Some(found))
    }

    async fn found(&self, query: String, index: Option<i64>) -> Result<Option<Found>, CommandError> {
        if self.is_mirror {
            return self.ask(server::Question::Find { query, index }).await;
        }
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

    /// Returns lines of a tool's output, starting with line `first`; `None` if the output does not exist. A blocking
    /// thread reads the file, so the session stays responsive.
    pub async fn output(
        &self,
        item_id: ItemId,
        first: u32,
        count: u32,
    ) -> Result<Option<Output>, CommandError> {
        if self.is_mirror {
            return self.ask(server::Question::Output { item_id, first, count }).await;
        }
        let (reply, answer) = oneshot::channel();
        self.send(Message::Output { item_id, reply }).await?;
        let Some(source) = answer.await.map_err(|_| gone())? else { return Ok(None) };
        let reader = self.reader.clone();
        let part = tokio::task::spawn_blocking(move || reader.part(&source, first, count)).await;
        part.map(Some).map_err(|_| gone())
    }

    /// Returns the end of the output of a task in the background; `None` if it does not run, or writes no output that
    /// can be shown. A disk that does not answer is an error, and holds up nothing else.
    pub async fn task_output(&self, task_id: String) -> Result<Option<TaskOutput>, CommandError> {
        if self.is_mirror {
            return self.ask(server::Question::TaskOutput { task_id }).await;
        }
        let (reply, answer) = oneshot::channel();
        self.send(Message::TaskOutput { task_id, reply }).await?;
        let Some(path) = answer.await.map_err(|_| gone())? else { return Ok(None) };
        task_output::read(path).await.map(Some)
    }

    /// Returns the files that the agent edited, compared with its own copies from before its first edit or the last prompt;
    /// `None` without a conversation.
    pub async fn edits(&self, since_prompt: bool) -> Result<Option<Changes>, CommandError> {
        if self.is_mirror {
            return self.edits_there(since_prompt).await;
        }
        let Some(edited) = self.edited_files(since_prompt).await? else { return Ok(None) };
        Ok(Some(edited.changes().await))
    }

    /// Returns the change of one of these files.
    pub async fn edit_diff(
        &self,
        since_prompt: bool,
        path: String,
    ) -> Result<Option<FileDiff>, CommandError> {
        if self.is_mirror {
            return self.edit_diff_there(since_prompt, path).await;
        }
        let Some(edited) = self.edited_files(since_prompt).await? else { return Ok(None) };
        Ok(Some(edited.file_diff(path).await))
    }

    async fn edited_files(&self, since_prompt: bool) -> Result<Option<EditedFiles>, CommandError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Edited { since_prompt, reply }).await?;
        answer.await.map_err(|_| gone())
    }

    /// Returns the end of an MCP server's error output from before it was connected; `None` if the agent
    /// kept nothing of it.
    pub async fn server_log(&self, server: String) -> Result<Option<TaskOutput>, CommandError> {
        if self.is_mirror {
            return self.ask(server::Question::ServerLog { server }).await;
        }
        let (reply, answer) = oneshot::channel();
        self.send(Message::ServerLog { server: server.clone(), reply }).await?;
        let Some((project, conversation)) = answer.await.map_err(|_| gone())? else { return Ok(None) };
        server_log::read(project, conversation, server).await
    }

    /// Returns the last lines between Deskbell and the agent after line `after`, without secrets; 0 is all that are kept.
    pub async fn raw_lines(&self, after: u64) -> Result<RawLines, CommandError> {
        if self.is_mirror {
            return self.ask(server::Question::RawLines { after }).await;
        }
        let recorder = self.recorder.clone();
        tokio::task::spawn_blocking(move || recorder.last_lines(after)).await.map_err(|_| gone())
    }

    /// Returns the row of an item; `None` if it does not exist, or is not loaded yet.
    pub async fn locate(&self, item_id: ItemId) -> Result<Option<u32>, CommandError> {
        Ok(self.place(item_id, 0).await?.map(|(row, _)| row))
    }

    async fn place(&self, item_id: ItemId, part: u32) -> Result<Option<(u32, u32)>, CommandError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Place { item_id, part, reply }).await?;
        answer.await.map_err(|_| gone())
    }

    /// Returns text for the clipboard; `None` if the item does not exist.
    pub async fn copy(&self, copy: CopyOf) -> Result<Option<String>, CommandError> {
        if self.is_mirror {
            return self.ask(server::Question::Copy { copy }).await;
        }
        let (reply, answer) = oneshot::channel();
        self.send(Message::Copy { copy, reply }).await?;
        answer.await.map_err(|_| gone())
    }

    /// Returns the last text that the agent wrote in its last turn, as it wrote it; `None` if there is none.
    pub async fn last_answer(&self) -> Result<Option<String>, CommandError> {
        if self.is_mirror {
            return self.ask(server::Question::LastAnswer).await;
        }
        let (reply, answer) = oneshot::channel();
        self.send(Message::LastAnswer(reply)).await?;
        answer.await.map_err(|_| gone())
    }

    /// Shows what another process has added to the conversation. `is_live`: it still has the conversation open. Does
    /// nothing while the session has a process of its own. Returns whether the transcript was replaced by that of
    /// another branch: windows then start over, and other subscribers need a snapshot.
    pub async fn refresh(&self, is_live: bool) -> Result<bool, CommandError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Refresh { is_live, reply }).await?;
        // Without an answer the transcript was not read yet, so there is nothing to update.
        Ok(answer.await.unwrap_or(false))
    }

    /// Returns the id that a prompt has in the agent's transcript, and its text; `None` if the item is no prompt.
    pub async fn stored_prompt(&self, item_id: ItemId) -> Result<Option<(String, String)>, CommandError> {
        if self.is_mirror {
            return self.ask(server::Question::StoredPrompt { item_id }).await;
        }
        let (reply, answer) = oneshot::channel();
        self.send(Message::StoredPrompt { item_id, reply }).await?;
        answer.await.map_err(|_| gone())
    }

    /// Returns what the agent would be started with if the session had these options, and what is wrong with them.
    /// Nothing is changed.
    pub async fn review_options(&self, options: SessionOptions) -> Result<OptionsReview, CommandError> {
        if self.is_mirror {
            return self.ask(server::Question::ReviewOptions { options: Box::new(options) }).await;
        }
        let (reply, answer) = oneshot::channel();
        self.send(Message::NextStart { options: Box::new(options), reply }).await?;
        let (start, launcher, project) = answer.await.map_err(|_| gone())?;
        let place = project.clone();
        let review = move || options::review(&start, &project, || launcher());
        Ok(disk::run(&place, disk::DEADLINE, review).await?)
    }

    /// Returns a snapshot with all items of the transcript.
    pub async fn snapshot(&self) -> Result<Snapshot, CommandError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Snapshot(reply)).await?;
        answer.await.map_err(|_| gone())
    }

    /// Changes the idle time until the agent hibernates, in milliseconds; 0 means never.
    pub async fn hibernate_after(&self, after_ms: u64) -> Result<(), CommandError> {
        self.send(Message::HibernateAfter(after_ms)).await
    }

    /// Runs what is queued, denies every permission request, then stops the process.
    pub async fn finish(&self) -> Result<(), CommandError> {
        let (reply, answer) = oneshot::channel();
        self.send(Message::Finish(reply)).await?;
        answer.await.map_err(|_| gone())
    }

    /// Denies open requests and stops the process, forcibly if necessary. Returns when it has exited.
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
pub(crate) mod tests;
