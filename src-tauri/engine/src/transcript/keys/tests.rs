//! Conversations whose agent uses its ids again, live and stored: each call and text has an item of its own, and both
//! readers give it the same key.

use super::super::{Transcript, TranscriptEvent};
use crate::api::*;
use crate::chance::Chance;
use crate::history::{Additions, Kept};
use crate::wire;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;

/// A conversation as the agent sends it, and as it stores it.
#[derive(Default)]
struct Agent {
    live: Vec<Value>,
    stored: Vec<Value>,
    /// The lines of each subagent, with the id of its call.
    threads: Vec<(String, Vec<Value>)>,
    /// What the calls ran, in order.
    commands: Vec<String>,
    texts: Vec<String>,
    n_lines: usize,
}

/// The place of a message: in the main thread, or in that of a subagent.
#[derive(Clone, Copy)]
struct Thread<'a> {
    nr: Option<usize>,
    call: Option<&'a str>,
}

const MAIN: Thread<'_> = Thread { nr: None, call: None };

impl Agent {
    fn line(&mut self, thread: Thread<'_>, mut line: Value) {
        self.n_lines += 1;
        line["uuid"] = format!("u{}", self.n_lines).into();
        line["parent_tool_use_id"] = thread.call.into();
        self.live.push(line.clone());
        let stored = match thread.nr {
            Some(nr) => &mut self.threads[nr].1,
            None => &mut self.stored,
        };
        let parent = stored.last().map(|last| last["uuid"].clone());
        line["parentUuid"] = parent.into();
        line["timestamp"] =
            format!("2026-01-01T00:00:{:02}.{:03}Z", self.n_lines / 1000, self.n_lines % 1000).into();
        line["isSidechain"] = thread.nr.is_some().into();
        line.as_object_mut().unwrap().remove("parent_tool_use_id");
        stored.push(line);
    }

    fn stream(&mut self, event: Value) {
        self.live.push(json!({"type": "stream_event", "event": event}));
    }

    fn prompt(&mut self) {
        self.n_lines += 1;
        let uuid = format!("u{}", self.n_lines);
        let parent = self.stored.last().map(|last| last["uuid"].clone());
        let message = json!({"role": "user", "content": "go"});
        self.stored.push(json!({"type": "user", "uuid": uuid, "parentUuid": parent, "message": message}));
        self.live.push(json!({"prompt": uuid}));
    }

    /// A reply of these blocks.
    fn reply(&mut self, thread: Thread<'_>, message: &str, blocks: &[Value], is_streamed: bool) {
        if is_streamed {
            self.stream(json!({"type": "message_start", "message": {"id": message}}));
        }
        for (index, block) in blocks.iter().enumerate() {
            if is_streamed {
                let mut begun = block.clone();
                if begun["type"] == "text" {
                    begun["text"] = "".into();
                }
                self.stream(json!({"type": "content_block_start", "index": index, "content_block": begun}));
            }
            self.line(thread, json!({"type": "assistant", "message": {"id": message, "content": [block]}}));
            if is_streamed {
                self.stream(json!({"type": "content_block_stop", "index": index}));
            }
        }
        if is_streamed {
            self.stream(json!({"type": "message_stop"}));
        }
    }

    fn result(&mut self, thread: Thread<'_>, id: &str, text: &str) {
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": text});
        self.line(thread, json!({"type": "user", "message": {"role": "user", "content": [block]}}));
    }

    fn text(&mut self) -> Value {
        let text = format!("text {}", self.texts.len());
        self.texts.push(text.clone());
        json!({"type": "text", "text": text})
    }

    fn call(&mut self, id: &str) -> Value {
        let command = format!("command {}", self.commands.len());
        self.commands.push(command.clone());
        json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}})
    }

    /// One round of a thread: a reply with calls, and their results.
    fn round(&mut self, thread: Thread<'_>, chance: &mut Chance, depth: u32) {
        const IDS: [&str; 2] = ["call_0", "call_1"];
        let message = *chance.pick(&["m", "m", "n"]).unwrap();
        let is_streamed = thread.nr.is_none() && chance.one_in(2);
        let mut blocks = vec![self.text()];
        let mut results = Vec::new();
        for _ in 0..chance.below(4) {
            let id = *chance.pick(&IDS).unwrap();
            let call = self.call(id);
            results.push((id, format!("ran {}", call["input"]["command"].as_str().unwrap())));
            blocks.push(call);
        }
        self.reply(thread, message, &blocks, is_streamed);
        for (id, result) in results {
            self.result(thread, id, &result);
        }
        if depth < 2 && chance.one_in(3) {
            let id = *chance.pick(&IDS).unwrap();
            let input = json!({"description": "look", "prompt": "go"});
            let call = json!({"type": "tool_use", "id": id, "name": "Agent", "input": input});
            self.reply(thread, message, &[call], is_streamed);
            self.threads.push((id.to_owned(), Vec::new()));
            let inside = Thread { nr: Some(self.threads.len() - 1), call: Some(id) };
            for _ in 0..=chance.below(2) {
                self.round(inside, chance, depth + 1);
            }
            self.result(thread, id, "over");
        }
    }

    fn draw(chance: &mut Chance) -> Self {
        let mut agent = Self::default();
        for _ in 0..=chance.below(4) {
            agent.prompt();
            for _ in 0..=chance.below(3) {
                agent.round(MAIN, chance, 0);
            }
            agent.live.push(json!({"ended": true}));
        }
        agent
    }

    fn live(&self) -> Transcript {
        let mut transcript = self.live_until_now();
        transcript.apply(1, TranscriptEvent::ProcessEnded);
        transcript
    }

    fn live_until_now(&self) -> Transcript {
        let mut transcript = Transcript::new(Path::new("/p"));
        for line in &self.live {
            if let Some(uuid) = line["prompt"].as_str() {
                transcript.past_prompt(1, uuid, "go".to_owned());
            } else if line["ended"] == true {
                // What was cut off at the end of a turn is no longer open.
                transcript.cut_off(1, "it ended");
            } else {
                transcript.line(1, wire::parse(line.to_string().as_bytes()));
            }
        }
        transcript
    }

    fn stored(&self) -> Transcript {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let write = |path: &Path, lines: &[Value]| {
            std::fs::write(path, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        };
        write(&path, &self.stored);
        let threads = folder.path().join("s/subagents");
        std::fs::create_dir_all(&threads).unwrap();
        for (nr, (call, lines)) in self.threads.iter().enumerate() {
            // The names of the files are in no order.
            let name = format!("agent-{:x}", (nr + 7) * 7919 % 1009);
            write(&threads.join(format!("{name}.jsonl")), lines);
            let meta = json!({"toolUseId": call}).to_string();
            std::fs::write(threads.join(format!("{name}.meta.json")), meta).unwrap();
        }
        let kept = Kept::load(&path).unwrap().with_subagents_of(&path);
        kept.transcript(Path::new("/p"), &Additions::default())
    }
}

