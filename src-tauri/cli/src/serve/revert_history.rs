//! The reverts of changes in the folders of this server's sessions. They can be undone.

use super::lock;
use deskbell_engine::LocalHost;
use deskbell_engine::api::server::RevertRequest;
use deskbell_engine::api::{CommandError, ErrorCode, SessionId};
use deskbell_engine::changes::Reverts;
use deskbell_sessions::folders;
use deskbell_sessions::opener::now_ms;
use deskbell_sessions::prompt_snapshots::PromptSnapshots;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Maximum number of reverts that can be undone. The oldest ones go.
const MOST_REVERTS: usize = 256;

/// The reverts of this server that can be undone, by the id of their request: the folder, and the time that names the
/// copies.
#[derive(Default)]
pub struct RevertHistory(Mutex<VecDeque<(String, PathBuf, u64)>>);

impl RevertHistory {
    /// Reverts a change in a folder, or undoes a revert.
    pub async fn carry_out(
        &self,
        id: &str,
        folder: &Path,
        change: RevertRequest,
        prompts: &PromptSnapshots,
        session: &SessionId,
    ) -> Result<(), CommandError> {
        let reverts = Reverts::new(&LocalHost, folder, &folders::data());
        match change {
            RevertRequest::Revert { against, path, old_path, version, hunk } => {
                let since = prompts.known(session, against)?;
                let (old_path, version) = (old_path.as_deref(), Some(version.as_str()));
                let done = reverts.revert(since.as_deref(), &path, old_path, version, hunk, now_ms()).await?;
                let mut known = lock(&self.0);
                if known.len() >= MOST_REVERTS {
                    known.pop_front();
                }
                known.push_back((id.to_owned(), folder.to_owned(), done.at));
                Ok(())
            }
            RevertRequest::Undo { of } => {
                let is_it = |(id, place, _): &&(String, PathBuf, u64)| *id == of && place == folder;
                let at = lock(&self.0).iter().find(is_it).map(|(_, _, at)| *at);
                let at = at.ok_or_else(|| {
                    refused("The server no longer knows this revert, so nothing was undone. It was restarted since.")
                })?;
                reverts.undo(Some(at)).await
            }
        }
    }
}

fn refused(message: &str) -> CommandError {
    CommandError { code: ErrorCode::Refused, message: message.to_owned(), detail: None }
}
