//! The commands in the documents: each is run here as it stands there, or has a reason why not.
//!
//! A line with a placeholder, such as `FOLDER`, is the form of a command. Its options are checked with the documents.

#![cfg(target_os = "linux")]

use crate::app_killed::app;
use crate::life::DEADLINE;
use crate::program::demo_agent;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use tokio::process::Command;
use tokio::time::timeout;

/// Run in this order, in a project that is a git repository, with the demo agent in the place of Claude Code.
const RUN: &[&str] = &[
    "deskbell relay --project=. --agent=demo",
    "deskbell relay --project=. --record=recording.ndjson",
    "deskbell replay recording.ndjson",
    "deskbell settings set bell.needsYou.command '{\"program\": \"/home/me/bin/ring-phone\", \"args\": []}'",
    "echo '{\"type\":\"prompt\",\"text\":\"hello\"}' | deskbell relay --project=. --trust --agent-command=deskbell \
     --agent-argument=demo-agent --agent-argument=--acp",
    "echo '{\"systemPrompt\": {\"text\": \"Answer in one sentence.\"}, \"maxTurns\": 20}' > options.json",
    "echo '{\"type\":\"prompt\",\"text\":\"hello\"}' | deskbell relay --project=. --options=options.json",
    "echo '{\"type\":\"prompt\",\"text\":\"long\"}' | deskbell relay --project=. --agent=demo | jq -c \
     'select(.type==\"turnEnded\").turn'",
    "deskbell sessions list --filter=rounding",
    "deskbell sessions list --filter=rounding | jq -r '[.agentSessionId, .state.type, .title] | @tsv'",
    "deskbell sessions search --all 'rounding tool:edit after:7d' --json | jq -r '.projectName + \": \" + .title'",
    "deskbell sessions usage --by=day --csv > costs.csv",
    "deskbell projects",
    "deskbell recordings",
    "deskbell recordings --clear",
    "deskbell agents --models",
    "deskbell rules",
    "deskbell commit src/lib.rs -m 'Fix totals'",
    "deskbell sessions running",
    "deskbell sessions stop --all",
];