/// The commands with their outputs, and the texts.
fn shown(transcript: &Transcript) -> (HashMap<String, String>, Vec<String>) {
    let (mut commands, mut texts) = (HashMap::new(), Vec::new());
    for item in transcript.items() {
        match &item.body {
            Body::ToolCall(call) => {
                if let ToolDetail::Command { command, .. } = &call.detail {
                    let output = transcript.output(&item.id).map(|output| output.text()).unwrap_or_default();
                    assert_eq!(commands.insert(command.clone(), output), None, "{command} is shown twice");
                }
            }
            Body::Text { .. } => {
                let copy = CopyOf::Message { item_id: item.id.clone() };
                texts.extend(transcript.text_of("T", &copy).filter(|text| text.starts_with("text ")));
            }
            _ => {}
        }
    }
    (commands, texts)
}

fn check(agent: &Agent) {
    let (live, stored) = (agent.live(), agent.stored());
    for transcript in [&live, &stored] {
        let (commands, texts) = shown(transcript);
        assert_eq!(texts, agent.texts);
        assert_eq!(commands.len(), agent.commands.len());
        for command in &agent.commands {
            assert_eq!(commands[command], format!("ran {command}"));
        }
    }
    let keys = |transcript: &Transcript| {
        let key = |item: &Item| (item.id.clone(), item.parent.clone());
        transcript.items().map(key).collect::<Vec<_>>()
    };
    assert_eq!(keys(&live), keys(&stored));
}

#[test]
fn a_call_keeps_its_item_when_its_id_is_used_again() {
    for seed in 0..300 {
        let agent = Agent::draw(&mut Chance::new(seed));
        let checked = std::panic::catch_unwind(|| check(&agent));
        assert!(checked.is_ok(), "seed {seed}: {:#?}", agent.live);
    }
}

/// Calls of one reply with one id: a request belongs to the call with its input.
#[test]
fn a_request_belongs_to_the_call_with_its_input() {
    let mut agent = Agent::default();
    let blocks = [agent.call("c"), agent.call("c")];
    agent.reply(MAIN, "m", &blocks, true);
    let mut transcript = agent.live_until_now();
    let mut asked = |command: &str| {
        let request = json!({"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": "c",
            "input": {"command": command}});
        let line = json!({"type": "control_request", "request_id": command, "request": request});
        let mut event = wire::parse(line.to_string().as_bytes());
        transcript.identify(&mut event);
        match event {
            crate::agent::AgentEvent::Request {
                request: crate::agent::AgentRequest::Tool(request), ..
            } => request.tool_use_id.clone().unwrap(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!([asked("command 1"), asked("command 0")], ["c~2", "c"]);
}

/// A task of an earlier turn ends after its call's id was used again.
#[test]
fn the_end_of_a_task_belongs_to_the_call_that_started_it() {
    let mut transcript = Transcript::new(Path::new("/p"));
    let mut line = |value: Value| transcript.line(1, wire::parse(value.to_string().as_bytes()));
    let call = |command: &str| {
        let block = json!({"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": command}});
        json!({"type": "assistant", "uuid": command, "message": {"id": command, "content": [block]}})
    };
    let result =
        json!([{"type": "tool_result", "tool_use_id": "c", "content": "Command running in background"}]);
    line(call("serve"));
    line(
        json!({"type": "user", "message": {"content": result}, "tool_use_result": {"backgroundTaskId": "b"}}),
    );
    line(call("other"));
    line(json!({"type": "system", "subtype": "task_notification", "task_id": "b", "tool_use_id": "c",
        "status": "failed", "summary": "failed with exit code 3"}));
    let states: Vec<_> = transcript
        .items()
        .filter_map(|item| match &item.body {
            Body::ToolCall(call) => Some((call.subject.as_str(), call.state)),
            _ => None,
        })
        .collect();
    assert_eq!(states, [("serve", ToolState::Failed), ("other", ToolState::Running)]);
}
