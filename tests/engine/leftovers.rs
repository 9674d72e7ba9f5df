//! No process of a session survives its end, with a session of its own or not.

#![cfg(target_os = "linux")]

use crate::life::{DEADLINE, Life, MARK, Setup};
use deskbell_engine::api::Command;
use deskbell_engine::session::SessionHandle;
use deskbell_tests::real_cli::process;
use deskbell_tests::window::{Process, eventually, processes_with};
use std::time::Duration;

/// Time within which processes must be gone. The stop stages take 2.5 s of it for an agent that ignores them; the rest is
/// for a busy machine.
pub const SOON: Duration = Duration::from_secs(30);

/// Checks that every living process with this mark is gone soon.
pub async fn nothing_runs(mark: &str, within: Duration) {
    let gone = eventually("the end of all processes", within, async || {
        Ok(processes_with(MARK, mark).is_empty().then_some(()))
    });
    if gone.await.is_err() {
        let left: Vec<Process> = processes_with(MARK, mark);
        left.iter().for_each(|process| process.kill().unwrap_or_default());
        panic!("still there after {within:?}: {left:#?}");
    }
}

/// A session whose agent works, with a child in a session of its own.
pub async fn with_child(faults: &str) -> Life {
    let mut life = Setup::faulty(faults).open().await;
    life.prompt("CHILD 600\nCHILD 600\nWAIT").await;
    for _ in 0..2 {
        let child = life.answer().await.parse().unwrap();
        assert!(process::is_running(child));
    }
    assert_eq!(processes_with(MARK, &life.setup.mark).len(), 3);
    life
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_stop() {
    for faults in ["", "ignore-eof,ignore-sigterm"] {
        let mut life = with_child(faults).await;
        life.command(Command::Stop).await.unwrap();
        life.exit().await;
        nothing_runs(&life.setup.mark, SOON).await;
        life.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_close() {
    for faults in ["", "ignore-eof,ignore-sigterm"] {
        let setup = with_child(faults).await.close().await;
        nothing_runs(&setup.mark, SOON).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_last_handle_is_dropped() {
    for faults in ["", "ignore-eof,ignore-sigterm"] {
        let setup = with_child(faults).await.drop_handle();
        nothing_runs(&setup.mark, SOON).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_crash() {
    let mut life = with_child("").await;
    process::kill(life.snapshot().await.session.pid.unwrap()).unwrap();
    life.exit().await;
    nothing_runs(&life.setup.mark, SOON).await;
    life.close().await;
}

/// The handle is dropped while the process is being spawned, before its pid is known.
#[tokio::test(flavor = "multi_thread")]
async fn after_a_drop_in_the_middle_of_a_start() {
    for faults in ["", "never-initialize,ignore-eof,ignore-sigterm"] {
        let mut marks = Vec::new();
        for _ in 0..8 {
            let (session, setup): (SessionHandle, Setup) = Setup::faulty(faults).short_ladder().unheard();
            session.start().await.unwrap();
            drop(session);
            marks.push(setup);
        }
        for setup in marks {
            nothing_runs(&setup.mark, SOON).await;
        }
    }
}

/// The runtime shuts down before the session: no task is left to run the stop stages.
#[test]
fn after_the_end_of_the_runtime() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let life = runtime.block_on(async { with_child("ignore-eof,ignore-sigterm").await });
    runtime.shutdown_timeout(DEADLINE);
    let setup = life.drop_handle();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(nothing_runs(&setup.mark, SOON));
}

/// Children that spawn children endlessly, faster than one read of the process table.
#[tokio::test(flavor = "multi_thread")]
async fn a_family_that_goes_on_growing() {
    // Whatever the result of this test, removing its folder ends them.
    let script = r#"ready; hear; : > alive
        breed='[ -e alive ] || exit; : > born; setsid sh -c "$breed" & sleep 0.01'
        export breed
        for n in 1 2 3 4; do setsid sh -c "$breed" & done
        until [ -e born ]; do sleep 0.02; done
        say hello; until_end_of_input"#;
    let mut life = Setup::shell(script).open().await;
    life.session().start().await.unwrap();
    life.answer().await;
    let setup = life.close().await;
    nothing_runs(&setup.mark, SOON).await;
}
