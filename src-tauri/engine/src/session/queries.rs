//! The answers of a session to queries: one implementation for each query that a session of this process answers itself.
//! A server answers those about its sessions.

use super::folder::CheckedAnswer;
use super::{CallImages, LocalMessage, LocalSession, SessionHandle, export, gone, server_log, task_output};
use crate::api::*;
use crate::disk;
use crate::export::{Images, valid_images};
use crate::options;
use crate::transcript::find::Search;
use std::future::Future;
use std::sync::atomic::Ordering;

/// A query that a session answers.
pub trait SessionRead: CheckedAnswer {
    /// Reads the answer from a session of this process.
    fn read(self, session: &LocalSession) -> impl Future<Output = Result<Self::Answer, CommandError>> + Send;

    /// Completes an answer with the rows that windows of this process have.
    fn place(
        answer: Self::Answer,
        _session: &SessionHandle,
    ) -> impl Future<Output = Result<Self::Answer, CommandError>> + Send {
        std::future::ready(Ok(answer))
    }
}

impl SessionHandle {
    /// Answers a query.
    pub async fn query<Q: SessionRead>(&self, query: Q) -> Result<Q::Answer, CommandError> {
        let answer = match self {
            Self::Local(session) => query.read(session).await?,
            Self::Mirror(session) => session.query(query).await?,
        };
        Q::place(answer, self).await
    }
}

impl SessionRead for OutputQuery {
    /// A blocking thread reads the file, so the session stays responsive.
    async fn read(self, session: &LocalSession) -> Result<Option<Output>, CommandError> {
        let Self { item_id, first, count } = self;
        let source = session.mailbox.ask(|reply| LocalMessage::Output { item_id, reply }).await?;
        let Some(source) = source else { return Ok(None) };
        let reader = session.reader.clone();
        let part = tokio::task::spawn_blocking(move || reader.part(&source, first, count)).await;
        part.map(Some).map_err(|_| gone())
    }
}

impl SessionRead for ImagesQuery {
    /// The images that are kept with the call, or those in the agent's own transcript. They are decoded and checked outside
    /// of the session, and what is not an image is left out.
    async fn read(self, session: &LocalSession) -> Result<Option<Vec<Attachment>>, CommandError> {
        let found =
            session.mailbox.ask(|reply| LocalMessage::Images { item_id: self.item_id, reply }).await?;
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
}

impl SessionRead for TaskOutputQuery {
    /// A disk that does not answer is an error, and holds up nothing else.
    async fn read(self, session: &LocalSession) -> Result<Option<TaskOutput>, CommandError> {
        let task = session.mailbox.ask(|reply| LocalMessage::TaskOutput { task_id: self.task_id, reply });
        match task.await? {
            Some(path) => task_output::read(path).await.map(Some),
            None => Ok(None),
        }
    }
}

impl SessionRead for ServerLogQuery {
    async fn read(self, session: &LocalSession) -> Result<Option<TaskOutput>, CommandError> {
        let server = self.server.clone();
        let place = session.mailbox.ask(|reply| LocalMessage::ServerLog { server, reply }).await?;
        let Some((project, conversation)) = place else { return Ok(None) };
        server_log::read(project, conversation, self.server).await
    }
}

impl SessionRead for RawLinesQuery {
    async fn read(self, session: &LocalSession) -> Result<RawLines, CommandError> {
        let recorder = session.recorder.clone();
        tokio::task::spawn_blocking(move || recorder.last_lines(self.after)).await.map_err(|_| gone())
    }
}

impl SessionRead for CopyQuery {
    async fn read(self, session: &LocalSession) -> Result<Option<String>, CommandError> {
        session.mailbox.ask(|reply| LocalMessage::Copy { copy: self.copy, reply }).await
    }
}

impl SessionRead for FindQuery {
    async fn read(self, session: &LocalSession) -> Result<Option<Found>, CommandError> {
        let Self { query, index } = self;
        let nr = session.finds.fetch_add(1, Ordering::Relaxed) + 1;
        let Some(mut search) = Search::new(&query) else { return Ok(Some(Found { count: 0, hit: None })) };
        loop {
            if session.finds.load(Ordering::Relaxed) != nr {
                return Ok(None);
            }
            let first = search.next();
            let slice = session.mailbox.ask(|reply| LocalMessage::Slice { first, reply }).await?;
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

    async fn place(answer: Option<Found>, session: &SessionHandle) -> Result<Option<Found>, CommandError> {
        let Some(mut found) = answer else { return Ok(None) };
        if let Some(hit) = &mut found.hit
            && let Some((row, part)) = session.place(hit.item_id.clone(), hit.part).await?
        {
            (hit.row, hit.part) = (row, part);
        }
        Ok(Some(found))
    }
}

impl SessionRead for LastAnswerQuery {
    async fn read(self, session: &LocalSession) -> Result<Option<String>, CommandError> {
        session.mailbox.ask(LocalMessage::LastAnswer).await
    }
}

impl SessionRead for StoredPromptQuery {
    async fn read(self, session: &LocalSession) -> Result<Option<(String, String)>, CommandError> {
        session.mailbox.ask(|reply| LocalMessage::StoredPrompt { item_id: self.item_id, reply }).await
    }
}

impl SessionRead for ReviewOptionsQuery {
    async fn read(self, session: &LocalSession) -> Result<OptionsReview, CommandError> {
        let (start, launcher, project) =
            session.mailbox.ask(|reply| LocalMessage::NextStart { options: self.options, reply }).await?;
        let place = project.clone();
        let review = move || options::review(&start, &project, || launcher());
        Ok(disk::run(&place, disk::DEADLINE, review).await?)
    }
}

impl SessionRead for ExportQuery {
    async fn read(self, session: &LocalSession) -> Result<String, CommandError> {
        let file = session.export(self.format).await?;
        Ok(String::from_utf8(file)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }
}

impl SessionRead for NamedFilesQuery {
    async fn read(self, session: &LocalSession) -> Result<Vec<Option<String>>, CommandError> {
        session.mailbox.ask(LocalMessage::NamedFiles).await?.find(self.paths).await
    }
}

impl SessionRead for FileTextQuery {
    async fn read(self, session: &LocalSession) -> Result<FileText, CommandError> {
        session.mailbox.ask(LocalMessage::NamedFiles).await?.read(self.path, self.line).await
    }
}

impl SessionRead for EditsQuery {
    async fn read(self, session: &LocalSession) -> Result<Option<Changes>, CommandError> {
        match session.edited_files(self.since_prompt).await? {
            Some(edited) => Ok(Some(edited.changes().await)),
            None => Ok(None),
        }
    }
}

impl SessionRead for EditDiffQuery {
    async fn read(self, session: &LocalSession) -> Result<Option<FileDiff>, CommandError> {
        match session.edited_files(self.since_prompt).await? {
            Some(edited) => Ok(Some(edited.file_diff(self.path).await)),
            None => Ok(None),
        }
    }
}
