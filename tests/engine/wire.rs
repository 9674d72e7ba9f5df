//! The bytes of a session's events, as the relay writes them and as the page gets them.

use crate::life::Setup;
use deskbell_engine::api::*;
use deskbell_engine::permission::leave_out_repeats;
use deskbell_engine::session::{Feed, Subscriber};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes and number of events, by their kind.
#[derive(Default)]
struct Bytes(BTreeMap<String, (usize, usize)>);

impl Bytes {
    fn add(&mut self, event: &impl serde::Serialize) {
        let line = serde_json::to_string(event).unwrap();
        let kind = serde_json::from_str::<Value>(&line).unwrap()["type"].as_str().unwrap().to_owned();
        let (n, bytes) = self.0.entry(kind).or_default();
        *n += 1;
        *bytes += line.len();
    }

    fn sum(&self) -> usize {
        self.0.values().map(|(_, bytes)| bytes).sum()
    }

    fn print(&self, name: &str) {
        println!("{name}: {} bytes", self.sum());
        for (kind, (n, bytes)) in &self.0 {
            println!("  {bytes:9} in {n:3} {kind}");
        }
    }
}

/// A session with an agent that offers as much as Claude Code does, and makes one call in its second turn.
fn setup(call: &Value) -> Setup {
    let model = |nr: u32| {
        json!({"value": format!("model-{nr}"), "displayName": format!("Model {nr}"), "supportsEffort": true,
            "supportedEffortLevels": ["low", "medium", "high", "max"],
            "description": "The model for everyday work, and for that which takes a while"})
    };
    let command = |nr: u32| {
        json!({"name": format!("command-{nr}"), "argumentHint": "[what to do]",
            "description": "Does what the command of this number does, in as many words as the others need for it"})
    };
    let offered = json!({"commands": (0..60).map(command).collect::<Vec<_>>(),
        "models": (0..12).map(model).collect::<Vec<_>>()});
    let response = json!({"subtype": "success", "request_id": "deskbell-1", "response": offered});
    let answer = json!({"type": "control_response", "response": response});
    let init = json!({"type": "system", "subtype": "init", "session_id": "conversation-1"});
    let id = "toolu_1";
    let content = json!([{"type": "tool_use", "id": id, "name": call["name"], "input": call["input"]}]);
    let asked = json!({"subtype": "can_use_tool", "tool_name": call["name"], "input": call["input"], "tool_use_id": id});
    let result = json!([{"type": "tool_result", "tool_use_id": id, "content": "done", "is_error": false}]);
    let lines =
        |lines: &[Value]| lines.iter().map(|line| line.to_string() + "\n").collect::<String>().into_bytes();
    let script = r#"up_to() { while hear; do case "$heard" in *"$1"*) break;; esac; done; }
        hear; cat init; up_to greeting; say hello; result; up_to errand; cat call; up_to allow; cat result; result
        until_end_of_input"#;
    Setup::shell(script)
        .file("init", &lines(&[answer, init]))
        .file(
            "call",
            &lines(&[
                json!({"type": "assistant", "message": {"id": "m1", "content": content}}),
                json!({"type": "control_request", "request_id": "r1", "request": asked}),
            ]),
        )
        .file("result", &lines(&[json!({"type": "user", "message": {"content": result}})]))
}

/// The event as the relay and a server write it.
fn as_line(event: &Event) -> Event {
    let mut event = event.clone();
    leave_out_repeats(&mut event);
    event
}

