//! Worktrees of a repository: one folder for each session, so that agents who work at the same time do not change each
//! other's files.
//!
//! Git's program does the work. It runs nothing that the repository configures: hooks are off, and filters, which could
//! run a program for each file, are emptied. So files that a filter converts, such as those of Git LFS, are checked out as
//! they are stored. A worktree that holds anything that is nowhere else is not removed.

mod error;

#[cfg(test)]
#[cfg(unix)]
mod tests;

use crate::api::{MOST_NAMED, Worktree, WorktreePlan, WorktreeRemoval, named};
use crate::changes::{Git, GitError, WorkingTree};
use crate::disk;
use crate::host::Host;
use error::WorktreeError;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time limit for checking out or removing all files.
const DEADLINE: Duration = Duration::from_secs(120);

/// The worktrees of the repository that a folder is in.
pub struct Worktrees<'a> {
    host: &'a dyn Host,
    folder: &'a Path,
}

impl<'a> Worktrees<'a> {
    pub fn new(host: &'a dyn Host, folder: &'a Path) -> Self {
        Self { host, folder }
    }

    /// The main one first.
    pub async fn list(&self) -> Result<Vec<Worktree>, WorktreeError> {
        let mut all = self.entries().await?;
        for worktree in all.iter_mut().filter(|worktree| !worktree.is_missing) {
            let found = WorkingTree::new(self.host, Path::new(&worktree.path), None).changes().await;
            worktree.n_changed = found.problem.is_none().then_some(found.files.len() + found.n_more as usize);
        }
        Ok(all)
    }

    /// What [`Self::add`] would create. Creates nothing.
    pub async fn plan(&self, branch: &str) -> Result<WorktreePlan, WorktreeError> {
        let git = self.git().await?;
        let all = self.entries().await?;
        check_name(&git, branch).await?;
        if !says_yes(git.ask(&["rev-parse", "--quiet", "--verify", "HEAD^{commit}"]).await)? {
            return Err(WorktreeError::NoCommit);
        }
        if let Some(other) = all.iter().find(|worktree| worktree.branch.as_deref() == Some(branch)) {
            return Err(WorktreeError::CheckedOut(branch.to_owned(), other.path.clone()));
        }
        let main = all.first().ok_or(WorktreeError::NoRepository)?;
        let path = new_place(main, branch).ok_or(WorktreeError::NoRepository)?;
        let place = path.clone();
        if disk::run(&path, disk::DEADLINE, move || place.symlink_metadata().is_ok())
            .await
            .map_err(GitError::Disk)?
        {
            return Err(WorktreeError::Exists(path));
        }
        let reference = format!("refs/heads/{branch}");
        let is_new = !says_yes(git.ask(&["rev-parse", "--quiet", "--verify", &reference]).await)?;
        Ok(WorktreePlan { path: path.display().to_string(), is_new })
    }

    /// Creates a worktree of a branch, which is created at the current commit if there is none. Its folder is next to
    /// the main one: `NAME-BRANCH`, with `-` for a `/`; for a submodule it is next to the superproject, and for a bare
    /// repository whose name is hidden it is `BRANCH`. Returns the folder in it that corresponds to the given one.
    pub async fn add(&self, branch: &str) -> Result<PathBuf, WorktreeError> {
        let WorktreePlan { path: target, is_new } = self.plan(branch).await?;
        let git = self.git().await?;
        let own_branch = is_new.then_some(branch);
        if is_new {
            // Git would create it with the worktree, and leave it if that fails.
            git.ask(&["branch", "--quiet", "--no-track", "--", branch, "HEAD"]).await?;
        }
        let path = PathBuf::from(&target);
        if let Err(error) = git.ask(&["worktree", "add", "--quiet", "--no-checkout", &target, branch]).await {
            return Err(match (self.undo_branch(own_branch).await, error) {
                (Ok(()), error) => error.into(),
                (Err(_), error) => WorktreeError::LeftBranch(error, branch.to_owned()),
            });
        }
        if let Err(error) = self.check_out(&path).await {
            return Err(self.undo(&path, own_branch, error).await);
        }
        Ok(path.join(self.prefix().await?).components().collect())
    }

