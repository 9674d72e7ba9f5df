//! Commits with real git, in many kinds of repositories, with failing hooks, and with a death at each step.

use super::super::hostile_tests::{Canary, arm};
use super::super::list_tests::{Repo, git_in};
use super::*;
use crate::api::{CommitFile, HunkPlace};
use crate::host::{Child, LocalHost, Program};
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use tokio::sync::Notify;

/// A repository with Deskbell's folder and the home of a user.
struct Bench {
    repo: Repo,
    data: tempfile::TempDir,
    home: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self::of(Repo::new())
    }

    fn of(repo: Repo) -> Self {
        let (data, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(home.path().join("config"), "[user]\nname = A\nemail = a@b\nuseConfigOnly = true\n")
            .unwrap();
        Self { repo, data, home }
    }

    /// With a commit of `a`, `b` and a file of 40 lines.
    fn with_files() -> Self {
        let bench = Self::new();
        bench.repo.write("a", "1\n");
        bench.repo.write("b", "1\n");
        bench.repo.write("long", lines(&[]));
        bench.repo.commit();
        bench
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        vec![
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
            ("HOME".into(), self.home.path().into()),
            ("GIT_CONFIG_GLOBAL".into(), self.home.path().join("config").into()),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
        ]
    }

    fn commits_of<'a>(&self, host: &'a dyn Host, folder: &'a Path) -> Commits<'a> {
        Commits::new(host, folder, self.data.path(), self.environment())
    }

    async fn make(
        &self,
        request: &CommitRequest,
        may_run: CommitPrograms,
    ) -> Result<Committed, CommitProblem> {
        let folder = self.repo.folder.path();
        self.commits_of(&LocalHost, folder).commit(request, may_run, &|_| {}, never()).await
    }

    async fn undo(&self) -> Result<UndoneCommit, CommitProblem> {
        self.commits_of(&LocalHost, self.repo.folder.path()).undo().await
    }

    fn hook(&self, name: &str, script: &str) {
        let path = self.repo.at(".git/hooks").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The last commit, the index and the state of each file.
    fn state(&self) -> String {
        let folder = self.repo.folder.path();
        // Without a commit it fails.
        let head = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(folder).output().unwrap();
        let status = self.repo.git(&["status", "--porcelain=v2", "--branch", "-z"]);
        let index = self.repo.git(&["ls-files", "--stage"]);
        format!("{}\n{status}\n{index}", String::from_utf8_lossy(&head.stdout)).replace('\0', "\n")
    }

    fn staged(&self) -> String {
        self.repo.git(&["diff", "--cached", "--name-status", "--no-renames"])
    }
}

fn never() -> BoxFuture<'static, ()> {
    Box::pin(std::future::pending())
}

/// Lines 1 to 40, with these lines changed.
fn lines(changed: &[usize]) -> String {
    (1..=40).map(|n| format!("{n}{}\n", if changed.contains(&n) { " changed" } else { "" })).collect()
}

fn of(paths: &[&str]) -> CommitRequest {
    let file = |path: &&str| CommitFile { path: (*path).to_owned(), ..CommitFile::default() };
    let files = CommitFiles::Only(paths.iter().map(file).collect());
    CommitRequest { files, message: Some("Fix it\n\nWell.".to_owned()), ..CommitRequest::default() }
}

fn all() -> CommitRequest {
    CommitRequest { files: CommitFiles::All, ..of(&[]) }
}

const BOTH: [CommitPrograms; 2] = [CommitPrograms::Ask, CommitPrograms::Run];

