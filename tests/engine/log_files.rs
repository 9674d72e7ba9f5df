//! Log files: what a session does is in them, and nothing that anyone wrote, gave or keeps secret.

#![cfg(target_os = "linux")]

use crate::app_killed::app;
use crate::program::demo_agent;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Secrets in a session.
const N_SECRETS: usize = 44;

/// The secret of this number: a key, a token, or words that no rule of the redaction knows.
fn secret(nr: usize) -> String {
    match nr % 4 {
        0 => format!("sk-ant-api03-planted{nr:02}planted"),
        1 => format!("ghp_planted{nr:02}plantedplanted"),
        _ => format!("planted{nr:02}words"),
    }
}

/// Numbers of the secrets that are in the text.
fn found(text: &str) -> Vec<usize> {
    (0..N_SECRETS).filter(|nr| text.contains(&format!("planted{nr:02}"))).collect()
}

/// Lines of the agent in which a secret is in each place where the agent may put a text.
fn lines() -> String {
    let line = |line: Value| line.to_string() + "\n";
    let user = |content: Value, result: Value| {
        line(
            json!({"type": "user", "message": {"role": "user", "content": [content]}, "tool_use_result": result}),
        )
    };
    let call = |id: &str, name: &str, input: Value| {
        let content = json!([{"type": "tool_use", "id": id, "name": name, "input": input}]);
        line(json!({"type": "assistant", "message": {"id": id, "role": "assistant", "content": content}}))
    };
    [
        call("t1", "Bash", json!({"command": secret(0), "description": secret(1)})),
        user(
            json!({"type": "tool_result", "tool_use_id": "t1", "content": secret(2)}),
            json!({"stdout": secret(2), "stderr": secret(3)}),
        ),
        call("t2", "WebFetch", json!({"url": format!("https://joe:{}@example.org/", secret(4)), "prompt": secret(5)})),
        user(
            json!({"type": "tool_result", "tool_use_id": "t2", "content": secret(6), "is_error": true}),
            json!(format!("Error: {}", secret(6))),
        ),
        call("t3", "mcp__tracker__create", json!({"title": secret(7)})),
        line(json!({"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 3, "retry_delay_ms": 10, "error": secret(8), "error_status": 500})),
        line(json!({"type": "system", "subtype": "status", "status": secret(9)})),
        line(json!({"type": "system", "subtype": "hook_response", "hook_name": "h", "output": secret(10), "stdout": secret(10), "stderr": secret(10), "exit_code": 1})),
        line(json!({"type": "system", "subtype": "task_started", "task_id": "k", "description": secret(11)})),
        line(json!({"type": "system", "subtype": "task_notification", "task_id": "k", "status": "failed", "summary": secret(12), "output_file": format!("/tmp/{}", secret(12))})),
        line(json!({"type": "rate_limit_event", "rate_limit_info": {"status": "allowed_warning", "rateLimitType": secret(13)}})),
        line(json!({"type": secret(14), "text": secret(14)})),
        line(json!({"type": "control_request", "request_id": "c1", "request": {"subtype": secret(15), "x": secret(15)}})),
        line(json!({"type": "control_response", "response": {"subtype": "error", "request_id": "none", "error": secret(16)}})),
        line(json!({"type": "assistant", "error": secret(17), "message": {"id": "m17", "role": "assistant", "content": [{"type": "text", "text": secret(17)}]}})),
        line(json!({"type": "assistant", "message": {"id": "m18", "role": "assistant", "content": [{"type": secret(18), "text": secret(18)}]}})),
        format!("{{\"type\": \"torn {}\n", secret(19)),
        format!("-----BEGIN RSA PRIVATE KEY----- {} -----END RSA PRIVATE KEY-----\n", secret(20)),
    ]
    .concat()
}

/// The folders and the files of a run.
struct Run {
    root: tempfile::TempDir,
    app: PathBuf,
}

impl Run {
    fn new() -> Option<Self> {
        let root = tempfile::Builder::new().prefix("engine").tempdir().unwrap();
        Some(Self { root, app: app()? })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn log(&self) -> PathBuf {
        self.path("data/deskbell/log")
    }

    /// All log files of a kind together.
    fn logged(&self, source: &str) -> String {
        // Without a line there is no folder.
        let Ok(listed) = fs::read_dir(self.log()) else { return String::new() };
        let mut paths: Vec<_> = listed.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let is_of = |path: &&PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(source);
        paths.iter().filter(is_of).map(|path| fs::read_to_string(path).unwrap()).collect()
    }

    fn command(&self, project: &Path) -> Command {
        let mut command = Command::new(&self.app);
        command
            .arg("relay")
            .arg(format!("--project={}", project.display()))
            .arg(format!("--agent={}", demo_agent().display()))
            .env("CLAUDE_CONFIG_DIR", self.path("agent"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env_remove("DESKBELL_LOG")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

/// Runs a command, gives it these lines, then its end of input.
fn given(mut command: Command, lines: &[Value]) -> Output {
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for line in lines {
        writeln!(stdin, "{line}").unwrap();
    }
    drop(stdin);
    child.wait_with_output().unwrap()
}

fn prompt(text: &str) -> Value {
    json!({"type": "prompt", "text": text})
}

/// Everything that is said to the session. Returns what came out of it.
fn whole_session(run: &Run, level: &str) -> String {
    // In the names of folders there are keys and tokens; other words there are the user's own.
    let project = run.path(&format!("{}/{}", secret(24), secret(25)));
    fs::create_dir_all(&project).unwrap();
    fs::write(run.path("lines.ndjson"), lines()).unwrap();
    let mut child = run
        .command(&project)
        .env("DESKBELL_LOG", level)
        .env("ANTHROPIC_API_KEY", secret(28))
        .env("PLANTED", secret(26))
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let script = [
        format!("SAY {}", secret(21)),
        format!("STREAM 5 {}\\n", secret(22)),
        format!("THINK {} | {}", secret(23), secret(27)),
        "ENV PLANTED".to_owned(),
        "ENV ANTHROPIC_API_KEY".to_owned(),
        "CWD".to_owned(),
        format!("STDERR ANTHROPIC_API_KEY={}", secret(29)),
        format!("STDERR {}", secret(30)),
        format!("GARBAGE {}", secret(31)),
        format!("LINES {}", run.path("lines.ndjson").display()),
        format!("TOOL Bash {}", json!({"command": secret(32)})),
        format!("TOOL Write {}", json!({"file_path": format!("/tmp/{}", secret(33)), "content": secret(34)})),
        format!("/rename {}", secret(35)),
    ];
    let mut say = |line: Value| writeln!(stdin, "{line}").unwrap();
    say(prompt(&script.join("\n")));
    say(json!({"type": "rename", "title": secret(36)}));
    say(json!({"type": secret(37)}));
    say(json!({"type": "editQueued", "promptId": secret(38), "text": secret(38)}));
    let mut seen = String::new();
    let (mut n_requests, mut n_turns) = (0, 0);
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let event: Value = serde_json::from_str(&line).unwrap();
        seen += &line;
        if event["type"] == "permissionRequested" {
            let request = &event["request"];
            let decision = if n_requests == 0 {
                let json = json!({"command": secret(39)}).to_string();
                json!({"type": "allowOnce", "updatedInput": {"type": "whole", "json": json}})
            } else {
                json!({"type": "deny", "message": secret(40)})
            };
            n_requests += 1;
            say(
                json!({"type": "decide", "requestId": request["id"], "shown": request["shown"], "decision": decision}),
            );
        } else if event["type"] == "turnEnded" {
            n_turns += 1;
            match n_turns {
                1 => say(prompt(&format!("FAIL 401 {}", secret(41)))),
                2 => say(prompt(&format!("STDERR {}\nSAY {}\nCRASH 3", secret(42), secret(43)))),
                _ => break,
            }
        }
    }
    drop(stdin);
    let done = child.wait_with_output().unwrap();
    assert!(n_requests >= 2 && n_turns == 3, "{n_requests} requests, {n_turns} turns");
    seen + &String::from_utf8_lossy(&done.stdout)
}

#[test]
fn no_secret_of_a_session_is_in_the_log_files() {
    for level in ["error", "warn", "info", "debug", "trace"] {
        let Some(run) = Run::new() else { return };
        let seen = found(&whole_session(&run, level)).len();
        assert!(seen >= 30, "only {seen} secrets went through the session");
        let log = run.logged("relay");
        assert_eq!(found(&log), [0; 0], "at {level}:\n{log}");
        let is_expected = |what: &str, least: &str| {
            let levels = ["error", "warn", "info", "debug", "trace"];
            let nr = |level| levels.iter().position(|one| *one == level);
            assert_eq!(log.contains(what), nr(level) >= nr(least), "{what} at {level}:\n{log}");
        };
        is_expected("agent ended unexpectedly", "warn");
        is_expected("turn ended", "info");
        is_expected("line read", "trace");
    }
}

#[test]
fn a_relay_logs_to_a_file_of_its_own_with_the_id_of_the_session() {
    let Some(run) = Run::new() else { return };
    let project = run.path("project");
    fs::create_dir_all(&project).unwrap();
    fs::create_dir_all(run.path("config/deskbell")).unwrap();
    // The level is a setting.
    fs::write(run.path("config/deskbell/settings.json"), r#"{"log": "info"}"#).unwrap();
    let done = given(run.command(&project), &[prompt("SAY hello")]);
    assert!(done.status.success(), "{done:?}");
    let first: Value =
        serde_json::from_str(String::from_utf8_lossy(&done.stdout).lines().next().unwrap()).unwrap();
    let log = run.logged("relay");
    let id = first["sessionId"].as_str().unwrap();
    let of_session: Vec<&str> =
        log.lines().filter(|line| line.contains(&format!("session{{id={id}}}"))).collect();
    for expected in ["starting the agent", "prompt given", "turn started", "turn ended", "agent ended"] {
        assert!(of_session.iter().any(|line| line.contains(expected)), "no {expected:?}:\n{log}");
    }
    assert!(!log.contains('\u{1b}'), "colours are for terminals:\n{log}");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&run.log()), 0o700);
    for entry in fs::read_dir(run.log()).unwrap() {
        assert_eq!(mode(&entry.unwrap().path()), 0o600);
    }
    // And as before on stderr.
    assert!(String::from_utf8_lossy(&done.stderr).contains("turn ended"));
}

#[test]
fn a_device_in_place_of_the_log_holds_up_no_session() {
    let Some(run) = Run::new() else { return };
    let project = run.path("project");
    fs::create_dir_all(&project).unwrap();
    fs::create_dir_all(run.path("data/deskbell")).unwrap();
    // A link to a device that is always full.
    std::os::unix::fs::symlink("/dev/full", run.log()).unwrap();
    let mut command = run.command(&project);
    command.env("DESKBELL_LOG", "trace");
    let done = given(command, &[prompt("SAY hello")]);
    assert!(done.status.success(), "{done:?}");
    assert!(String::from_utf8_lossy(&done.stdout).contains("hello"));
    // It was set aside, and the log goes on.
    assert!(run.path("data/deskbell/log.unreadable").exists());
    assert!(run.logged("relay").contains("turn ended"));
}

#[test]
fn the_doctor_names_the_log_and_adds_its_last_lines() {
    let Some(run) = Run::new() else { return };
    fs::create_dir_all(run.log()).unwrap();
    let line = format!("2026-11-22T10:00:00.000001Z [1]  WARN test: a planted line, {}\n", secret(0));
    fs::write(run.log().join("app.2026-11-22.1.log"), line).unwrap();
    let doctor = |options: &[&str]| {
        let output = Command::new(&run.app)
            .args(["doctor", "--agent=/no/such/program"])
            .args(options)
            .env("CLAUDE_CONFIG_DIR", run.path("agent"))
            .env("XDG_DATA_HOME", run.path("data"))
            .env("XDG_CONFIG_HOME", run.path("config"))
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let report = doctor(&[]);
    assert!(
        report.lines().any(|line| line.starts_with("Log ") && line.ends_with("/deskbell/log")),
        "{report}"
    );
    assert!(!report.contains("a planted line"));
    let report = doctor(&["--log"]);
    assert!(report.starts_with("Deskbell ") && report.contains("a planted line, <key>"), "{report}");
    assert_eq!(found(&report), [0; 0], "{report}");
}
