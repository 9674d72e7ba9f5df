//! A real container of podman: Deskbell's program is copied into it, and a session there survives its connection.
//!
//! The container's files are programs of this machine, so no image is needed and no registry is asked. The test runs where
//! podman can start such a container, and says why where it cannot.

use super::far::{put, relay_program};
use super::world::Client;
use super::{is_answer, is_turn_end};
use crate::app_killed::SOON;
use crate::leftovers::nothing_runs;
use crate::life::{DEADLINE, MARK};
use deskbell_tests::relay::text_of;
use deskbell_tests::suite::{missing, skipped};
use deskbell_tests::window::eventually;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use tokio::process::Command;
use tokio::time::timeout;

/// What the machine needs (docs/guide/other-machines.md), and what the script and the agent use.
const PROGRAMS: [&str; 9] = ["sh", "head", "sha256sum", "mkdir", "mv", "rm", "chmod", "uname", "sleep"];

const NAME: &str = "web";

struct Container {
    /// The files of the container, and podman's own.
    folder: tempfile::TempDir,
    mark: String,
}

impl Container {
    /// `None`, with a message, where it cannot be started.
    async fn start() -> Option<Self> {
        let podman = find("podman").or_else(|| skipped("podman is not installed"))?;
        if !relay_program().is_file() {
            return missing("deskbell-relay is not built");
        }
        let folder = tempfile::Builder::new().prefix("pod").tempdir().unwrap();
        let files = folder.path().join("files");
        for name in ["bin", "code", "dev", "etc", "proc", "root", "sys", "tmp"] {
            fs::create_dir_all(files.join(name)).unwrap();
        }
        fs::write(files.join("etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n").unwrap();
        for name in PROGRAMS {
            let program = find(name).unwrap_or_else(|| panic!("{name} is on this machine"));
            fs::copy(&program, files.join("bin").join(name)).unwrap();
            copy_libraries(&program, &files).await;
        }
        // The program of a development build needs the libraries of this machine.
        copy_libraries(&relay_program(), &files).await;
        // Deskbell runs “podman”, which has a store of its own here.
        let store = folder.path().join("store");
        let own = format!(
            "#!/bin/sh\nexec '{}' --root '{}' --runroot '{}' --storage-driver vfs \"$@\"\n",
            podman.display(),
            store.display(),
            folder.path().join("run").display(),
        );
        put(&folder.path().join("bin/podman"), &own);
        let container = Self { folder, mark: uuid::Uuid::new_v4().to_string() };
        let (mark, files) = (format!("--env={MARK}={}", container.mark), files.display().to_string());
        // A machine that may not raise its limits starts it with these.
        let limits = ["--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096"];
        let start = [&["run", "--detach", "--name", NAME, "--network=host", &mark][..], &limits[..]].concat();
        let start = [&start[..], &["--rootfs", &files, "/bin/sleep", "600"][..]].concat();
        let started = container.podman(&start).await;
        if !started.status.success() {
            return skipped(&format!("podman cannot start a container here: {started:?}"));
        }
        Some(container)
    }

    fn path(&self) -> String {
        format!("{}:{}", self.folder.path().join("bin").display(), std::env::var("PATH").unwrap_or_default())
    }

    async fn podman(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(self.folder.path().join("bin/podman"));
        command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
        timeout(DEADLINE, command.output()).await.expect("it ends").unwrap()
    }

    /// `deskbell on podman:web` with these arguments.
    fn on(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(relay_program());
        command
            .args(["on", &format!("podman:{NAME}")])
            .args(arguments)
            .env("PATH", self.path())
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    async fn attach(&self) -> Client {
        Client::connected(self.on(&["relay", "--attach", "--idle=600"]), "/code".to_owned()).await
    }

    async fn run(&self, arguments: &[&str]) -> String {
        let output = timeout(DEADLINE, self.on(arguments).output()).await.expect("it ends").unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    async fn end(self) {
        let removed = self.podman(&["rm", "--force", "--time=0", NAME]).await;
        assert!(removed.status.success(), "{removed:?}");
        nothing_runs(&self.mark, SOON).await;
    }
}

fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// Copies the libraries of a program, by their own paths.
async fn copy_libraries(program: &Path, files: &Path) {
    let listed = Command::new("ldd").arg(program).output().await.unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    for library in listed.split_whitespace().filter(|word| word.starts_with('/')) {
        let copy = files.join(library.trim_start_matches('/'));
        if !copy.exists() {
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            fs::copy(library, copy).unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_in_a_real_container_survives_its_connection() {
    let Some(container) = Container::start().await else { return };
    let mut client = container.attach().await;
    let session = client.open().await;
    client.attach(&session, None).await;
    client
        .prompt(&session, "p", "SAY in a container\nTOOL Bash {\"command\": \"echo there > made\"}\nSAY done")
        .await;
    let answer = client.until("answer", is_answer).await;
    assert_eq!(text_of(&answer["item"]["body"]), "in a container");
    let asked = client.until("request", |line| line["type"] == "permissionRequested").await;
    client.kill().await;

    // The server is still there, and the request waits.
    let mut client = container.attach().await;
    client.attach(&session, None).await;
    let (request_id, shown) = (&asked["request"]["id"], &asked["request"]["shown"]);
    let decide =
        json!({"type": "decide", "requestId": request_id, "shown": shown, "decision": {"type": "allowOnce"}});
    client.command(&session, "answer", decide).await;
    client.until("the end of the turn", is_turn_end).await;
    client.kill().await;

    let listed: Value =
        serde_json::from_str(&container.run(&["sessions", "running", "--json"]).await).unwrap();
    assert_eq!((&listed["session"]["id"], &listed["session"]["project"]), (&json!(session), &json!("/code")));
    assert!(listed["cost"]["nProcesses"].as_u64().is_some_and(|n| n >= 1), "{listed}");
    container.run(&["sessions", "stop", "--all"]).await;
    let is_stopped = async || {
        let listed: Value = serde_json::from_str(&container.run(&["sessions", "running", "--json"]).await)?;
        Ok((listed["session"]["alive"] == false).then_some(()))
    };
    eventually("the end of the agent", DEADLINE, is_stopped).await.unwrap();
    container.end().await;
}