#[tokio::test]
async fn only_the_chosen_file_is_committed_and_other_staged_changes_stay() {
    for may_run in BOTH {
        let bench = Bench::with_files();
        for (path, text) in [("a", "2\n"), ("b", "2\n"), ("new", "2\n"), ("intended", "2\n")] {
            bench.repo.write(path, text);
        }
        bench.repo.git(&["add", "b"]);
        bench.repo.git(&["add", "--intent-to-add", "intended"]);
        let made = bench.make(&CommitRequest { signoff: true, ..of(&["a", "new"]) }, may_run).await.unwrap();
        assert_eq!(
            (&made.files[..], made.subject.as_str()),
            (&["a".to_owned(), "new".to_owned()][..], "Fix it")
        );
        assert_eq!((made.problem, made.stays_staged), (None, vec!["b".to_owned()]));
        assert_eq!(bench.staged(), "M\tb\n");
        assert_eq!(bench.repo.git(&["status", "--porcelain"]), "M  b\n A intended\n");
        let said = bench.repo.git(&["log", "-1", "--format=%an <%ae>%n%cn%n%B"]);
        assert_eq!(said.trim_end(), "A <a@b>\nA\nFix it\n\nWell.\n\nSigned-off-by: A <a@b>");
        assert_eq!(bench.repo.git(&["log", "-1", "--name-status", "--format="]), "M\ta\nA\tnew\n");
        assert!(bench.repo.git(&["reflog", "-1"]).contains("commit: Fix it"));
    }
}

#[tokio::test]
async fn a_chosen_hunk_is_committed_without_the_others() {
    for may_run in BOTH {
        let bench = Bench::with_files();
        bench.repo.write("long", lines(&[2, 20, 38]));
        // The staged version is another one, which the plan names.
        bench.repo.git(&["add", "long"]);
        let hunk = HunkPlace { old_start: 17, n_old: 7, new_start: 17, n_new: 7 };
        let mut request = of(&["long"]);
        let CommitFiles::Only(files) = &mut request.files else { unreachable!() };
        files[0].hunks = Some(vec![hunk]);
        let made = bench.make(&request, may_run).await.unwrap();
        assert_eq!(made.replaces_staged, ["long"]);
        assert_eq!(bench.repo.git(&["show", "HEAD:long"]), lines(&[20]));
        assert_eq!(fs::read_to_string(bench.repo.at("long")).unwrap(), lines(&[2, 20, 38]));
        assert_eq!(bench.repo.git(&["status", "--porcelain"]), " M long\n");
        assert!(matches!(
            bench.make(&request, may_run).await,
            Err(CommitProblem::ChangedSince { path }) if path == "long"
        ));
    }
}

#[tokio::test]
async fn a_file_that_changed_since_it_was_shown_is_not_committed() {
    let bench = Bench::with_files();
    bench.repo.write("a", "2\n");
    let folder = bench.repo.folder.path();
    let shown = WorkingTree::new(&LocalHost, folder, None).file_diff("a").await.unwrap();
    let mut request = of(&["a"]);
    let CommitFiles::Only(files) = &mut request.files else { unreachable!() };
    files[0].version = shown.version;
    bench.repo.write("a", "3\n");
    let before = bench.state();
    let refused = bench.make(&request, CommitPrograms::Ask).await;
    assert_eq!(refused, Err(CommitProblem::ChangedSince { path: "a".to_owned() }));
    assert_eq!(bench.state(), before);
    bench.repo.write("a", "2\n");
    bench.make(&request, CommitPrograms::Ask).await.unwrap();
}

