//! The doctor's lines about other agents, as the command line prints them.

#![cfg(target_os = "linux")]

use crate::app_killed::app;
use crate::program::demo_agent;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// `deskbell doctor` with these programs in front of `PATH`, in a home of its own; without Claude Code.
fn doctor(programs: &[(&str, &str)], options: &[&str]) -> Option<Output> {
    let app = app()?;
    let home = tempfile::Builder::new().prefix("engine").tempdir().unwrap();
    let bin = home.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for (name, script) in programs {
        let path = bin.join(name);
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = std::env::join_paths([&bin, Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
    let mut command = Command::new(app);
    command.args(["doctor", "--agent=/no/such/program"]).args(options).env("PATH", path);
    command.env("HOME", home.path()).env("CLAUDE_CONFIG_DIR", home.path().join("claude"));
    command.env("XDG_DATA_HOME", home.path().join("data")).env("XDG_CONFIG_HOME", home.path().join("config"));
    Some(command.output().unwrap())
}

/// It answers its version, and nothing else.
const GEMINI: &str = "#!/bin/sh\n[ \"$*\" = --version ] && echo 0.61.0\n";

#[test]
fn the_report_has_a_line_for_each_other_agent_that_is_found() {
    let Some(output) = doctor(&[("gemini", GEMINI)], &[]) else { return };
    let report = String::from_utf8(output.stdout).unwrap();
    let gemini = report.lines().skip_while(|line| !line.starts_with("Gemini CLI ")).take(6);
    let gemini: Vec<&str> = gemini.map(|line| line.trim_start_matches("Gemini CLI").trim()).collect();
    assert_eq!(
        gemini,
        [
            "0.61.0, /home/user/bin/gemini",
            "runtime: Node 20 or newer",
            "login: not known: it ended before it began a session",
            "asks: its mode default is set and checked before the first prompt; the trial has no result: The agent exited: it \
             said nothing",
            "runs nothing of a folder by itself",
            "ports: none was open in its trial",
        ],
        "{report}"
    );
    let missing = report.lines().find(|line| line.starts_with("Not installed ")).unwrap_or_default();
    assert!(missing.contains("opencode") && !missing.contains("Gemini CLI"), "{report}");
}

#[test]
fn the_report_names_the_port_of_an_agent_and_its_password() {
    let agent = |faults: &str| {
        format!(
            "#!/bin/sh\n[ \"$*\" = --version ] && echo 1.0.0 && exit\nexec env DESKBELL_DEMO_ACP={faults} '{}' --acp\n",
            demo_agent().display()
        )
    };
    let (listens, quiet) = (agent("listens"), agent("none"));
    let programs = [("opencode", &listens[..]), ("copilot", &quiet[..])];
    let Some(output) = doctor(&programs, &[]) else { return };
    let report = String::from_utf8(output.stdout).unwrap();
    let ports: Vec<&str> = report.lines().filter_map(|line| line.trim().strip_prefix("ports: ")).collect();
    let [copilot, opencode] = ports[..] else { panic!("{report}") };
    assert_eq!(copilot, "none was open in its trial");
    // The report may write a path or an address in its own way; the words around the port do not change.
    let (at, password) = opencode.split_once("; ").unwrap();
    assert!(at.starts_with("it listens on 127.0.0.1:"), "{report}");
    assert_eq!(
        password,
        "password-protected: Deskbell sets a random OPENCODE_SERVER_PASSWORD for each start"
    );
}

#[test]
fn an_agent_on_an_old_node_says_so_also_as_json() {
    let node = "#!/bin/sh\necho v18.19.0\n";
    let programs = [("node", node), ("gemini", "#!/usr/bin/env node\nnot run\n")];
    let Some(output) = doctor(&programs, &["--json"]) else { return };
    let checkup: Value = serde_json::from_slice(&output.stdout).unwrap();
    let lines = checkup["lines"].as_array().unwrap();
    let gemini = lines.iter().find(|line| line["name"] == "Gemini CLI").unwrap();
    assert_eq!(
        gemini["value"],
        "cannot run here: Gemini CLI needs Node 20 or newer, and this machine has v18.19.0.\n/home/user/bin/gemini"
    );
    assert_eq!(gemini["health"], "bad");
}
