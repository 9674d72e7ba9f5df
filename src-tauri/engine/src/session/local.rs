//! A session that runs in this process.

use super::mailbox::Mailbox;
use super::{Message, Open, actor, export, log};
use crate::api::*;
use crate::changes::EditedFiles;
use crate::launch::Start;
use crate::named_files::NamedFiles;
use crate::recorder::{NewFile, Recorder};
use crate::session::Launcher;
use crate::transcript::find::Slice;
use crate::transcript::output::{Reader, Source};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use tokio::sync::oneshot;
use tracing::Instrument;

/// The images that a call returned.
pub(crate) struct CallImages {
    /// As base64.
    pub images: Vec<Arc<str>>,
    /// The call's id in the agent's own transcript.
    pub stored_id: String,
    /// Of that transcript: the agent's configuration folder, the project's folder and the conversation. `None` if it cannot
    /// be read.
    pub transcript: Option<(PathBuf, PathBuf, String)>,
}

/// The messages of a session that runs in this process.
pub(crate) enum LocalMessage {
    Any(Message),
    HibernateAfter(u64),
    StartWithoutAsking(oneshot::Sender<Result<(), CommandError>>),
    LastAnswer(oneshot::Sender<Option<String>>),
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
    /// Returns where the files are that texts of the session name.
    NamedFiles(oneshot::Sender<NamedFiles>),
    /// Returns the project and the id of the conversation, if the agent reported an MCP server of this name.
    ServerLog {
        server: String,
        reply: oneshot::Sender<Option<(PathBuf, String)>>,
    },
    /// Returns the images of a call that are kept, and where the others are.
    Images {
        item_id: ItemId,
        reply: oneshot::Sender<Option<CallImages>>,
    },
    Output {
        item_id: ItemId,
        reply: oneshot::Sender<Option<Source>>,
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
    /// Records the session from now on.
    Record {
        file: NewFile,
        reply: oneshot::Sender<Result<RecordingState, CommandError>>,
    },
}

impl From<Message> for LocalMessage {
    fn from(message: Message) -> Self {
        Self::Any(message)
    }
}

/// A handle to a session that runs in this process.
#[derive(Clone)]
pub struct LocalSession {
    pub(super) mailbox: Mailbox<LocalMessage>,
    /// Reads the tool outputs that are on display.
    pub(super) reader: Arc<Reader>,
    /// Number of searches started. A search stops when a later one has started.
    pub(super) finds: Arc<AtomicU64>,
    /// Has the last lines. A session that is blocked can be looked at too.
    pub(super) recorder: Recorder,
}

impl LocalSession {
    pub(super) fn open(open: Open) -> Self {
        let (mailbox, inbox, is_ending) = Mailbox::new(open.record.id.clone());
        let recorder = open.recorder.clone();
        tokio::spawn(actor::run(open, inbox, is_ending).instrument(log::span(mailbox.id())));
        Self { mailbox, reader: Arc::default(), finds: Arc::default(), recorder }
    }

    pub(super) async fn edited_files(&self, since_prompt: bool) -> Result<Option<EditedFiles>, CommandError> {
        self.mailbox.ask(|reply| LocalMessage::Edited { since_prompt, reply }).await
    }

    pub(super) async fn refresh(&self, is_live: bool) -> Result<bool, CommandError> {
        let (reply, answer) = oneshot::channel();
        self.mailbox.send(LocalMessage::Refresh { is_live, reply }).await?;
        // Without an answer the transcript was not read yet, so there is nothing to update.
        Ok(answer.await.unwrap_or(false))
    }
}