/// Makes every kind of change.
fn change_everything(repo: &Repo) {
    repo.write(".gitattributes", "crlf text eol=crlf\n");
    for path in [
        "gone",
        "moved",
        "-dash",
        "with space",
        "line\nbreak",
        "ä\u{202e}",
        "script",
        "turned",
        "folder/x",
        "to/file",
    ] {
        repo.write(path, format!("{path}\n"));
    }
    repo.write("crlf", "1\r\n2\r\n");
    repo.write("binary", b"\0\x01");
    repo.write("kept", "kept\n");
    symlink("gone", repo.at("link")).unwrap();
    repo.commit();
    for path in ["-dash", "with space", "line\nbreak", "ä\u{202e}"] {
        repo.write(path, "changed\n");
    }
    fs::remove_file(repo.at("gone")).unwrap();
    fs::rename(repo.at("moved"), repo.at("other name")).unwrap();
    fs::set_permissions(repo.at("script"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(repo.at("turned")).unwrap();
    symlink("kept", repo.at("turned")).unwrap();
    fs::remove_file(repo.at("link")).unwrap();
    symlink("kept", repo.at("link")).unwrap();
    fs::remove_dir_all(repo.at("folder")).unwrap();
    repo.write("folder", "a file\n");
    fs::remove_file(repo.at("to/file")).unwrap();
    repo.write("to/file/below", "x\n");
    repo.write("crlf", "1\r\n3\r\n");
    repo.write("binary", b"\0\x02");
    repo.write("new folder/-new", "x\n");
    repo.write("empty", "");
    fs::write(repo.folder.path().join(std::ffi::OsStr::new("ok")), "x").unwrap();
    use std::os::unix::ffi::OsStrExt;
    fs::write(repo.folder.path().join(std::ffi::OsStr::from_bytes(b"latin\xff")), "x").unwrap();
}

#[tokio::test]
async fn every_kind_of_change_is_committed_as_git_commits_it() {
    for (format, may_run) in [("sha1", BOTH[0]), ("sha1", BOTH[1]), ("sha256", BOTH[0]), ("sha256", BOTH[1])]
    {
        let bench = Bench::new();
        fs::remove_dir_all(bench.repo.at(".git")).unwrap();
        let format = format!("--object-format={format}");
        bench.repo.git(&["init", "--quiet", "--initial-branch=main", &format]);
        change_everything(&bench.repo);
        let copy = tempfile::tempdir().unwrap();
        let copied = Command::new("cp").arg("-a").arg(bench.repo.at(".")).arg(copy.path()).status().unwrap();
        assert!(copied.success());
        git_in(copy.path(), &["add", "--all"]);
        let expected = git_in(copy.path(), &["write-tree"]);
        let made = bench.make(&all(), may_run).await.unwrap();
        assert_eq!(bench.repo.git(&["rev-parse", "HEAD^{tree}"]), expected);
        assert_eq!(bench.repo.git(&["status", "--porcelain"]), "");
        assert_eq!(made.problem, None);
        let undone = bench.undo().await.unwrap();
        assert_eq!(
            (undone.id, Some(bench.repo.git(&["rev-parse", "HEAD"]).trim().to_owned())),
            (made.id, undone.head)
        );
        assert_eq!(bench.repo.git(&["write-tree"]), expected);
    }
}

#[tokio::test]
async fn the_first_commit_is_made_and_undone() {
    for may_run in BOTH {
        let bench = Bench::new();
        bench.repo.write("a", "1\n");
        bench.repo.write("b", "1\n");
        let amend = CommitRequest { amend: true, ..of(&["a"]) };
        assert_eq!(bench.make(&amend, may_run).await, Err(CommitProblem::NothingToAmend));
        let made = bench.make(&of(&["a"]), may_run).await.unwrap();
        assert_eq!(
            bench.repo.git(&["log", "--format=%H %s", "--name-only"]),
            format!("{} Fix it\n\na\n", made.id)
        );
        assert_eq!(bench.repo.git(&["status", "--porcelain"]), "?? b\n");
        let undone = bench.undo().await.unwrap();
        assert_eq!((undone.head, undone.branch.as_str()), (None, "main"));
        assert_eq!(bench.repo.git(&["status", "--porcelain"]), "A  a\n?? b\n");
        assert_eq!(bench.undo().await, Err(CommitProblem::NothingToUndo));
    }
}

#[tokio::test]
async fn ones_own_commit_is_amended_and_a_pushed_or_foreign_one_is_not() {
    for may_run in BOTH {
        let bench = Bench::with_files();
        let first = bench.repo.git(&["rev-parse", "HEAD"]);
        bench.repo.write("a", "2\n");
        let amend = CommitRequest { amend: true, message: None, ..of(&["a"]) };
        let made = bench.make(&amend, may_run).await.unwrap();
        assert_eq!(
            (made.subject.as_str(), bench.repo.git(&["rev-list", "--count", "HEAD"]).trim()),
            ("x", "1")
        );
        assert_eq!(bench.repo.git(&["show", "HEAD:a"]), "2\n");
        let undone = bench.undo().await.unwrap();
        assert_eq!(undone.head.as_deref(), Some(first.trim()));

        // Only the message.
        let reword = CommitRequest {
            message: Some("Reworded".to_owned()),
            ..CommitRequest { amend: true, ..of(&[]) }
        };
        assert_eq!(bench.make(&reword, may_run).await.unwrap().subject, "Reworded");
        assert_eq!(bench.staged(), "M\ta\n");

        bench.repo.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
        let pushed = CommitProblem::Pushed { reference: "origin/main".to_owned() };
        assert_eq!(bench.make(&amend, may_run).await, Err(pushed.clone()));
        assert_eq!(bench.undo().await, Err(pushed));
        bench.repo.git(&["update-ref", "-d", "refs/remotes/origin/main"]);
        bench.repo.git(&["commit", "--quiet", "--amend", "--no-edit", "--author=Other <o@p>"]);
        assert_eq!(bench.undo().await, Err(CommitProblem::NothingToUndo));
        let foreign = CommitProblem::NotYours { author: "Other <o@p>".to_owned() };
        assert_eq!(bench.make(&amend, may_run).await, Err(foreign));
    }
}

#[tokio::test]
async fn a_failing_hook_loses_nothing() {
    for hook in ["pre-commit", "prepare-commit-msg", "commit-msg"] {
        for script in ["echo one; echo two >&2; exit 1", "kill -9 $PPID; exit 1"] {
            let bench = Bench::with_files();
            bench.repo.write("a", "2\n");
            bench.repo.git(&["add", "a"]);
            bench.repo.write("a", "3\n");
            bench.repo.write("new", "2\n");
            bench.repo.write("intended", "2\n");
            bench.repo.git(&["add", "--intent-to-add", "intended"]);
            fs::remove_file(bench.repo.at("b")).unwrap();
            let before = bench.state();
            bench.hook(hook, script);
            let heard = Mutex::new(String::new());
            let folder = bench.repo.folder.path();
            let commits = bench.commits_of(&LocalHost, folder);
            let said = |text: &str| heard.lock().unwrap().push_str(text);
            let request = of(&["a", "new", "intended", "b"]);
            let refused = commits.commit(&request, CommitPrograms::Run, &said, never()).await;
            let Err(CommitProblem::Failed { output }) = refused else { panic!("{refused:?}") };
            if script.starts_with("echo") {
                assert!(output.contains("one") && output.contains("two"), "{output}");
                assert!(heard.lock().unwrap().contains("two"));
            }
            assert_eq!(bench.state(), before, "{hook}: {script}");
            assert!(!bench.repo.at(".git/index.lock").exists());
            // Without an answer nothing runs, and the hook is named.
            let asked = bench.make(&request, CommitPrograms::Ask).await;
            assert_eq!(asked, Err(CommitProblem::WouldRun { programs: vec![hook.to_owned()] }));
            bench.make(&request, CommitPrograms::Skip).await.unwrap();
        }
    }
}

#[tokio::test]
async fn files_that_a_hook_changes_are_in_the_commit_and_the_index() {
    let bench = Bench::with_files();
    bench.repo.write("a", "2\n");
    bench.repo.write("staged", "1\n");
    bench.repo.git(&["add", "staged"]);
    bench.hook("pre-commit", "echo formatted >a; echo made >made; git add a made");
    let made = bench.make(&of(&["a"]), CommitPrograms::Run).await.unwrap();
    assert_eq!(
        (made.files, made.added_by_hooks),
        (vec!["a".to_owned(), "made".to_owned()], vec!["made".to_owned()])
    );
    assert_eq!(bench.repo.git(&["show", "HEAD:a"]), "formatted\n");
    assert_eq!(bench.repo.git(&["status", "--porcelain"]), "A  staged\n");
    bench.undo().await.unwrap();
}

#[tokio::test]
async fn a_hook_that_fails_after_the_commit_is_said_and_the_commit_stays() {
    for script in ["exit 1", "kill -9 $PPID"] {
        let bench = Bench::with_files();
        bench.repo.write("a", "2\n");
        bench.hook("post-commit", script);
        let made = bench.make(&of(&["a"]), CommitPrograms::Run).await.unwrap();
        assert_eq!(made.problem.is_some(), script.starts_with("kill"), "git ignores the exit of this hook");
        assert_eq!(bench.repo.git(&["status", "--porcelain"]), "");
        bench.undo().await.unwrap();
    }
}

#[tokio::test]
async fn a_hanging_hook_is_cancelled_and_leaves_nothing() {
    let bench = Bench::with_files();
    bench.repo.write("a", "2\n");
    let before = bench.state();
    bench.hook("pre-commit", "sleep 600 & echo $! >.git/pid; echo ready; wait");
    let ready = Notify::new();
    let folder = bench.repo.folder.path();
    let (commits, others) = (bench.commits_of(&LocalHost, folder), bench.commits_of(&LocalHost, folder));
    let said = |text: &str| {
        if text.contains("ready") {
            ready.notify_one();
        }
    };
    let busy = Mutex::new(None);
    let cancelled = Box::pin(async {
        ready.notified().await;
        let second = others.plan(&of(&["a"])).await;
        *busy.lock().unwrap() = Some(second);
    });
    let request = of(&["a"]);
    let refused = commits.commit(&request, CommitPrograms::Run, &said, cancelled).await;
    assert!(matches!(refused, Err(CommitProblem::Cancelled { .. })), "{refused:?}");
    assert_eq!(*busy.lock().unwrap(), Some(Err(CommitProblem::Busy)));
    assert_eq!(bench.state(), before);
    let sleeping = fs::read_to_string(bench.repo.at(".git/pid")).unwrap();
    let stat = fs::read_to_string(format!("/proc/{}/stat", sleeping.trim()));
    assert!(!stat.is_ok_and(|stat| !stat.contains(") Z")), "the hook's process still runs");
}

#[tokio::test]
async fn an_unfinished_operation_is_named_and_stays() {
    let prepared = |operation: &str| {
        let bench = Bench::with_files();
        let repo = &bench.repo;
        repo.git(&["switch", "--quiet", "--create", "other"]);
        repo.write("a", "other\n");
        repo.commit();
        repo.git(&["switch", "--quiet", "main"]);
        repo.write("a", "main\n");
        repo.commit();
        let args: &[&str] = match operation {
            "merge" => &["merge", "other"],
            "rebase" => &["rebase", "other"],
            _ => &["cherry-pick", "other"],
        };
        let program = Command::new("git")
            .args(["-c", "user.name=A", "-c", "user.email=a@b"])
            .args(args)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .current_dir(repo.folder.path())
            .output()
            .unwrap();
        assert!(!program.status.success(), "{operation} did not stop");
        bench
    };
    for operation in ["merge", "rebase", "cherry-pick"] {
        let bench = prepared(operation);
        bench.repo.write("b", "2\n");
        for may_run in BOTH {
            let before = bench.state();
            let conflict = CommitProblem::Conflicts { files: vec!["a".to_owned()] };
            assert_eq!(bench.make(&of(&["b"]), may_run).await, Err(conflict));
            assert_eq!(bench.state(), before);
        }
        bench.repo.git(&["add", "a"]);
        let before = bench.state();
        let unfinished = CommitProblem::Unfinished { operation: operation.to_owned() };
        assert_eq!(bench.make(&of(&["b"]), CommitPrograms::Run).await, Err(unfinished.clone()));
        assert_eq!(bench.undo().await, Err(unfinished));
        assert_eq!(bench.state(), before);
    }
}

#[tokio::test]
async fn a_place_without_a_branch_a_name_or_a_repository_is_said() {
    let bench = Bench::with_files();
    bench.repo.write("a", "2\n");
    bench.repo.git(&["switch", "--quiet", "--detach"]);
    let commit = bench.repo.git(&["rev-parse", "HEAD"]).trim().to_owned();
    assert_eq!(bench.make(&of(&["a"]), CommitPrograms::Run).await, Err(CommitProblem::Detached { commit }));
    bench.repo.git(&["switch", "--quiet", "main"]);
    fs::write(bench.home.path().join("config"), "[user]\nuseConfigOnly = true\n").unwrap();
    let nameless = bench.make(&of(&["a"]), CommitPrograms::Run).await;
    assert!(matches!(nameless, Err(CommitProblem::NoIdentity { .. })), "{nameless:?}");
    for (files, message, expected) in [
        (of(&[]).files, "x", CommitProblem::NothingChosen),
        (of(&["b"]).files, "x", CommitProblem::NotChanged { path: "b".to_owned() }),
        (of(&["../a"]).files, "x", CommitProblem::NotChanged { path: "../a".to_owned() }),
        (of(&["a"]).files, " \n", CommitProblem::NoMessage),
    ] {
        let bench = Bench::with_files();
        bench.repo.write("a", "2\n");
        let request = CommitRequest { files, message: Some(message.to_owned()), ..CommitRequest::default() };
        assert_eq!(bench.make(&request, CommitPrograms::Run).await, Err(expected));
    }
    let moved = CommitRequest { head: Some("0".repeat(40)), ..of(&["a"]) };
    let bench = Bench::with_files();
    bench.repo.write("a", "2\n");
    assert_eq!(bench.make(&moved, CommitPrograms::Run).await, Err(CommitProblem::HeadMoved));
    bench.repo.write(".git/index.lock", "");
    let locked = bench.make(&of(&["a"]), CommitPrograms::Run).await;
    assert!(
        matches!(&locked, Err(CommitProblem::Locked { file }) if file.ends_with("index.lock")),
        "{locked:?}"
    );
    fs::remove_file(bench.repo.at(".git/index.lock")).unwrap();
    bench.make(&of(&["a"]), CommitPrograms::Run).await.unwrap();

    let empty = tempfile::tempdir().unwrap();
    let outside = bench.commits_of(&LocalHost, empty.path()).plan(&all()).await;
    assert_eq!(outside, Err(CommitProblem::NoRepository));
    git_in(empty.path(), &["init", "--quiet", "--bare"]);
    let bare = bench.commits_of(&LocalHost, empty.path()).plan(&all()).await;
    assert_eq!(bare, Err(CommitProblem::Bare));
}

#[tokio::test]
async fn submodules_worktrees_and_folders_below_the_root_are_committed_in_their_place() {
    for may_run in BOTH {
        let sub = Repo::new();
        sub.write("s", "1\n");
        sub.commit();
        let bench = Bench::with_files();
        let repo = &bench.repo;
        repo.git(&["submodule", "--quiet", "add", sub.folder.path().to_str().unwrap(), "sub"]);
        repo.write("below/it", "1\n");
        repo.commit();
        git_in(&repo.at("sub"), &["commit", "--quiet", "--allow-empty", "--message=y"]);
        let own = git_in(&repo.at("sub"), &["rev-parse", "HEAD"]);
        bench.make(&of(&["sub"]), may_run).await.unwrap();
        assert_eq!(repo.git(&["rev-parse", "HEAD:sub"]), own);

        repo.write("below/it", "2\n");
        repo.write("a", "2\n");
        let folder = repo.at("below");
        let commits = bench.commits_of(&LocalHost, &folder);
        let made = commits.commit(&all(), may_run, &|_| {}, never()).await.unwrap();
        assert_eq!(made.files, ["below/it"]);
        assert_eq!(repo.git(&["status", "--porcelain"]), " M a\n");

        git_in(repo.folder.path(), &["init", "--quiet", "inner"]);
        git_in(&repo.at("inner"), &["commit", "--quiet", "--allow-empty", "--message=z"]);
        let inner = bench.make(&of(&["inner/"]), may_run).await;
        assert!(matches!(inner, Err(CommitProblem::NotCommittable { .. })), "{inner:?}");

        let place = tempfile::tempdir().unwrap();
        let worktree = place.path().join("w");
        repo.git(&["worktree", "add", "--quiet", "-b", "side", worktree.to_str().unwrap()]);
        fs::write(worktree.join("b"), "side\n").unwrap();
        let commits = bench.commits_of(&LocalHost, &worktree);
        let made = commits.commit(&of(&["b"]), may_run, &|_| {}, never()).await.unwrap();
        assert_eq!(
            (made.branch.as_str(), git_in(&worktree, &["status", "--porcelain"])),
            ("side", String::new())
        );
        assert_eq!(repo.git(&["log", "-1", "--format=%H", "side"]).trim(), made.id);
        // The commit of one worktree is not undone in another.
        let undone = commits.undo().await.unwrap();
        assert_eq!(undone.branch, "side");
    }
}

#[tokio::test]
async fn a_sparse_checkout_keeps_the_files_that_are_not_checked_out() {
    for may_run in BOTH {
        let bench = Bench::with_files();
        let repo = &bench.repo;
        for n in 0..5 {
            repo.write(&format!("in/{n}"), "1\n");
            repo.write(&format!("out/{n}"), "1\n");
        }
        repo.commit();
        repo.git(&["sparse-checkout", "set", "in"]);
        repo.write("in/1", "2\n");
        let made = bench.make(&all(), may_run).await.unwrap();
        assert_eq!(made.files, ["in/1"]);
        assert_eq!(repo.git(&["ls-tree", "-r", "--name-only", "HEAD", "out/"]).lines().count(), 5);
        assert_eq!(repo.git(&["status", "--porcelain"]), "");
        assert!(!repo.at("out").exists());
    }
}

#[tokio::test]
async fn objects_that_cannot_be_written_leave_everything_as_it_was() {
    for may_run in BOTH {
        let bench = Bench::with_files();
        bench.repo.git(&["repack", "--quiet", "-a", "-d"]);
        bench.repo.write("a", "2\n");
        let before = bench.state();
        // A superuser may write in every folder, and nobody in a file.
        for n in 0..256 {
            let folder = bench.repo.at(&format!(".git/objects/{n:02x}"));
            if folder.is_dir() {
                fs::remove_dir_all(&folder).unwrap();
            }
            fs::write(&folder, "").unwrap();
        }
        let refused = bench.make(&of(&["a"]), may_run).await;
        assert!(matches!(refused, Err(CommitProblem::Git { .. })), "{refused:?}");
        assert_eq!(bench.state(), before);
    }
}

#[tokio::test]
async fn ten_thousand_files_are_one_commit() {
    let bench = Bench::new();
    for n in 0..10_000 {
        bench.repo.write(&format!("{:02}/{n}", n % 100), format!("{n}\n"));
    }
    let made = bench.make(&all(), CommitPrograms::Ask).await.unwrap();
    assert_eq!(made.files.len(), 10_000);
    assert_eq!(bench.repo.git(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_hostile_repository_runs_nothing_without_an_answer() {
    let canary = Canary::new();
    let bench = Bench::with_files();
    arm(bench.repo.folder.path(), &canary);
    bench.repo.write("a", "2\n");
    bench.repo.git(&["status"]);
    assert!(canary.ran(), "the canary is deaf");
    let Err(CommitProblem::WouldRun { programs }) = bench.make(&of(&["a"]), CommitPrograms::Ask).await else {
        panic!("nothing was asked");
    };
    assert_eq!(programs, ["pre-commit", "reference-transaction", "post-index-change"]);
    let amend = CommitRequest { amend: true, signoff: true, ..of(&["a"]) };
    for (request, text) in [(of(&["a"]), "3\n"), (amend, "4\n")] {
        bench.repo.write("a", text);
        canary.ran();
        bench.make(&request, CommitPrograms::Skip).await.unwrap();
        bench.undo().await.unwrap();
        assert!(!canary.ran(), "{:?}", fs::read_to_string(canary.sign()));
        bench.make(&request, CommitPrograms::Skip).await.unwrap();
        canary.ran();
    }
    bench.repo.write(".gitattributes", "b filter=x\n");
    bench.repo.write("b", "2\n");
    canary.ran();
    let filtered = bench.make(&of(&["b"]), CommitPrograms::Skip).await;
    assert!(matches!(filtered, Err(CommitProblem::NotCommittable { .. })), "{filtered:?}");
    assert!(!canary.ran(), "{:?}", fs::read_to_string(canary.sign()));
    bench.repo.write("a", "5\n");
    // The canary is also the file system monitor, and answers git with nonsense.
    let answered = bench.make(&of(&["a"]), CommitPrograms::Run).await;
    assert!(!matches!(answered, Err(CommitProblem::WouldRun { .. })));
    assert!(canary.ran(), "the user's git runs hooks");
}

/// A machine whose Deskbell ends before the start of a process.
struct Dying {
    left: AtomicUsize,
    dead: Notify,
}

impl Host for Dying {
    fn spawn(&self, program: Program) -> BoxFuture<'_, io::Result<Child>> {
        if self.left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_err() {
            self.dead.notify_one();
            return Box::pin(std::future::pending());
        }
        LocalHost.spawn(program)
    }

    fn kill_tagged(&self, run_token: &str) -> usize {
        LocalHost.kill_tagged(run_token)
    }
}

#[tokio::test]
async fn a_death_at_any_step_leaves_the_repository_as_before_or_as_after() {
    for may_run in BOTH {
        let original = Bench::with_files();
        original.repo.write("a", "2\n");
        original.repo.git(&["add", "a"]);
        original.repo.write("a", "3\n");
        original.repo.write("new", "2\n");
        original.repo.write("intended", "2\n");
        original.repo.git(&["add", "--intent-to-add", "intended"]);
        original.repo.write("staged", "2\n");
        original.repo.git(&["add", "staged"]);
        fs::remove_file(original.repo.at("b")).unwrap();
        if may_run == CommitPrograms::Run {
            original.hook("pre-commit", "echo made >made; git add made");
        }
        let (mut n_before, mut n_after) = (0, 0);
        for step in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let copied =
                Command::new("cp").arg("-a").arg(original.repo.at(".")).arg(folder.path()).status().unwrap();
            assert!(copied.success());
            let bench = Bench::of(Repo { folder });
            let before = bench.state();
            let host = Dying { left: AtomicUsize::new(step), dead: Notify::new() };
            let request = of(&["a", "new", "intended", "b"]);
            let ended = {
                let commits = bench.commits_of(&host, bench.repo.folder.path());
                tokio::select! {
                    made = commits.commit(&request, may_run, &|_| {}, never()) => Some(made.unwrap()),
                    () = host.dead.notified() => None,
                }
            };
            // The next command looks first at what was interrupted.
            let refused = bench.make(&of(&[]), may_run).await;
            assert_eq!(refused, Err(CommitProblem::NothingChosen));
            let after = bench.state();
            let n_commits = bench.repo.git(&["rev-list", "--count", "HEAD"]);
            if n_commits.trim() == "1" {
                let made = before.clone() + &"? made\n".repeat(usize::from(bench.repo.at("made").exists()));
                let sorted = |state: &str| {
                    let mut lines: Vec<String> = state.lines().map(str::to_owned).collect();
                    lines.sort();
                    lines
                };
                assert_eq!(sorted(&after), sorted(&made), "step {step}");
                n_before += 1;
            } else {
                assert_eq!(bench.repo.git(&["status", "--porcelain"]), "A  staged\n", "step {step}");
                bench.undo().await.unwrap();
                n_after += 1;
            }
            if ended.is_some() {
                break;
            }
        }
        assert!(n_before > 20 && n_after > 3, "{n_before} deaths before, {n_after} after");
    }
}
