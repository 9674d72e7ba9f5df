//! The list of changed files against git's own, on a repository with everything that git knows.

use super::*;
use crate::api::{FileChange, FileContent, FileState};
use crate::host::LocalHost;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

/// A repository of a test, and git as its user runs it.
pub(crate) struct Repo {
    pub folder: tempfile::TempDir,
}

impl Repo {
    pub fn new() -> Self {
        let repo = Self { folder: tempfile::tempdir().unwrap() };
        repo.git(&["init", "--quiet", "--initial-branch=main"]);
        repo
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn git(&self, args: &[&str]) -> String {
        git_in(self.folder.path(), args)
    }

    pub fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message=x"]);
    }

    pub async fn changes(&self) -> Changes {
        WorkingTree::new(&LocalHost, self.folder.path(), None).changes().await
    }

    async fn diff(&self, path: &str) -> FileDiff {
        WorkingTree::new(&LocalHost, self.folder.path(), None).file_diff(path).await.unwrap()
    }

    /// `git diff --numstat HEAD` and the files that git does not know.
    fn numstat(&self) -> BTreeSet<String> {
        let output = self.git(&["diff", "--numstat", "-z", "--no-renames", "HEAD"]);
        let untracked = self.git(&["ls-files", "--others", "--exclude-standard", "-z"]);
        let tracked = output.split('\0').filter(|line| !line.is_empty()).map(|line| line.replace('\t', " "));
        let untracked = untracked.split('\0').filter(|path| !path.is_empty()).map(|path| format!("? {path}"));
        tracked.chain(untracked).collect()
    }
}

pub(crate) fn git_in(folder: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"])
        .args(["-c", "commit.gpgSign=false"])
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", "/nonexistent")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The same form as [`Repo::numstat`]. A rename is taken apart again.
fn listed(changes: &Changes, lines: impl Fn(&str) -> usize) -> BTreeSet<String> {
    let count = |count: Option<u32>| count.map_or("-".to_owned(), |count| count.to_string());
    changes
        .files
        .iter()
        .flat_map(|file| match file.state {
            FileState::Untracked => vec![format!("? {}", file.path)],
            FileState::Renamed => {
                let old = file.old_path.as_ref().unwrap();
                let n = lines(old);
                vec![format!("0 {n} {old}"), format!("{n} 0 {}", file.path)]
            }
            _ => vec![format!("{} {} {}", count(file.added), count(file.removed), file.path)],
        })
        .collect()
}

fn numbered(n: usize) -> String {
    (0..n).map(|line| format!("line {line} of {n}\n")).collect()
}

fn file<'a>(changes: &'a Changes, path: &str) -> &'a FileChange {
    changes.files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("no {path}: {changes:#?}"))
}

