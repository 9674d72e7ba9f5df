//! Orphan processes of a run that was killed together with its guard: found by its token, and ended only if they are
//! still the processes that were found.

#![cfg(target_os = "linux")]

use crate::life::DEADLINE;
use deskbell_engine::launch::Launch;
use deskbell_engine::process::orphans::OrphanProcess;
use deskbell_tests::real_cli::process;
use deskbell_tests::window::eventually;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

/// A tool whose agent is gone: without a parent, in a session of its own, with the token of its run.
struct Tool {
    run: String,
    pid: u32,
    folder: TempDir,
}

impl Tool {
    /// Waits until the script has created the file `ready`.
    async fn start(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let run = uuid::Uuid::new_v4().to_string();
        let mut shell = Command::new("sh");
        shell
            .args(["-c", r#"setsid sh -c "$SCRIPT" > /dev/null 2>&1 & echo $!"#])
            .env("SCRIPT", script)
            .env(Launch::RUN_TOKEN, format!("{run}.7"))
            .current_dir(folder.path())
            .stdin(Stdio::null());
        let said = String::from_utf8(shell.output().unwrap().stdout).unwrap();
        let tool = Self { run, pid: said.trim().parse().unwrap(), folder };
        tool.has("ready").await;
        tool
    }

    async fn has(&self, name: &str) {
        let file = self.folder.path().join(name);
        let made = eventually(name, DEADLINE, async || Ok(Path::exists(&file).then_some(()))).await;
        made.unwrap();
    }

    fn found(&self) -> Vec<OrphanProcess> {
        OrphanProcess::of_runs(std::slice::from_ref(&self.run))
    }

    /// The tool itself; programs that it runs for a moment belong to the same run.
    fn itself(&self) -> Vec<OrphanProcess> {
        let mut found = self.found();
        found.retain(|orphan| orphan.facts.pid == self.pid);
        assert_eq!(found.len(), 1);
        found
    }
}

impl Drop for Tool {
    fn drop(&mut self) {
        // Usually it has ended already.
        let _ = process::kill(self.pid);
    }
}

async fn ended(tool: &Tool) {
    let failed = OrphanProcess::end_all(&tool.itself()).await;
    assert!(failed.is_empty(), "{failed:?}");
    assert!(!process::is_running(tool.pid));
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_shown_as_what_it_is_and_ended() {
    let tool = Tool::start("touch ready; exec sleep 600").await;
    let is_so = async || Ok(tool.found().pop().filter(|orphan| orphan.facts.command == "sleep 600"));
    let orphan = eventually("the tool itself", DEADLINE, is_so).await.unwrap();
    let folder = tool.folder.path().canonicalize().unwrap();
    assert_eq!(orphan.facts.folder.as_deref(), folder.to_str());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let age = now.saturating_sub(Duration::from_millis(orphan.facts.started_at));
    assert!(age < 2 * DEADLINE, "{age:?}");
    ended(&tool).await;
    assert_eq!(tool.found(), []);
}

/// SIGTERM first: a server has a moment to clean up.
#[tokio::test(flavor = "multi_thread")]
async fn it_may_end_by_itself() {
    let tool =
        Tool::start("trap 'touch in-order; exit' TERM; touch ready; while :; do sleep 0.05; done").await;
    ended(&tool).await;
    tool.has("in-order").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_killed_if_it_does_not() {
    let tool = Tool::start("trap '' TERM; touch ready; while :; do sleep 0.05; done").await;
    ended(&tool).await;
}

/// The pid and the start time are the same: only the token differs.
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_has_become_another_is_left_alone() {
    let script = format!(
        "touch ready; until [ -e go ]; do sleep 0.02; done; exec env -u {} sleep 600",
        Launch::RUN_TOKEN
    );
    let tool = Tool::start(&script).await;
    let found = tool.itself();
    std::fs::write(tool.folder.path().join("go"), "").unwrap();
    let another = async || Ok(tool.found().is_empty().then_some(()));
    eventually("another program", DEADLINE, another).await.unwrap();
    assert_eq!(OrphanProcess::end_all(&found).await.len(), 0);
    assert!(process::is_running(tool.pid));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_of_another_run_or_of_this_process_is_not_offered() {
    let tool = Tool::start("touch ready; exec sleep 600").await;
    assert_eq!(OrphanProcess::of_runs(&[uuid::Uuid::new_v4().to_string()]), []);
    assert_eq!(OrphanProcess::of_runs(&[]), []);
    let mut own = Command::new("sleep");
    let mut own = own.arg("600").env(Launch::RUN_TOKEN, format!("{}.1", tool.run)).spawn().unwrap();
    assert_eq!(tool.found().iter().map(|orphan| orphan.facts.pid).collect::<Vec<_>>(), [tool.pid]);
    own.kill().unwrap();
    own.wait().unwrap();
}
