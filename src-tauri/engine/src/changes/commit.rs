//! Commits that the user makes: of whole files and of hunks, by the user's own git.
//!
//! A commit is made in an index of its own, which begins as the last commit. Then the index of the user gets the entries
//! that the commit changes, and the branch moves last. So other staged changes stay staged, and at each step the
//! repository is as before or as after: a journal in Deskbell's folder says which entries to restore, and the next command
//! does that if Deskbell ended in between.
//!
//! Programs run only if the caller says so: then `git commit` of the user runs hooks, filters and signing. Otherwise git's
//! plumbing makes the commit in the closed environment.

mod choice;
mod entries;
mod journal;
mod place;
mod run;

#[cfg(test)]
#[cfg(unix)]
mod tests;

use super::WorkingTree;
use super::content::shown;
use super::git::{Git, GitError};
use super::listing::{GitPath, records};
use super::snapshot::hash;
use crate::api::{
    Amendment, CommitFiles, CommitPlan, CommitProblem, CommitPrograms, CommitRequest, CommitState, Committed,
    UndoneCommit,
};
use crate::disk;
use crate::host::{BoxFuture, Host};
use crate::launch::Launch;
use choice::{ChosenPath, add, chosen, no_filters};
use entries::{Blobs, blobs, difference, of_commit, of_index};
use journal::{CommitJournal, LastCommit};
use place::{BranchHead, Person, RepositoryFolders, head, identity, line, own, problem, programs, pushed};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time limit for reading and filtering all chosen files.
const DEADLINE: Duration = Duration::from_secs(120);

/// Maximum size of an index that is copied, in bytes: some 400,000 files.
const MOST_INDEX: u64 = 64 * 1024 * 1024;

/// Variables that name another repository than the one of the folder.
const OF_REPOSITORY: [&str; 13] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Makes commits in a project, and undoes the last one.
pub struct Commits<'a> {
    host: &'a dyn Host,
    project: &'a Path,
    data: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

/// The repository of a project while one command works on it.
struct LockedRepository<'a> {
    /// In the closed environment, asked at the root.
    git: Git<'a>,
    /// As the user runs it.
    user: Git<'a>,
    /// Deskbell's folder for this worktree.
    folder: PathBuf,
    lock: File,
}

impl Drop for LockedRepository<'_> {
    fn drop(&mut self) {
        // A process that is just being started has a copy of the file, which would hold the lock until its own program runs.
        // Without this, the end of the file releases it.
        let _ = self.lock.unlock();
    }
}

/// The commit to be made.
struct CommitDraft {
    place: BranchHead,
    author: Person,
    committer: Person,
    chosen: Vec<ChosenPath>,
    plan: CommitPlan,
    /// The files of the last commit.
    last: Blobs,
}

/// A commit as git stores it.
struct CommitObject {
    parents: Vec<String>,
    author: Person,
    /// In the encoding of the commit.
    message: Vec<u8>,
    is_signed: bool,
}

impl<'a> Commits<'a> {
    /// `data` is Deskbell's folder. `environment` is that of the user, in which git finds its settings and the hooks find
    /// their programs.
    pub fn new(
        host: &'a dyn Host,
        project: &'a Path,
        data: &Path,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        let is_users = |(name, _): &(OsString, OsString)| {
            !Launch::is_private(name) && !OF_REPOSITORY.iter().any(|of| name.to_str() == Some(of))
        };
        let mut environment: Vec<_> = environment.into_iter().filter(is_users).collect();
        environment.extend([
            ("GIT_TERMINAL_PROMPT".into(), "0".into()),
            ("GIT_LITERAL_PATHSPECS".into(), "1".into()),
        ]);
        Self { host, project, data: data.join("commits"), environment }
    }

