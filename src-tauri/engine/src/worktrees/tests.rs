//! Worktrees on real repositories, hostile ones included.

use super::*;
use crate::changes::hostile_tests::{Canary, arm};
use crate::changes::list_tests::{Repo, git_in};
use crate::host::LocalHost;
use std::fs;
use std::process::Command;

/// A repository `ledger` with a commit, in a folder of its own.
struct World {
    root: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let world = Self { root };
        let main = world.main();
        fs::create_dir_all(main.join("sub")).unwrap();
        git_in(&main, &["init", "--quiet", "--initial-branch=main"]);
        fs::write(main.join("sub/a"), "1\n").unwrap();
        fs::write(main.join(".gitignore"), "*.tmp\n").unwrap();
        world.commit(&main);
        world
    }

    fn main(&self) -> PathBuf {
        dunce::canonicalize(self.root.path()).unwrap().join("ledger")
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.main().with_file_name(name)
    }

    fn commit(&self, folder: &Path) {
        git_in(folder, &["add", "--all"]);
        git_in(folder, &["commit", "--quiet", "--allow-empty", "--message=x"]);
    }

    async fn add(&self, branch: &str) -> Result<PathBuf, String> {
        Worktrees::new(&LocalHost, &self.main()).add(branch).await.map_err(|error| error.to_string())
    }

    async fn remove(&self, name: &str) -> Result<Worktree, String> {
        Worktrees::new(&LocalHost, &self.main()).remove(name, false).await.map_err(|error| error.to_string())
    }

    /// Asserts that the worktree is kept for this reason.
    async fn keeps(&self, name: &str, why: &str) {
        let refused = self.remove(name).await.unwrap_err();
        assert!(refused.contains(why), "{refused}");
        assert!(!refused.contains("git:"), "Deskbell did not see it: {refused}");
    }
}

#[tokio::test]
async fn a_worktree_is_made_listed_removed_and_brought_back() {
    let world = World::new();
    let sub = world.main().join("sub");
    let made = Worktrees::new(&LocalHost, &sub).add("fix/totals").await.unwrap();
    let root = world.beside("ledger-fix-totals");
    assert_eq!(
        made.as_os_str(),
        root.join("sub").as_os_str(),
        "the folder that corresponds to the given one"
    );
    assert_eq!(fs::read_to_string(root.join("sub/a")).unwrap(), "1\n");
    assert_eq!(git_in(&root, &["status", "--porcelain"]), "");

    fs::write(root.join("sub/a"), "2\n").unwrap();
    fs::write(root.join("new"), "2\n").unwrap();
    let all = Worktrees::new(&LocalHost, &sub).list().await.unwrap();
    let facts: Vec<_> =
        all.iter().map(|w| (w.branch.as_deref().unwrap(), w.is_main, w.is_current, w.n_changed)).collect();
    assert_eq!(facts, [("main", true, true, Some(0)), ("fix/totals", false, false, Some(2))]);

    world.commit(&root);
    assert_eq!(world.remove("fix/totals").await.unwrap().path, root.display().to_string());
    assert!(!root.exists());
    world.add("fix/totals").await.unwrap();
    assert_eq!(fs::read_to_string(root.join("sub/a")).unwrap(), "2\n", "the branch was kept");
}

#[tokio::test]
async fn what_is_nowhere_else_is_kept() {
    let world = World::new();
    world.add("work").await.unwrap();
    let root = world.beside("ledger-work");
    let name = root.display().to_string();

    fs::write(root.join("new"), "2\n").unwrap();
    world.keeps("work", "not committed: new").await;
    git_in(&root, &["add", "new"]);
    world.keeps(&name, "not committed: new").await;
    git_in(&root, &["commit", "--quiet", "--message=x"]);

    fs::write(root.join("log.tmp"), "").unwrap();
    world.keeps("work", "git ignores: log.tmp").await;
    fs::remove_file(root.join("log.tmp")).unwrap();

    // A second repository in it, which git itself would call one new folder.
    git_in(&root, &["init", "--quiet", "own"]);
    world.keeps("work", "not committed: own").await;
    fs::remove_dir_all(root.join("own")).unwrap();

    git_in(&root, &["update-index", "--assume-unchanged", "sub/a"]);
    fs::write(root.join("sub/a"), "changed, and hidden from git\n").unwrap();
    world.keeps("work", "not committed: sub/a").await;
    fs::write(root.join("sub/a"), "1\n").unwrap();
    git_in(&root, &["update-index", "--no-assume-unchanged", "sub/a"]);

    git_in(&root, &["checkout", "--quiet", "--detach"]);
    git_in(&root, &["commit", "--quiet", "--allow-empty", "--message=x"]);
    world.keeps(&name, "on no branch").await;
    git_in(&root, &["branch", "kept"]);

    git_in(&root, &["bisect", "start"]);
    world.keeps(&name, "not finished").await;
    git_in(&root, &["bisect", "reset"]);

    git_in(&world.main(), &["worktree", "lock", &name]);
    world.keeps(&name, "locked").await;
    git_in(&world.main(), &["worktree", "unlock", &name]);

    world.keeps("main", "the main one").await;
    let from_inside = Worktrees::new(&LocalHost, &root).remove(".", false).await.unwrap_err();
    assert!(from_inside.to_string().contains("the current folder"), "{from_inside}");
    assert!(world.remove("nobody").await.unwrap_err().contains("no worktree"));

    world.remove(&name).await.unwrap();
    assert!(!root.exists());
}

