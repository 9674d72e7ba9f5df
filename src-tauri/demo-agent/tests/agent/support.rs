//! A driver for one agent: writes lines, reads lines with a deadline, and names the shape of the output.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The timeout of every wait. Far longer than needed, so that only a hang reaches it.
const DEADLINE: Duration = Duration::from_secs(30);

/// The configuration of an agent to start.
pub struct Setup {
    args: Vec<String>,
    env: Vec<(String, String)>,
    config: Arc<TempDir>,
    folder: Arc<TempDir>,
}

/// A running agent.
pub struct AgentProcess {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Option<JoinHandle<String>>,
    asked: u32,
    /// Its folders, which exist for as long as it runs.
    _folders: [Arc<TempDir>; 2],
}

impl Setup {
    /// As Deskbell starts one, but without partial messages.
    pub fn new() -> Self {
        let args = ["-p", "--input-format=stream-json", "--output-format=stream-json", "--verbose"];
        let setup = Self {
            args: args.map(str::to_owned).to_vec(),
            env: Vec::new(),
            config: Arc::new(TempDir::new().unwrap()),
            folder: Arc::new(TempDir::new().unwrap()),
        };
        setup.env("DESKBELL_DEMO_SPEED", "0").arg("--permission-prompt-tool=stdio")
    }

    pub fn arg(mut self, arg: &str) -> Self {
        self.args.push(arg.to_owned());
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With stream events.
    pub fn partials(self) -> Self {
        self.arg("--include-partial-messages")
    }

    pub fn fault(self, fault: &str) -> Self {
        self.env("DESKBELL_DEMO_FAULT", fault)
    }

    /// Another start with the same folders and nothing else.
    pub fn again(&self) -> Self {
        let fresh = Self::new();
        Self { config: Arc::clone(&self.config), folder: Arc::clone(&self.folder), ..fresh }
    }

    /// The folder in which the agent works.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// All files in the configuration folder.
    pub fn stored(&self) -> Vec<PathBuf> {
        files(self.config.path())
    }

    /// The lines of the transcript of a session.
    pub fn transcript(&self, session_id: &str) -> Vec<Value> {
        let name = format!("{session_id}.jsonl");
        let file =
            self.stored().into_iter().find(|file| file.ends_with(&name)).expect("there is a transcript");
        let text = std::fs::read_to_string(file).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub fn start(&self) -> AgentProcess {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deskbell-demo-agent"));
        command
            .args(&self.args)
            .current_dir(self.folder())
            .env_remove("DESKBELL_DEMO_FAULT")
            .env_remove("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS")
            .env("CLAUDE_CONFIG_DIR", self.config.path())
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in stdout.split(b'\n').map_while(Result::ok) {
                if send.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    return;
                }
            }
        });
        let mut stderr = child.stderr.take().unwrap();
        let stderr = thread::spawn(move || {
            let mut bytes = Vec::new();
            stderr.read_to_end(&mut bytes).unwrap();
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let stdin = child.stdin.take();
        let folders = [Arc::clone(&self.config), Arc::clone(&self.folder)];
        AgentProcess { child, stdin, lines, stderr: Some(stderr), asked: 0, _folders: folders }
    }
}

impl AgentProcess {
    /// Writes a line as it is.
    pub fn write(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("the standard input is open");
        // If the agent is gone, the missing output reveals it.
        let _ = stdin.write_all(line.as_bytes()).and_then(|()| stdin.write_all(b"\n"));
    }

    pub fn prompt(&mut self, text: &str) {
        self.write(&json!({"type": "user", "message": {"role": "user", "content": text}}).to_string());
    }

    /// A prompt with its own uuid, the same for the same number.
    pub fn named_prompt(&mut self, number: u32, text: &str) -> String {
        let uuid = format!("00000000-0000-4000-8000-{number:012}");
        let line = json!({
            "type": "user",
            "message": {"role": "user", "content": text},
            "uuid": uuid,
            "origin": {"kind": "human"},
        });
        self.write(&line.to_string());
        uuid
    }

    /// Writes a control request and returns its id.
    pub fn control(&mut self, request: Value) -> String {
        self.asked += 1;
        let id = format!("req_{}", self.asked);
        self.write(&json!({"type": "control_request", "request_id": id, "request": request}).to_string());
        id
    }

    /// Writes a control request and returns the response to it.
    pub fn ask(&mut self, request: Value) -> Value {
        let id = self.control(request);
        let lines =
            self.until(|line| line["type"] == "control_response" && line["response"]["request_id"] == *id);
        lines.last().unwrap()["response"].clone()
    }

    /// Answers a control request of the agent.
    pub fn reply(&mut self, request: &Value, response: Value) {
        let response =
            json!({"subtype": "success", "request_id": request["request_id"], "response": response});
        self.write(&json!({"type": "control_response", "response": response}).to_string());
    }

    pub fn allow(&mut self, request: &Value) {
        self.reply(request, json!({"behavior": "allow", "updatedInput": request["request"]["input"]}));
    }