    /// The state of the repository before a commit. Changes nothing, except that it ends a commit that was interrupted.
    pub async fn state(&self) -> Result<CommitState, CommitProblem> {
        let folders = self.folders().await?;
        // Without the lock: reading must not refuse a commit that begins meanwhile.
        if CommitJournal::read(&self.folder_of(&folders)).is_some() {
            self.work(&folders).await?;
        }
        let git = Git::new(self.host, &folders.root).await.map_err(problem)?;
        let user = git.as_user(self.environment.clone());
        let BranchHead { branch, head } = BranchHead::of(&git).await?;
        let (author, _) = identity(&user).await?;
        let known = programs(&user).await?;
        let amendment = match amendable(&git, head.as_deref(), &author).await {
            Ok(last) => Some(Amendment::Possible {
                programs: runs(known.clone(), Some(&last)),
                message: String::from_utf8(last.message).unwrap_or_default().trim_end().to_owned(),
            }),
            Err(CommitProblem::NothingToAmend) => None,
            Err(refused) => Some(Amendment::Refused { reason: format!("{refused}.") }),
        };
        let (last, index) = tokio::try_join!(of_commit(&git, head.as_deref()), of_index(&git))?;
        let differing = differing(&git).await?;
        let here = difference(&last, &blobs(&index)).into_keys().filter_map(|path| {
            Some((differing.contains(&path), shown(path.strip_prefix(folders.prefix.as_bytes())?)))
        });
        let (partly_staged, staged): (Vec<_>, Vec<_>) = here.partition(|(is_partly, _)| *is_partly);
        let names = |paths: Vec<(bool, String)>| paths.into_iter().map(|(_, name)| name).collect();
        Ok(CommitState {
            branch,
            head,
            staged: names(staged),
            partly_staged: names(partly_staged),
            amendment,
            programs: runs(known, None),
        })
    }

    /// The commit that a request would make. Changes nothing, except that it ends a commit that was interrupted.
    pub async fn plan(&self, request: &CommitRequest) -> Result<CommitPlan, CommitProblem> {
        let folders = self.folders().await?;
        let work = self.work(&folders).await?;
        Ok(self.draft(&work, &folders, request).await?.plan)
    }

    /// Makes the commit. `said` gets the output of git and its hooks as it comes, and `cancelled` ends them.
    pub async fn commit(
        &self,
        request: &CommitRequest,
        may_run: CommitPrograms,
        said: &(dyn Fn(&str) + Send + Sync),
        cancelled: BoxFuture<'_, ()>,
    ) -> Result<Committed, CommitProblem> {
        let folders = self.folders().await?;
        let work = self.work(&folders).await?;
        let draft = self.draft(&work, &folders, request).await?;
        let runs = may_run == CommitPrograms::Run;
        if may_run == CommitPrograms::Ask && !draft.plan.programs.is_empty() {
            return Err(CommitProblem::WouldRun { programs: draft.plan.programs });
        }
        let index = work.folder.join("index");
        let closed = work.git.with_variables([("GIT_INDEX_FILE".into(), index.clone().into())]);
        let closed = closed.with(work.git.filters_off().await.map_err(problem)?, DEADLINE);
        let token = uuid::Uuid::new_v4().simple().to_string();
        let user = work
            .user
            .with_variables([
                ("GIT_INDEX_FILE".into(), index.clone().into()),
                (Launch::RUN_TOKEN.into(), token.clone().into()),
            ])
            .with(Vec::new(), DEADLINE);
        if !runs {
            no_filters(&work.git, &draft.chosen).await?;
        }
        let mut journal = work.prepared(&draft, &closed, if runs { &user } else { &closed }, request).await?;
        journal.is_amended = request.amend;
        if !request.amend && journal.entries.is_empty() {
            return Err(CommitProblem::NoDifference);
        }
        journal.write(&work.folder)?;
        // From here on the journal has the state before.
        let made = async {
            let after = journal.entries.iter().map(|(path, (_, after))| (path.clone(), after.clone()));
            entries::write(&work.git, &after.collect::<Vec<_>>()).await?;
            if runs {
                run_commit(&user, request, &token, said, cancelled).await
            } else {
                self.plumb(&work, &draft, &journal.tree, request).await.map(|()| None)
            }
        };
        let made = made.await;
        let is_ours = work.is_ours(&journal, &closed).await;
        let output = match (&made, is_ours) {
            (Ok(ran), Ok(true)) => ran.as_ref().map_or_else(String::new, |ran| ran.output.clone()),
            (Err(_), Ok(true)) => String::new(),
            (_, Ok(false) | Err(_)) => {
                work.restore(&journal).await?;
                let has_moved = head(&work.git).await? != journal.head;
                return Err(match made {
                    _ if has_moved => CommitProblem::HeadMoved,
                    Err(error) => error,
                    Ok(Some(ran)) if ran.is_cancelled => CommitProblem::Cancelled { output: ran.output },
                    Ok(ran) => {
                        CommitProblem::Failed { output: ran.map_or_else(String::new, |ran| ran.output) }
                    }
                });
            }
        };
        let problem = match made {
            Ok(Some(ran)) if ran.is_cancelled => {
                Some("The commit was made; what ran after it was cancelled.".to_owned())
            }
            Ok(Some(ran)) if !ran.succeeded => {
                Some("The commit was made, but git failed after it.".to_owned())
            }
            Err(error) => Some(error.to_string()),
            Ok(_) => None,
        };
        let id = work.finish(&journal).await?;
        let files = difference(&draft.last, &of_commit(&work.git, Some(&id)).await?);
        let planned: BTreeSet<&GitPath> = journal.entries.keys().collect();
        let by_hooks = files.keys().filter(|path| !planned.contains(path)).map(|path| shown(path)).collect();
        Ok(Committed {
            subject: subject(&String::from_utf8_lossy(&commit_object(&work.git, &id).await?.message)),
            id,
            branch: draft.place.branch,
            files: files.keys().map(|path| shown(path)).collect(),
            added_by_hooks: by_hooks,
            stays_staged: draft.plan.stays_staged,
            replaces_staged: draft.plan.replaces_staged,
            output,
            problem,
        })
    }

