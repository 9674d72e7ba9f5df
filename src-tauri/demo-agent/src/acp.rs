//! The same agent over the Agent Client Protocol: `deskbell demo-agent --acp`.
//!
//! Like the other wire it has two uses. Without a script it plays a short conversation: a text, a thought, a command and
//! an edit, each with a permission request; nothing is run or written. As the tests' double it obeys a script in the
//! prompt, one step a line:
//!
//! | Step | Effect |
//! |---|---|
//! | `SAY text`, `THINK text` | a part of the answer, a thought |
//! | `RUN command` | asks for permission and reports the command as run; nothing runs |
//! | `EDIT path` | asks for permission with a change of a file; nothing is written |
//! | `IMAGE base64` | a call that returns an image, and a text |
//! | `PLAN` | a plan with two entries |
//! | `HANG` | waits until the turn is cancelled |
//! | `CHILD` | starts `sleep 600` and waits until the turn is cancelled |
//! | `MODE id` | changes its own mode |
//! | `ENV name` | says the value of a variable |
//! | `MODEL` | says its model and effort |
//! | `OPTION id value` | changes a setting of its own |
//! | `USED tokens size` | reports how full its context is |
//! | `COMMANDS a b` | reports that its slash commands are these |
//! | `VENDOR` | sends a request that no client knows, and waits for the refusal |
//! | `QUESTION` | sends a form, and says how it was answered |
//! | `FAIL text`, `CRASH code`, `GARBAGE text` | an error instead of the end, an exit, a line that is no message |
//!
//! `DESKBELL_DEMO_ACP` is a comma-separated list of: `login` (it needs one), `old-protocol`, `no-resume` (it continues no
//! conversation), `lost` (it has no stored conversation), `no-mode` (it offers no mode that asks), `keeps-mode` (it
//! confirms a change of its mode and does not keep it), `forever` (it allows nothing only once), `load` (it continues a
//! conversation only by repeating it), `options` (it offers models, efforts and more), `models` (it offers models in the
//! older form), `keeps-options` and `no-options` (it answers a change with what was before, or with nothing), `ignore-sigterm`, `ignore-eof`,
//! `listens` (it has a port of this computer open), `apart` (its tools have sessions of their own), `flood` (it repeats 100,000 updates, some of another session, asks meanwhile
//! whether a call may run, and goes on after its answer), `list` (it lists stored sessions, in two pages), and, in place of
//! that, `list-bad` (values that no list should have), `list-endless` (there is always a next page), `list-login` and
//! `list-error` (an error is the answer), `list-half` (an error is the second page), `list-silent` (it never answers);
//! `repeats` (it continues a conversation with and without repeating it, and repeats one of two turns), and, in place of that,
//! `repeats-nothing`, `repeats-forever`, `repeats-silent` (it never answers), `repeats-refused` (an error is the answer),
//! `repeats-dies` (it exits in the middle), `repeats-asks` (it asks for permission and with a form meanwhile).

mod options;
mod past;
mod stored;

use options::OfferedOptions;
use std::collections::VecDeque;
use std::io::{BufRead, Write};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

/// The id of the conversation that was continued.
static CONTINUED: OnceLock<String> = OnceLock::new();

/// The id of the session.
fn id_of_session() -> &'static str {
    CONTINUED.get().map_or("demo-acp-session", String::as_str)
}

const LOGIN_REQUIRED: i64 = -32000;
const NOT_FOUND: i64 = -32601;
const FAILED: i64 = -32603;

/// Runs the agent until its host closes the standard input.
pub fn run() -> ExitCode {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    let faults = std::env::var("DESKBELL_DEMO_ACP").unwrap_or_default();
    let faults: Vec<String> = faults.split(',').map(|fault| fault.trim().to_owned()).collect();
    let ignores = |what: &str| faults.iter().any(|fault| fault == what);
    if ignores("ignore-sigterm") {
        crate::session::ignore_sigterm();
    }
    let ignores_end = ignores("ignore-eof");
    // Open until the process ends. Without a port there is nothing to find, which the test says.
    let _port = ignores("listens").then(|| std::net::TcpListener::bind("127.0.0.1:0"));
    let mut agent = AcpDemoAgent {
        lines,
        waiting: VecDeque::new(),
        faults,
        mode: "auto".to_owned(),
        options: OfferedOptions::default(),
        n_calls: 0,
        n_asked: 0,
    };
    while let Some(message) = agent.next() {
        agent.message(&message);
    }
    if ignores_end {
        loop {
            std::thread::park();
        }
    }
    ExitCode::SUCCESS
}