#[tokio::test]
async fn ignored_files_go_only_when_that_is_said() {
    let world = World::new();
    world.add("work").await.unwrap();
    let root = world.beside("ledger-work");
    for nr in 0..7 {
        fs::write(root.join(format!("{nr}.tmp")), "").unwrap();
    }
    world.keeps("work", "0.tmp, 1.tmp, 2.tmp, 3.tmp, 4.tmp and 2 more").await;
    Worktrees::new(&LocalHost, &world.main()).remove("work", true).await.unwrap();
    assert!(!root.exists());
}

#[tokio::test]
async fn nothing_is_made_of_a_bad_name_or_over_what_is_there() {
    let world = World::new();
    for name in ["-f", "a..b", "a b", "a\n", "/a", "a.lock", "HEAD", "a\\b", "", "--detach"] {
        let refused = world.add(name).await.unwrap_err();
        assert!(refused.contains("cannot be the name"), "{name:?}: {refused}");
    }
    assert!(world.add("main").await.unwrap_err().contains("checked out in"));
    fs::write(world.beside("ledger-there"), "mine").unwrap();
    assert!(world.add("there").await.unwrap_err().contains("is there already"));
    std::os::unix::fs::symlink("nowhere", world.beside("ledger-linked")).unwrap();
    assert!(world.add("linked").await.unwrap_err().contains("is there already"));
    assert_eq!(git_in(&world.main(), &["branch", "--format=%(refname:short)"]).trim(), "main");

    let empty = Repo::new();
    let refused = Worktrees::new(&LocalHost, empty.folder.path()).add("a").await.unwrap_err();
    assert!(matches!(refused, WorktreeError::NoCommit), "{refused}");
    let folder = tempfile::tempdir().unwrap();
    let refused = Worktrees::new(&LocalHost, folder.path()).list().await.unwrap_err();
    assert!(matches!(refused, WorktreeError::NoRepository), "{refused}");
}

/// A file whose object is missing: git fails in the middle.
#[tokio::test]
async fn a_worktree_that_cannot_be_completed_is_taken_back() {
    let world = World::new();
    let id = git_in(&world.main(), &["rev-parse", "HEAD:sub/a"]);
    let (folder, file) = id.trim().split_at(2);
    fs::remove_file(world.main().join(".git/objects").join(folder).join(file)).unwrap();
    let refused = world.add("broken").await.unwrap_err();
    assert!(refused.starts_with("git: "), "{refused}");
    assert!(!refused.contains("still at"), "{refused}");
    assert!(!world.beside("ledger-broken").exists());
    assert_eq!(git_in(&world.main(), &["branch", "--format=%(refname:short)"]).trim(), "main");
    assert_eq!(Worktrees::new(&LocalHost, &world.main()).entries().await.unwrap().len(), 1);
}