    /// Undoes the last commit if Deskbell made it and it is on no remote branch. The files stay as they are, and the
    /// changes of the commit are staged.
    pub async fn undo(&self) -> Result<UndoneCommit, CommitProblem> {
        let folders = self.folders().await?;
        let work = self.work(&folders).await?;
        let place = BranchHead::of(&work.git).await?;
        let last = LastCommit::read(&work.folder).ok_or(CommitProblem::NothingToUndo)?;
        if place.head.as_ref() != Some(&last.id) || place.branch != last.branch {
            return Err(CommitProblem::NothingToUndo);
        }
        pushed(&work.git, &last.id).await?;
        let (_, committer) = identity(&work.user).await?;
        let git = work.git.with_variables(committer.variables("COMMITTER", false));
        let message = "reset: undo of the last commit";
        let args = match &last.before {
            Some(before) => vec!["update-ref", "-m", message, "HEAD", before, &last.id],
            None => vec!["update-ref", "-m", message, "-d", "HEAD", &last.id],
        };
        git.ask(&args).await.map_err(problem)?;
        LastCommit::remove(&work.folder)?;
        Ok(UndoneCommit { id: last.id, branch: last.branch, head: last.before })
    }

    async fn folders(&self) -> Result<RepositoryFolders, CommitProblem> {
        let git = Git::new(self.host, self.project).await.map_err(problem)?;
        RepositoryFolders::of(&git).await
    }

    /// Deskbell's folder for a worktree.
    fn folder_of(&self, folders: &RepositoryFolders) -> PathBuf {
        self.data.join(hash(folders.git.as_os_str().as_encoded_bytes()))
    }

