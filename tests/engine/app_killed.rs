//! A killed app cannot end its agents itself; everything that it started must end all the same.

#![cfg(target_os = "linux")]

use crate::leftovers::nothing_runs;
use crate::life::{DEADLINE, MARK};
use crate::program::demo_agent;
use deskbell_tests::relay;
use deskbell_tests::suite::missing;
use deskbell_tests::window::{eventually, processes_with};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// Agents get 3.5 s to exit by themselves; the rest is for a busy machine.
pub const SOON: Duration = Duration::from_secs(30);

/// The built app. If it is missing and not required, returns `None` and reports the test as skipped.
pub fn app() -> Option<PathBuf> {
    relay::app().map_or_else(|error| missing(&format!("{error:#}")), Some)
}

/// The app as `deskbell relay`, with all its processes marked.
pub struct App {
    pub child: Child,
    stdin: ChildStdin,
    events: Lines<BufReader<ChildStdout>>,
    pub mark: String,
    folder: tempfile::TempDir,
}

impl App {
    /// Runs the agent, with its behaviour set by the environment.
    pub async fn start(app: PathBuf, agent: PathBuf, env: &[(&str, &str)]) -> Self {
        let folder = tempfile::Builder::new().prefix("engine").tempdir().unwrap();
        let mark = uuid::Uuid::new_v4().to_string();
        let mut command = Command::new(app);
        command
            .arg("relay")
            .arg(format!("--project={}", folder.path().display()))
            .arg(format!("--agent={}", agent.display()))
            .env("CLAUDE_CONFIG_DIR", folder.path().join(".config"))
            .env(MARK, &mark)
            .envs(env.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let events = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, stdin, events, mark, folder }
    }

    pub async fn prompt(&mut self, text: &str) {
        self.send(&json!({"type": "prompt", "text": text})).await;
    }

    pub async fn send(&mut self, command: &Value) {
        self.stdin.write_all(format!("{command}\n").as_bytes()).await.unwrap();
    }

    /// The next event as its line.
    pub async fn line(&mut self) -> String {
        let line = timeout(DEADLINE, self.events.next_line()).await;
        let line = line.unwrap_or_else(|_| panic!("no event within {DEADLINE:?}"));
        line.unwrap().expect("the app goes on")
    }

    pub async fn until(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let found = timeout(DEADLINE, async {
            while let Some(line) = self.events.next_line().await.unwrap() {
                let event: Value = serde_json::from_str(&line).unwrap();
                if is_it(&event) {
                    return event;
                }
            }
            panic!("the app ended before {what}");
        });
        found.await.unwrap_or_else(|_| panic!("no {what} within {DEADLINE:?}"))
    }

    /// The next whole answer of the agent.
    pub async fn answer(&mut self) -> String {
        let is_answer = |event: &Value| {
            event["item"]["body"]["type"] == "text" && event["item"]["body"]["streaming"] == false
        };
        relay::text_of(&self.until("answer", is_answer).await["item"]["body"])
    }

    async fn killed(mut self) {
        // The app, its guard, the agent. A process that has just started cannot be read for a moment.
        let all = eventually("the app, its guard and the agent", DEADLINE, async || {
            Ok((processes_with(MARK, &self.mark).len() >= 3).then_some(()))
        });
        all.await.unwrap();
        self.child.start_kill().unwrap();
        self.child.wait().await.unwrap();
        nothing_runs(&self.mark, SOON).await;
        drop(self.folder);
    }
}

async fn killed_while(script: &str, n_answers: usize, env: &[(&str, &str)]) {
    let Some(app) = app() else { return };
    let mut app = App::start(app, demo_agent(), env).await;
    app.prompt(script).await;
    for _ in 0..n_answers {
        app.answer().await;
    }
    app.killed().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_of_a_killed_app_ends() {
    killed_while("SAY on it\nWAIT", 1, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn children_in_sessions_of_their_own_end_too() {
    killed_while("CHILD 600\nCHILD 600\nWAIT", 2, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_ignores_everything_ends_with_its_children() {
    let faults = [("DESKBELL_DEMO_FAULT", "ignore-eof,ignore-sigterm")];
    killed_while("CHILD 600\nWAIT", 1, &faults).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_still_starting_ends() {
    let Some(app) = app() else { return };
    let faults = [("DESKBELL_DEMO_FAULT", "never-initialize,ignore-eof,ignore-sigterm")];
    let mut app = App::start(app, demo_agent(), &faults).await;
    app.until("process", |event| event["session"]["pid"].is_u64()).await;
    app.killed().await;
}

/// SIGTERM is an orderly end: the app itself runs the stop stages.
#[tokio::test(flavor = "multi_thread")]
async fn an_app_that_is_asked_to_end_leaves_nothing() {
    let Some(program) = app() else { return };
    let mut app = App::start(program, demo_agent(), &[]).await;
    app.prompt("CHILD 600\nWAIT").await;
    app.answer().await;
    let pid = rustix::process::Pid::from_raw(app.child.id().unwrap() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let status = timeout(DEADLINE, app.child.wait()).await.expect("it ends").unwrap();
    assert!(status.success(), "{status}");
    nothing_runs(&app.mark, SOON).await;
}

/// A test that did nothing is reported, although the harness hides the output of passing tests.
#[test]
fn a_test_without_the_app_is_reported_as_skipped_by_name_and_fails_where_the_app_is_required() {
    let name = "server::a_client_killed_in_an_answer_gets_all_of_it_exactly_once";
    let run = |required: &str| {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args([name, "--exact"]).env("DESKBELL_TEST_APP", "/no/app");
        command.env("DESKBELL_TEST_REQUIRE", required).output().unwrap()
    };
    let skipped = run("0");
    let reported =
        String::from_utf8_lossy(&skipped.stderr).contains(&format!("skipped: {name}: /no/app is not there"));
    assert!(skipped.status.success() && reported, "{skipped:?}");
    let failed = run("1");
    assert!(!failed.status.success(), "{failed:?}");
    assert!(String::from_utf8_lossy(&failed.stdout).contains("/no/app is not there"), "{failed:?}");
}