/// The folder's name is longer than a file name can be, so git fails after it could have created the branch.
#[tokio::test]
async fn a_branch_is_taken_back_when_its_folder_cannot_be_created() {
    let world = World::new();
    let branch = "x".repeat(249);
    let refused = world.add(&branch).await.unwrap_err();
    assert!(refused.contains("could not create directory"), "{refused}");
    assert!(!refused.contains("still there"), "{refused}");
    assert_eq!(git_in(&world.main(), &["branch", "--format=%(refname:short)"]).trim(), "main");
    assert_eq!(Worktrees::new(&LocalHost, &world.main()).entries().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_plan_creates_nothing_and_says_what_would_be() {
    let world = World::new();
    let main = world.main();
    let sub = main.join("sub");
    let worktrees = Worktrees::new(&LocalHost, &sub);
    git_in(&main, &["branch", "old"]);
    let plan = worktrees.plan("fix/new").await.unwrap();
    assert_eq!(
        plan,
        WorktreePlan { path: world.beside("ledger-fix-new").display().to_string(), is_new: true }
    );
    assert!(!worktrees.plan("old").await.unwrap().is_new);
    assert!(matches!(worktrees.plan("main").await, Err(WorktreeError::CheckedOut(..))));
    assert!(matches!(worktrees.plan("a b").await, Err(WorktreeError::BadName(_))));
    assert_eq!(worktrees.entries().await.unwrap().len(), 1);
    assert!(!git_in(&main, &["branch", "--format=%(refname:short)"]).contains("new"));
}

#[tokio::test]
async fn a_worktree_of_a_bare_repository_or_a_submodule_is_no_part_of_it() {
    let world = World::new();
    let root = world.beside("");
    let layout = root.join("layout");
    fs::create_dir(&layout).unwrap();
    git_in(&root, &["clone", "--quiet", "--bare", "ledger", "layout/.bare"]);
    git_in(&layout.join(".bare"), &["worktree", "add", "--quiet", "../main", "main"]);
    git_in(&root, &["clone", "--quiet", "--bare", "ledger", "plain.git"]);
    git_in(&root.join("plain.git"), &["worktree", "add", "--quiet", "../linked", "main"]);
    let allowed =
        ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../plain.git", "libs/lib"];
    git_in(&world.main(), &allowed);
    for (folder, place) in [
        (layout.join("main"), layout.join("fix-x")),
        (root.join("linked"), root.join("plain-fix-x")),
        (world.main().join("libs/lib"), root.join("ledger-lib-fix-x")),
    ] {
        let made = Worktrees::new(&LocalHost, &folder).add("fix/x").await.unwrap();
        assert_eq!(made, place);
        assert!(made.join("sub/a").is_file(), "{}", made.display());
    }
}

#[tokio::test]
async fn the_folder_in_a_worktree_corresponds_to_the_given_one() {
    let world = World::new();
    let sub = world.main().join("sub");
    let worktrees = Worktrees::new(&LocalHost, &sub);
    worktrees.add("work").await.unwrap();
    let root = world.beside("ledger-work");
    assert_eq!(worktrees.folder_in("work").await.unwrap(), root.join("sub"));
    fs::remove_dir_all(root.join("sub")).unwrap();
    assert_eq!(worktrees.folder_in(&root.display().to_string()).await.unwrap(), root);
    fs::remove_dir_all(&root).unwrap();
    assert!(matches!(worktrees.folder_in("work").await, Err(WorktreeError::Gone(_))));
    assert!(matches!(worktrees.folder_in("/").await, Err(WorktreeError::Unknown(_))));
}

#[tokio::test]
async fn a_review_says_what_is_lost_or_why_nothing_is() {
    let world = World::new();
    world.add("work").await.unwrap();
    let root = world.beside("ledger-work");
    let main = world.main();
    let worktrees = Worktrees::new(&LocalHost, &main);
    for nr in 0..7 {
        fs::write(root.join(format!("{nr}.tmp")), "").unwrap();
    }
    let review = worktrees.review("work").await.unwrap();
    assert_eq!((review.kept, review.ignored.len(), review.n_more_ignored), (None, 5, 2));
    fs::write(root.join("new"), "").unwrap();
    let review = worktrees.review("work").await.unwrap();
    assert_eq!(review.kept.as_deref(), Some("it has changes that are not committed: new"));
    assert!(review.ignored.is_empty());
    assert!(root.join("0.tmp").exists(), "nothing is removed");
}

#[tokio::test]
async fn no_hook_or_filter_of_a_repository_runs() {
    let world = World::new();
    let canary = Canary::new();
    let main = world.main();
    fs::write(main.join(".gitattributes"), "* filter=x\n").unwrap();
    world.commit(&main);
    arm(&main, &canary);
    git_in(&main, &["config", "filter.x.required", "true"]);
    let ordinary = |args: &[&str]| Command::new("git").args(args).current_dir(&main).output().unwrap();
    ordinary(&["worktree", "add", "../ordinary"]);
    assert!(canary.ran(), "the canary is deaf");

    world.add("work").await.unwrap();
    assert_eq!(fs::read_to_string(world.beside("ledger-work").join("sub/a")).unwrap(), "1\n");
    assert!(!canary.ran(), "{:?}", fs::read_to_string(canary.sign()));
    Worktrees::new(&LocalHost, &main).list().await.unwrap();
    assert!(!canary.ran(), "{:?}", fs::read_to_string(canary.sign()));
    world.remove("work").await.unwrap();
    assert!(!world.beside("ledger-work").exists());
    assert!(!canary.ran(), "{:?}", fs::read_to_string(canary.sign()));
}

/// `-c` takes what is before the first `=` for the name, so this filter would stay.
#[tokio::test]
async fn a_filter_that_cannot_be_turned_off_is_refused() {
    let world = World::new();
    let canary = Canary::new();
    let main = world.main();
    let config = format!("[filter \"a=b\"]\n\tsmudge = {}\n", canary.program().display());
    let file = main.join(".git/config");
    fs::write(&file, fs::read_to_string(&file).unwrap() + &config).unwrap();
    let refused = world.add("work").await.unwrap_err();
    assert!(refused.contains("cannot be turned off"), "{refused}");
    assert!(!canary.ran());
    assert_eq!(git_in(&main, &["branch", "--format=%(refname:short)"]).trim(), "main");
}
