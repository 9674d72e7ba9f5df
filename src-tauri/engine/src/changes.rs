//! Changes of a project's working tree, compared with its last commit or with the working tree at a prompt.
//!
//! Git's own program reads the commit and the index; the files of the project are read here. So nothing runs that the
//! repository configures, whether the folder is trusted or not.

mod commit;
mod compare;
mod content;
mod edits;
mod git;
mod listing;
mod patch;
mod revert;
mod snapshot;
mod versions;

#[cfg(test)]
#[cfg(unix)]
pub(crate) mod hostile_tests;
#[cfg(test)]
#[cfg(unix)]
pub(crate) mod list_tests;
#[cfg(test)]
#[cfg(unix)]
mod revert_tests;

pub use commit::Commits;
pub(crate) use edits::EditedFiles;
pub(crate) use git::{Git, GitError};
pub use revert::Reverts;
pub use snapshot::Snapshot;
use versions::{Versions, versions};

use crate::api::{Changes, ChangesBase, Checkout, Diff, FileDiff};
use crate::document::diff;
use crate::git::{BranchError, checkout};
use crate::host::Host;
use compare::{Rules, States, compare, on_disk};
use content::modified;
use git::MOST_LISTED;
use listing::{Blob, GitPath, index, records, tree};
use snapshot::Earlier;
use std::collections::BTreeMap;
use std::path::Path;

/// Maximum number of files in a list.
const MOST_FILES: usize = 10_000;
/// Maximum number of lines of a diff. The window draws all of them.
const MOST_LINES: usize = 3_000;

/// A project's working tree, which is compared with its last commit or with a snapshot.
#[derive(Clone, Copy)]
pub struct WorkingTree<'a> {
    host: &'a dyn Host,
    project: &'a Path,
    since: Option<&'a Snapshot>,
}

impl<'a> WorkingTree<'a> {
    pub fn new(host: &'a dyn Host, project: &'a Path, since: Option<&'a Snapshot>) -> Self {
        Self { host, project, since }
    }

    /// The checked-out branch, or the first 8 characters of the commit if HEAD is detached; nothing outside of a
    /// repository. Reads git's own files: call it through `disk::run`.
    pub fn checkout(project: &Path) -> Result<Checkout, BranchError> {
        checkout(project)
    }

    /// Whether git can say what has changed: its program exists, and the folder is in a repository. A repository that
    /// cannot be read is one, too.
    pub async fn has_git(&self) -> bool {
        match Git::new(self.host, self.project).await {
            Err(GitError::NoProgram) => false,
            Err(_) => true,
            Ok(git) => !matches!(Repository::of(&git).await, Ok(None) | Err(GitError::NoProgram)),
        }
    }

    /// The files that differ.
    pub async fn changes(&self) -> Changes {
        match read(self).await {
            Ok(changes) => changes,
            Err(error) => Changes { problem: problem(&error), ..Changes::empty(ChangesBase::NoRepository) },
        }
    }

    /// The change of one file. `path` is one of the list's.
    pub async fn file_diff(&self, path: &str) -> Result<FileDiff, GitError> {
        let Self { host, project, since } = *self;
        let git = Git::new(host, project).await?;
        let Some(repository) = Repository::of(&git).await? else {
            return Ok(note("This folder is not in a git repository."));
        };
        let found = versions(&git, &repository, since, &[path]).await?.pop();
        let found = match found {
            Some(Ok(found)) => found,
            Some(Err(said)) => return Ok(note(&said)),
            None => return Ok(note("This file no longer has changes.")),
        };
        let version = Some(found.fingerprint());
        let Some((before, after)) = found.texts() else {
            let (before, now) = (found.before().len(), found.now().len());
            let sizes = format!("A binary file: {before} bytes before, {now} bytes now.");
            return Ok(FileDiff { version, ..note(&sizes) });
        };
        let mut shown = diff(path, &before, &after);
        let n_more_lines = cut(&mut shown, MOST_LINES);
        let said = found.mode_words().or_else(|| shown.hunks.is_empty().then(|| unchanged(&found)));
        Ok(FileDiff {
            note: said.map(str::to_owned),
            diff: (!shown.hunks.is_empty()).then_some(shown),
            n_more_lines,
            version,
        })
    }
}

fn unchanged(found: &Versions) -> &'static str {
    match (found.is_there(), found.was_there()) {
        (true, false) => "A new, empty file.",
        (false, true) => "An empty file, which is gone.",
        _ => "The content has not changed.",
    }
}

/// Removes the lines after the first `most`, and returns their number.
fn cut(diff: &mut Diff, most: usize) -> u32 {
    let mut room = most;
    let mut n_cut = 0;
    for hunk in &mut diff.hunks {
        n_cut += hunk.lines.len().saturating_sub(room);
        hunk.lines.truncate(room);
        room -= hunk.lines.len();
    }
    diff.hunks.retain(|hunk| !hunk.lines.is_empty());
    u32::try_from(n_cut).unwrap_or(u32::MAX)
}

fn short(id: &str) -> &str {
    id.get(..8).filter(|_| id.bytes().all(|byte| byte.is_ascii_hexdigit())).unwrap_or(id)
}

fn note(text: &str) -> FileDiff {
    FileDiff { diff: None, note: Some(text.to_owned()), n_more_lines: 0, version: None }
}

