//! The log: enough to diagnose a problem, and no text of the conversation.

#![cfg(target_os = "linux")]

use crate::app_killed::app;
use crate::program::demo_agent;
use serde_json::json;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// The log of a run of the app with one turn, at a level.
fn logged(level: &str) -> Option<String> {
    let folder = tempfile::Builder::new().prefix("engine").tempdir().unwrap();
    let mut app = Command::new(app()?)
        .arg("relay")
        .arg(format!("--project={}", folder.path().display()))
        .arg(format!("--agent={}", demo_agent().display()))
        .env("CLAUDE_CONFIG_DIR", folder.path().join(".config"))
        .env("XDG_DATA_HOME", folder.path().join(".data"))
        .env("DESKBELL_LOG", level)
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let prompt = json!({"type": "prompt", "text": "SAY the-secret-word"});
    // The end of input: the turn is finished, and then the app exits.
    writeln!(app.stdin.take().unwrap(), "{prompt}").unwrap();
    let done = app.wait_with_output().unwrap();
    assert!(done.status.success(), "{:?}", done.status);
    Some(String::from_utf8(done.stderr).unwrap())
}

#[test]
fn the_log_tells_what_was_done_and_nothing_that_was_said() {
    let Some(log) = logged("info") else { return };
    let mut rest = &log[..];
    for expected in [
        "starting the agent",
        "agent started",
        "prompt given",
        "turn started",
        "turn ended",
        "outcome=Done",
        "first_text_ms=",
        "agent ended",
    ] {
        let at = rest.find(expected).unwrap_or_else(|| panic!("no {expected:?} in its place:\n{log}"));
        rest = &rest[at..];
    }
    assert!(!log.contains("secret"), "{log}");
    assert!(!log.contains("line read"), "that is for `trace`:\n{log}");
    let all = logged("trace").unwrap();
    assert!(all.contains("line read") && all.contains("timer set"), "{all}");
    assert!(!all.contains("the-secret-word"), "{all}");
}

#[test]
fn a_run_without_a_fault_logs_nothing_unasked() {
    let Some(log) = logged("warn") else { return };
    let unexpected: Vec<&str> = log.lines().filter(|line| !line.contains("is not trusted")).collect();
    assert_eq!(unexpected, Vec::<&str>::new());
}
