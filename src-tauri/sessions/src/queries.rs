//! The answers to queries about a session, for windows and for the server. The machine of a session answers those about
//! its folder and its processes.

use crate::cost::LastProcesses;
use crate::prompt_snapshots::PromptSnapshots;
use deskbell_engine::LocalHost;
use deskbell_engine::api::*;
use deskbell_engine::changes::{Snapshot, WorkingTree};
use deskbell_engine::files::Files;
use deskbell_engine::session::SessionHandle;
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of folders whose names are in memory. Another one takes the place of the one that was used first.
const MOST_KNOWN: usize = 4;

/// The folders that were searched last, the last one at the end.
#[derive(Default)]
struct SearchedFolders(Mutex<Vec<(PathBuf, Files)>>);

impl SearchedFolders {
    fn of(&self, folder: &Path) -> Files {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = known.iter().position(|(of, _)| of == folder);
        let one = at.map_or_else(|| (folder.to_owned(), Files::of(folder)), |at| known.remove(at));
        if known.len() >= MOST_KNOWN {
            known.remove(0);
        }
        known.push(one.clone());
        one.1
    }
}

/// The sources of this machine for queries about folders and processes.
#[derive(Default)]
pub struct QuerySources {
    /// The folders of the sessions at their prompts.
    pub prompts: PromptSnapshots,
    searched: SearchedFolders,
    processes: LastProcesses,
}

/// A session whose folder is on this machine.
pub struct QueriedSession<'a> {
    pub session: &'a SessionHandle,
    pub folder: &'a Path,
    pub sources: &'a QuerySources,
    /// The process of its agent.
    pub pid: Option<u32>,
    /// The longest answer in bytes; `None` has no limit.
    pub most_bytes: Option<usize>,
}

/// A form of an answer: a value for the line of a server, or JSON for a page.
pub trait AnswerForm: Sized {
    fn of(answer: &impl Serialize) -> serde_json::Result<Self>;
}

impl AnswerForm for Value {
    fn of(answer: &impl Serialize) -> serde_json::Result<Self> {
        serde_json::to_value(answer)
    }
}

impl AnswerForm for String {
    fn of(answer: &impl Serialize) -> serde_json::Result<Self> {
        serde_json::to_string(answer)
    }
}

impl QueriedSession<'_> {
    /// Answers a query.
    pub async fn answer<A: AnswerForm>(&self, query: SessionQuery) -> Result<A, CommandError> {
        each_query!(
            query,
            session query => written(&self.session.query(query).await?),
            folder query => written(&query.read(self).await?),
            unknown => Err(unknown()),
        )
    }

    fn compared(&self, against: Against) -> Compared<'_> {
        let since = self.sources.prompts.get(self.session.id(), against);
        Compared { folder: self.folder, against, since }
    }
}

/// Answers a query about a session of another machine.
pub async fn answer_there<A: AnswerForm>(
    session: &SessionHandle,
    query: SessionQuery,
) -> Result<A, CommandError> {
    let there = session.mirrored().ok_or_else(unknown)?;
    each_query!(
        query,
        session query => written(&session.query(query).await?),
        folder query => written(&there.query(query).await?),
        unknown => Err(unknown()),
    )
}

/// A folder, and the state that it is compared with.
struct Compared<'a> {
    folder: &'a Path,
    against: Against,
    since: Option<Arc<Snapshot>>,
}

impl Compared<'_> {
    fn tree(&self) -> WorkingTree<'_> {
        WorkingTree::new(&LocalHost, self.folder, self.since.as_deref())
    }

    fn is_unknown(&self) -> bool {
        self.against != Against::Commit && self.since.is_none()
    }

    fn since_prompt(&self) -> bool {
        self.against == Against::Prompt
    }

    /// Whether the agent's own copies are compared: without git, and for the last prompt if the folder at it is not known.
    fn is_by_copies(&self, has_git: bool) -> bool {
        !has_git || (self.is_unknown() && self.since_prompt())
    }
}