    pub fn deny(&mut self, request: &Value, message: &str) {
        self.reply(request, json!({"behavior": "deny", "message": message}));
    }

    /// The next line, unparsed; `None` at the end.
    pub fn raw(&mut self) -> Option<String> {
        match self.lines.recv_timeout(DEADLINE) {
            Ok(line) => Some(line),
            Err(mpsc::RecvTimeoutError::Disconnected) => None,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("the agent says nothing"),
        }
    }

    /// The next line.
    pub fn next(&mut self) -> Value {
        let line = self.raw().expect("the agent goes on");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("not JSON: {line}"))
    }

    /// The lines up to and including the first one that matches.
    pub fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut lines = Vec::new();
        loop {
            let line = self.next();
            let found = wanted(&line);
            lines.push(line);
            if found {
                return lines;
            }
        }
    }

    /// The lines up to and including the next result.
    pub fn turn(&mut self) -> Vec<Value> {
        self.until(|line| line["type"] == "result")
    }

    /// Plays a prompt that needs no answer.
    pub fn play(&mut self, prompt: &str) -> Vec<Value> {
        self.prompt(prompt);
        self.turn()
    }

    /// Plays a prompt and answers every request.
    pub fn play_answering(&mut self, prompt: &str, answer: impl Fn(&Value) -> Value) -> Vec<Value> {
        self.prompt(prompt);
        let mut lines = Vec::new();
        loop {
            let line = self.next();
            if line["type"] == "control_request" {
                self.reply(&line, answer(&line));
            }
            let done = line["type"] == "result";
            lines.push(line);
            if done {
                return lines;
            }
        }
    }

    /// The next request of the agent.
    pub fn request(&mut self) -> Value {
        self.until(|line| line["type"] == "control_request").pop().unwrap()
    }

    pub fn close(&mut self) {
        self.stdin = None;
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Closes the standard input and waits for the exit.
    pub fn end(mut self) -> Ended {
        self.close();
        self.wait()
    }

    /// Waits for the exit.
    pub fn wait(mut self) -> Ended {
        let until = Instant::now() + DEADLINE;
        let mut lines = Vec::new();
        while let Some(line) = self.raw() {
            lines.push(line);
        }
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < until, "the agent does not end");
            thread::yield_now();
        };
        let stderr = self.stderr.take().unwrap().join().unwrap();
        Ended { status, lines, stderr }
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The remaining output of an agent, and its exit status.
pub struct Ended {
    pub status: ExitStatus,
    /// The lines that had not been read.
    pub lines: Vec<String>,
    pub stderr: String,
}

impl Ended {
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }
}

/// The shape of lines: type and subtype; for stream events the event's type, for deltas the delta's, for messages their
/// content's. In a run of deltas, each kind of line counts once.
pub fn shapes(lines: &[Value]) -> Vec<String> {
    let in_run = |shape: &String| shape.starts_with("delta ") || shape == "system/thinking_tokens";
    let mut shapes: Vec<String> = Vec::new();
    for shape in lines.iter().map(shape) {
        let repeated =
            in_run(&shape) && shapes.iter().rev().take_while(|last| in_run(last)).any(|last| *last == shape);
        if !repeated {
            shapes.push(shape);
        }
    }
    shapes
}

fn shape(line: &Value) -> String {
    let text = |pointer: &str| line.pointer(pointer).and_then(Value::as_str);
    let kind = text("/type").unwrap_or("?");
    let detail = match kind {
        "stream_event" => {
            return match text("/event/delta/type") {
                Some(delta) => format!("delta {delta}"),
                None => text("/event/type").unwrap_or("?").to_owned(),
            };
        }
        "control_request" => text("/request/subtype"),
        "control_response" => text("/response/subtype"),
        "command_lifecycle" => text("/state"),
        "system" if text("/subtype") == Some("session_state_changed") => text("/state"),
        "assistant" | "user" => text("/message/content/0/type").or(Some("text")),
        _ => text("/subtype"),
    };
    match detail {
        Some(detail) => format!("{kind}/{detail}"),
        None => kind.to_owned(),
    }
}

/// The agent's texts, one for each text block.
pub fn texts(lines: &[Value]) -> Vec<String> {
    let blocks =
        lines.iter().filter(|line| line["type"] == "assistant").map(|line| &line["message"]["content"][0]);
    blocks.filter_map(|block| block["text"].as_str().map(str::to_owned)).collect()
}

/// The results of tools, as their blocks.
pub fn tool_results(lines: &[Value]) -> Vec<Value> {
    let blocks =
        lines.iter().filter(|line| line["type"] == "user").map(|line| &line["message"]["content"][0]);
    blocks.filter(|block| block["type"] == "tool_result").cloned().collect()
}

/// The session of a turn.
pub fn session_of(turn: &[Value]) -> String {
    turn.last().unwrap()["session_id"].as_str().unwrap().to_owned()
}

/// All files below a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(files(&entry.path())),
            _ => found.push(entry.path()),
        }
    }
    found
}
