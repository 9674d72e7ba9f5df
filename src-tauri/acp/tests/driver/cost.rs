//! The cost of an agent's output: four times as much takes about four times as long.
//!
//! Measured in CPU time of the thread with n and with 4n. Quadratic work takes 16 times as long; the limit is 8 times. A
//! class over the limit is measured again, and fails if it is over the limit each time.

use super::turns::in_turn;
use cpu_time::ThreadTime;
use deskbell_acp::AcpEvent;
use deskbell_acp::event::OutputChange;
use serde_json::{Value, json};
use std::time::Duration;

const N: usize = 1500;
const MOST: f64 = 8.0;
/// Shorter times are noise.
const FLOOR: Duration = Duration::from_millis(4);
const TRIES: usize = 4;

type Class = (&'static str, fn(usize) -> Vec<String>);

const CLASSES: &[Class] = &[
    ("chunks of one text", |n| (0..n).map(|_| chunk("word ")).collect()),
    ("one chunk", |n| vec![chunk(&"word ".repeat(n * 50))]),
    ("terminal output in pieces", |n| {
        let delta = json!({"toolCallId": "c", "_meta": {"terminal_output_delta": {"data": "a line\n"}}});
        vec![update("tool_call_update", delta); n]
    }),
    ("calls that never end", |n| {
        (0..n).map(|nr| update("tool_call", json!({"toolCallId": format!("c{nr}"), "title": "t"}))).collect()
    }),
    ("updates of one call", |n| {
        (0..n)
            .map(|nr| update("tool_call_update", json!({"toolCallId": "c", "title": nr.to_string()})))
            .collect()
    }),
    ("requests that are refused", |n| {
        (0..n).map(|nr| json!({"id": nr, "method": "a/b", "params": {}}).to_string()).collect()
    }),
    ("permission requests", |n| {
        let options = json!([{"optionId": "a", "name": "A", "kind": "allow_once"}]);
        let ask = |nr| {
            let params =
                json!({"sessionId": "s", "toolCall": {"toolCallId": format!("c{nr}")}, "options": options});
            json!({"id": nr, "method": "session/request_permission", "params": params}).to_string()
        };
        (0..n).map(ask).collect()
    }),
    ("options with one id", |n| {
        let options = vec![json!({"optionId": "a", "name": "A", "kind": "allow_once"}); n];
        let params = json!({"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": options});
        vec![json!({"id": 0, "method": "session/request_permission", "params": params}).to_string()]
    }),
    ("halves of surrogate pairs", |n| vec![chunk("@").replace('@', &r"\ud83d".repeat(n * 10))]),
    ("nested arrays", |n| vec!["[".repeat(n * 20)]),
    ("unreadable lines", |n| vec!["{".to_owned(); n]),
    ("batches", |n| vec![json!(vec![json!({"method": "a"}); n]).to_string()]),
];

fn update(kind: &str, mut update: Value) -> String {
    update["sessionUpdate"] = json!(kind);
    json!({"method": "session/update", "params": {"sessionId": "s", "update": update}}).to_string()
}

fn chunk(text: &str) -> String {
    update("agent_message_chunk", json!({"content": {"type": "text", "text": text}}))
}

fn time(lines: &[String]) -> Duration {
    let mut driver = in_turn();
    let start = ThreadTime::now();
    for line in lines {
        driver.line(line.as_bytes());
    }
    driver.ended();
    start.elapsed()
}

#[test]
fn more_output_costs_no_more_than_its_size() {
    let mut slow = Vec::new();
    for (name, lines) in CLASSES {
        let (few, many) = (lines(N), lines(4 * N));
        let ratio = || time(&many).as_secs_f64() / time(&few).max(FLOOR).as_secs_f64();
        let least = (0..TRIES).map(|_| ratio()).find(|ratio| *ratio < MOST);
        if least.is_none() {
            slow.push(*name);
        }
    }
    assert_eq!(slow, [""; 0]);
}

/// opencode sends the whole output again with each update. What is passed on is each text once.
#[test]
fn repeated_output_is_passed_on_once() {
    for n in [100, 200, 400] {
        let mut driver = in_turn();
        let (mut whole, mut passed) = (String::new(), String::new());
        for nr in 0..n {
            whole.push_str(&format!("tick {nr}\n"));
            let content = json!([{"type": "content", "content": {"type": "text", "text": whole}}]);
            let update = update(
                "tool_call_update",
                json!({"toolCallId": "c", "status": "in_progress", "content": content}),
            );
            for event in driver.line(update.as_bytes()).events {
                if let AcpEvent::Call(call) = event
                    && let Some(OutputChange::Added(added)) = call.output
                {
                    passed.push_str(&added);
                }
            }
        }
        assert_eq!(passed, whole);
    }
}
