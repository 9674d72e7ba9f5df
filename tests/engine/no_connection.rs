//! Deskbell opens no connection of its own: every socket call of a whole conversation stays on this computer.

#![cfg(target_os = "linux")]

use crate::app_killed::app;
use deskbell_engine::api::Decision;
use deskbell_tests::relay::Relay;
use deskbell_tests::sockets::SocketWatch;
use deskbell_tests::suite::{Requirement, missing};
use std::path::{Path, PathBuf};
use tokio::process::Command;

/// Two commands, each asked about.
const COMMANDS: &str = "TOOL Bash {\"command\": \"ls\"}\nTOOL Bash {\"command\": \"touch a\"}";

/// The program under watch. `None` where it cannot be watched.
fn watched(folder: &Path, program: PathBuf) -> Option<SocketWatch> {
    if let Requirement::Missing(what) = SocketWatch::requirement() {
        return missing(&what);
    }
    Some(SocketWatch::on(&program, folder).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_opens_no_connection() {
    let folder = tempfile::Builder::new().prefix("engine").tempdir().unwrap();
    let Some(watch) = app().and_then(|app| watched(folder.path(), app)) else { return };
    let project = folder.path().join("project");
    std::fs::create_dir(&project).unwrap();
    let mut command = Command::new(watch.program());
    command
        .args(["relay", "--agent=demo", &format!("--project={}", project.display())])
        .env("HOME", folder.path())
        .env("XDG_DATA_HOME", folder.path().join("data"))
        .env("DESKBELL_DEMO_SPEED", "0");
    let mut relay = Relay::of(command).unwrap();
    // The demo's own conversation: thoughts, texts, an edit and commands.
    relay.turn_allowing_all("Why is the total wrong?").await.unwrap();
    relay.prompt(COMMANDS).await.unwrap();
    let request = relay.request().await.unwrap();
    relay.decide(&request, Decision::Deny { message: "No.".into(), interrupt: true }).await.unwrap();
    relay.event("turnEnded").await.unwrap();
    relay.close().await.unwrap();
    watch.check(0).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_would_be_seen() {
    let folder = tempfile::Builder::new().prefix("engine").tempdir().unwrap();
    let Some(watch) = watched(folder.path(), "/bin/bash".into()) else { return };
    // A datagram socket sends nothing when it connects. The address is one of those for documentation.
    let script = "(exec 3<>/dev/udp/192.0.2.1/9)";
    let status = Command::new(watch.program()).args(["-c", script]).status().await.unwrap();
    assert!(status.success());
    let found = watch.check(1).unwrap_err().to_string();
    assert!(found.contains("192.0.2.1"), "{found}");
}