    /// Begins a command: keeps others out, and ends a commit that was interrupted.
    async fn work<'b>(&self, folders: &'b RepositoryFolders) -> Result<LockedRepository<'b>, CommitProblem>
    where
        'a: 'b,
    {
        let git: Git<'b> = Git::new(self.host, &folders.root).await.map_err(problem)?;
        let user = git.as_user(self.environment.clone());
        let folder = self.folder_of(folders);
        let state = folder.join("state");
        let locking = disk::run(&self.data, disk::DEADLINE, move || {
            disk::own_folder(state.parent().and_then(Path::parent).unwrap_or(&state))?;
            disk::try_lock_writers(&state)
        });
        let lock = match locking.await.map_err(|error| problem(error.into()))? {
            Ok(Some(lock)) => lock,
            Ok(None) => return Err(CommitProblem::Busy),
            Err(error) => return Err(own(&folder, error)),
        };
        let work = LockedRepository { git, user, folder, lock };
        work.recover().await?;
        Ok(work)
    }

    async fn draft(
        &self,
        work: &LockedRepository<'_>,
        folders: &RepositoryFolders,
        request: &CommitRequest,
    ) -> Result<CommitDraft, CommitProblem> {
        let message = request.message.as_deref().map(str::trim);
        match message {
            None if request.amend => {}
            None | Some("") => return Err(CommitProblem::NoMessage),
            Some(message) if message.contains('\0') => return Err(CommitProblem::NoMessage),
            Some(_) => {}
        }
        let place = BranchHead::of(&work.git).await?;
        if request.head.is_some() && request.head != place.head {
            return Err(CommitProblem::HeadMoved);
        }
        let (author, committer) = identity(&work.user).await?;
        let amended = match request.amend {
            true => Some(amendable(&work.git, place.head.as_deref(), &author).await?),
            false => None,
        };
        let runs = runs(programs(&work.user).await?, amended.as_ref());
        let chosen = match &request.files {
            CommitFiles::Only(files) if files.is_empty() && request.amend => Vec::new(),
            CommitFiles::Only(files) if files.is_empty() => return Err(CommitProblem::NothingChosen),
            files => {
                let git = Git::new(self.host, self.project).await.map_err(problem)?;
                let tree = WorkingTree::new(self.host, self.project, None);
                chosen(&tree, &git, folders, files).await?
            }
        };
        if chosen.is_empty() && !request.amend {
            return Err(CommitProblem::NoDifference);
        }
        let (last, index) =
            tokio::try_join!(of_commit(&work.git, place.head.as_deref()), of_index(&work.git),)?;
        let paths: BTreeSet<&GitPath> = chosen.iter().map(|chosen| &chosen.path).collect();
        let staged = difference(&last, &blobs(&index));
        let (replaced, kept): (Vec<_>, Vec<_>) = staged.keys().partition(|path| paths.contains(path));
        let names = |paths: Vec<&GitPath>| paths.into_iter().map(|path| shown(path)).collect();
        let plan = CommitPlan {
            branch: place.branch.clone(),
            head: place.head.clone(),
            author: author.shown(),
            files: paths.iter().map(|path| shown(path)).collect(),
            stays_staged: names(kept),
            replaces_staged: names(replaced),
            programs: runs,
        };
        Ok(CommitDraft { place, author, committer, chosen, plan, last })
    }

    /// Makes the commit without running anything, and moves the branch.
    async fn plumb(
        &self,
        work: &LockedRepository<'_>,
        draft: &CommitDraft,
        tree: &str,
        request: &CommitRequest,
    ) -> Result<(), CommitProblem> {
        let head = draft.place.head.as_deref();
        let amended = match head.filter(|_| request.amend) {
            Some(head) => Some(commit_object(&work.git, head).await?),
            None => None,
        };
        let parents = match &amended {
            Some(amended) => amended.parents.clone(),
            None => head.map(str::to_owned).into_iter().collect(),
        };
        let mut message = match (&request.message, &amended) {
            // Git decodes it by a header of the commit, which the new one would not have.
            (None, Some(amended)) => {
                String::from_utf8(amended.message.clone()).map_err(|_| CommitProblem::OtherEncoding)?
            }
            (message, _) => message.clone().unwrap_or_default(),
        };
        message = line(
            &work.git.ask_with(&["stripspace"], message.as_bytes(), 1024 * 1024).await.map_err(problem)?,
        );
        if request.signoff {
            message = signed_off(&message, &draft.committer);
        }
        let mut variables = draft.committer.variables("COMMITTER", false);
        variables.extend(match &amended {
            Some(amended) => amended.author.variables("AUTHOR", true),
            None => draft.author.variables("AUTHOR", false),
        });
        let git =
            work.git.with_variables(variables).with(vec!["i18n.commitEncoding=UTF-8".to_owned()], DEADLINE);
        let mut args = vec!["commit-tree", tree];
        parents.iter().for_each(|parent| args.extend(["-p", parent]));
        let message = message + "\n";
        let id = line(&git.ask_with(&args, message.as_bytes(), 1024).await.map_err(problem)?);
        let kind = match (head, request.amend) {
            (_, true) => "commit (amend)",
            (None, _) => "commit (initial)",
            _ => "commit",
        };
        let reflog = format!("{kind}: {}", subject(&message));
        // Git refuses if the branch has moved. An empty value is a branch without a commit.
        let args = ["update-ref", "-m", &reflog, "HEAD", &id, head.unwrap_or_default()];
        git.ask(&args).await.map_err(problem)?;
        Ok(())
    }
}

