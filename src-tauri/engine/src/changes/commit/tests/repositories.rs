//! Commits in many kinds of repositories.

use super::*;

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
        // Root ignores the permissions of a folder, but cannot write into a file as if it were one.
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