struct AcpDemoAgent {
    lines: Receiver<String>,
    /// Messages that came while another one was awaited.
    waiting: VecDeque<Value>,
    faults: Vec<String>,
    mode: String,
    options: OfferedOptions,
    n_calls: u64,
    n_asked: u64,
}

/// Why a turn ends early.
enum Cut {
    Cancelled,
    Failed(String),
    /// The host closed the standard input.
    Closed,
}

impl AcpDemoAgent {
    /// The kind of the conversation that it repeats; `None`: it repeats none of two turns.
    fn repeats(&self) -> Option<&str> {
        self.faults.iter().find_map(|fault| fault.strip_prefix("repeats"))
    }

    fn has(&self, fault: &str) -> bool {
        self.faults.iter().any(|known| known == fault)
    }

    fn next(&mut self) -> Option<Value> {
        self.waiting.pop_front().or_else(|| self.read())
    }

    fn read(&mut self) -> Option<Value> {
        loop {
            let line = self.lines.recv().ok()?;
            if let Ok(message) = serde_json::from_str(&line) {
                return Some(message);
            }
        }
    }

    fn message(&mut self, message: &Value) {
        let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) else { return };
        match method {
            "initialize" => {
                let version = if self.has("old-protocol") { 0 } else { 1 };
                let only_loads = self.has("load") || self.has("flood");
                let loads = only_loads || self.repeats().is_some();
                let mut offers =
                    if self.has("no-resume") || only_loads { json!({}) } else { json!({"resume": {}}) };
                if self.faults.iter().any(|fault| fault.starts_with("list")) {
                    offers["list"] = json!({});
                }
                let terminal =
                    json!({"id": "demo", "name": "Demo login", "type": "terminal", "args": ["login"]});
                answer(
                    id,
                    json!({
                        "protocolVersion": version,
                        "agentInfo": {"name": "demo", "title": "Demo agent", "version": env!("CARGO_PKG_VERSION")},
                        "agentCapabilities": {"loadSession": loads, "sessionCapabilities": offers,
                            "promptCapabilities": {}},
                        "authMethods": [terminal],
                    }),
                );
            }
            "session/new" if self.has("login") => {
                error(id, LOGIN_REQUIRED, "Authentication required");
            }
            "session/resume" | "session/load" if self.has("lost") => error(id, FAILED, "no such session"),
            "session/load" if self.repeats() == Some("-refused") => error(id, FAILED, "its file is damaged"),
            "session/new" | "session/resume" | "session/load" => {
                if let Some(continued) = message["params"]["sessionId"].as_str() {
                    // A process has one session.
                    CONTINUED.get_or_init(|| continued.to_owned());
                }
                if method == "session/load" {
                    match self.repeats() {
                        Some("-silent") => return,
                        Some(_) => self.repeat_past(),
                        None => self.repeat(),
                    }
                }
                let mut ids = vec!["auto", "default", "plan", "yolo"];
                ids.retain(|id| *id != "default" || !self.has("no-mode"));
                let modes: Vec<Value> = ids.iter().map(|id| json!({"id": id, "name": id})).collect();
                let modes = json!({"currentModeId": self.mode, "availableModes": modes});
                // Some agents send it first, some after the answer.
                commands(DEMO_COMMANDS);
                let mut session = json!({"sessionId": id_of_session(), "modes": modes});
                if self.has("options") {
                    session["configOptions"] = self.options.list();
                }
                if self.has("models") {
                    session["models"] = self.options.models();
                }
                answer(id, session);
                if method == "session/load" && self.has("flood") {
                    self.said("agent_message_chunk", "repeated after the answer");
                }
            }
            "session/set_mode" => {
                if !self.has("keeps-mode") {
                    self.mode = message["params"]["modeId"].as_str().unwrap_or_default().to_owned();
                }
                answer(id, json!({}));
                if self.has("keeps-mode") {
                    update(json!({"sessionUpdate": "current_mode_update", "currentModeId": self.mode}));
                }
            }
            "session/set_config_option" if self.has("options") => {
                let params = &message["params"];
                let known = self.options.has(&params["configId"]);
                if known && !self.has("keeps-options") {
                    self.options.set(&params["configId"], &params["value"]);
                }
                match known {
                    true if self.has("no-options") => answer(id, json!({})),
                    true => answer(id, json!({"configOptions": self.options.list()})),
                    false => error(id, FAILED, "no such option"),
                }
            }
            "session/set_model" if self.has("models") => {
                self.options.set(&json!("model"), &message["params"]["modelId"]);
                answer(id, json!({}));
            }
            "session/prompt" => {
                let text = message["params"]["prompt"][0]["text"].as_str().unwrap_or_default().to_owned();
                match self.turn(&text) {
                    Ok(()) => answer(id, json!({"stopReason": "end_turn"})),
                    Err(Cut::Cancelled) => answer(id, json!({"stopReason": "cancelled"})),
                    Err(Cut::Failed(words)) => error(id, FAILED, &words),
                    Err(Cut::Closed) => {}
                }
            }
            "session/list" => stored::list(id, &message["params"], &self.faults),
            "session/close" => answer(id, json!({})),
            _ => error(id, NOT_FOUND, "Method not found"),
        }
    }

    /// Repeats a conversation. Its calls have the ids that the calls of the next turn have too.
    fn repeat(&mut self) {
        let n_updates = if self.has("flood") { 100_000 } else { 4 };
        for nr in 0..n_updates {
            match nr % 4 {
                0 => self.said("user_message_chunk", "repeated prompt"),
                1 => self.said("agent_message_chunk", "repeated"),
                2 => {
                    update(json!({"sessionUpdate": "tool_call", "toolCallId": format!("call-{}", nr / 4 + 1),
                    "kind": "execute", "title": "repeated", "rawInput": {"command": "repeated"}}))
                }
                _ => write_line(
                    &json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "other",
                        "update": {"sessionUpdate": "agent_thought_chunk",
                            "content": {"type": "text", "text": "of another"}}}})
                    .to_string(),
                ),
            }
        }
        if self.has("flood") {
            let options = json!([{"optionId": "once", "name": "Allow", "kind": "allow_once"}]);
            let params = json!({"sessionId": id_of_session(), "toolCall": {"toolCallId": "call-1"}, "options": options});
            // Whatever the answer is, there is no turn that it could be for.
            let _ = self.request("session/request_permission", params);
        }
    }

    fn turn(&mut self, prompt: &str) -> Result<(), Cut> {
        let first = prompt.split_whitespace().next().unwrap_or_default();
        let is_script = first.len() > 2 && first.chars().all(|letter| letter.is_ascii_uppercase());
        let script = if is_script { prompt } else { CONVERSATION };
        script.lines().try_for_each(|line| self.step(line))
    }

    fn step(&mut self, line: &str) -> Result<(), Cut> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "SAY" => self.said("agent_message_chunk", rest),
            "THINK" => self.said("agent_thought_chunk", rest),
            "RUN" => {
                let input = json!({"command": rest});
                let call = json!({"kind": "execute", "title": "A harmless command", "rawInput": input});
                if self.asks(call)? {
                    let text = format!("ran: {rest}\n");
                    self.call_is(
                        "completed",
                        json!([{"type": "content", "content": {"type": "text", "text": text}}]),
                    );
                }
            }
            "EDIT" => {
                let diff = json!([{"type": "diff", "path": rest, "oldText": "one\n", "newText": "two\n"}]);
                let call = json!({"kind": "edit", "title": format!("Edit {rest}"), "content": diff});
                if self.asks(call)? {
                    self.call_is("completed", diff);
                }
            }
            "IMAGE" => {
                self.n_calls += 1;
                let content = json!([
                    {"type": "content", "content": {"type": "image", "mimeType": "image/png", "data": rest}},
                    {"type": "content", "content": {"type": "text", "text": "A picture"}},
                ]);
                update(json!({"sessionUpdate": "tool_call", "toolCallId": format!("call-{}", self.n_calls),
                    "kind": "other", "title": "screenshot", "status": "completed", "content": content}));
            }
            "PLAN" => update(json!({"sessionUpdate": "plan", "entries": [
                {"content": "Find the bug", "priority": "high", "status": "completed"},
                {"content": "Fix it", "priority": "medium", "status": "in_progress"},
            ]})),
            "HANG" => return self.hang(None),
            "CHILD" => {
                let mut child = Command::new("sleep");
                child.arg("600").stdin(Stdio::null()).stdout(Stdio::null());
                if self.has("apart") {
                    crate::steps::faults::in_own_session(&mut child);
                }
                let child = child.spawn().map_err(|error| Cut::Failed(error.to_string()))?;
                self.n_calls += 1;
                let id = format!("call-{}", self.n_calls);
                update(json!({"sessionUpdate": "tool_call", "toolCallId": id, "kind": "execute",
                    "title": "sleep 600", "status": "in_progress", "rawInput": {"command": "sleep 600"}}));
                return self.hang(Some(child));
            }
            "COMMANDS" => {
                let list: Vec<_> = rest.split_whitespace().map(|name| (name, "")).collect();
                commands(&list);
            }
            "OPTION" => {
                let (id, value) = rest.split_once(' ').unwrap_or((rest, ""));
                self.options.set(&json!(id), &json!(value));
                let list = self.options.list();
                update(json!({"sessionUpdate": "config_option_update", "configOptions": list}));
            }
            "USED" => {
                let mut numbers = rest.split(' ').map(|number| number.parse::<u64>().unwrap_or_default());
                let (used, size) = (numbers.next(), numbers.next());
                update(json!({"sessionUpdate": "usage_update", "used": used, "size": size}));
            }
            "MODEL" => {
                let words = format!("model {} effort {}", self.options.model, self.options.effort);
                self.said("agent_message_chunk", &words);
            }
            "ENV" => {
                let value = std::env::var(rest);
                let words = value.unwrap_or_else(|_| "not set".to_owned());
                self.said("agent_message_chunk", &format!("{rest} is {words}"));
            }
            "MODE" => update(json!({"sessionUpdate": "current_mode_update", "currentModeId": rest})),
            "VENDOR" => {
                let refused = self.request("_vendor/ask", json!({}))?;
                self.said("agent_message_chunk", &format!("refused with {}", refused["error"]["code"]));
            }
            "QUESTION" => {
                let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
                let params = json!({"sessionId": id_of_session(), "mode": "form", "message": "Which name?", "requestedSchema": schema});
                let answer = self.request("elicitation/create", params)?;
                self.said("agent_message_chunk", &format!("answered with {}", answer["result"]["action"]));
            }
            "FAIL" => return Err(Cut::Failed(rest.to_owned())),
            "CRASH" => std::process::exit(rest.parse().unwrap_or(1)),
            "GARBAGE" => write_line(rest),
            other => self.said("agent_message_chunk", &format!("There is no step {other}. ")),
        }
        Ok(())
    }

    fn said(&self, kind: &str, text: &str) {
        update(json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}}));
    }

    /// Reports a call and asks whether it may run.
    fn asks(&mut self, call: Value) -> Result<bool, Cut> {
        self.n_calls += 1;
        let mut begun = call;
        begun["toolCallId"] = json!(format!("call-{}", self.n_calls));
        begun["status"] = json!("pending");
        let asked = begun.clone();
        begun["sessionUpdate"] = json!("tool_call");
        update(begun);
        let mut options = vec![
            json!({"optionId": "always", "name": "Always allow this", "kind": "allow_always"}),
            json!({"optionId": "once", "name": "Allow", "kind": "allow_once"}),
            json!({"optionId": "no", "name": "Reject", "kind": "reject_once"}),
        ];
        options.retain(|option| option["optionId"] != "once" || !self.has("forever"));
        let params = json!({"sessionId": id_of_session(), "toolCall": asked, "options": options});
        let answer = self.request("session/request_permission", params)?;
        match answer["result"]["outcome"]["optionId"].as_str() {
            Some("once") => Ok(true),
            Some("always") => {
                self.said("agent_message_chunk", "From now on. ");
                Ok(true)
            }
            Some(_) => {
                self.call_is("failed", json!([]));
                Ok(false)
            }
            // The call stays pending, as some agents leave it.
            None => Ok(false),
        }
    }

    fn call_is(&self, status: &str, content: Value) {
        let id = format!("call-{}", self.n_calls);
        update(
            json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status, "content": content}),
        );
    }

    /// Sends a request and waits for its answer. A cancellation of the turn is handled after it.
    fn request(&mut self, method: &str, params: Value) -> Result<Value, Cut> {
        self.n_asked += 1;
        let id = json!(format!("demo-{}", self.n_asked));
        write_line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        let answer = loop {
            let message = self.read().ok_or(Cut::Closed)?;
            if message.get("method").is_none() && message["id"] == id {
                break message;
            }
            self.waiting.push_back(message);
        };
        if answer["result"]["outcome"]["outcome"] == "cancelled" {
            self.wait_for_cancel()?;
        }
        Ok(answer)
    }

    /// After a cancelled request the turn is cancelled too, unless only the request was.
    fn wait_for_cancel(&mut self) -> Result<(), Cut> {
        let is_cancel = |message: &Value| message["method"] == "session/cancel";
        // The host writes both at once. A request that was cancelled alone is followed by nothing.
        let limit = std::time::Duration::from_millis(300);
        if !self.waiting.iter().any(is_cancel)
            && let Ok(line) = self.lines.recv_timeout(limit)
            && let Ok(message) = serde_json::from_str(&line)
        {
            self.waiting.push_back(message);
        }
        let at = self.waiting.iter().position(is_cancel);
        match at.and_then(|at| self.waiting.remove(at)) {
            Some(_) => Err(Cut::Cancelled),
            None => Ok(()),
        }
    }

    /// Waits for the cancellation of the turn, which also ends the tool.
    fn hang(&mut self, mut child: Option<Child>) -> Result<(), Cut> {
        loop {
            let Some(message) = self.next() else {
                // The tool is left behind, as some agents do.
                return Err(Cut::Closed);
            };
            if message["method"] == "session/cancel" {
                if let Some(child) = &mut child {
                    // It may have ended by itself.
                    let _ = child.kill();
                    let _ = child.wait();
                }
                return Err(Cut::Cancelled);
            }
        }
    }
}

