//! Patches against `git apply`, and reverts with their undo.

use super::list_tests::Repo;
use super::*;
use crate::api::{CommandError, ErrorCode, FileState, HunkPlace, Reverted};
use crate::host::LocalHost;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

const EXECUTABLE: u32 = 0o755;

/// Everything in a working tree, with its mode or the target of its link.
fn tree(folder: &Path) -> BTreeMap<String, (u32, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let found = fs::symlink_metadata(&path).unwrap();
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            if found.is_symlink() {
                all.insert(name, (0, fs::read_link(&path).unwrap().display().to_string().into_bytes()));
            } else if found.is_file() {
                all.insert(name, (found.permissions().mode() & 0o100, fs::read(&path).unwrap()));
            } else if path.file_name().unwrap() != ".git" {
                folders.push(path);
            }
        }
    }
    all
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Every kind of change that a patch has.
fn change_everything(repo: &Repo) {
    let lines: String = (0..40).map(|n| format!("line {n}\n")).collect();
    for path in ["plain", "two words", "q\"uo\\te\t", "\u{fc}", "gone", "old name", "link to file", "crlf"] {
        repo.write(path, lines.as_bytes());
    }
    repo.write("no end", "a\nb");
    repo.write("run", "#!/bin/sh\n");
    repo.write("empty gone", "");
    symlink("plain", repo.at("link")).unwrap();
    repo.write("crlf", lines.replace('\n', "\r\n"));
    repo.commit();
    let edited = lines.replace("line 3\n", "line three\n").replace("line 30\n", "");
    for path in ["plain", "two words", "q\"uo\\te\t", "\u{fc}"] {
        repo.write(path, edited.as_bytes());
    }
    repo.write("crlf", edited.replace('\n', "\r\n"));
    for path in ["gone", "empty gone", "link", "link to file"] {
        fs::remove_file(repo.at(path)).unwrap();
    }
    fs::rename(repo.at("old name"), repo.at("new name")).unwrap();
    set_mode(&repo.at("new name"), EXECUTABLE);
    set_mode(&repo.at("run"), EXECUTABLE);
    repo.write("no end", "a\nb\nc");
    repo.write("deep/er/new", "new\n");
    repo.write("empty", "");
    symlink("run", repo.at("link")).unwrap();
    symlink("plain", repo.at("link to file")).unwrap();
}

#[tokio::test]
async fn a_patch_of_everything_is_what_git_apply_takes() {
    let repo = Repo::new();
    change_everything(&repo);
    let now = tree(repo.folder.path());
    let made = WorkingTree::new(&LocalHost, repo.folder.path(), None).patch(&[]).await.unwrap();
    assert_eq!((made.left_out, made.n_files), (Vec::<String>::new(), 14));
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), &made.text).unwrap();
    repo.git(&["stash", "--include-untracked", "--quiet"]);
    assert_ne!(tree(repo.folder.path()), now);
    repo.git(&["apply", "--whitespace=nowarn", file.path().to_str().unwrap()]);
    assert_eq!(tree(repo.folder.path()), now);
    repo.git(&["apply", "--reverse", "--whitespace=nowarn", file.path().to_str().unwrap()]);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[tokio::test]
async fn a_patch_of_one_file_below_the_root_names_it_as_git_does_and_says_what_it_lacks() {
    let repo = Repo::new();
    repo.write("app/a", "a\n");
    repo.write("app/b", "b\n");
    repo.commit();
    repo.write("app/a", "A\n");
    repo.write("app/b", "B\0");
    let app = repo.at("app");
    let made = WorkingTree::new(&LocalHost, &app, None).patch(&["a".to_owned()]).await.unwrap();
    assert_eq!(made.text, "diff --git a/app/a b/app/a\n--- a/app/a\n+++ b/app/a\n@@ -1,1 +1,1 @@\n-a\n+A\n");
    let all = WorkingTree::new(&LocalHost, &app, None).patch(&[]).await.unwrap();
    assert_eq!(
        (all.n_files, all.left_out),
        (1, vec!["b: a binary file is left out of the patch.".to_owned()])
    );
    let error = WorkingTree::new(&LocalHost, &app, None).patch(&["c".to_owned()]).await.unwrap_err();
    assert_eq!(error, "c has no changes.");
}

/// A repository with a folder for the copies.
struct World {
    repo: Repo,
    data: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        Self { repo: Repo::new(), data: tempfile::tempdir().unwrap() }
    }

    fn reverts(&self) -> Reverts<'_> {
        Reverts::new(&LocalHost, self.repo.folder.path(), self.data.path())
    }

    async fn version(&self, path: &str) -> Option<String> {
        WorkingTree::new(&LocalHost, self.repo.folder.path(), None).file_diff(path).await.unwrap().version
    }

    async fn revert(&self, path: &str, hunk: Option<HunkPlace>) -> Result<Reverted, CommandError> {
        let version = self.version(path).await;
        self.reverts().revert(None, path, None, version.as_deref(), hunk, 1_000).await
    }
}

fn at(old: [u32; 2], new: [u32; 2]) -> Option<HunkPlace> {
    Some(HunkPlace { old_start: old[0], n_old: old[1], new_start: new[0], n_new: new[1] })
}

