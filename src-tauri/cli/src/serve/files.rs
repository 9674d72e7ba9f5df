//! Questions about the files of a session's folder: the list for `@` in a prompt, and its changes, which are reverted
//! here too. They are answered on the machine of the session, by what answers them in a window of this machine.

use super::lock;
use deskbell_engine::LocalHost;
use deskbell_engine::api::server::RevertRequest;
use deskbell_engine::api::{
    Against, Changes, ChangesBase, CommandError, ErrorCode, FileDiff, Patch, SessionId,
};
use deskbell_engine::changes::{Reverts, Snapshot, WorkingTree};
use deskbell_engine::files::Files;
use deskbell_engine::session::SessionHandle;
use deskbell_server::hub::MAX_ANSWER_BYTES;
use deskbell_sessions::folders;
use deskbell_sessions::opener::now_ms;
use deskbell_sessions::prompt_snapshots::PromptSnapshots;
use serde::Serialize;
use serde_json::Value;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Maximum length of an answer, with room for the line around it.
const MOST_BYTES: usize = MAX_ANSWER_BYTES - 1024;
/// Maximum number of folders whose names are in memory. Another one takes the place of the one that was used first.
const MOST_KNOWN: usize = 4;
/// Maximum number of reverts that can be undone. The oldest ones go.
const MOST_REVERTS: usize = 256;

/// The folders that were searched last, the last one at the end.
#[derive(Default)]
pub struct SearchedFolders(Mutex<Vec<(PathBuf, Files)>>);

impl SearchedFolders {
    /// The files of a folder that match a partly typed name, as an answer.
    pub async fn find(&self, folder: &Path, query: String) -> Result<Value, CommandError> {
        written(&self.of(folder).offered(query).await?)
    }

    fn of(&self, folder: &Path) -> Files {
        let mut known = lock(&self.0);
        let at = known.iter().position(|(of, _)| of == folder);
        let one = at.map_or_else(|| (folder.to_owned(), Files::of(folder)), |at| known.remove(at));
        if known.len() >= MOST_KNOWN {
            known.remove(0);
        }
        known.push(one.clone());
        one.1
    }
}

/// The folder of a session, and what it is compared with.
pub struct Compared<'a> {
    session: &'a SessionHandle,
    folder: &'a Path,
    against: Against,
    since: Option<Arc<Snapshot>>,
}

impl<'a> Compared<'a> {
    pub fn new(
        session: &'a SessionHandle,
        folder: &'a Path,
        prompts: &PromptSnapshots,
        against: Against,
    ) -> Self {
        Self { session, folder, against, since: prompts.get(session.id(), against) }
    }

    fn tree(&self) -> WorkingTree<'_> {
        WorkingTree::new(&LocalHost, self.folder, self.since.as_deref())
    }

    fn is_unknown(&self) -> bool {
        self.against != Against::Commit && self.since.is_none()
    }

    /// Whether the agent's own copies are compared: without git, and for the last prompt if the folder at it is not known.
    async fn is_by_copies(&self) -> bool {
        (self.is_unknown() && self.against == Against::Prompt) || !self.tree().has_git().await
    }
}

/// The files of a session's folder that differ, as an answer. Where they are too many for one, the last of them are counted
/// instead of listed.
pub async fn changes(of: Compared<'_>) -> Result<Value, CommandError> {
    if of.is_by_copies().await
        && let Some(edits) = of.session.edits(of.against == Against::Prompt).await?
    {
        return fitting(edits);
    }
    if of.is_unknown() {
        return fitting(Changes::empty(ChangesBase::NoPrompt));
    }
    fitting(of.tree().changes().await)
}

/// The change of one of these files, as an answer.
pub async fn file_diff(of: Compared<'_>, path: String) -> Result<Value, CommandError> {
    if of.is_by_copies().await
        && let Some(diff) = of.session.edit_diff(of.against == Against::Prompt, path.clone()).await?
    {
        return fitting_diff(diff);
    }
    if of.is_unknown() {
        return Err(no_prompt());
    }
    let tree = of.tree();
    let read = tree.file_diff(&path).await;
    fitting_diff(read.map_err(|error| CommandError {
        code: ErrorCode::Internal,
        message: "The change of the file could not be read.".to_owned(),
        detail: Some(error.to_string()),
    })?)
}

