//! A session that runs in this process.

use super::mailbox::Mailbox;
use super::{Message, Open, actor, export, gone, log, server_log, task_output};
use crate::api::*;
use crate::changes::EditedFiles;
use crate::disk;
use crate::export::{Images, valid_images};
use crate::launch::Start;
use crate::named_files::NamedFiles;
use crate::options;
use crate::recorder::{NewFile, Recorder};
use crate::session::Launcher;
use crate::transcript::find::{Search, Slice};
use crate::transcript::output::{Reader, Source};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
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
    reader: Arc<Reader>,
    /// Number of searches started. A search stops when a later one has started.
    finds: Arc<AtomicU64>,
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

    pub(super) async fn find(
        &self,
        query: String,
        index: Option<i64>,
    ) -> Result<Option<Found>, CommandError> {
        let nr = self.finds.fetch_add(1, Ordering::Relaxed) + 1;
        let Some(mut search) = Search::new(&query) else { return Ok(Some(Found { count: 0, hit: None })) };
        loop {
            if self.finds.load(Ordering::Relaxed) != nr {
                return Ok(None);
            }
            let first = search.next();
            let slice = self.mailbox.ask(|reply| LocalMessage::Slice { first, reply }).await?;
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

    /// The images that a call returned: those that are kept with it, or those in the agent's own transcript. They are decoded
    /// and checked outside of the session.
    pub(super) async fn images(&self, item_id: ItemId) -> Result<Option<Vec<Attachment>>, CommandError> {
        let found = self.mailbox.ask(|reply| LocalMessage::Images { item_id, reply }).await?;
        let Some(CallImages { images, stored_id, transcript }) = found else { return Ok(None) };
        let stored = match transcript.filter(|_| images.is_empty()) {
            Some((config, project, id)) => export::images(config, project, id).await,
            None => Images::default(),
        };
        let check = move || match images.is_empty() {
            true => stored.at(&stored_id).to_vec(),
            false => valid_images(&images),
        };
        tokio::task::spawn_blocking(check).await.map(Some).map_err(|_| gone())
    }

    /// A blocking thread reads the file, so the session stays responsive.
    pub(super) async fn output(
        &self,
        item_id: ItemId,
        first: u32,
        count: u32,
    ) -> Result<Option<Output>, CommandError> {
        let source = self.mailbox.ask(|reply| LocalMessage::Output { item_id, reply }).await?;
        let Some(source) = source else { return Ok(None) };
        let reader = self.reader.clone();
        let part = tokio::task::spawn_blocking(move || reader.part(&source, first, count)).await;
        part.map(Some).map_err(|_| gone())
    }

    pub(super) async fn task_output(&self, task_id: String) -> Result<Option<TaskOutput>, CommandError> {
        match self.mailbox.ask(|reply| LocalMessage::TaskOutput { task_id, reply }).await? {
            Some(path) => task_output::read(path).await.map(Some),
            None => Ok(None),
        }
    }

    pub(super) async fn edits(&self, since_prompt: bool) -> Result<Option<Changes>, CommandError> {
        match self.edited_files(since_prompt).await? {
            Some(edited) => Ok(Some(edited.changes().await)),
            None => Ok(None),
        }
    }

    pub(super) async fn edit_diff(
        &self,
        since_prompt: bool,
        path: String,
    ) -> Result<Option<FileDiff>, CommandError> {
        match self.edited_files(since_prompt).await? {
            Some(edited) => Ok(Some(edited.file_diff(path).await)),
            None => Ok(None),
        }
    }

    pub(super) async fn find_named(&self, paths: Vec<String>) -> Result<Vec<Option<String>>, CommandError> {
        self.mailbox.ask(LocalMessage::NamedFiles).await?.find(paths).await
    }

    pub(super) async fn file_text(&self, path: String, line: Option<u32>) -> Result<FileText, CommandError> {
        self.mailbox.ask(LocalMessage::NamedFiles).await?.read(path, line).await
    }

    async fn edited_files(&self, since_prompt: bool) -> Result<Option<EditedFiles>, CommandError> {
        self.mailbox.ask(|reply| LocalMessage::Edited { since_prompt, reply }).await
    }

    pub(super) async fn server_log(&self, server: String) -> Result<Option<TaskOutput>, CommandError> {
        let named = server.clone();
        let place = self.mailbox.ask(|reply| LocalMessage::ServerLog { server: named, reply }).await?;
        let Some((project, conversation)) = place else { return Ok(None) };
        server_log::read(project, conversation, server).await
    }

    pub(super) async fn raw_lines(&self, after: u64) -> Result<RawLines, CommandError> {
        let recorder = self.recorder.clone();
        tokio::task::spawn_blocking(move || recorder.last_lines(after)).await.map_err(|_| gone())
    }

    pub(super) async fn refresh(&self, is_live: bool) -> Result<bool, CommandError> {
        let (reply, answer) = oneshot::channel();
        self.mailbox.send(LocalMessage::Refresh { is_live, reply }).await?;
        // Without an answer the transcript was not read yet, so there is nothing to update.
        Ok(answer.await.unwrap_or(false))
    }

    pub(super) async fn review_options(
        &self,
        options: Box<SessionOptions>,
    ) -> Result<OptionsReview, CommandError> {
        let (start, launcher, project) =
            self.mailbox.ask(|reply| LocalMessage::NextStart { options, reply }).await?;
        let place = project.clone();
        let review = move || options::review(&start, &project, || launcher());
        Ok(disk::run(&place, disk::DEADLINE, review).await?)
    }
}
