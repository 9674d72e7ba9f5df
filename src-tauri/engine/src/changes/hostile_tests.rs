//! Repositories that try to run something. Each canary is first shown to run with ordinary git.

use super::list_tests::{Repo, git_in};
use super::*;
use crate::host::LocalHost;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// A program that leaves a file when it runs.
pub(crate) struct Canary {
    folder: tempfile::TempDir,
}

impl Canary {
    pub fn new() -> Self {
        let canary = Self { folder: tempfile::tempdir().unwrap() };
        let script = format!(
            "#!/bin/sh\necho \"$0 $*\" >>{}\ncase \"$*\" in *host*) exit 1;; esac\ncat\n",
            canary.sign().display()
        );
        fs::write(canary.program(), script).unwrap();
        fs::set_permissions(canary.program(), fs::Permissions::from_mode(0o755)).unwrap();
        canary
    }

    pub fn program(&self) -> PathBuf {
        self.folder.path().join("canary")
    }

    pub fn sign(&self) -> PathBuf {
        self.folder.path().join("ran")
    }

    /// Whether it ran since the last question.
    pub fn ran(&self) -> bool {
        fs::remove_file(self.sign()).is_ok()
    }
}

/// Settings that make git run a program.
const SETTINGS: &[&str] = &[
    "core.fsmonitor",
    "diff.external",
    "diff.x.command",
    "diff.x.textconv",
    "filter.x.clean",
    "filter.x.smudge",
    "filter.x.process",
    "core.sshCommand",
    "core.gitProxy",
    "core.pager",
    "core.editor",
    "core.askPass",
    "core.alternateRefsCommand",
    "credential.helper",
    "remote.origin.uploadpack",
    "pager.diff",
    "pager.ls-files",
    "sequence.editor",
    "gpg.program",
    "uploadpack.packObjectsHook",
    "interactive.diffFilter",
];

const ALIASES: &[&str] = &["ls-files", "ls-tree", "cat-file", "check-attr", "rev-parse", "config"];

const HOOKS: &[&str] =
    &["post-index-change", "reference-transaction", "pre-commit", "post-checkout", "fsmonitor"];

fn hostile(canary: &Canary) -> Repo {
    let repo = Repo::new();
    for path in ["a", "b", "gone"] {
        repo.write(path, "1\n");
    }
    repo.commit();
    arm(repo.folder.path(), canary);
    repo.write(".gitattributes", "* filter=x diff=x\n");
    // Changed, with the same size: ordinary git has to read it.
    repo.write("a", "2\n");
    repo.write("new", "2\n");
    fs::remove_file(repo.at("gone")).unwrap();
    repo
}

/// Sets everything that runs the canary in a repository.
pub(crate) fn arm(folder: &Path, canary: &Canary) {
    let program = canary.program();
    let program = program.to_str().unwrap();
    for setting in SETTINGS.iter().filter(|setting| **setting != "core.fsmonitor") {
        git_in(folder, &["config", setting, program]);
    }
    for alias in ALIASES {
        git_in(folder, &["config", &format!("alias.{alias}"), &format!("!{program}")]);
    }
    let hooks = canary.folder.path().join("hooks");
    fs::create_dir_all(&hooks).unwrap();
    for folder in [&hooks, &folder.join(".git/hooks")] {
        fs::create_dir_all(folder).unwrap();
        for hook in HOOKS {
            fs::copy(program, folder.join(hook)).unwrap();
        }
    }
    // Through an included file, because a look at the file itself would miss it.
    let included = format!("[core]\n\tfsmonitor = {program}\n\thooksPath = {}\n", hooks.display());
    fs::write(canary.folder.path().join("included"), included).unwrap();
    let included = canary.folder.path().join("included");
    git_in(folder, &["config", "include.path", included.to_str().unwrap()]);
}

async fn look_at_everything(folder: &Path) -> Changes {
    let found = WorkingTree::new(&LocalHost, folder, None).changes().await;
    let start = Snapshot::take(&LocalHost, folder, 1).await.unwrap().unwrap();
    WorkingTree::new(&LocalHost, folder, Some(&start)).changes().await;
    for file in &found.files {
        WorkingTree::new(&LocalHost, folder, None).file_diff(&file.path).await.unwrap();
        WorkingTree::new(&LocalHost, folder, Some(&start)).file_diff(&file.path).await.unwrap();
    }
    WorkingTree::new(&LocalHost, folder, None).patch(&[]).await.unwrap();
    let data = tempfile::tempdir().unwrap();
    let reverts = Reverts::new(&LocalHost, folder, data.path());
    for file in &found.files {
        // Some are refused.
        if let Ok(done) = reverts.revert(None, &file.path, None, None, None, 1).await {
            reverts.undo(Some(done.at)).await.unwrap();
        }
    }
    found
}

#[tokio::test]
async fn no_setting_hook_alias_or_filter_of_a_repository_runs() {
    let canary = Canary::new();
    let repo = hostile(&canary);
    let output = Command::new("git").arg("status").current_dir(repo.folder.path()).output().unwrap();
    assert!(output.status.success() && canary.ran(), "the canary is deaf");
    let output =
        Command::new("git").args(["ls-files", "-s"]).current_dir(repo.folder.path()).output().unwrap();
    assert!(output.status.success() && canary.ran(), "reading the index does not run fsmonitor");

    let found = look_at_everything(repo.folder.path()).await;
    assert_eq!(
        found.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(),
        [".gitattributes", "a", "gone", "new"]
    );
    assert!(!canary.ran(), "{:?}", fs::read_to_string(canary.sign()));
}