    /// The folder in a worktree that corresponds to the given one, or else the worktree's root. `name` is the worktree's
    /// folder or its branch.
    pub async fn folder_in(&self, name: &str) -> Result<PathBuf, WorktreeError> {
        let worktree = self.find(name).await?;
        if worktree.is_missing {
            return Err(WorktreeError::Gone(worktree.path));
        }
        let root = PathBuf::from(worktree.path);
        let inner: PathBuf = root.join(self.prefix().await?).components().collect();
        let (looked_at, place) = (inner.clone(), root.clone());
        let is_there = disk::run(&place, disk::DEADLINE, move || looked_at.is_dir()).await;
        Ok(if is_there.map_err(GitError::Disk)? { inner } else { root })
    }

    /// Why a worktree would be kept, or else what would be lost with it. Removes nothing.
    pub async fn review(&self, name: &str) -> Result<WorktreeRemoval, WorktreeError> {
        let worktree = self.find(name).await?;
        let mut review = WorktreeRemoval { worktree, kept: None, ignored: Vec::new(), n_more_ignored: 0 };
        review.kept = self.reason_to_keep(&review.worktree).await?;
        if review.kept.is_none() {
            review.ignored = self.ignored(Path::new(&review.worktree.path)).await?;
            review.n_more_ignored = review.ignored.len().saturating_sub(MOST_NAMED);
            review.ignored.truncate(MOST_NAMED);
        }
        Ok(review)
    }

    /// Removes a worktree that is named by its folder or its branch, unless something in it is nowhere else. The branch is
    /// kept. Files that git ignores, such as build output, are lost: without `with_ignored` they are a reason to keep it.
    pub async fn remove(&self, name: &str, with_ignored: bool) -> Result<Worktree, WorktreeError> {
        let review = self.review(name).await?;
        let worktree = review.worktree;
        if let Some(why) = review.kept {
            return Err(WorktreeError::Kept(worktree.path, why));
        }
        if !with_ignored && !review.ignored.is_empty() {
            let named = named(&review.ignored, review.n_more_ignored);
            return Err(WorktreeError::Kept(
                worktree.path,
                format!("it has files that git ignores: {named}"),
            ));
        }
        let git = self.git().await?;
        let settings = git.of(Path::new(&worktree.path)).filters_off().await?;
        let git = git.with(settings, DEADLINE);
        // Git looks once more, and refuses if the worktree has changed since.
        git.ask(&["worktree", "remove", "--", &worktree.path]).await?;
        Ok(worktree)
    }

    /// The worktree with this folder or branch.
    async fn find(&self, name: &str) -> Result<Worktree, WorktreeError> {
        let all = self.entries().await?;
        let is_it = |worktree: &&Worktree| worktree.branch.as_deref() == Some(name) || worktree.path == name;
        if let Some(found) = all.iter().find(is_it) {
            return Ok(found.clone());
        }
        let given = self.folder.join(name);
        let looking = disk::run(self.folder, disk::DEADLINE, move || {
            let given = dunce::canonicalize(&given).unwrap_or(given);
            all.into_iter()
                .find(|worktree| dunce::canonicalize(&worktree.path).is_ok_and(|path| path == given))
        });
        looking.await.map_err(GitError::Disk)?.ok_or_else(|| WorktreeError::Unknown(name.to_owned()))
    }

    /// The path of the given folder in its worktree.
    async fn prefix(&self) -> Result<String, WorktreeError> {
        Ok(text(&self.git().await?.ask(&["rev-parse", "--show-prefix"]).await?))
    }