/// The events of the turn with the call, for the relay and for a window that takes each batch at once.
async fn turn(call: &Value) -> (Bytes, Bytes) {
    let mut life = setup(call).open().await;
    life.turn("greeting").await;
    life.facts("end of the first turn", |session| session.status == Status::Completed).await;
    let feed = Arc::new(Feed::new(
        life.session().id().clone(),
        Viewport { first: None, count: 100, request_id: 1 },
        Vec::new(),
    ));
    life.session().subscribe(Subscriber::Merged(feed.clone())).await.unwrap();
    let (mut relay, mut page) = (Bytes::default(), Bytes::default());
    life.prompt("errand").await;
    let (mut has_turned, mut is_over, mut is_open) = (false, false, false);
    while !is_over {
        let event = life.next("event", |event| Some(event.clone())).await;
        relay.add(&as_line(&event));
        is_open |= matches!(event, Event::PermissionRequested { .. });
        is_open &= !matches!(event, Event::PermissionResolved { .. });
        if let Event::SessionChanged { session } = &event {
            // A client that reads only the latest one can name the conversation.
            assert_eq!(session.agent_session_id, Some(Some("conversation-1".to_owned())));
            assert_eq!(session.requests, (!is_open).then(Vec::new));
        }
        if let Event::PermissionRequested { request, .. } = &event {
            let (request_id, shown) = (request.id.clone(), Some(request.shown.clone()));
            let decision = Decision::AllowOnce { updated_input: None };
            life.command(Command::Decide { request_id, shown, decision }).await.unwrap();
        }
        // The session's facts follow the end of the turn.
        is_over = has_turned && matches!(event, Event::SessionChanged { .. });
        has_turned |= matches!(event, Event::TurnEnded { .. });
        while let Some(batch) = feed.take_after(u64::MAX) {
            batch.events.iter().for_each(|event| page.add(event));
        }
    }
    life.close().await;
    (relay, page)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_with_a_call_costs_what_changed() {
    let (relay, page) = turn(&json!({"name": "Bash", "input": {"command": "touch a.txt"}})).await;
    relay.print("relay");
    page.print("page");
    assert!(relay.sum() < 12_000 && page.sum() < 12_000, "{} and {}", relay.sum(), page.sum());
}

/// Maximum bytes of events for each byte of the input.
const MOST_TIMES: usize = 3;

/// The bytes that the relay and the page receive for a call with an input of `n_bytes`.
async fn assert_crosses_once(name: &str, n_bytes: usize, call: Value) {
    let (relay, page) = turn(&call).await;
    let times = |bytes: &Bytes| bytes.sum() as f64 / n_bytes as f64;
    println!("{name}: {:.2} times to the relay, {:.2} to the page", times(&relay), times(&page));
    relay.print("relay");
    page.print("page");
    assert!(relay.sum() <= MOST_TIMES * n_bytes, "{name}, relay: {:.2} times", times(&relay));
    assert!(page.sum() <= MOST_TIMES * n_bytes, "{name}, page: {:.2} times", times(&page));
}

/// Lines of 28 bytes, about as long as those of code.
fn short_lines(n: usize) -> String {
    (0..n).map(|nr| format!("let value_{nr:07} = next();\n")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_write_of_short_lines_crosses_once() {
    let content = short_lines(30_000);
    let input = json!({"file_path": "/a/long.txt", "content": content});
    assert_crosses_once("short lines", content.len(), json!({"name": "Write", "input": input})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_write_of_one_line_crosses_once() {
    let content = "0123456789".repeat(85_000);
    let input = json!({"file_path": "/a/long.txt", "content": content});
    assert_crosses_once("one line", content.len(), json!({"name": "Write", "input": input})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_edit_crosses_once() {
    let old = short_lines(15_000);
    let new = old.replace("00 = ", "00 = not ");
    let n_bytes = old.len() + new.len();
    let input = json!({"file_path": "/a/long.txt", "old_string": old, "new_string": new});
    assert_crosses_once("edit", n_bytes, json!({"name": "Edit", "input": input})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_command_crosses_once() {
    let command = format!("cat > long.txt <<'END'\n{}END", short_lines(30_000));
    let n_bytes = command.len();
    assert_crosses_once("command", n_bytes, json!({"name": "Bash", "input": {"command": command}})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_input_of_another_tool_crosses_once() {
    let lines: Vec<String> = short_lines(10_000).lines().map(str::to_owned).collect();
    let input = json!({"text": lines.join(" "), "month": "2026-04"});
    let n_bytes = input.to_string().len();
    assert_crosses_once("server", n_bytes, json!({"name": "mcp__notes__save", "input": input})).await;
}