#[tokio::test]
async fn a_hostile_submodule_and_a_hostile_repository_in_the_project_run_nothing() {
    let canary = Canary::new();
    let inner = Repo::new();
    inner.write("a", "1\n");
    inner.commit();
    let repo = Repo::new();
    repo.git(&["submodule", "--quiet", "add", inner.folder.path().to_str().unwrap(), "sub"]);
    repo.git(&["init", "--quiet", "own"]);
    repo.git(&["init", "--quiet", "--bare", "bare"]);
    repo.git(&["add", "sub", ".gitmodules"]);
    repo.git(&["commit", "--quiet", "--message=x"]);
    git_in(&repo.at("sub"), &["commit", "--quiet", "--allow-empty", "--message=y"]);
    repo.write("sub/a", "2\n");
    let module = repo.at(".git/modules/sub");
    let program = canary.program();
    for folder in [&repo.at("sub"), &repo.at("own")] {
        git_in(folder, &["config", "core.fsmonitor", program.to_str().unwrap()]);
        git_in(folder, &["config", "filter.x.clean", program.to_str().unwrap()]);
    }
    git_in(&repo.at("bare"), &["config", "core.fsmonitor", program.to_str().unwrap()]);
    fs::create_dir_all(module.join("info")).unwrap();
    fs::write(module.join("info/attributes"), "* filter=x\n").unwrap();
    git_in(repo.folder.path(), &["status"]);
    assert!(canary.ran(), "the canary is deaf");

    let found = look_at_everything(repo.folder.path()).await;
    assert!(found.files.iter().any(|file| file.path == "sub"), "{found:?}");
    let bare = WorkingTree::new(&LocalHost, &repo.at("bare"), None).changes().await;
    assert_eq!(bare.files, []);
    assert!(!canary.ran());
}

#[tokio::test]
async fn objects_that_are_missing_are_not_fetched() {
    let canary = Canary::new();
    let repo = Repo::new();
    repo.write("a", "1\n");
    repo.commit();
    let id = repo.git(&["rev-parse", "HEAD:a"]);
    let id = id.trim();
    fs::remove_file(repo.at(&format!(".git/objects/{}/{}", &id[..2], &id[2..]))).unwrap();
    let program = canary.program();
    let program = program.to_str().unwrap();
    for (name, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", "ssh://host/x"),
        ("remote.origin.uploadpack", program),
        ("core.sshCommand", program),
        ("protocol.allow", "always"),
    ] {
        repo.git(&["config", name, value]);
    }
    let fetch = |environment: &[(&str, &str)]| {
        let mut git = Command::new("git");
        git.args(["cat-file", "blob", id]).current_dir(repo.folder.path());
        git.envs(environment.iter().copied()).output().unwrap();
        canary.ran()
    };
    assert!(fetch(&[]), "the canary is deaf");
    // Each protection holds alone: an older git does not know the first.
    assert!(!fetch(&[("GIT_NO_LAZY_FETCH", "1")]));
    assert!(!fetch(&[("GIT_ALLOW_PROTOCOL", "none")]));
    repo.write("a", "2\n");
    look_at_everything(repo.folder.path()).await;
    assert!(!canary.ran());
    let shown = WorkingTree::new(&LocalHost, repo.folder.path(), None).file_diff("a").await.unwrap();
    assert_eq!(shown.note.unwrap(), "The earlier content is missing from the repository.");
}

#[tokio::test]
async fn a_repository_that_points_elsewhere_shows_nothing_of_it() {
    let secret = tempfile::tempdir().unwrap();
    fs::write(secret.path().join("secret"), "x\n").unwrap();
    let repo = Repo::new();
    repo.write("a", "1\n");
    repo.commit();
    repo.git(&["config", "core.worktree", secret.path().to_str().unwrap()]);
    let found = WorkingTree::new(&LocalHost, repo.folder.path(), None).changes().await;
    assert!(!format!("{found:?}").contains("secret"), "{found:?}");
}

#[tokio::test]
async fn a_pipe_in_place_of_one_of_gits_files_is_given_up() {
    let paths = [".git", ".git/index", ".git/HEAD", ".git/config", ".gitignore", ".gitattributes"];
    let repos = paths.map(|path| {
        let repo = Repo::new();
        repo.write("a", "1\n");
        repo.write(".gitignore", "x\n");
        repo.write(".gitattributes", "x text\n");
        repo.commit();
        repo.write("a", "2\n");
        let place = repo.at(path);
        match place.is_dir() {
            true => fs::remove_dir_all(&place).unwrap(),
            false => fs::remove_file(&place).unwrap(),
        }
        let name = std::ffi::CString::new(place.to_str().unwrap()).unwrap();
        // SAFETY: the name is a valid string.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        repo
    });
    let began = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for repo in repos {
        tasks.spawn(async move { WorkingTree::new(&LocalHost, repo.folder.path(), None).changes().await });
    }
    let all = tasks.join_all().await;
    assert!(began.elapsed() < Duration::from_secs(45), "{:?}", began.elapsed());
    assert_eq!(all.iter().filter(|found| found.problem.is_some()).count(), 3, "{all:?}");
}