#[tokio::test]
async fn every_kind_of_change_is_listed_as_git_lists_it() {
    let sub = Repo::new();
    sub.write("a", "1\n");
    sub.commit();
    let repo = Repo::new();
    for n in 0..300 {
        repo.write(&format!("many/{:02}/{n}.txt", n % 20), numbered(n % 40 + 3));
    }
    repo.write(".gitignore", "*.log\nbuild/\n");
    repo.write("gone.txt", numbered(7));
    repo.write("moved.txt", numbered(50));
    repo.write("image.png", b"\x89PNG\0\x01\x02");
    repo.write("gone.png", b"\x89PNG\0\x01\x03");
    repo.write("marked.txt", "1\n");
    repo.write(".gitattributes", "marked.txt -diff\ncrlf.txt text eol=crlf\n");
    repo.write("crlf.txt", "one\ntwo\n");
    repo.write("script.sh", "#!/bin/sh\n");
    repo.write("with space and\nnewline\u{202e}.txt", "1\n2\n");
    repo.write("latin.txt", b"caf\xe9\nx\n");
    repo.write("end", "no newline");
    repo.write("turned", "into a link\n");
    repo.write("folder/deep/file", numbered(5));
    repo.write("empty", "");
    symlink("gone.txt", repo.at("link")).unwrap();
    repo.git(&["submodule", "--quiet", "add", sub.folder.path().to_str().unwrap(), "sub"]);
    repo.commit();

    for n in (0..300).step_by(7) {
        let mut lines: Vec<String> = numbered(n % 40 + 3).lines().map(str::to_owned).collect();
        lines[1] = "changed".to_owned();
        lines.insert(0, "new".to_owned());
        lines.pop();
        repo.write(&format!("many/{:02}/{n}.txt", n % 20), lines.join("\n"));
    }
    fs::remove_file(repo.at("gone.txt")).unwrap();
    fs::remove_file(repo.at("gone.png")).unwrap();
    repo.git(&["mv", "moved.txt", "other.txt"]);
    repo.write("image.png", b"\x89PNG\0\x05");
    repo.write("marked.txt", "2\n");
    repo.write("crlf.txt", "one\r\ntwo\r\n");
    fs::set_permissions(repo.at("script.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    repo.write("with space and\nnewline\u{202e}.txt", "1\n3\n");
    repo.write("latin.txt", b"caf\xe8\nx\n");
    repo.write("end", "no newline\n");
    fs::remove_file(repo.at("turned")).unwrap();
    symlink("/etc/passwd", repo.at("turned")).unwrap();
    fs::remove_file(repo.at("link")).unwrap();
    symlink("elsewhere", repo.at("link")).unwrap();
    fs::remove_dir_all(repo.at("folder")).unwrap();
    repo.write("folder", "a file now\n");
    repo.write("ignored.log", "x");
    repo.write("build/out", "x");
    repo.write("new/file.txt", numbered(3));
    repo.write("added.txt", numbered(4));
    repo.git(&["add", "added.txt"]);
    repo.write("intended.txt", "1\n");
    repo.git(&["add", "--intent-to-add", "intended.txt"]);
    git_in(&repo.at("sub"), &["commit", "--quiet", "--allow-empty", "--message=y"]);
    git_in(repo.folder.path(), &["init", "--quiet", "inner"]);

    let changes = repo.changes().await;
    assert_eq!((changes.problem.as_ref(), changes.n_not_compared), (None, 0));
    let mut expected = repo.numstat();
    // Git counts the line that names a submodule's commit.
    assert!(expected.remove("1 1 sub"));
    let mut found = listed(&changes, |old| repo.git(&["show", &format!("HEAD:{old}")]).lines().count());
    assert!(found.remove("- - sub"));
    assert_eq!(found, expected);

    for (path, state, content) in [
        ("other.txt", FileState::Renamed, FileContent::Text),
        ("image.png", FileState::Modified, FileContent::Binary),
        ("gone.png", FileState::Deleted, FileContent::Binary),
        ("turned", FileState::Modified, FileContent::Link),
        ("sub", FileState::Modified, FileContent::Repository),
        ("inner/", FileState::Untracked, FileContent::Repository),
        ("added.txt", FileState::Added, FileContent::Text),
        ("new/file.txt", FileState::Untracked, FileContent::Text),
    ] {
        let file = file(&changes, path);
        assert_eq!((file.state, file.content), (state, content), "{path}");
    }
    // The text of a link out of the project is where it leads, never the file there.
    let turned = format!("{:?}", repo.diff("turned").await);
    assert!(turned.contains("/etc/passwd") && !turned.contains("root:"), "{turned}");
    for path in &changes.files {
        let shown = repo.diff(&path.path).await;
        let counts = shown.diff.as_ref().map(|diff| (diff.added, diff.removed));
        if path.content == FileContent::Text && path.state != FileState::Renamed && counts.is_some() {
            assert_eq!(counts, path.added.zip(path.removed), "{}", path.path);
        }
        assert!(shown.diff.is_some() || shown.note.is_some(), "{}", path.path);
    }
}

#[tokio::test]
async fn a_folder_below_the_root_has_its_own_list() {
    let repo = Repo::new();
    repo.write("a", "1\n");
    repo.write("app/b", "1\n");
    repo.commit();
    repo.write("a", "2\n");
    repo.write("app/b", "2\n");
    repo.write("app/c", "2\n");
    let app = repo.at("app");
    let found = WorkingTree::new(&LocalHost, &app, None).changes().await;
    assert_eq!(found.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["b", "c"]);
    assert_eq!(WorkingTree::new(&LocalHost, &app, None).file_diff("b").await.unwrap().diff.unwrap().added, 1);
}

#[tokio::test]
async fn without_a_commit_everything_is_new_and_without_a_repository_nothing_is_known() {
    let repo = Repo::new();
    repo.write("a", "1\n");
    repo.write("b", "1\n");
    repo.git(&["add", "a"]);
    let found = repo.changes().await;
    assert_eq!(found.base, ChangesBase::NoCommit);
    assert_eq!(
        found.files.iter().map(|file| file.state).collect::<Vec<_>>(),
        [FileState::Added, FileState::Untracked]
    );
    let folder = tempfile::tempdir().unwrap();
    let found = WorkingTree::new(&LocalHost, folder.path(), None).changes().await;
    assert_eq!((found.base, found.problem), (ChangesBase::NoRepository, None));
}

#[tokio::test]
async fn a_detached_head_a_linked_worktree_and_a_conflict() {
    let repo = Repo::new();
    repo.write("a", "1\n");
    repo.commit();
    repo.git(&["checkout", "--quiet", "-b", "other"]);
    repo.write("a", "2\n");
    repo.commit();
    repo.git(&["checkout", "--quiet", "main"]);
    repo.write("a", "3\n");
    repo.commit();
    let linked = tempfile::tempdir().unwrap();
    let tree = linked.path().join("tree");
    repo.git(&["worktree", "add", "--quiet", "--detach", tree.to_str().unwrap(), "main"]);
    fs::write(tree.join("a"), "4\n").unwrap();
    let found = WorkingTree::new(&LocalHost, &tree, None).changes().await;
    assert_eq!(found.base, ChangesBase::Commit { id: repo.git(&["rev-parse", "main"]).trim().to_owned() });
    assert_eq!((found.files[0].added, found.files[0].removed), (Some(1), Some(1)));
    let merge = ["-c", "user.name=A", "-c", "user.email=a@b", "merge", "--quiet", "other"];
    let merged = Command::new("git").args(merge).current_dir(repo.folder.path()).output().unwrap();
    assert!(!merged.status.success());
    let found = repo.changes().await;
    assert_eq!(found.files[0].state, FileState::Conflicted);
    assert!(found.files[0].added.unwrap() > 1, "the markers of the conflict: {found:?}");
}

#[tokio::test]
async fn a_part_that_is_not_checked_out_is_not_deleted() {
    let repo = Repo::new();
    repo.write("in/a", "1\n");
    repo.write("out/b", "1\n");
    repo.commit();
    repo.git(&["sparse-checkout", "set", "in"]);
    assert!(!repo.at("out/b").exists());
    assert_eq!(repo.changes().await.files, []);
}

#[tokio::test]
async fn a_change_that_keeps_size_and_time_is_found() {
    let repo = Repo::new();
    repo.write("a", "1\n");
    repo.commit();
    // The index is written after the file, so its time would be trusted.
    let past = SystemTime::now() - Duration::from_secs(60);
    fs::File::options().write(true).open(repo.at("a")).unwrap().set_modified(past).unwrap();
    repo.git(&["update-index", "--refresh"]);
    assert_eq!(repo.changes().await.files, []);
    repo.write("a", "2\n");
    fs::File::options().write(true).open(repo.at("a")).unwrap().set_modified(past).unwrap();
    assert_eq!(repo.changes().await.files.len(), 1);
    assert_eq!(repo.diff("a").await.diff.unwrap().added, 1);
}

#[tokio::test]
async fn large_files_are_said_and_not_read_into_the_window() {
    let repo = Repo::new();
    repo.write("large", vec![b'a'; 3 * 1024 * 1024]);
    repo.write("lines", "x\n");
    repo.commit();
    repo.write("large", vec![b'b'; 3 * 1024 * 1024 + 1]);
    repo.write("huge", "");
    fs::File::options().write(true).open(repo.at("huge")).unwrap().set_len(1 << 40).unwrap();
    repo.write("lines", numbered(MOST_LINES + 500));
    let found = repo.changes().await;
    assert_eq!(file(&found, "large").content, FileContent::Large);
    assert_eq!(file(&found, "huge").content, FileContent::Large);
    assert_eq!(repo.diff("huge").await.note.unwrap(), "This file is too large to show.");
    let lines = repo.diff("lines").await;
    assert_eq!(lines.n_more_lines, 501);
    assert_eq!(lines.diff.unwrap().hunks[0].lines.len(), MOST_LINES);
}

#[tokio::test]
async fn ten_thousand_files_are_listed_and_the_rest_is_counted() {
    let repo = Repo::new();
    repo.commit();
    for n in 0..MOST_FILES + 200 {
        repo.write(&format!("{}/{n}", n % 100), "x\n");
    }
    let began = Instant::now();
    let found = repo.changes().await;
    assert_eq!((found.files.len(), found.n_more), (MOST_FILES, 200));
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[tokio::test]
async fn pipes_devices_and_sockets_are_never_opened() {
    let repo = Repo::new();
    repo.write("a", "1\n");
    repo.commit();
    fs::remove_file(repo.at("a")).unwrap();
    let name = std::ffi::CString::new(repo.at("a").to_str().unwrap()).unwrap();
    // SAFETY: the name is a valid string.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    let found = repo.changes().await;
    assert_eq!((found.files[0].state, found.files[0].content), (FileState::Modified, FileContent::Special));
    assert!(repo.diff("a").await.note.unwrap().starts_with("A named pipe"));
    for path in ["../x", "/etc/passwd", ".git/config", ""] {
        assert_eq!(repo.diff(path).await.note.unwrap(), "This file is not in the project.", "{path}");
    }
}

#[tokio::test]
async fn a_snapshot_tells_what_changed_before_from_what_changed_since() {
    let repo = Repo::new();
    for path in ["clean", "dirty", "removed", "large"] {
        repo.write(path, "1\n");
    }
    repo.commit();
    repo.write("dirty", "1\nbefore\n");
    repo.write("untracked", "before\n");
    repo.write("large", vec![b'x'; 1024 * 1024]);
    fs::remove_file(repo.at("removed")).unwrap();
    let start = Snapshot::take(&LocalHost, repo.folder.path(), 5).await.unwrap().unwrap();
    let start: Snapshot = serde_json::from_str(&serde_json::to_string(&start).unwrap()).unwrap();
    let since = || async { WorkingTree::new(&LocalHost, repo.folder.path(), Some(&start)).changes().await };
    let found = since().await;
    assert_eq!((found.files, found.base), (vec![], ChangesBase::Prompt { since: 5 }));
    repo.write("dirty", "1\nbefore\nsince\n");
    repo.write("untracked", "since\n");
    repo.write("removed", "back\n");
    repo.write("large", vec![b'y'; 1024 * 1024]);
    repo.write("new", "1\n");
    // A commit of the session does not hide its changes.
    repo.write("clean", "2\n");
    repo.commit();
    let found = since().await;
    let of = |path: &str| {
        let file = file(&found, path);
        (file.state, file.added, file.removed)
    };
    assert_eq!(of("dirty"), (FileState::Modified, Some(1), Some(0)));
    assert_eq!(of("untracked"), (FileState::Modified, Some(1), Some(1)));
    assert_eq!(of("removed"), (FileState::Added, Some(1), Some(0)));
    assert_eq!(of("clean"), (FileState::Modified, Some(1), Some(1)));
    assert_eq!(of("new"), (FileState::Added, Some(1), Some(0)));
    assert_eq!(file(&found, "large").content, FileContent::Unknown);
    let large =
        WorkingTree::new(&LocalHost, repo.folder.path(), Some(&start)).file_diff("large").await.unwrap();
    assert!(large.note.unwrap().contains("was not kept"));
    let dirty =
        WorkingTree::new(&LocalHost, repo.folder.path(), Some(&start)).file_diff("dirty").await.unwrap();
    assert_eq!(dirty.diff.unwrap().added, 1);
}