impl LockedRepository<'_> {
    /// Makes the index of the commit, and the journal of it. `adding` adds the files.
    async fn prepared(
        &self,
        draft: &CommitDraft,
        closed: &Git<'_>,
        adding: &Git<'_>,
        request: &CommitRequest,
    ) -> Result<CommitJournal, CommitProblem> {
        let path = line(&self.git.ask(&["rev-parse", "--git-path", "index"]).await.map_err(problem)?);
        let (from, to) = (self.git.folder().join(path), self.folder.join("index"));
        let copied = disk::run(&self.folder, disk::DEADLINE, move || {
            journal::remove(&to)?;
            journal::remove(&to.with_extension("lock"))?;
            // The times in the user's index save git from reading all files again.
            if let Ok(bytes) = disk::read_regular(&from, MOST_INDEX) {
                copy_index(&from, &to, &bytes).map_err(|error| own(&to, error))?;
            }
            Ok(())
        });
        copied.await.map_err(|error| problem(error.into()))??;
        let base = match &draft.place.head {
            Some(head) => vec!["read-tree", "--reset", head],
            None => vec!["read-tree", "--empty"],
        };
        closed.ask(&base).await.map_err(problem)?;
        add(adding, closed, &draft.chosen).await?;
        let tree = line(&closed.ask(&["write-tree"]).await.map_err(problem)?);
        let (of_commit, index) = tokio::try_join!(of_index(closed), of_index(&self.git))?;
        let changed = difference(&draft.last, &blobs(&of_commit));
        let present = blobs(&index);
        let entries = changed.into_iter().map(|(path, (_, after))| {
            let before = present.get(&path).cloned();
            (path, (before, after))
        });
        let entries: entries::Difference = entries.collect();
        let is_intended = |path: &&GitPath| index.get(*path).is_some_and(|entry| entry.is_intended);
        Ok(CommitJournal {
            head: draft.place.head.clone(),
            branch: draft.place.branch.clone(),
            is_amended: request.amend,
            tree,
            intended: entries.keys().filter(is_intended).cloned().collect(),
            entries,
        })
    }

    /// Ends a commit that was interrupted.
    async fn recover(&self) -> Result<(), CommitProblem> {
        let Some(journal) = CommitJournal::read(&self.folder) else { return Ok(()) };
        let index = [("GIT_INDEX_FILE".into(), self.folder.join("index").into())];
        match self.is_ours(&journal, &self.git.with_variables(index)).await? {
            true => self.finish(&journal).await.map(|_| ()),
            false => self.restore(&journal).await,
        }
    }

    /// Whether the branch has moved to the commit of the journal. `closed` has the index of the commit, which a hook may
    /// have changed.
    async fn is_ours(&self, journal: &CommitJournal, closed: &Git<'_>) -> Result<bool, CommitProblem> {
        let Some(id) = head(&self.git).await?.filter(|id| Some(id) != journal.head.as_ref()) else {
            return Ok(false);
        };
        let parents = match &journal.head {
            Some(before) if journal.is_amended => commit_object(&self.git, before).await?.parents,
            before => before.iter().cloned().collect(),
        };
        if commit_object(&self.git, &id).await?.parents != parents {
            return Ok(false);
        }
        let tree = line(&self.git.ask(&["rev-parse", &format!("{id}^{{tree}}")]).await.map_err(problem)?);
        Ok(tree == journal.tree || matches!(closed.ask(&["write-tree"]).await, Ok(now) if line(&now) == tree))
    }

    /// Gives the index of the user the files that hooks added to the commit, and keeps the commit for an undo.
    async fn finish(&self, journal: &CommitJournal) -> Result<String, CommitProblem> {
        let id = head(&self.git).await?.ok_or(CommitProblem::HeadMoved)?;
        let (before, now, index) = tokio::try_join!(
            of_commit(&self.git, journal.head.as_deref()),
            of_commit(&self.git, Some(&id)),
            of_index(&self.git),
        )?;
        let present = blobs(&index);
        let changed = difference(&before, &now);
        let paths: BTreeSet<&GitPath> = changed.keys().chain(journal.entries.keys()).collect();
        let outdated = paths.into_iter().filter(|path| {
            let present = present.get(*path);
            let planned = journal.entries.get(*path).map(|(_, after)| after.as_ref());
            // A version that another program has staged since stays.
            let is_known = present == before.get(*path) || planned == Some(present);
            is_known && present != now.get(*path)
        });
        let wanted: Vec<_> = outdated.map(|path| (path.clone(), now.get(path).cloned())).collect();
        entries::write(&self.git, &wanted).await?;
        let (branch, before) = (journal.branch.clone(), journal.head.clone());
        LastCommit { id: id.clone(), branch, before }.write(&self.folder)?;
        CommitJournal::remove(&self.folder)?;
        Ok(id)
    }

    /// Gives the index of the user the entries that it had before. One that has changed since stays.
    async fn restore(&self, journal: &CommitJournal) -> Result<(), CommitProblem> {
        let now = head(&self.git).await?;
        // Another program may have committed since. Then only files that its commit leaves unchanged are restored.
        let others = match now == journal.head {
            true => entries::Difference::new(),
            false => difference(
                &of_commit(&self.git, journal.head.as_deref()).await?,
                &of_commit(&self.git, now.as_deref()).await?,
            ),
        };
        let present = blobs(&of_index(&self.git).await?);
        let changed = journal.entries.iter().filter(|(path, (before, after))| {
            present.get(*path) == after.as_ref() && before != after && !others.contains_key(*path)
        });
        let wanted: Vec<_> = changed.map(|(path, (before, _))| (path.clone(), before.clone())).collect();
        entries::write(&self.git, &wanted).await?;
        let gone: BTreeSet<&GitPath> = wanted.iter().map(|(path, _)| path).collect();
        let intended = journal.intended.iter().filter(|path| gone.contains(path));
        let input: Vec<u8> = intended.flat_map(|path| path.iter().copied().chain([0])).collect();
        if !input.is_empty() {
            let git = self.git.of(self.git.folder());
            let git = git.with(self.git.filters_off().await.map_err(problem)?, DEADLINE);
            let args = ["add", "--intent-to-add", "--force", "--pathspec-from-file=-", "--pathspec-file-nul"];
            match git.ask_with(&args, &input, 1024 * 1024).await {
                // A file that was removed since needs no entry.
                Ok(_) | Err(GitError::Failed(_)) => {}
                Err(error) => return Err(problem(error)),
            }
        }
        CommitJournal::remove(&self.folder)
    }
}