/// A query about the folder or the processes of a session.
trait FolderRead: TypedQuery {
    async fn read(self, of: &QueriedSession<'_>) -> Result<Self::Answer, CommandError>;
}

impl FolderRead for FilesQuery {
    async fn read(self, of: &QueriedSession<'_>) -> Result<FoundFiles, CommandError> {
        of.sources.searched.of(of.folder).offered(self.query).await
    }
}

impl FolderRead for ChangesQuery {
    async fn read(self, of: &QueriedSession<'_>) -> Result<Changes, CommandError> {
        let compared = of.compared(self.against);
        let has_git = compared.tree().has_git().await;
        if compared.is_by_copies(has_git) {
            match of.session.query(EditsQuery { since_prompt: compared.since_prompt() }).await {
                Ok(Some(mut edits)) => {
                    if has_git {
                        edits.problem.get_or_insert_with(|| {
                            "Deskbell does not know the folder at the last prompt.".to_owned()
                        });
                    }
                    return fitting(edits, of.most_bytes);
                }
                Ok(None) => {}
                // The server of the session may be an older one, or not be reached.
                Err(error) => {
                    let problem = Some(error.message);
                    return Ok(Changes { problem, ..Changes::empty(ChangesBase::NoRepository) });
                }
            }
        }
        if compared.is_unknown() {
            return Ok(Changes::empty(ChangesBase::NoPrompt));
        }
        fitting(compared.tree().changes().await, of.most_bytes)
    }
}

impl FolderRead for FileDiffQuery {
    async fn read(self, of: &QueriedSession<'_>) -> Result<FileDiff, CommandError> {
        let Self { path, against } = self;
        let compared = of.compared(against);
        if compared.is_by_copies(compared.tree().has_git().await) {
            let edit = EditDiffQuery { since_prompt: compared.since_prompt(), path: path.clone() };
            if let Some(diff) = of.session.query(edit).await? {
                return fitting_diff(diff, of.most_bytes);
            }
        }
        of.sources.prompts.known(of.session.id(), against)?;
        let diff = compared.tree().file_diff(&path).await.map_err(|error| CommandError {
            code: ErrorCode::Internal,
            message: "The change of the file could not be read.".to_owned(),
            detail: Some(error.to_string()),
        })?;
        fitting_diff(diff, of.most_bytes)
    }
}

impl FolderRead for PromptMomentsQuery {
    async fn read(self, of: &QueriedSession<'_>) -> Result<Vec<PromptMoment>, CommandError> {
        Ok(of.sources.prompts.moments(of.folder, of.session.id()))
    }
}

impl FolderRead for EditsQuery {
    async fn read(self, of: &QueriedSession<'_>) -> Result<Option<Changes>, CommandError> {
        let edits = of.session.query(self).await?;
        edits.map(|edits| fitting(edits, of.most_bytes)).transpose()
    }
}

impl FolderRead for EditDiffQuery {
    async fn read(self, of: &QueriedSession<'_>) -> Result<Option<FileDiff>, CommandError> {
        let diff = of.session.query(self).await?;
        diff.map(|diff| fitting_diff(diff, of.most_bytes)).transpose()
    }
}

impl FolderRead for PatchQuery {
    async fn read(self, of: &QueriedSession<'_>) -> Result<Patch, CommandError> {
        let since = of.sources.prompts.known(of.session.id(), self.against)?;
        let only: Vec<String> = self.path.into_iter().collect();
        let patch = WorkingTree::new(&LocalHost, of.folder, since.as_deref())
            .patch(&only)
            .await
            .map_err(|why| refused(&why))?;
        if is_longer(&patch, of.most_bytes)? {
            return Err(refused("This patch is too large to be sent from its machine."));
        }
        Ok(patch)
    }
}

impl FolderRead for ProcessesQuery {
    async fn read(self, of: &QueriedSession<'_>) -> Result<Option<ProcessCost>, CommandError> {
        let Some(pid) = of.pid else { return Ok(None) };
        Ok(of.sources.processes.get().await?.cost_of(pid))
    }
}

/// The list of changes with the files that fit into this number of bytes. The others are counted.
fn fitting(mut changes: Changes, most: Option<usize>) -> Result<Changes, CommandError> {
    while is_longer(&changes, most)? && !changes.files.is_empty() {
        let n_left = changes.files.len() / 2;
        let n_cut = u32::try_from(changes.files.len() - n_left).unwrap_or(u32::MAX);
        changes.n_more = changes.n_more.saturating_add(n_cut);
        changes.files.truncate(n_left);
    }
    Ok(changes)
}

fn fitting_diff(diff: FileDiff, most: Option<usize>) -> Result<FileDiff, CommandError> {
    if !is_longer(&diff, most)? {
        return Ok(diff);
    }
    let note = Some("This change is too large to be sent from its machine.".to_owned());
    Ok(FileDiff { diff: None, note, n_more_lines: 0, version: None })
}

fn is_longer(answer: &impl Serialize, most: Option<usize>) -> Result<bool, CommandError> {
    let Some(most) = most else { return Ok(false) };
    let text = serde_json::to_vec(answer).map_err(|error| unwritten(&error))?;
    Ok(text.len() > most)
}

fn written<A: AnswerForm>(answer: &impl Serialize) -> Result<A, CommandError> {
    A::of(answer).map_err(|error| unwritten(&error))
}

fn unwritten(error: &serde_json::Error) -> CommandError {
    CommandError {
        code: ErrorCode::Internal,
        message: "The answer could not be written.".to_owned(),
        detail: Some(error.to_string()),
    }
}

fn unknown() -> CommandError {
    CommandError {
        code: ErrorCode::BadCommand,
        message: "This server does not know the question. It may be older than its client.".to_owned(),
        detail: None,
    }
}

fn refused(message: &str) -> CommandError {
    CommandError { code: ErrorCode::Refused, message: message.to_owned(), detail: None }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let whole = fitting(changes.clone(), None).unwrap();
        assert_eq!(whole, changes);
        let changes = fitting(changes, Some(50_000)).unwrap();
        assert!(!is_longer(&changes, Some(50_000)).unwrap() && changes.files.len() > 100);
        assert_eq!(changes.files.len() as u32 + changes.n_more, 1_005);
    }

    #[test]
    fn few_folders_are_kept_the_last_ones() {
        let searched = SearchedFolders::default();
        for name in ["a", "b", "c", "d", "a", "e"] {
            searched.of(Path::new(name));
        }
        let known: Vec<PathBuf> = searched.0.lock().unwrap().iter().map(|(of, _)| of.clone()).collect();
        assert_eq!(known, ["c", "d", "a", "e"].map(PathBuf::from));
    }
}
