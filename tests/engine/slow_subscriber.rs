//! A slow subscriber: it loses nothing, and cannot keep an agent alive.

use crate::life::{DEADLINE, Setup};
use crate::process_output;
use deskbell_engine::api::{Command, Delivery};
use deskbell_engine::session::Subscriber;
use deskbell_tests::real_cli::process;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Longer than an output may stay open after an exit.
const STALL: Duration = Duration::from_millis(2_500);

#[tokio::test(flavor = "multi_thread")]
async fn lines_that_wait_behind_an_exit_are_not_lost() {
    // No more than a pipe holds, so that the agent can exit although nothing is read.
    let lines: String =
        (0..900).map(|n| format!("{{\"type\":\"n{n}\",\"pad\":\"{}\"}}\n", "p".repeat(40))).collect();
    let setup = Setup::shell("cat said").file("said", lines.as_bytes());
    let mut process = process_output::start(&setup.launch()()).await;
    process::ended(process.pid(), DEADLINE).await.unwrap();
    // The stall itself is tested here; this does not wait for an event.
    tokio::time::sleep(STALL).await;
    let (lines, report) = process_output::all(&mut process).await;
    assert_eq!((lines.len(), report.code), (900, Some(0)));
}

/// A working session, and a subscriber that took one event and no more.
async fn stalled() -> (crate::life::Life, mpsc::Receiver<deskbell_engine::api::Envelope>, u32) {
    let mut life = Setup::demo().open().await;
    life.turn("SAY hello").await;
    let pid = life.snapshot().await.session.pid.unwrap();
    let (sender, unread) = mpsc::channel(1);
    life.session().subscribe(Subscriber::Every(sender)).await.unwrap();
    life.session()
        .post(Command::Prompt {
            text: "STREAM 500 x\nWAIT".into(),
            attachments: Vec::new(),
            delivery: Delivery::AfterTurn,
        })
        .await
        .unwrap();
    // The second event finds the subscriber's queue full.
    life.turn_started().await;
    (life, unread, pid)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stalled_listener_does_not_keep_a_closed_session_alive() {
    let (life, unread, pid) = stalled().await;
    let closed = timeout(DEADLINE, life.close()).await;
    assert!(closed.is_ok() && !process::is_running(pid));
    drop(unread);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stalled_listener_does_not_keep_a_dropped_session_alive() {
    let (life, unread, pid) = stalled().await;
    let _setup = life.drop_handle();
    process::ended(pid, DEADLINE).await.unwrap();
    drop(unread);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_dates_the_last_that_was_told() {
    let mut life = Setup::demo().open().await;
    life.prompt("SAY on it\nWAIT").await;
    life.answer().await;
    let before = life.snapshot().await;
    assert!(before.last_event_at >= before.session.turn_started_at.unwrap());
    // A later subscriber receives the same.
    let later = life.snapshot().await;
    assert!(later.seq > before.seq || later.last_event_at == before.last_event_at);
    life.command(Command::Rename { title: "Silence".to_owned() }).await.unwrap();
    life.facts("renamed session", |session| session.title == "Silence").await;
    assert!(life.snapshot().await.last_event_at >= later.last_event_at);
    life.close().await;
}