    async fn git(&self) -> Result<Git<'a>, WorktreeError> {
        Ok(Git::new(self.host, self.folder).await?)
    }

    /// Without the numbers of changed files.
    async fn entries(&self) -> Result<Vec<Worktree>, WorktreeError> {
        let git = self.git().await?;
        let root = match git.ask(&["rev-parse", "--show-toplevel"]).await {
            Ok(root) => PathBuf::from(text(&root)),
            Err(GitError::Failed(said))
                if said.contains("not a git repository") || said.contains("must be run in a work tree") =>
            {
                return Err(WorktreeError::NoRepository);
            }
            Err(error) => return Err(error.into()),
        };
        let listed = git.ask(&["worktree", "list", "--porcelain", "-z"]).await?;
        let all = entries(&listed, &root);
        if all.is_empty() { Err(WorktreeError::NoRepository) } else { Ok(all) }
    }

    /// Writes the files of its commit.
    async fn check_out(&self, path: &Path) -> Result<(), WorktreeError> {
        let git = self.git().await?;
        let settings = git.of(path).filters_off().await?;
        let git = git.with(settings, DEADLINE);
        git.of(path).ask(&["read-tree", "-u", "--reset", "HEAD"]).await?;
        Ok(())
    }

    /// Takes back what [`Self::add`] created. No agent has worked in it yet.
    async fn undo(&self, path: &Path, branch: Option<&str>, error: WorktreeError) -> WorktreeError {
        let undoing = async {
            let git = self.git().await?.with(Vec::new(), DEADLINE);
            let target = path.display().to_string();
            // With `--force` git compares no file, so no filter runs.
            git.ask(&["worktree", "remove", "--force", "--", &target]).await?;
            self.undo_branch(branch).await
        };
        match (undoing.await, error) {
            (Err(_), WorktreeError::Git(error)) => WorktreeError::Left(error, path.to_owned()),
            (_, error) => error,
        }
    }

    /// Removes a branch that was created at the current commit. Git refuses if it has commits of its own by now.
    async fn undo_branch(&self, branch: Option<&str>) -> Result<(), WorktreeError> {
        if let Some(branch) = branch {
            self.git().await?.ask(&["branch", "--quiet", "-d", "--", branch]).await?;
        }
        Ok(())
    }

    /// What is in the way of removing a worktree.
    async fn reason_to_keep(&self, worktree: &Worktree) -> Result<Option<String>, WorktreeError> {
        let of_entry = [
            (worktree.is_main, "it is the main one"),
            (worktree.is_current, "it is the current folder"),
            (worktree.is_locked, "it is locked; git worktree unlock frees it"),
            (worktree.is_missing, "its folder is gone; git worktree prune forgets it"),
        ];
        match of_entry.into_iter().find(|(is_so, _)| *is_so) {
            Some((_, why)) => Ok(Some(why.to_owned())),
            None => self.only_here(Path::new(&worktree.path), worktree).await,
        }
    }

    /// Files that git ignores.
    async fn ignored(&self, path: &Path) -> Result<Vec<String>, WorktreeError> {
        let args = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
        let ignored = self.git().await?.of(path).ask(&args).await?;
        let names = ignored.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
    }

    /// What would be lost with a worktree, except for ignored files.
    async fn only_here(&self, path: &Path, worktree: &Worktree) -> Result<Option<String>, WorktreeError> {
        let found = WorkingTree::new(self.host, path, None).changes().await;
        if let Some(problem) = found.problem {
            return Ok(Some(problem));
        }
        if !found.files.is_empty() {
            let paths: Vec<String> = found.files.iter().map(|file| file.path.clone()).collect();
            let named = named(&paths, 0);
            return Ok(Some(format!("it has changes that are not committed: {named}")));
        }
        if found.n_more + found.n_not_compared > 0 {
            return Ok(Some("some of its files could not be compared with its commit".to_owned()));
        }
        let git = self.git().await?;
        let git = git.of(path);
        let own =
            ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply"];
        let args: Vec<&str> =
            ["rev-parse"].into_iter().chain(own.iter().flat_map(|name| ["--git-path", *name])).collect();
        let places = text(&git.ask(&args).await?);
        let places: Vec<PathBuf> = places.lines().map(|place| path.join(place)).collect();
        let begun = disk::run(path, disk::DEADLINE, move || places.iter().any(|place| place.exists()));
        if begun.await.map_err(GitError::Disk)? {
            return Ok(Some(
                "a merge, rebase, cherry-pick, revert or bisect is not finished in it".to_owned(),
            ));
        }
        if let (None, Some(commit)) = (&worktree.branch, &worktree.commit) {
            let contains = format!("--contains={commit}");
            let args = ["for-each-ref", "--count=1", &contains, "refs/heads", "refs/remotes", "refs/tags"];
            if git.ask(&args).await?.is_empty() {
                return Ok(Some("it is on no branch, and its commits are on none either".to_owned()));
            }
        }
        Ok(None)
    }
}