/// Not run here, with the reason, or with the place of the test that runs it or its like.
const NOT_RUN: &[(&str, &str)] = &[
    ("cargo xtask test", "it would run itself"),
    ("cargo xtask run .", "it builds and opens a window; CI builds the same"),
    ("cargo xtask package", "tests of the package part"),
    ("cargo xtask package --install", "it makes a new Debian, as root; a workflow of minutes"),
    ("npm config set prefix ~/.local", "cargo xtask walk"),
    ("npm install -g @anthropic-ai/claude-code", "cargo xtask walk"),
    ("sudo apt install ./target/release/bundle/deb/deskbell_0.1.0-1_amd64.deb", "tests of the package part"),
    (
        "sudo install -D deskbell-relay-0.1.0-linux-aarch64/deskbell-relay /usr/lib/deskbell/relay/linux-aarch64",
        "it needs the tarball; `cargo xtask package relay --check` puts the program there",
    ),
    ("cargo build -p deskbell-demo-agent", "tests/engine/examples.rs"),
    (
        "cargo run -p deskbell-engine --example headless_bot -- target/debug/deskbell-demo-agent . 'SAY hello'",
        "tests/engine/examples.rs",
    ),
    (
        "cargo run -p deskbell-engine --example terminal_client -- target/debug/deskbell-demo-agent .",
        "tests/engine/examples.rs",
    ),
    ("deskbell", "tests/real_window/start_page.rs"),
    ("deskbell .", "tests/real_window/start_page.rs"),
    ("deskbell --demo .", "tests/real_window/conversation.rs"),
    ("deskbell \"$(deskbell worktrees --add=feature)\"", "tests/real_window/worktrees.rs"),
    ("deskbell rules remove 'Bash(make *)'", "tests/real_cli/removed_rules.rs"),
    ("deskbell edit src/lib.rs --line=12", "it starts an editor of the desktop"),
    ("deskbell projects --moved=old/ledger --to=new/ledger", "tests/real_cli/stored.rs"),
    ("deskbell doctor", "tests/engine/doctor_report.rs"),
    ("deskbell relay --attach", "tests/engine/server.rs"),
    ("deskbell on box relay --attach", "tests/engine/server/far.rs"),
    ("deskbell on box folders code", "tests/engine/server/far.rs"),
    ("deskbell on box agents", "tests/engine/server/far.rs"),
    ("deskbell on box trust code/app", "tests/engine/server/far.rs"),
    ("deskbell 'deskbell://open?folder=/home/me/ledger'", "tests/real_window/links.rs"),
    ("deskbell on box sessions running", "tests/engine/server/far.rs"),
    ("deskbell sessions running --host=box", "tests/engine/server/far.rs"),
    ("deskbell on box sessions stop --all", "tests/engine/server/far.rs"),
    ("deskbell on docker:web doctor", "it needs a container"),
    (
        "flatpak-builder --user --install --force-clean build src-tauri/packaging/flatpak/dev.deskbell.Deskbell.yml",
        "it needs a runtime of Flathub; docs/design/packages.md says how it was tried",
    ),
    ("flatpak run dev.deskbell.Deskbell", "it needs the installation above"),
    (
        "deskbell relay --project=. --trust --agent-command=/path/to/agent --agent-argument=--acp",
        "the path is an example; with the demo agent it is run above",
    ),
    (
        "echo '{\"type\":\"prompt\",\"text\":\"hello\"}' | deskbell relay --project=. --agent=gemini",
        "it needs an account of that agent",
    ),
    ("deskbell relay --project=. --agent=gemini", "it needs an account of that agent"),
    (
        "(echo '{\"type\":\"prompt\",\"text\":\"hello\"}'; sleep 20) | deskbell relay --project=. --agent=demo",
        "it takes 20 s; without the pause it is run above",
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The documents for users and developers.
fn documents() -> Vec<PathBuf> {
    let mut found = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    for folder in ["docs", "docs/design", "docs/guide"] {
        let entries = std::fs::read_dir(root().join(folder)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        found.extend(paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    found
}

/// The whole commands in the blocks of a document: without comments, and on one line.
fn commands(text: &str) -> BTreeSet<String> {
    let (mut found, mut is_fenced, mut begun) = (BTreeSet::new(), false, String::new());
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
            continue;
        }
        if !is_fenced && !line.starts_with("    ") {
            continue;
        }
        let line = begun + line.split("  #").next().unwrap_or_default().trim();
        begun = if line.ends_with('|') { line.clone() + " " } else { String::new() };
        if begun.is_empty() && is_command(&line) && !is_form(&line) {
            found.insert(line);
        }
    }
    found
}

fn is_command(line: &str) -> bool {
    let mut words = line.trim_start_matches('(').split_whitespace().filter(|word| !word.contains('='));
    ["deskbell", "target/debug/deskbell", "cargo", "npm", "sudo", "echo", "git", "flatpak", "flatpak-builder"]
        .contains(&words.next().unwrap_or_default())
}

/// Whether the line has a placeholder: a word in capitals, an ellipsis or an optional part.
fn is_form(line: &str) -> bool {
    let is_placeholder = |word: &str| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase());
    // What is quoted is a prompt, not a placeholder.
    let unquoted: Vec<&str> = line.split('\'').step_by(2).collect();
    let unquoted = unquoted.join(" ");
    let mut words = unquoted.split(|c: char| !c.is_alphanumeric() && c != '_');
    line.contains('…') || line.contains("[--") || words.any(is_placeholder)
}

#[test]
fn every_command_of_the_documents_is_run_or_has_a_reason() {
    let documented: BTreeSet<String> =
        documents().iter().flat_map(|path| commands(&std::fs::read_to_string(path).unwrap())).collect();
    let known: BTreeSet<String> =
        RUN.iter().copied().chain(NOT_RUN.iter().map(|(command, _)| *command)).map(str::to_owned).collect();
    let missing: Vec<_> = documented.difference(&known).collect();
    assert!(missing.is_empty(), "neither run nor excused: {missing:#?}");
    let gone: Vec<_> = known.difference(&documented).collect();
    assert!(gone.is_empty(), "in no document: {gone:#?}");
    for (command, reason) in NOT_RUN.iter().filter(|(_, reason)| reason.starts_with("tests/")) {
        assert!(root().join(reason).is_file(), "{command}: {reason}");
    }
}

#[test]
fn a_command_is_found_in_a_block_and_a_form_is_none() {
    let text = "Run `deskbell x`.\n\n    deskbell .   # opens it\n    deskbell [FOLDER]\n    echo 1 |\n      deskbell relay\n\n\
                ```\nA=~/b cargo build\nnothing\n```\n    deskbell sessions watch ID\n";
    let found: Vec<String> = commands(text).into_iter().collect();
    assert_eq!(found, ["A=~/b cargo build", "deskbell .", "echo 1 | deskbell relay"]);
}

/// Runs a command as a shell does, in the project.
async fn run(folder: &Path, command: &str) -> Output {
    // What filters the output is not ours.
    let command = command.split(" | jq ").next().unwrap_or_default();
    let bin = folder.join("bin").display().to_string();
    let running = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder.join("project"))
        .env("PATH", format!("{bin}:{}", std::env::var("PATH").unwrap_or_default()))
        .env("HOME", folder)
        .env("XDG_DATA_HOME", folder.join("data"))
        .env("XDG_CONFIG_HOME", folder.join("config"))
        .env("CLAUDE_CONFIG_DIR", folder.join(".claude"))
        .env("CLAUDE_CODE_COMMAND", demo_agent())
        .env("DESKBELL_DEMO_SPEED", "0")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    timeout(DEADLINE, running).await.unwrap_or_else(|_| panic!("`{command}` does not end")).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_the_documents_work() {
    let Some(app) = app() else { return };
    let folder = tempfile::Builder::new().prefix("engine").tempdir().unwrap();
    for name in ["bin", "project", "data", "config"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    std::os::unix::fs::symlink(app, folder.path().join("bin/deskbell")).unwrap();
    std::fs::create_dir(folder.path().join("project/src")).unwrap();
    std::fs::write(folder.path().join("project/src/lib.rs"), "pub fn total() {}\n").unwrap();
    std::fs::write(folder.path().join(".gitconfig"), "[user]\nname = Test\nemail = test@localhost\n")
        .unwrap();
    assert!(run(folder.path(), "git init --quiet .").await.status.success());
    for command in RUN {
        let output = run(folder.path(), command).await;
        let (out, problems) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        // A search of another machine's words finds nothing here, and says so like grep.
        let expected = if command.contains("sessions search") { 1 } else { 0 };
        assert_eq!(
            output.status.code(),
            Some(expected),
            "`{command}` fails: {}\n{problems}\n{out}",
            output.status
        );
        assert!(!out.contains(r#""type":"error""#), "`{command}`: {out}");
    }
}