/// The files that the agent of a session edited, as an answer: `null` without a conversation.
pub async fn edits(session: &SessionHandle, since_prompt: bool) -> Result<Value, CommandError> {
    session.edits(since_prompt).await?.map_or(Ok(Value::Null), fitting)
}

/// The change of one of these files, as an answer.
pub async fn edit_diff(
    session: &SessionHandle,
    since_prompt: bool,
    path: String,
) -> Result<Value, CommandError> {
    session.edit_diff(since_prompt, path).await?.map_or(Ok(Value::Null), fitting_diff)
}

fn fitting(mut changes: Changes) -> Result<Value, CommandError> {
    fit(&mut changes, MOST_BYTES)?;
    written(&changes)
}

fn fitting_diff(mut diff: FileDiff) -> Result<Value, CommandError> {
    if length(&diff)? > MOST_BYTES {
        let note = Some("This change is too large to be sent from its machine.".to_owned());
        diff = FileDiff { diff: None, note, n_more_lines: 0, version: None };
    }
    written(&diff)
}

/// The changes of one of these files, or of all, as an answer.
pub async fn patch(of: Compared<'_>, path: Option<String>) -> Result<Value, CommandError> {
    if of.is_unknown() {
        return Err(no_prompt());
    }
    let only: Vec<String> = path.into_iter().collect();
    let patch = of.tree().patch(&only).await;
    let patch: Patch = patch.map_err(|why| refused(&why))?;
    if length(&patch)? > MOST_BYTES {
        return Err(refused("This patch is too large to be sent from its machine."));
    }
    written(&patch)
}

fn no_prompt() -> CommandError {
    refused("The files at that prompt are no longer known: the server was restarted since.")
}

/// The prompts of a session to compare its folder with, as an answer.
pub fn prompt_moments(
    prompts: &PromptSnapshots,
    folder: &Path,
    session: &SessionHandle,
) -> Result<Value, CommandError> {
    written(&prompts.moments(folder, session.id()))
}

/// The reverts of this server that can be undone, by the id of their request: the folder, and the time that names the
/// copies.
#[derive(Default)]
pub struct Reverted(Mutex<VecDeque<(String, PathBuf, u64)>>);

impl Reverted {
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
                let since = prompts.get(session, against);
                if against != Against::Commit && since.is_none() {
                    return Err(no_prompt());
                }
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

fn fit(changes: &mut Changes, most: usize) -> Result<(), CommandError> {
    while length(changes)? > most && !changes.files.is_empty() {
        let n_left = changes.files.len() / 2;
        let n_cut = u32::try_from(changes.files.len() - n_left).unwrap_or(u32::MAX);
        changes.n_more = changes.n_more.saturating_add(n_cut);
        changes.files.truncate(n_left);
    }
    Ok(())
}

fn length(answer: &impl Serialize) -> Result<usize, CommandError> {
    serde_json::to_vec(answer).map(|text| text.len()).map_err(|error| unwritten(&error))
}

pub(super) fn written(answer: &impl Serialize) -> Result<Value, CommandError> {
    serde_json::to_value(answer).map_err(|error| unwritten(&error))
}

fn unwritten(error: &serde_json::Error) -> CommandError {
    CommandError {
        code: ErrorCode::Internal,
        message: "The answer could not be written.".to_owned(),
        detail: Some(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deskbell_engine::api::{FileChange, FileContent, FileState};

    #[test]
    fn too_many_changes_are_counted_instead_of_listed() {
        let file = FileChange {
            path: "x".repeat(100),
            old_path: None,
            state: FileState::Modified,
            content: FileContent::Text,
            added: Some(1),
            removed: None,
        };
        let mut changes = Changes::empty(ChangesBase::NoCommit);
        changes.files = vec![file; 1_000];
        changes.n_more = 5;
        fit(&mut changes, 50_000).unwrap();
        assert!(length(&changes).unwrap() <= 50_000 && changes.files.len() > 100);
        assert_eq!(changes.files.len() as u32 + changes.n_more, 1_005);
    }

    #[test]
    fn few_folders_are_kept_the_last_ones() {
        let searched = SearchedFolders::default();
        for name in ["a", "b", "c", "d", "a", "e"] {
            searched.of(Path::new(name));
        }
        let known: Vec<PathBuf> = lock(&searched.0).iter().map(|(of, _)| of.clone()).collect();
        assert_eq!(known, ["c", "d", "a", "e"].map(PathBuf::from));
    }
}
