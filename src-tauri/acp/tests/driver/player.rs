//! Plays a recording: the agent's lines go into the driver, the client's lines become commands.

use deskbell_acp::agents::CommandPlace;
use deskbell_acp::command::{NewValue, PromptPart};
use deskbell_acp::event::RequestKey;
use deskbell_acp::{AcpClient, AcpCommand, AcpEvent, AcpRefusal, ClientStep};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// One line of a recording.
pub struct Recorded {
    /// It is from the agent.
    pub is_out: bool,
    pub line: Value,
}

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/recordings/acp")
}

/// The names of all recordings, in order.
pub fn names() -> Vec<String> {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let recordings = files.filter(|path| path.extension().is_some_and(|extension| extension == "ndjson"));
    let mut names: Vec<String> =
        recordings.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

pub fn text(name: &str) -> String {
    std::fs::read_to_string(folder().join(format!("{name}.ndjson"))).unwrap()
}

pub fn recording(name: &str) -> Vec<Recorded> {
    let lines = text(name);
    let read = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        Recorded { is_out: line["dir"] == "out", line: line["line"].take() }
    };
    lines.lines().map(read).collect()
}

/// What came of a recording.
#[derive(Default)]
pub struct Played {
    pub events: Vec<AcpEvent>,
    /// The lines that the driver wrote.
    pub written: Vec<Value>,
    /// Commands that were refused.
    pub refused: Vec<(AcpCommand, AcpRefusal)>,
}

pub fn play(name: &str, place: CommandPlace) -> Played {
    let mut driver = AcpClient::new(place);
    let mut played = Played::default();
    // The ids of the recorded client's requests, each with the id that the driver used.
    let mut ids: HashMap<String, Value> = HashMap::new();
    let mut keys: HashMap<String, RequestKey> = HashMap::new();
    for Recorded { is_out, mut line } in recording(name) {
        if !is_out {
            let Some(command) = command(&line, &keys) else { continue };
            match driver.command(command.clone()) {
                Ok(step) => {
                    let written = played.take(step);
                    if let (Some(id), Some(sent)) = (line.get("id"), written.first()) {
                        if line.get("method").is_some() {
                            ids.insert(id.to_string(), sent["id"].clone());
                        } else {
                            assert_eq!((&sent["id"], &sent["result"]), (id, &line["result"]), "{name}");
                        }
                    }
                }
                Err(refusal) => {
                    if let Some(id) = line.get("id") {
                        ids.insert(id.to_string(), json!(format!("refused {id}")));
                    }
                    played.refused.push((command, refusal));
                }
            }
            continue;
        }
        if line.get("method").is_none()
            && let Some(id) = ids.get(&line["id"].to_string())
        {
            line["id"] = id.clone();
        }
        let step = driver.line(line.to_string().as_bytes());
        let asked = step.events.iter().find_map(|event| match event {
            AcpEvent::Permission(permission) => Some(permission.request),
            AcpEvent::Question(question) => Some(question.request),
            _ => None,
        });
        keys.extend(asked.map(|key| (line["id"].to_string(), key)));
        played.take(step);
    }
    played.events.extend(driver.ended());
    assert_eq!((driver.n_requests(), driver.n_calls()), (0, 0), "{name}");
    played
}

impl Played {
    fn take(&mut self, step: ClientStep) -> Vec<Value> {
        self.events.extend(step.events);
        let lines: Vec<Value> = step.lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        self.written.extend(lines.clone());
        lines
    }
}

/// The command for a line of the recorded client; `None` where the driver answers by itself.
fn command(line: &Value, keys: &HashMap<String, RequestKey>) -> Option<AcpCommand> {
    let params = &line["params"];
    let text = |field: &str| params[field].as_str().unwrap().to_owned();
    let Some(method) = line["method"].as_str() else {
        let request = *keys.get(&line["id"].to_string())?;
        let result = &line["result"];
        if result["outcome"]["outcome"] == "cancelled" {
            // A part of the interrupt.
            return None;
        }
        return Some(match result["outcome"]["optionId"].as_str() {
            Some(option) => AcpCommand::Choose { request, option: option.to_owned() },
            None => {
                let values = result["content"].as_object().unwrap().clone();
                AcpCommand::Fill { request, values: values.into_iter().collect() }
            }
        });
    };
    Some(match method {
        "initialize" => AcpCommand::Initialize { version: "0.1.0".to_owned() },
        "session/new" => AcpCommand::NewSession { folder: text("cwd") },
        "session/load" => AcpCommand::LoadSession { id: text("sessionId"), folder: text("cwd") },
        "session/list" => AcpCommand::ListSessions { folder: Some(text("cwd")), next: None },
        "session/cancel" => AcpCommand::Interrupt,
        "session/close" => AcpCommand::Stop,
        "session/set_config_option" => {
            AcpCommand::SetOption { id: text("configId"), value: NewValue::Choice(text("value")) }
        }
        "session/prompt" => AcpCommand::Prompt(vec![PromptPart::Text(
            params["prompt"][0]["text"].as_str().unwrap().to_owned(),
        )]),
        other => panic!("{other}"),
    })
}