/// The reason as a sentence.
fn problem(error: &GitError) -> Option<String> {
    Some(match error {
        GitError::NoProgram => {
            "Git is not installed, so changes are not compared with the last commit.".to_owned()
        }
        GitError::Failed(said) if said.contains("dubious ownership") => {
            "The repository belongs to another user, so git does not read it.".to_owned()
        }
        error => format!("The changes could not be read: {error}."),
    })
}

/// The repository that a folder is in.
struct Repository {
    commit: Option<String>,
    rules: Rules,
}

impl Repository {
    /// `None` outside of a working tree.
    async fn of(git: &Git<'_>) -> Result<Option<Self>, GitError> {
        let index = match git.ask(&["rev-parse", "--is-inside-work-tree", "--git-path", "index"]).await {
            Ok(output) => output,
            Err(GitError::Failed(said)) if said.contains("not a git repository") => return Ok(None),
            Err(error) => return Err(error),
        };
        let Some(index) =
            String::from_utf8_lossy(&index).trim_end().strip_prefix("true\n").map(str::to_owned)
        else {
            return Ok(None);
        };
        let (commit, settings) = tokio::join!(
            git.ask(&["rev-parse", "--quiet", "--verify", "HEAD^{commit}"]),
            git.ask(&["config", "--null", "--get-regexp", r"^core\.(filemode|autocrlf)$"]),
        );
        let commit = match commit {
            Ok(id) => Some(String::from_utf8_lossy(&id).trim().to_owned()),
            // Without a commit it prints nothing.
            Err(GitError::Failed(_)) => None,
            Err(error) => return Err(error),
        };
        // It fails if there is neither of them.
        let settings = String::from_utf8_lossy(&settings.unwrap_or_default()).to_lowercase();
        let index = git.folder().join(index);
        let written = on_disk(git.folder(), move || modified(&index));
        let rules = Rules {
            index_written: written.await?,
            compares_executable: cfg!(unix) && !settings.contains("core.filemode\nfalse"),
            converts_line_ends: ["true", "input"]
                .iter()
                .any(|value| settings.split('\0').any(|line| line == format!("core.autocrlf\n{value}"))),
        };
        Ok(Some(Self { commit, rules }))
    }
}

/// The files of a commit with what differed from it in the snapshot; with `path` only that one.
async fn earlier(
    git: &Git<'_>,
    head: Option<&str>,
    since: Option<&Snapshot>,
    path: Option<&str>,
) -> Result<BTreeMap<GitPath, Earlier>, GitError> {
    let commit = since.map_or(head, |since| since.commit.as_deref());
    let of_commit: BTreeMap<GitPath, Blob> = match commit {
        None => BTreeMap::new(),
        // It may be from a file.
        Some(commit) if !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) => BTreeMap::new(),
        Some(commit) => {
            let mut args = vec!["ls-tree", "-r", "-z", commit];
            args.extend(path.map(|_| "--").into_iter().chain(path));
            tree(&git.ask(&args).await?)
        }
    };
    Ok(match since {
        Some(since) => since.over(of_commit),
        None => of_commit.into_iter().map(|(path, blob)| (path, Earlier::Blob(blob))).collect(),
    })
}

/// Whether this is a worktree that an agent made (`EnterWorktree`, 2.1.329). Git lists it as a new folder; its files are on
/// another branch.
fn is_agent_worktree(path: &[u8]) -> bool {
    path.starts_with(b".claude/worktrees/") && path.ends_with(b"/")
}

async fn read(&WorkingTree { host, project, since }: &WorkingTree<'_>) -> Result<Changes, GitError> {
    let git = Git::new(host, project).await?;
    let Some(Repository { commit, rules }) = Repository::of(&git).await? else {
        return Ok(Changes::empty(ChangesBase::NoRepository));
    };
    let (old, listed, untracked) = tokio::join!(
        earlier(&git, commit.as_deref(), since, None),
        git.ask(&["ls-files", "--stage", "--debug", "-z"]),
        git.ask_with(&["ls-files", "--others", "--exclude-standard", "-z"], &[], MOST_LISTED),
    );
    let mut said = None;
    let untracked = match untracked {
        Ok(output) => records(&output).filter(|path| !is_agent_worktree(path)).map(<[u8]>::to_vec).collect(),
        Err(error) => {
            said = Some(format!("New files could not be listed: {error}."));
            Vec::new()
        }
    };
    let states = States { old: old?, index: index(&listed?), untracked, rules };
    let mut compared = compare(&git, project, states).await?;
    let n_more = compared.files.len().saturating_sub(MOST_FILES);
    compared.files.truncate(MOST_FILES);
    let base = match (since, commit) {
        (Some(since), _) => ChangesBase::Prompt { since: since.since },
        (None, Some(id)) => ChangesBase::Commit { id },
        (None, None) => ChangesBase::NoCommit,
    };
    if since.is_some_and(|since| !since.is_complete()) {
        said = said.or_else(|| {
            Some("Some files had changed before that prompt and were not kept, so their earlier changes are listed too.".to_owned())
        });
    }
    Ok(Changes {
        base,
        files: compared.files,
        n_more: u32::try_from(n_more).unwrap_or(u32::MAX),
        n_not_compared: u32::try_from(compared.n_not_compared).unwrap_or(u32::MAX),
        problem: said,
    })
}
