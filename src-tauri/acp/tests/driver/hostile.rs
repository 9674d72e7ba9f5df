//! Hostile streams from a seed, which is printed: cut and doubled lines, wrong types, unknown kinds, ids that repeat,
//! updates after the end, very long texts. Nothing is lost, nothing stops, and no request stays open.

use super::player::{names, recording};
use super::turns::{in_session, prompt};
use deskbell_acp::event::{Content, OutputChange, RequestKey};
use deskbell_acp::{AcpClient, AcpCommand, AcpEvent, ClientStep};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const STREAMS: u64 = 300;
const LINES: usize = 120;
const LONG: usize = 10 << 20;

/// A small generator (splitmix64): the same seed gives the same stream everywhere.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn is_one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// What the streams are made from: every line of the agents in the recordings, in the session `s`.
fn material() -> Vec<Value> {
    let mut lines = Vec::new();
    for name in names() {
        for recorded in recording(&name).into_iter().filter(|recorded| recorded.is_out) {
            let mut line = recorded.line;
            if line["params"]["sessionId"].is_string() {
                line["params"]["sessionId"] = json!("s");
            }
            lines.push(line);
        }
    }
    lines
}

/// A line, changed or not.
fn line(chance: &mut Chance, material: &[Value]) -> Vec<u8> {
    let mut value = chance.of(material).clone();
    match chance.below(16) {
        0 => damage(chance, &mut value),
        1 => value["method"] = chance.of(&[json!("a/b"), json!(7), json!("$/cancel_request")]).clone(),
        2 => value["params"]["update"]["sessionUpdate"] = json!(chance.of(&["new", "", "tool_call", "plan"])),
        3 => value["params"]["update"]["toolCallId"] = json!(format!("c{}", chance.below(4))),
        4 => value["params"]["sessionId"] = chance.of(&[json!("other"), json!(1), json!(null)]).clone(),
        5 => value = json!([value, chance.of(material)]),
        6 => value = chance.of(&[json!(null), json!([]), json!({}), json!("text"), json!(1e300)]).clone(),
        _ => {}
    }
    if value.get("id").is_some() && chance.is_one_in(2) {
        value["id"] =
            chance.of(&[json!(0), json!(1), json!(2), json!("0"), json!(null), json!(-1.5)]).clone();
    }
    let mut bytes = value.to_string().into_bytes();
    match chance.below(24) {
        0 => bytes.truncate(chance.below(bytes.len())),
        1 => {
            let at = chance.below(bytes.len());
            bytes[at] = chance.next() as u8;
        }
        2 => bytes = [&bytes[..], &bytes[..]].concat(),
        3 => bytes = format!("{}{}", "[".repeat(500), "]".repeat(500)).into_bytes(),
        _ => {}
    }
    // A newline would be two lines.
    bytes.retain(|byte| *byte != b'\n');
    bytes
}

/// Changes one field at a random depth to another type, or removes it.
fn damage(chance: &mut Chance, value: &mut Value) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let keys: Vec<String> = fields.keys().cloned().collect();
            let key = chance.of(&keys).clone();
            match chance.below(4) {
                0 => {
                    fields.remove(&key);
                }
                1 => {
                    let others = [json!(null), json!(1), json!("x"), json!([]), json!({}), json!(true)];
                    fields.insert(key, chance.of(&others).clone());
                }
                _ => damage(chance, fields.entry(key).or_insert(Value::Null)),
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let at = chance.below(items.len());
            damage(chance, &mut items[at]);
        }
        other => *other = json!(chance.below(1000)),
    }
}

/// What has to hold after every step, and what was seen so far.
#[derive(Default)]
struct Watch {
    /// Requests of the agent by their id, and answers to them.
    asked: BTreeMap<String, usize>,
    answered: BTreeMap<String, usize>,
    open: Vec<(RequestKey, Vec<String>)>,
    said: usize,
}

impl Watch {
    fn sent(&mut self, message: &Value) {
        if let (Some(id), Some(_)) = (message.get("id"), message.get("method")) {
            *self.asked.entry(id.to_string()).or_default() += 1;
        }
        let params = &message["params"];
        let is_ours = params["sessionId"].as_str().is_none_or(|id| id == "s");
        let kind = params["update"]["sessionUpdate"].as_str().unwrap_or_default();
        let is_chunk = ["agent_message_chunk", "agent_thought_chunk", "user_message_chunk"].contains(&kind);
        let content: Map<String, Value> =
            params["update"]["content"].as_object().cloned().unwrap_or_default();
        let is_text = content.get("type") == Some(&json!("text"));
        if message["method"] == "session/update"
            && message.get("id").is_none()
            && is_ours
            && is_chunk
            && is_text
        {
            self.said += content.get("text").and_then(Value::as_str).map_or(0, str::len);
        }
    }

