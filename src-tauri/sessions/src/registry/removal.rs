//! Sessions that the user removes: taken out of the list at once, ended, set aside on disk, and brought back.

use super::{Entry, SessionRegistry, lock, no_such_session};
use deskbell_engine::api::*;
use deskbell_engine::disk;
use deskbell_engine::session::SessionHandle;
use deskbell_engine::store::Record;
use std::path::Path;

impl SessionRegistry {
    /// Deletes what was removed before this start.
    pub(super) async fn forget_removed(&self) {
        let store = self.store.clone();
        let forgotten = disk::run(&self.opener.data, disk::DEADLINE, move || store.forget_removed()).await;
        match forgotten {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "could not delete removed sessions"),
            Err(error) => tracing::warn!(%error, "could not delete removed sessions"),
        }
    }

    /// Takes a session of this project out of the list, at once. `remove` then ends its process, which may take long.
    pub fn take_out(&self, project: &ProjectRef, id: &SessionId) -> Result<Session, CommandError> {
        let mut sessions = self.lock();
        let entry = sessions.remove(id).ok_or_else(no_such_session)?;
        if entry.project != *project {
            sessions.insert(id.clone(), entry);
            return Err(no_such_session());
        }
        let session = entry.session.clone();
        lock(&self.removed).insert(id.clone(), entry);
        Ok(session)
    }

    /// Ends a session that was taken out of the list and sets it aside in the store, for `restore`. The agent's own
    /// transcript stays where it is.
    pub async fn remove(&self, id: &SessionId) -> Result<(), CommandError> {
        let handle = lock(&self.removed).get(id).map(|entry| entry.handle.clone());
        if let Some(SessionHandle::Mirror(session)) = &handle {
            let discarded = session.discard().await;
            lock(&self.removed).remove(id);
            self.ended.notify_waiters();
            return discarded;
        }
        if let Some(handle) = handle
            && let Err(error) = handle.close().await
        {
            tracing::debug!(%error, "the session was already closed");
        }
        // Not earlier: a session saves itself when it ends.
        let (store, of) = (self.store.clone(), id.clone());
        let removed = disk::run(&self.opener.data, disk::DEADLINE, move || store.set_aside(&of)).await;
        lock(&self.removed).remove(id);
        self.ended.notify_waiters();
        removed?.map_err(|error| CommandError {
            code: ErrorCode::Internal,
            message:
                "The session's file could not be removed. The session is listed again when Deskbell starts."
                    .to_owned(),
            detail: Some(error.to_string()),
        })
    }

    /// Whether an agent of this project runs in the app itself.
    pub fn runs_agents_of(&self, project: &Path) -> bool {
        self.of_app(project).iter().any(|session| session.alive)
    }

    /// Takes the sessions of a folder that was moved to where it is now. Those in a server stay. The list of projects has
    /// the move already, and nothing leaves the store: what is not taken along now is at the next start.
    pub async fn move_project(&self, from: &Path, to: &Path) -> Result<Vec<Session>, CommandError> {
        let mut moved = Vec::new();
        for session in self.of_app(from) {
            let Some(entry) = self.lock().remove(&session.id) else { continue };
            if let Err(error) = entry.handle.close().await {
                tracing::debug!(%error, "the session was already closed");
            }
            // Not earlier: a session saves itself when it ends.
            let (store, of) = (self.store.clone(), session.id);
            let record = disk::run(&self.opener.data, disk::DEADLINE, move || store.record(&of)).await?;
            let record = record.map_err(|error| CommandError {
                code: ErrorCode::Internal,
                message: "A session could not be moved. It is in the new place when Deskbell starts again."
                    .to_owned(),
                detail: Some(error.to_string()),
            })?;
            // One without a record had nothing to save.
            if let Some(record) = record {
                moved.push(self.add(Record { project: to.to_owned(), ..record }).await?);
            }
        }
        Ok(moved)
    }

    /// The sessions of a project that run in the app itself.
    fn of_app(&self, project: &Path) -> Vec<Session> {
        let sessions = self.lock();
        let is_of =
            |entry: &&Entry| entry.project.here() == Some(project) && entry.handle.mirrored().is_none();
        sessions.values().filter(is_of).map(|entry| entry.session.clone()).collect()
    }

    /// Brings back a session that was removed since the app started, or opens its conversation if Deskbell had saved
    /// nothing of it. Waits until its agent has ended.
    pub async fn restore(
        &self,
        project: &ProjectRef,
        id: &SessionId,
        agent_session_id: Option<&str>,
    ) -> Result<Session, CommandError> {
        loop {
            // Registered before the check: it may end in between.
            let ended = self.ended.notified();
            if !lock(&self.removed).contains_key(id) {
                break;
            }
            ended.await;
        }
        if let Some(session) = self.known_in(project, id) {
            return Ok(session);
        }
        let Some(folder) = project.here().map(Path::to_owned) else {
            return Err(CommandError {
                code: ErrorCode::NoSuchSession,
                message: "A session that was removed on another machine cannot be brought back.".to_owned(),
                detail: None,
            });
        };
        let refused = |detail: Option<String>| CommandError {
            code: ErrorCode::NoSuchSession,
            message: "The session could not be brought back.".to_owned(),
            detail,
        };
        let (store, of) = (self.store.clone(), id.clone());
        let restored =
            disk::run(&self.opener.data, disk::DEADLINE, move || store.restore(&folder, &of)).await?;
        match (restored.map_err(|error| refused(Some(error.to_string())))?, agent_session_id) {
            (Some(record), _) => self.add(record).await,
            (None, Some(agent_session_id)) => self.open_stored(project, agent_session_id).await,
            (None, None) => Err(refused(None)),
        }
    }
}