/// Writes a copy of an index with the time of the original: git takes a file that changed in the second of that time for
/// one that it must read.
fn copy_index(from: &Path, to: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let written = std::fs::metadata(from)?.modified()?;
    disk::replace(to, bytes, false)?;
    disk::create_regular(to).map_err(std::io::Error::other)?.set_modified(written)
}

/// Runs `git commit` of the user.
async fn run_commit(
    user: &Git<'_>,
    request: &CommitRequest,
    token: &str,
    said: &(dyn Fn(&str) + Send + Sync),
    cancelled: BoxFuture<'_, ()>,
) -> Result<Option<run::GitRun>, CommitProblem> {
    let mut args = vec!["commit", "--quiet"];
    args.extend(request.amend.then_some("--amend"));
    args.extend(request.signoff.then_some("--signoff"));
    args.push(if request.message.is_some() { "--file=-" } else { "--no-edit" });
    let message = request.message.as_deref().unwrap_or_default();
    run::run(user, &args, message.as_bytes(), token, said, cancelled).await.map(Some)
}

/// Those of these programs that a commit runs, or that run if this one is amended.
fn runs(mut programs: Vec<String>, amended: Option<&CommitObject>) -> Vec<String> {
    match amended {
        Some(amended) if amended.is_signed && !programs.iter().any(|name| name == "signing") => {
            programs.push("signing".to_owned());
        }
        Some(_) => {}
        None => programs.retain(|name| name != "post-rewrite"),
    }
    programs
}