/// The worktrees of `git worktree list --porcelain -z`; `root` is the current one.
fn entries(listed: &[u8], root: &Path) -> Vec<Worktree> {
    let listed = String::from_utf8_lossy(listed);
    let mut all: Vec<Worktree> = Vec::new();
    for line in listed.split('\0') {
        let (name, value) = line.split_once(' ').unwrap_or((line, ""));
        if name == "worktree" {
            all.push(Worktree {
                path: value.to_owned(),
                branch: None,
                commit: None,
                is_main: all.is_empty(),
                is_current: Path::new(value) == root,
                is_locked: false,
                is_missing: false,
                n_changed: None,
            });
        }
        let Some(last) = all.last_mut() else { continue };
        match name {
            "branch" => last.branch = Some(value.strip_prefix("refs/heads/").unwrap_or(value).to_owned()),
            "HEAD" => last.commit = Some(value.to_owned()),
            "locked" => last.is_locked = true,
            "prunable" => last.is_missing = true,
            _ => {}
        }
    }
    all
}

async fn check_name(git: &Git<'_>, branch: &str) -> Result<(), WorktreeError> {
    let reference = format!("refs/heads/{branch}");
    let is_plain = !branch.starts_with('-') && branch != "HEAD" && !branch.contains('\\');
    match is_plain && says_yes(git.ask(&["check-ref-format", &reference]).await)? {
        true => Ok(()),
        false => Err(WorktreeError::BadName(branch.to_owned())),
    }
}

/// Whether a question that fails for “no” was answered with “yes”.
fn says_yes(answer: Result<Vec<u8>, GitError>) -> Result<bool, GitError> {
    match answer {
        Ok(_) => Ok(true),
        Err(GitError::Failed(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Where a worktree of this branch is made, by the first entry of git's list: the main worktree, the folder of a bare
/// repository, or, in a submodule, the folder in the superproject's `.git/modules`.
fn new_place(main: &Worktree, branch: &str) -> Option<PathBuf> {
    let branch = branch.replace('/', "-");
    let path = Path::new(&main.path);
    let name = path.file_name()?;
    if let Some(superproject) = superproject(path) {
        return Some(superproject.parent()?.join(joined(&[
            superproject.file_name()?,
            name,
            branch.as_ref(),
        ])));
    }
    // Git names neither a commit nor a branch of a bare repository.
    let is_bare = main.commit.is_none() && main.branch.is_none();
    let name = match name.to_str().filter(|_| is_bare) {
        Some(hidden) if hidden.starts_with('.') => return Some(path.parent()?.join(branch)),
        Some(bare) => OsStr::new(bare.strip_suffix(".git").unwrap_or(bare)),
        None => name,
    };
    Some(path.parent()?.join(joined(&[name, branch.as_ref()])))
}

/// The working tree in whose `.git/modules` this folder is.
fn superproject(path: &Path) -> Option<&Path> {
    let modules = path.ancestors().skip(1).find(|folder| folder.ends_with(".git/modules"))?;
    modules.parent()?.parent()
}

fn joined(names: &[&OsStr]) -> OsString {
    names.join(OsStr::new("-"))
}

fn text(output: &[u8]) -> String {
    String::from_utf8_lossy(output).trim_end_matches(['\n', '\r']).to_owned()
}