#[tokio::test]
async fn every_file_is_reverted_and_every_revert_is_undone() {
    let world = World::new();
    let repo = &world.repo;
    change_everything(repo);
    repo.write("binary", b"\0");
    let now = tree(repo.folder.path());
    let mut done = Vec::new();
    for file in repo.changes().await.files {
        let version = world.version(&file.path).await;
        let old = file.old_path.as_deref();
        let result = world.reverts().revert(None, &file.path, old, version.as_deref(), None, 5).await;
        match file.path.as_str() {
            "link" | "link to file" => assert_eq!(result.unwrap_err().message, "A link is not reverted."),
            _ => done.push(result.unwrap().at),
        }
    }
    assert_eq!(done.len(), 13);
    let left = repo.changes().await.files;
    assert!(left.iter().all(|file| file.path.starts_with("link")), "{left:?}");
    for at in done.into_iter().rev() {
        world.reverts().undo(Some(at)).await.unwrap();
    }
    assert_eq!(tree(repo.folder.path()), now);
    let error = world.reverts().undo(None).await.unwrap_err();
    assert_eq!(error.message, "There is no revert to undo.");
}

#[tokio::test]
async fn a_hunk_is_reverted_alone_with_the_line_ends_of_the_file() {
    let world = World::new();
    let lines: String = (0..40).map(|n| format!("line {n}\n")).collect();
    world.repo.write(".gitattributes", "a text\n");
    world.repo.write("a", lines.as_bytes());
    world.repo.commit();
    let edited = lines.replace("line 3\n", "three\nmore\n").replace("line 30\n", "");
    let on_disk = |text: &str| text.replace('\n', "\r\n");
    world.repo.write("a", on_disk(&edited));
    // The places are those of the patch.
    let made = WorkingTree::new(&LocalHost, world.repo.folder.path(), None).patch(&[]).await.unwrap();
    assert!(
        made.text.contains("@@ -1,7 +1,8 @@\n") && made.text.contains("@@ -28,7 +29,6 @@\n"),
        "{}",
        made.text
    );
    let missing = world.revert("a", at([1, 7], [1, 7])).await.unwrap_err();
    assert_eq!(missing.message, "This part of the change no longer exists.");
    world.revert("a", at([28, 7], [29, 6])).await.unwrap();
    let half = on_disk(&lines.replace("line 3\n", "three\nmore\n"));
    assert_eq!(fs::read_to_string(world.repo.at("a")).unwrap(), half);
    world.revert("a", at([1, 7], [1, 8])).await.unwrap();
    assert_eq!(fs::read_to_string(world.repo.at("a")).unwrap(), on_disk(&lines));
    world.reverts().undo(None).await.unwrap();
    assert_eq!(fs::read_to_string(world.repo.at("a")).unwrap(), half);
}

#[tokio::test]
async fn what_was_not_shown_is_never_lost() {
    let world = World::new();
    world.repo.write("a", "a\n");
    world.repo.commit();
    world.repo.write("a", "b\n");
    let shown = world.version("a").await;
    world.repo.write("a", "c\n");
    let refused = world.reverts().revert(None, "a", None, shown.as_deref(), None, 7).await.unwrap_err();
    assert_eq!((refused.code, fs::read(world.repo.at("a")).unwrap()), (changed_since("a"), b"c\n".to_vec()));
    // A change of the mode alone counts too.
    let shown = world.version("a").await;
    set_mode(&world.repo.at("a"), EXECUTABLE);
    let refused = world.reverts().revert(None, "a", None, shown.as_deref(), None, 7).await.unwrap_err();
    assert_eq!(refused.code, changed_since("a"));
    let done = world.revert("a", None).await.unwrap();
    world.repo.write("a", "later\n");
    let refused = world.reverts().undo(Some(done.at)).await.unwrap_err();
    assert_eq!(
        (refused.code, fs::read(world.repo.at("a")).unwrap()),
        (changed_since(&world.repo.at("a").to_string_lossy()), b"later\n".to_vec())
    );
}

fn changed_since(path: &str) -> ErrorCode {
    ErrorCode::ChangedSince { files: vec![path.to_owned()] }
}

#[tokio::test]
async fn nothing_outside_of_the_project_or_through_a_link_is_written() {
    let world = World::new();
    let outside = tempfile::tempdir().unwrap();
    world.repo.write("folder/a", "a\n");
    world.repo.commit();
    fs::write(outside.path().join("a"), "secret\n").unwrap();
    fs::remove_dir_all(world.repo.at("folder")).unwrap();
    symlink(outside.path(), world.repo.at("folder")).unwrap();
    let listed = world.repo.changes().await.files;
    assert!(
        listed.iter().any(|file| file.path == "folder/a" && file.state == FileState::Deleted),
        "{listed:?}"
    );
    let refused = world.revert("folder/a", None).await.unwrap_err();
    assert!(refused.message.contains("is a link or a file"), "{refused:?}");
    for path in ["../a", "/etc/passwd", ".git/config", ""] {
        assert!(world.revert(path, None).await.is_err(), "{path}");
    }
    assert_eq!(fs::read(outside.path().join("a")).unwrap(), b"secret\n");
}
