//! A home folder with a server of its own, and clients of it.

use crate::app_killed::{SOON, app};
use crate::leftovers::nothing_runs;
use crate::life::{DEADLINE, MARK};
use crate::program::demo_agent;
use deskbell_engine::remote::Dial;
use deskbell_tests::real_cli::process;
use deskbell_tests::relay::{Dialed, dialed_by};
use deskbell_tests::window::processes_with;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// A throw-away home, whose processes are marked.
pub struct World {
    home: tempfile::TempDir,
    pub data: PathBuf,
    pub mark: String,
    pub idle: &'static str,
    /// The version that servers and clients have, if it is not their own.
    pub version: Option<&'static str>,
    program: PathBuf,
}

impl World {
    /// `None`, with a message, where the app is not built.
    pub fn new() -> Option<Self> {
        app().map(Self::of)
    }

    /// With this program, which is the app or the program without windows.
    pub fn of(program: PathBuf) -> Self {
        let home = tempfile::Builder::new().prefix("server").tempdir().unwrap();
        let data = home.path().join("data");
        std::fs::create_dir_all(data.join("deskbell")).unwrap();
        for folder in ["project", "bin"] {
            std::fs::create_dir(home.path().join(folder)).unwrap();
        }
        let mark = uuid::Uuid::new_v4().to_string();
        Self { data, mark, home, idle: "600", version: None, program }
    }

    /// Puts the demo agent, over ACP, in the place of this program.
    pub fn add_agent(&self, name: &str) {
        let path = self.root().join("bin").join(name);
        let script = format!("#!/bin/sh\nexec '{}' --acp\n", demo_agent().display());
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub fn root(&self) -> &Path {
        self.home.path()
    }

    /// The folder of the server of this program's version.
    pub fn folder(&self) -> PathBuf {
        self.data.join("deskbell/server").join(env!("CARGO_PKG_VERSION"))
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        self.app(&[&["relay"], arguments].concat())
    }

    /// The app with these arguments.
    pub fn app(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .env("HOME", self.root())
            .env("PATH", path_in(self.root()))
            .env("XDG_DATA_HOME", &self.data)
            .env("CLAUDE_CONFIG_DIR", self.root().join(".config"))
            .env(MARK, &self.mark)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        if let Some(version) = self.version {
            command.env("DESKBELL_TEST_SERVER_VERSION", version);
        }
        command
    }

    /// The plain relay, in the same project.
    pub fn relay(&self) -> Command {
        self.command(&[&format!("--project={}", self.project()), "--agent=demo"])
    }

    pub fn project(&self) -> String {
        self.root().join("project").display().to_string()
    }

    /// Runs a command to its successful end, and returns its output.
    pub async fn run(&self, arguments: &[&str]) -> String {
        let output = timeout(DEADLINE, self.command(arguments).output()).await.expect("it ends").unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The number of living processes.
    pub fn processes(&self) -> usize {
        processes_with(MARK, &self.mark).len()
    }

    /// A client of the server, which is started if necessary.
    pub async fn attach(&self) -> Client {
        Client::connected(self.command(&["--attach", &format!("--idle={}", self.idle)]), self.project()).await
    }

    /// The way of the engine's own client to the server: through a process, as over ssh. The process ids of its
    /// connections are collected.
    pub fn dial(&self) -> (Dial, Arc<Mutex<Vec<u32>>>) {
        let (program, home, data) = (self.program.clone(), self.root().to_owned(), self.data.clone());
        let mark = self.mark.clone();
        let Dialed { dial, pids } = dialed_by(move || attaching(&program, &home, &data, &mark));
        (dial, pids)
    }

    /// Ends the server of this client in order, and checks that nothing is left.
    pub async fn end(self, client: Client) {
        let server = rustix::process::Pid::from_raw(client.server_pid as i32).unwrap();
        rustix::process::kill_process(server, rustix::process::Signal::TERM).unwrap();
        process::ended(client.server_pid, DEADLINE).await.unwrap();
        drop(client);
        nothing_runs(&self.mark, SOON).await;
    }
}

/// Programs of the test are found first.
fn path_in(home: &Path) -> String {
    format!("{}:{}", home.join("bin").display(), std::env::var("PATH").unwrap_or_default())
}

fn attaching(program: &Path, home: &Path, data: &Path, mark: &str) -> Command {
    let mut command = Command::new(program);
    command
        .args(["relay", "--attach", "--idle=600"])
        .env("HOME", home)
        .env("PATH", path_in(home))
        .env("XDG_DATA_HOME", data)
        .env("CLAUDE_CONFIG_DIR", home.join(".config"))
        .env(MARK, mark);
    command
}

/// A client process.
pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    project: String,
    pub hello: Value,
    pub run: String,
    pub server_pid: u32,
}

impl Client {
    pub fn spawn(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self {
            stdin: child.stdin.take(),
            child,
            lines,
            project: String::new(),
            hello: Value::Null,
            run: String::new(),
            server_pid: 0,
        }
    }