    fn took(&mut self, driver: &AcpClient, step: &ClientStep) {
        for line in &step.lines {
            assert!(!line.contains('\n'), "{line}");
            let line: Value = serde_json::from_str(line).unwrap();
            if line.get("method").is_none() {
                *self.answered.entry(line["id"].to_string()).or_default() += 1;
            }
        }
        for event in &step.events {
            match event {
                AcpEvent::Said { content: Content::Text(text), .. } => self.said -= text.len(),
                AcpEvent::Permission(permission) => {
                    assert!(!permission.options.is_empty());
                    let options = permission.options.iter().map(|option| option.id.clone()).collect();
                    self.open.push((permission.request, options));
                }
                AcpEvent::Withdrawn { request, .. } => self.open.retain(|(key, _)| key != request),
                AcpEvent::Unknown { json: text, .. }
                | AcpEvent::Unreadable { line: text, .. }
                | AcpEvent::Refused { params: text, .. } => assert!(text.len() <= 4096),
                AcpEvent::Call(call) => match &call.output {
                    Some(OutputChange::Added(text) | OutputChange::Replaced(text)) => {
                        assert!(text.len() <= 4 << 20);
                    }
                    None => {}
                },
                _ => {}
            }
        }
        if matches!(step.events.last(), Some(AcpEvent::TurnEnded { .. })) {
            assert_eq!((driver.n_requests(), driver.n_calls()), (0, 0), "a turn ended with something open");
        }
    }
}

fn live(seed: u64, material: &[Value]) {
    let mut chance = Chance(seed);
    let (mut driver, mut watch) = (in_session(), Watch::default());
    for _ in 0..LINES {
        match chance.below(12) {
            0 => {
                if let Ok(step) = driver.command(prompt("again")) {
                    watch.took(&driver, &step);
                }
            }
            1 if !watch.open.is_empty() => {
                let (request, options) = watch.open.remove(chance.below(watch.open.len()));
                let option = chance.of(&options).clone();
                let step = driver.command(AcpCommand::Choose { request, option: option.clone() }).unwrap();
                let answer: Value = serde_json::from_str(&step.lines[0]).unwrap();
                assert_eq!(answer["result"]["outcome"]["optionId"], option.as_str());
                watch.took(&driver, &step);
            }
            2 => {
                if let Ok(step) = driver.command(AcpCommand::Interrupt) {
                    watch.took(&driver, &step);
                }
            }
            3 => {
                // The end of a turn, at any time.
                let id = chance.below(40);
                let line = json!({"id": id, "result": {"stopReason": "end_turn"}}).to_string();
                let step = driver.line(line.as_bytes());
                watch.took(&driver, &step);
            }
            _ => {
                let line = line(&mut chance, material);
                match serde_json::from_str(&String::from_utf8_lossy(&line)) {
                    Ok(Value::Array(batch)) => batch.iter().for_each(|message| watch.sent(message)),
                    Ok(message) => watch.sent(&message),
                    Err(_) => {}
                }
                let step = driver.line(&line);
                watch.took(&driver, &step);
            }
        }
    }
    let step = driver.command(AcpCommand::Stop).unwrap();
    watch.took(&driver, &step);
    assert_eq!(driver.n_requests(), 0);
    driver.ended();
    assert_eq!(driver.n_calls(), 0);
    assert_eq!(watch.said, 0, "every text of a message is passed on");
    assert_eq!(watch.answered, watch.asked, "every request is answered once");
}

#[test]
fn hostile_streams_lose_nothing_and_leave_nothing_open() {
    let number = |name: &str| std::env::var(name).ok().and_then(|number| number.parse::<u64>().ok());
    let seeds = match number("DESKBELL_ACP_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("DESKBELL_ACP_STREAMS").unwrap_or(STREAMS),
    };
    let material = material();
    for seed in seeds {
        println!("DESKBELL_ACP_SEED={seed}");
        live(seed, &material);
    }
}

#[test]
fn very_long_texts_are_passed_on_or_cut_and_counted() {
    let long = "x".repeat(LONG);
    let mut driver = in_session();
    driver.command(prompt("hello")).unwrap();
    let mut update = |update: Value| {
        let line = json!({"method": "session/update", "params": {"sessionId": "s", "update": update}});
        driver.line(line.to_string().as_bytes()).events
    };
    let said =
        update(json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": long}}));
    assert!(matches!(&said[..], [AcpEvent::Said { content: Content::Text(text), .. }] if text.len() == LONG));
    let called =
        update(json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": long, "rawOutput": long}));
    let [AcpEvent::Call(call)] = &called[..] else { panic!() };
    assert_eq!(call.output_left_out, Some((LONG - (4 << 20)) as u64));
    let unknown = update(json!({"sessionUpdate": "new", "a": long}));
    assert!(matches!(&unknown[..], [AcpEvent::Unknown { json, .. }] if json.len() == 4096));
    let unreadable = driver.line(long.as_bytes()).events;
    assert!(
        matches!(&unreadable[..], [AcpEvent::Unreadable { line, n_bytes: LONG, .. }] if line.len() == 4096)
    );
}