/// What a prompt without a script plays.
const CONVERSATION: &str = "\
THINK The rounding happens before the sum.
SAY I will run the tests first. 
RUN cargo test rounding
SAY Then I round only the sum. 
EDIT src/sum.rs
SAY Done: the total is rounded once.";

/// Names and descriptions of its slash commands.
const DEMO_COMMANDS: &[(&str, &str)] =
    &[("review", "Review the changes in this folder"), ("explain", "Explain a file")];

/// Reports these slash commands as all that there are.
fn commands(commands: &[(&str, &str)]) {
    let list = commands.iter().map(|(name, description)| {
        let input = (*name == "explain").then(|| json!({"hint": "[path]"}));
        json!({"name": name, "description": description, "input": input})
    });
    let list: Vec<Value> = list.collect();
    update(json!({"sessionUpdate": "available_commands_update", "availableCommands": list}));
}

fn update(update: Value) {
    let params = json!({"sessionId": id_of_session(), "update": update});
    write_line(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}).to_string());
}

fn answer(id: &Value, result: Value) {
    write_line(&json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string());
}

fn error(id: &Value, code: i64, message: &str) {
    let error = json!({"code": code, "message": message});
    write_line(&json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string());
}

fn write_line(line: &str) {
    let mut stdout = std::io::stdout().lock();
    if writeln!(stdout, "{line}").and_then(|()| stdout.flush()).is_err() {
        // The host is gone.
        std::process::exit(1);
    }
}
