//! Commits that Deskbell begins and does not finish.

use super::*;
use crate::host::{Child, Program};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use tokio::sync::Notify;

/// Starts `left` processes, and then Deskbell ends.
struct EndingHost {
    left: AtomicUsize,
    dead: Notify,
}

impl Host for EndingHost {
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
        let original = Bench::with_changes();
        original.repo.write("staged", "2\n");
        original.repo.git(&["add", "staged"]);
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
            let host = EndingHost { left: AtomicUsize::new(step), dead: Notify::new() };
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
