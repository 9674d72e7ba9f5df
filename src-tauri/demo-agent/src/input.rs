//! The standard input: reads lines, queues prompts, answers control requests, and passes answers to the waiting turn.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use serde_json::Value;

use crate::agent::{DemoAgent, ReceivedPrompt};
use crate::environment::ORPHAN_LIFE;
use crate::{control, wire};

/// Reads until the standard input is closed.
pub fn read_all(agent: &Arc<DemoAgent>) {
    let mut heard = agent.environment.heard.as_deref().and_then(record);
    let mut lines = std::io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        match lines.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) => {
                if let Some(Err(error)) = heard.as_mut().map(|file| file.write_all(&line)) {
                    eprintln!("what was read can not be kept: {error}");
                }
                read_line(agent, &line);
            }
        }
    }
    agent.change(|state| state.closed = true);
    let orphan = Arc::clone(agent);
    thread::spawn(move || {
        thread::sleep(ORPHAN_LIFE);
        orphan.exit(1);
    });
}

/// The file of what this agent reads.
fn record(folder: &Path) -> Option<File> {
    let path = folder.join(format!("{}.ndjson", std::process::id()));
    let file = OpenOptions::new().create(true).append(true).open(&path);
    file.inspect_err(|error| eprintln!("{} can not be written: {error}", path.display())).ok()
}

fn read_line(agent: &DemoAgent, line: &[u8]) {
    let line = line.trim_ascii();
    if line.is_empty() && !agent.old() {
        return;
    }
    let Ok(message) = serde_json::from_slice::<Value>(line) else {
        let length = String::from_utf8_lossy(line).chars().count();
        die(
            agent,
            &format!("Error parsing streaming input line (type=unknown, {length} chars): SyntaxError"),
        );
    };
    match message.get("type").and_then(Value::as_str) {
        Some("user") => match prompt(&message) {
            Ok(prompt) => accept(agent, prompt),
            Err(role) => die(agent, &format!("Error: Expected message role 'user', got '{role}'")),
        },
        Some("control_request") => control::answer(agent, &message),
        Some("control_response") => take_answer(agent, &message),
        Some("control_cancel_request") => control::cancel(agent, &message),
        _ => {}
    }
}

/// The real CLI also exits on a malformed line, and reports it only on the standard error.
fn die(agent: &DemoAgent, reason: &str) -> ! {
    eprintln!("{reason}");
    agent.exit(1);
}

fn prompt(line: &Value) -> Result<ReceivedPrompt, String> {
    let message = line.get("message").filter(|message| message.is_object());
    let role = message.and_then(|message| message.get("role")).and_then(Value::as_str).unwrap_or("undefined");
    if role != "user" {
        return Err(role.to_owned());
    }
    let content = message.and_then(|message| message.get("content")).cloned().unwrap_or_default();
    let uuid = line.get("uuid").and_then(Value::as_str);
    Ok(ReceivedPrompt {
        uuid: uuid.map_or_else(wire::uuid, str::to_owned),
        named: uuid.is_some(),
        text: wire::text_of(&content),
        content,
        human: line.pointer("/origin/kind").and_then(Value::as_str) == Some("human"),
        query: line.get("shouldQuery") != Some(&Value::Bool(false)),
    })
}

fn accept(agent: &DemoAgent, prompt: ReceivedPrompt) {
    agent.change(|state| {
        if prompt.named && state.store.knows(&prompt.uuid) {
            // As the real CLI does: no turn, and no report.
            return;
        }
        if prompt.named {
            agent.tell_life_in(state, &prompt.uuid, "queued");
        }
        state.store.queue_operation("enqueue", Some(&prompt.text));
        state.queue.push_back(prompt);
    });
}

/// A late, second or foreign answer is ignored.
fn take_answer(agent: &DemoAgent, line: &Value) {
    let Some(response) = line.get("response") else { return };
    let id = response.get("request_id").and_then(Value::as_str).unwrap_or_default();
    agent.change(|state| {
        let arrival = state.answers;
        state.answers += 1;
        if let Some(open) = state.open.iter_mut().find(|open| open.id == id && open.answer.is_none()) {
            open.answer = Some((arrival, response.clone()));
        }
    });
}