/// The last commit, if this author may amend it.
async fn amendable(
    git: &Git<'_>,
    head: Option<&str>,
    author: &Person,
) -> Result<CommitObject, CommitProblem> {
    let head = head.ok_or(CommitProblem::NothingToAmend)?;
    pushed(git, head).await?;
    let last = commit_object(git, head).await?;
    match last.author.address == author.address {
        true => Ok(last),
        false => Err(CommitProblem::NotYours { author: last.author.shown() }),
    }
}

/// The files, from the root, whose content is not the staged one. `git` is asked at the root.
async fn differing(git: &Git<'_>) -> Result<BTreeSet<GitPath>, CommitProblem> {
    let git = git.of(git.folder()).with(git.filters_off().await.map_err(problem)?, DEADLINE);
    // Git would run a program in a submodule.
    let args = [
        "diff",
        "--name-only",
        "-z",
        "--no-renames",
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=all",
    ];
    Ok(records(&git.ask(&args).await.map_err(problem)?).map(<[u8]>::to_vec).collect())
}

/// Reads a commit.
async fn commit_object(git: &Git<'_>, id: &str) -> Result<CommitObject, CommitProblem> {
    let bytes = git.ask(&["cat-file", "commit", id]).await.map_err(problem)?;
    let end = bytes.windows(2).position(|pair| pair == b"\n\n").unwrap_or(bytes.len());
    let header = String::from_utf8_lossy(&bytes[..end]);
    let values = |name: &str| {
        header
            .lines()
            .filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
            .map(str::to_owned)
            .collect()
    };
    let (parents, authors): (Vec<String>, Vec<String>) = (values("parent"), values("author"));
    let author = authors.first().and_then(|line| Person::of(line));
    Ok(CommitObject {
        parents,
        author: author.ok_or_else(|| CommitProblem::Git { said: format!("{id} has no author") })?,
        message: bytes.get(end + 2..).unwrap_or_default().to_vec(),
        is_signed: header.lines().any(|line| line.starts_with("gpgsig")),
    })
}

fn subject(message: &str) -> String {
    message.lines().next().unwrap_or_default().to_owned()
}

/// The message with the line of `--signoff`, in the last paragraph if that has such lines only.
fn signed_off(message: &str, person: &Person) -> String {
    let line = format!("Signed-off-by: {}", person.shown());
    let last = message.rsplit("\n\n").next().filter(|last| *last != message).unwrap_or_default();
    let is_trailer = |line: &str| {
        line.split_once(": ")
            .is_some_and(|(name, _)| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'))
    };
    match (last.lines().any(|known| known == line), !last.is_empty() && last.lines().all(is_trailer)) {
        (true, _) => message.to_owned(),
        (false, true) => format!("{message}\n{line}"),
        (false, false) => format!("{message}\n\n{line}"),
    }
}
