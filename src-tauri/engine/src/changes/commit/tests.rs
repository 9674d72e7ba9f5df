//! Commits with real git: the choice of files and hunks, the first commit and amended ones.

mod hooks;
mod interruptions;
mod repositories;

use super::super::list_tests::{Repo, git_in};
use super::*;
use crate::api::{CommitFile, HunkPlace};
use crate::host::LocalHost;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

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

    /// With changes of these files: `a` is staged in another version, `new` is untracked, `intended` is added without its
    /// content, and `b` is removed.
    fn with_changes() -> Self {
        let bench = Self::with_files();
        bench.repo.write("a", "2\n");
        bench.repo.git(&["add", "a"]);
        bench.repo.write("a", "3\n");
        bench.repo.write("new", "2\n");
        bench.repo.write("intended", "2\n");
        bench.repo.git(&["add", "--intent-to-add", "intended"]);
        fs::remove_file(bench.repo.at("b")).unwrap();
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

#[tokio::test]
async fn the_state_names_what_is_staged_and_the_message_that_can_be_amended() {
    let bench = Bench::with_changes();
    bench.repo.write("sub/c", "1\n");
    bench.repo.git(&["add", "sub/c"]);
    let folder = bench.repo.folder.path().to_owned();
    let before = bench.state();
    let state = async |folder: &Path| bench.commits_of(&LocalHost, folder).state().await;
    let found = state(&folder).await.unwrap();
    assert_eq!(found.staged, ["sub/c"]);
    assert_eq!(found.partly_staged, ["a"]);
    assert_eq!(found.programs, [""; 0]);
    assert_eq!(bench.state(), before);
    // In a folder of the repository the paths are those of its list of changes.
    assert_eq!(state(&folder.join("sub")).await.unwrap().staged, ["c"]);

    bench.make(&of(&["a"]), CommitPrograms::Ask).await.unwrap();
    let found = state(&folder).await.unwrap();
    let possible = Amendment::Possible { message: "Fix it\n\nWell.".to_owned(), programs: Vec::new() };
    assert_eq!(found.amendment, Some(possible));
    // This hook runs only after an amended commit.
    bench.hook("post-rewrite", "exit 1");
    let found = state(&folder).await.unwrap();
    assert_eq!(found.programs, [""; 0]);
    let Some(Amendment::Possible { programs, .. }) = found.amendment else {
        panic!("it was possible before")
    };
    assert_eq!(programs, ["post-rewrite"]);
    bench.repo.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    let found = state(&folder).await.unwrap();
    let reason = "The last commit is already on origin/main. Make a new commit instead.".to_owned();
    assert_eq!(found.amendment, Some(Amendment::Refused { reason }));
    bench.repo.git(&["checkout", "--quiet", "--detach"]);
    assert!(matches!(state(&folder).await, Err(CommitProblem::Detached { .. })));
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
async fn a_message_in_another_encoding_is_not_amended_without_a_new_one() {
    let bench = Bench::with_files();
    fs::write(bench.home.path().join("message"), b"caf\xe9\n").unwrap();
    let file = format!("--file={}", bench.home.path().join("message").display());
    let encoded = ["-c", "i18n.commitEncoding=ISO-8859-1", "commit", "--quiet", "--amend", &file];
    bench.repo.git(&encoded);
    bench.repo.write("a", "2\n");
    let before = bench.state();
    let amend = CommitRequest { amend: true, message: None, ..of(&["a"]) };
    assert_eq!(bench.make(&amend, CommitPrograms::Skip).await, Err(CommitProblem::OtherEncoding));
    let found = bench.commits_of(&LocalHost, bench.repo.folder.path()).state().await.unwrap();
    let possible = Amendment::Possible { message: String::new(), programs: Vec::new() };
    assert_eq!(found.amendment, Some(possible), "no letter of it is lost in a message to edit");
    assert_eq!(bench.state(), before);
    let reworded = CommitRequest { message: Some("café".to_owned()), ..amend };
    assert_eq!(bench.make(&reworded, CommitPrograms::Skip).await.unwrap().subject, "café");
    assert_eq!(bench.repo.git(&["log", "--format=%s|%e"]).trim(), "café|");
}
