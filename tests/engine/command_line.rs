//! What a script gets from the built app: exit codes, errors and texts without escapes.

use crate::app_killed::app;
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs the app in a home of its own.
fn run(home: &Path, args: &[&str], input: &str) -> Option<Output> {
    let mut command = Command::new(app()?);
    command
        .args(args)
        .current_dir(home)
        .env("HOME", home)
        .env("PATH", home)
        .env("XDG_DATA_HOME", home.join("data"))
        .env("XDG_CONFIG_HOME", home.join("config"))
        .env("CLAUDE_CONFIG_DIR", home.join("claude"))
        .env("DESKBELL_DEMO_SPEED", "0")
        .env_remove("CLAUDE_CODE_COMMAND")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that reads nothing may have ended.
    if let Err(error) = child.stdin.take().unwrap().write_all(input.as_bytes()) {
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
    }
    Some(child.wait_with_output().unwrap())
}

/// The code, and what was printed on both outputs.
fn ended(output: &Output) -> (i32, String) {
    let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    (output.status.code().unwrap(), text.concat())
}

#[test]
fn the_exit_code_says_what_was_wrong() {
    let home = tempfile::tempdir().unwrap();
    let id = "0c0f2a5e-5d2b-4e8e-9a6b-0123456789ab";
    for (args, code, words) in [
        (&["help"][..], 0, "recordings"),
        (&["help", "relay"], 0, "--low-priority"),
        (&["--version"], 0, env!("CARGO_PKG_VERSION")),
        (&["realy"], 2, "'relay'"),
        (&["sessions", "lsit"], 2, "'list'"),
        (&["relay"], 2, "--project"),
        (&["/no/such"], 2, "does not exist"),
        (&["sessions", "pin"], 2, "<ID>"),
        (&["sessions", "pin", id], 3, "no agent has stored a session"),
        (&["sessions", "unarchive", id], 3, "neither pinned nor archived"),
        (&["projects", "--pin=."], 3, "not in the list of projects"),
        (&["projects", "--remove=/no/such"], 3, "not in the list of projects"),
        (&["recordings", "--remove=session-1-a.ndjson"], 3, "there is no recording"),
        (&["relay", "--remove=x"], 3, "no running server has this session"),
        (&["sessions", "stop", "x"], 3, "no server has this session"),
        (&["relay", "--attach=x", "--no-start"], 90, "there is no session x"),
    ] {
        let Some(output) = run(home.path(), args, "") else { return };
        let (ended_with, text) = ended(&output);
        assert_eq!(ended_with, code, "{args:?}: {text}");
        assert!(text.contains(words), "{args:?}: {text}");
        assert!(!text.contains('\u{1b}'), "{args:?}: a pipe gets no escapes: {text:?}");
    }
}

#[test]
fn a_relay_without_an_agent_and_one_whose_last_turn_failed_are_no_success() {
    let home = tempfile::tempdir().unwrap();
    let prompt = |text: &str| serde_json::json!({"type": "prompt", "text": text}).to_string() + "\n";
    let relay = |agent: &str, input: &str| {
        let agent = format!("--agent={agent}");
        Some(ended(&run(home.path(), &["relay", "--project", ".", &agent, "--trust"], input)?))
    };
    let Some((code, text)) = relay("demo", &prompt("SAY hello")) else { return };
    assert_eq!(code, 0, "{text}");
    let (code, text) = relay("/no/such/claude", &prompt("SAY hello")).unwrap();
    assert!(code == 4 && text.contains("agentNotFound"), "{code}: {text}");
    assert!(text.contains("WARN") && !text.contains('\u{1b}'), "the log in a pipe has no colours: {text:?}");
    let (code, text) = relay("demo", &prompt("SAY a\nCRASH 7")).unwrap();
    assert_eq!(code, 5, "{text}");
}

#[test]
fn every_listing_is_json_when_asked() {
    let home = tempfile::tempdir().unwrap();
    for args in [
        &["projects", "--json"][..],
        &["recordings", "--json"],
        &["sessions", "list", "--json"],
        &["sessions", "usage", "--json"],
        &["sessions", "running", "--json"],
        &["relay", "--list", "--json"],
        &["agents", "--json"],
        &["agents", "--models", "--json"],
        &["folders", "--json"],
        &["trust", "--json"],
        &["settings", "--json"],
        &["settings", "get", "--json"],
        &["settings", "check", "--json"],
    ] {
        let Some(output) = run(home.path(), args, "") else { return };
        let (code, text) = ended(&output);
        assert_eq!(code, 0, "{args:?}: {text}");
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            assert!(serde_json::from_str::<Value>(line).is_ok(), "{args:?}: {line}");
        }
    }
}
