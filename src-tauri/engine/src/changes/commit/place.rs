//! The repository of a commit: its branch, its last commit, its unfinished operations and its author.

use super::super::compare::on_disk;
use super::super::content::shown;
use super::super::git::{Git, GitError};
use super::super::listing::records;
use crate::api::CommitProblem;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Hooks that a commit runs.
const HOOKS: [&str; 7] = [
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "post-rewrite",
    "reference-transaction",
    "post-index-change",
];

/// Files of git that exist while an operation is not finished.
const OPERATIONS: [(&str, &str); 6] = [
    ("MERGE_HEAD", "merge"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("sequencer", "cherry-pick or revert"),
];

/// Folders of a repository, as git names them.
pub(super) struct RepositoryFolders {
    pub root: PathBuf,
    /// Of this worktree.
    pub git: PathBuf,
    /// From the root to the project, with a slash at its end.
    pub prefix: String,
}

impl RepositoryFolders {
    pub async fn of(git: &Git<'_>) -> Result<Self, CommitProblem> {
        match git.ask(&["rev-parse", "--is-inside-work-tree"]).await {
            Ok(answer) if answer.starts_with(b"true") => {}
            Ok(_) => return Err(CommitProblem::Bare),
            Err(GitError::Failed(said)) if said.contains("not a git repository") => {
                return Err(CommitProblem::NoRepository);
            }
            Err(GitError::Failed(said)) if said.contains("bare repository") => {
                return Err(CommitProblem::Bare);
            }
            Err(error) => return Err(problem(error)),
        }
        let (root, own, prefix) = tokio::try_join!(
            git.ask(&["rev-parse", "--show-toplevel"]),
            git.ask(&["rev-parse", "--absolute-git-dir"]),
            git.ask(&["rev-parse", "--show-prefix"]),
        )
        .map_err(problem)?;
        Ok(Self { root: line(&root).into(), git: line(&own).into(), prefix: line(&prefix) })
    }
}

/// The state of a repository that a commit begins with.
pub(super) struct BranchHead {
    pub branch: String,
    pub head: Option<String>,
}

impl BranchHead {
    /// Refuses a repository in which a commit would make something worse. `git` is asked at the root.
    pub async fn of(git: &Git<'_>) -> Result<Self, CommitProblem> {
        let names = OPERATIONS.map(|(name, _)| name);
        let args: Vec<&str> =
            ["rev-parse"].into_iter().chain(names.iter().flat_map(|name| ["--git-path", *name])).collect();
        let (head, branch, places, unmerged) = tokio::join!(
            head(git),
            git.ask(&["symbolic-ref", "--quiet", "HEAD"]),
            git.ask(&args),
            git.ask(&["ls-files", "--unmerged", "-z"]),
        );
        let (head, places, unmerged) = (head?, line(&places.map_err(problem)?), unmerged.map_err(problem)?);
        let places: Vec<PathBuf> = places.lines().map(|place| git.folder().join(place)).collect();
        let looking = on_disk(git.folder(), move || places.iter().position(|place| place.exists()));
        let conflicts: BTreeSet<String> = records(&unmerged)
            .filter_map(|record| record.splitn(2, |byte| *byte == b'\t').nth(1))
            .map(shown)
            .collect();
        if !conflicts.is_empty() {
            return Err(CommitProblem::Conflicts { files: conflicts.into_iter().collect() });
        }
        if let Some(at) = looking.await.map_err(problem)? {
            return Err(CommitProblem::Unfinished { operation: OPERATIONS[at].1.to_owned() });
        }
        let branch = match branch {
            Ok(name) => line(&name),
            Err(GitError::Failed(_)) => {
                return Err(CommitProblem::Detached { commit: head.unwrap_or_default() });
            }
            Err(error) => return Err(problem(error)),
        };
        let branch = branch.strip_prefix("refs/heads/").unwrap_or(&branch).to_owned();
        Ok(Self { branch, head })
    }
}

/// The last commit.
pub(super) async fn head(git: &Git<'_>) -> Result<Option<String>, CommitProblem> {
    match git.ask(&["rev-parse", "--quiet", "--verify", "HEAD^{commit}"]).await {
        Ok(id) => Ok(Some(line(&id))),
        Err(GitError::Failed(_)) => Ok(None),
        Err(error) => Err(problem(error)),
    }
}

/// A remote branch that has this commit.
pub(super) async fn pushed(git: &Git<'_>, commit: &str) -> Result<(), CommitProblem> {
    let contains = format!("--contains={commit}");
    let args = ["for-each-ref", "--count=1", "--format=%(refname:short)", &contains, "refs/remotes"];
    match line(&git.ask(&args).await.map_err(problem)?) {
        none if none.is_empty() => Ok(()),
        reference => Err(CommitProblem::Pushed { reference }),
    }
}

/// A name and an address, with the time that git writes after them.
#[derive(Clone)]
pub(super) struct Person {
    pub name: String,
    pub address: String,
    pub date: String,
}

impl Person {
    /// `Name <address> 1700000000 +0100`
    pub fn of(line: &str) -> Option<Self> {
        let (name, rest) = line.split_once('<')?;
        let (address, date) = rest.rsplit_once('>')?;
        let [name, address, date] = [name, address, date].map(|part| part.trim().to_owned());
        Some(Self { name, address, date })
    }

    pub fn shown(&self) -> String {
        format!("{} <{}>", self.name, self.address)
    }

    /// The variables that give a commit this person; `role` is `AUTHOR` or `COMMITTER`.
    pub fn variables(&self, role: &str, with_date: bool) -> Vec<(OsString, OsString)> {
        let mut all = vec![("NAME", self.name.clone()), ("EMAIL", self.address.clone())];
        all.extend(with_date.then(|| ("DATE", format!("@{}", self.date))));
        all.into_iter().map(|(part, value)| (format!("GIT_{role}_{part}").into(), value.into())).collect()
    }
}

/// The author and the committer of a new commit, as git of the user has them.
pub(super) async fn identity(user: &Git<'_>) -> Result<(Person, Person), CommitProblem> {
    let ask = async |name: &str| match user.ask(&["var", name]).await {
        Ok(found) => Person::of(&line(&found))
            .ok_or_else(|| CommitProblem::NoIdentity { said: "git var printed nothing".to_owned() }),
        Err(GitError::Failed(said)) => Err(CommitProblem::NoIdentity { said }),
        Err(error) => Err(problem(error)),
    };
    Ok((ask("GIT_AUTHOR_IDENT").await?, ask("GIT_COMMITTER_IDENT").await?))
}

/// The hooks and the signing that `git commit` of the user would run.
pub(super) async fn programs(user: &Git<'_>) -> Result<Vec<String>, CommitProblem> {
    let folder = line(&user.ask(&["rev-parse", "--git-path", "hooks"]).await.map_err(problem)?);
    let folder = user.folder().join(folder);
    let looking = on_disk(user.folder(), move || {
        let is_there = |name: &&&str| super::super::content::is_program(&folder.join(name));
        HOOKS.iter().filter(is_there).map(|name| (*name).to_owned()).collect::<Vec<_>>()
    });
    let mut found = looking.await.map_err(problem)?;
    if setting(user, &["--type=bool", "--get", "commit.gpgSign"]).await?.as_deref() == Some("true") {
        found.push("signing".to_owned());
    }
    // Hooks of the configuration (2.54).
    if let Some(named) = setting(user, &["--name-only", "--get-regexp", r"^hook\..*\.command$"]).await? {
        found.extend(named.lines().map(str::to_owned));
    }
    Ok(found)
}

/// A value of the configuration of the user and the repository. Git fails without one.
pub(super) async fn setting(user: &Git<'_>, args: &[&str]) -> Result<Option<String>, CommitProblem> {
    let args: Vec<&str> = ["config"].into_iter().chain(args.iter().copied()).collect();
    match user.ask(&args).await {
        Ok(value) => Ok(Some(line(&value))),
        Err(GitError::Failed(_)) => Ok(None),
        Err(error) => Err(problem(error)),
    }
}

/// The lines of an output without the end of the last one.
pub(super) fn line(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    text.strip_suffix('\n').unwrap_or(&text).to_owned()
}

/// A failure of git as the reason of a refusal.
pub(super) fn problem(error: GitError) -> CommitProblem {
    match error {
        GitError::NoProgram => CommitProblem::NoGit,
        GitError::Failed(said) => match locked(&said) {
            Some(file) => CommitProblem::Locked { file },
            None => CommitProblem::Git { said },
        },
        error => CommitProblem::Git { said: error.to_string() },
    }
}

/// The lock in the way, of a message such as `fatal: Unable to create '/a/.git/index.lock': File exists.`
fn locked(said: &str) -> Option<String> {
    let path = said.split('\'').find(|part| part.ends_with(".lock"))?;
    said.contains("File exists").then(|| path.to_owned())
}

/// A file of Deskbell's own could not be used.
pub(super) fn own(path: &Path, error: impl std::fmt::Display) -> CommitProblem {
    CommitProblem::Git { said: format!("{}: {error}", path.display()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_read_as_git_writes_one() {
        let person = Person::of("A <B> C <a@b> 1700000000 +0100").unwrap();
        assert_eq!(person.shown(), "A <B> C <a@b>");
    }

    #[test]
    fn a_lock_is_named() {
        let said = "fatal: Unable to create '/a b/.git/index.lock': File exists.";
        assert_eq!(
            problem(GitError::Failed(said.to_owned())),
            CommitProblem::Locked { file: "/a b/.git/index.lock".to_owned() }
        );
    }
}
