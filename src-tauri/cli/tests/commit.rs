//! `deskbell commit` with real git: its exit codes, its JSON, and its end while a hook hangs.

#![cfg(unix)]
#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test makes and reads files of its own")]

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_deskbell-relay");

/// A home with a repository, which has a commit and a changed file.
struct World {
    root: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { root: tempfile::tempdir().unwrap() };
        std::fs::create_dir(world.repo()).unwrap();
        let identity = "[user]\nname = A\nemail = a@b\n";
        std::fs::write(world.root.path().join(".gitconfig"), identity).unwrap();
        world.git(&["init", "--quiet", "--initial-branch=main"]);
        std::fs::write(world.repo().join("a"), "1\n").unwrap();
        world.git(&["add", "a"]);
        world.git(&["commit", "--quiet", "--message=x"]);
        std::fs::write(world.repo().join("a"), "2\n").unwrap();
        world
    }

    fn repo(&self) -> PathBuf {
        self.root.path().join("repo")
    }

    fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.repo())
            .env("HOME", self.root.path())
            .env("XDG_DATA_HOME", self.root.path().join("data"))
            .env("XDG_CONFIG_HOME", self.root.path().join("settings"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::null());
        command
    }

    fn git(&self, args: &[&str]) -> String {
        let output = self.command("git", args).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The exit code, the JSON and the error output of a command.
    fn run(&self, args: &[&str]) -> (i32, Value, String) {
        let output = self.command(PROGRAM, args).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        (output.status.code().unwrap(), value, said)
    }

    fn hook(&self, name: &str, script: &str) {
        let path = self.repo().join(".git/hooks").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn trust(&self) {
        let (_, view, _) = self.run(&["trust", "--json"]);
        let fingerprint = format!("--fingerprint={}", view["fingerprint"].as_str().unwrap());
        let (code, _, said) = self.run(&["trust", "--decide=trust", &fingerprint]);
        assert_eq!(code, 0, "{said}");
    }
}

#[test]
fn hooks_run_in_a_trusted_folder_and_in_others_only_if_it_is_said() {
    let world = World::new();
    world.hook("commit-msg", "echo checked; echo seen >>\"$1\"");
    let (code, problem, said) = world.run(&["commit", "a", "-m", "one", "--json"]);
    assert_eq!((code, problem["type"].as_str()), (1, Some("wouldRun")), "{said}");
    assert_eq!(problem["programs"], serde_json::json!(["commit-msg"]));
    assert!(said.contains("--hooks=skip"), "{said}");
    let (code, plan, said) = world.run(&["commit", "a", "-m", "one", "--json", "--plan"]);
    assert_eq!((code, plan["author"].as_str()), (0, Some("A <a@b>")), "{said}");
    assert_eq!(world.git(&["rev-list", "--count", "HEAD"]), "1\n");

    let (code, made, said) = world.run(&["commit", "a", "-m", "one", "--json", "--hooks=skip"]);
    assert_eq!((code, made["files"][0].as_str()), (0, Some("a")), "{said}");
    assert_eq!(world.git(&["log", "-1", "--format=%B"]).trim(), "one");
    let (code, undone, _) = world.run(&["commit", "--undo", "--json"]);
    assert_eq!((code, &undone["id"]), (0, &made["id"]));
    let (code, problem, _) = world.run(&["commit", "--undo", "--json"]);
    assert_eq!((code, problem["type"].as_str()), (1, Some("nothingToUndo")));

    world.trust();
    let (code, _, said) = world.run(&["commit", "--all", "-m", "two", "--signoff"]);
    assert_eq!((code, said.as_str()), (0, "checked\n"));
    assert!(world.git(&["log", "-1", "--format=%B"]).contains("seen"), "the hook changed the message");
    let (code, problem, _) = world.run(&["commit", "a", "-m", "three", "--json"]);
    assert_eq!((code, problem["type"].as_str()), (1, Some("notChanged")));
}

#[test]
fn a_killed_command_leaves_a_repository_that_the_next_one_restores() {
    let world = World::new();
    world.trust();
    world.hook("pre-commit", "echo ready; exec sleep 600");
    let before = world.git(&["status", "--porcelain=v2"]);
    let mut command = world.command(PROGRAM, &["commit", "a", "-m", "one", "--hooks=run"]);
    let mut running = command.stderr(Stdio::piped()).spawn().unwrap();
    let said = BufReader::new(running.stderr.take().unwrap()).lines().next().unwrap().unwrap();
    assert_eq!(said, "ready");
    running.kill().unwrap();
    running.wait().unwrap();
    let (code, plan, said) = world.run(&["commit", "a", "-m", "one", "--json", "--plan"]);
    assert_eq!((code, plan["replacesStaged"].as_array().map(Vec::len)), (0, Some(0)), "{said}");
    assert_eq!(world.git(&["status", "--porcelain=v2"]), before);
    let (code, _, said) = world.run(&["commit", "a", "-m", "one", "--hooks=skip"]);
    assert_eq!(code, 0, "{said}");
}