    /// A client that this command connects, for sessions in this project.
    pub async fn connected(command: Command, project: String) -> Self {
        let mut client = Self::spawn(command);
        client.project = project;
        client.connect().await;
        client
    }

    /// Skips what stands before the marker, and reads the first line of the server.
    async fn connect(&mut self) {
        let found = timeout(DEADLINE, async {
            while let Some(line) = self.lines.next_line().await.unwrap() {
                if line == "DESKBELL-RELAY 1" {
                    return;
                }
            }
            panic!("the client ended before it was connected");
        });
        found.await.expect("a connection");
        self.hello = self.next().await;
        assert_eq!(self.hello["type"], "hello");
        self.run = self.hello["run"].as_str().unwrap().to_owned();
        self.server_pid = self.hello["pid"].as_u64().unwrap() as u32;
    }

    pub async fn send(&mut self, request: Value) {
        self.send_raw(request.to_string().as_bytes()).await;
    }

    pub async fn send_raw(&mut self, line: &[u8]) {
        self.send_unfinished(line).await;
        self.send_unfinished(b"\n").await;
    }

    pub async fn send_unfinished(&mut self, bytes: &[u8]) {
        timeout(DEADLINE, self.stdin.as_mut().unwrap().write_all(bytes)).await.expect("it reads").unwrap();
    }

    /// The next line of the server.
    pub async fn next(&mut self) -> Value {
        let line = timeout(DEADLINE, self.lines.next_line()).await.expect("a line").unwrap();
        let line = line.expect("the client ended");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    pub async fn until(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let found = timeout(DEADLINE, async {
            loop {
                let line = self.next().await;
                if is_it(&line) {
                    return line;
                }
            }
        });
        found.await.unwrap_or_else(|_| panic!("no {what} within {DEADLINE:?}"))
    }

    /// The first line of each kind; they may come in any order.
    pub async fn until_both(
        &mut self,
        what: &str,
        first: impl Fn(&Value) -> bool,
        second: impl Fn(&Value) -> bool,
    ) -> (Value, Value) {
        let line = self.until(what, |line| first(line) || second(line)).await;
        if first(&line) {
            let other = self.until(what, second).await;
            (line, other)
        } else {
            (self.until(what, first).await, line)
        }
    }

    /// The next event of a session.
    pub async fn event(&mut self) -> Value {
        self.until("event", |line| line["seq"].is_u64()).await
    }

    /// Opens a session of the demo agent and returns its id.
    pub async fn open(&mut self) -> String {
        self.open_with("demo", false).await
    }

    /// Opens a session of this agent in the project, which is trusted for it or not, and returns its id.
    pub async fn open_with(&mut self, agent: &str, trust: bool) -> String {
        let id = uuid::Uuid::new_v4().to_string();
        let session = json!({"project": self.project, "agent": agent, "trust": trust});
        self.send(json!({"type": "open", "id": id, "run": self.run, "session": session})).await;
        let answer = self.answer_to(&id).await;
        answer["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    pub async fn attach(&mut self, session: &str, after: Option<u64>) {
        self.send(json!({"type": "attach", "sessionId": session, "after": after, "run": self.run})).await;
        self.until("subscription", |line| line["type"] == "attached").await;
    }

    pub async fn command(&mut self, session: &str, id: &str, command: Value) {
        let run = self.run.clone();
        self.command_for(&run, session, id, command).await;
    }

    async fn command_for(&mut self, run: &str, session: &str, id: &str, command: Value) {
        self.send(json!({"type": "command", "id": id, "run": run, "sessionId": session, "command": command}))
            .await;
    }

    pub async fn prompt(&mut self, session: &str, id: &str, text: &str) {
        self.command(session, id, json!({"type": "prompt", "text": text})).await;
    }

    pub async fn prompt_for(&mut self, run: &str, session: &str, id: &str, text: &str) {
        self.command_for(run, session, id, json!({"type": "prompt", "text": text})).await;
    }

    pub async fn answer_to(&mut self, id: &str) -> Value {
        self.until("answer to a request", |line| line["id"] == id && line["type"] != "hello").await
    }

    pub async fn ping(&mut self) {
        self.send(json!({"type": "ping", "nr": 7})).await;
        self.until("pong", |line| line["type"] == "pong").await;
    }

    pub fn close_input(&mut self) {
        drop(self.stdin.take());
    }

    pub async fn kill(mut self) {
        self.child.start_kill().unwrap();
        self.child.wait().await.unwrap();
    }

    pub async fn exit_code(mut self) -> Option<i32> {
        timeout(DEADLINE, self.child.wait()).await.expect("it ends").unwrap().code()
    }
}
