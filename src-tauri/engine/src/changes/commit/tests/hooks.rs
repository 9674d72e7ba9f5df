//! Commits with hooks that fail, hang or change files, and in a hostile repository.

use super::super::super::hostile_tests::{Canary, arm};
use super::*;
use std::sync::Mutex;
use tokio::sync::Notify;

#[tokio::test]
async fn a_failing_hook_loses_nothing() {
    for hook in ["pre-commit", "prepare-commit-msg", "commit-msg"] {
        for script in ["echo one; echo two >&2; exit 1", "kill -9 $PPID; exit 1"] {
            let bench = Bench::with_changes();
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
    let state = bench.commits_of(&LocalHost, bench.repo.folder.path()).state().await.unwrap();
    assert_eq!(state.programs, ["pre-commit", "reference-transaction", "post-index-change"]);
    assert!(!canary.ran(), "{:?}", fs::read_to_string(canary.sign()));
    let filtered = bench.make(&of(&["b"]), CommitPrograms::Skip).await;
    assert!(matches!(filtered, Err(CommitProblem::NotCommittable { .. })), "{filtered:?}");
    assert!(!canary.ran(), "{:?}", fs::read_to_string(canary.sign()));
    bench.repo.write("a", "5\n");
    // The canary is also the file system monitor, and answers git with nonsense.
    let answered = bench.make(&of(&["a"]), CommitPrograms::Run).await;
    assert!(!matches!(answered, Err(CommitProblem::WouldRun { .. })));
    assert!(canary.ran(), "the user's git runs hooks");
}
