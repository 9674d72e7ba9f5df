//! Messages and requests of unknown kinds: answered with an error where an answer is required, never with an allow.

use crate::life::Setup;
use deskbell_engine::api::{RawDirection, RawKind, RawLinesQuery};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn unknown_messages_are_passed_over() {
    let mut life = Setup::demo().open().await;
    life.turn("SAY one\nUNKNOWN_MESSAGE\nSAY two").await;
    assert_eq!(life.answers().await, ["one", "two"]);
    let notices = life.notices().await;
    assert!(notices.iter().any(|notice| notice.contains("an unknown type: “smell”")), "{notices:?}");
    life.close().await;
}

/// The lines can be looked at while the agent works, and after it has ended.
#[tokio::test(flavor = "multi_thread")]
async fn a_line_of_an_unknown_kind_is_counted_and_can_be_looked_at() {
    let secret = "sk-ant-api03-0123456789abcdef";
    let lines = format!(
        "{}\n{secret} is no message\n",
        json!({"type": "smell", "of": "rain", "note": format!("use\n{secret} now")})
    );
    let script = format!(
        "ready; hear; cat lines; printf 'error output {secret}' >&2; hear; say done; result; until_end_of_input"
    );
    let mut life = Setup::shell(&script).file("lines", lines.as_bytes()).open().await;
    life.turn("speak").await;
    let session = life.session().clone();
    let during = session.query(RawLinesQuery { after: 0 }).await.unwrap();
    assert_eq!((during.n_unknown, during.n_unreadable, during.n_dropped, during.has_more), (1, 1, 0, false));
    life.close().await;
    let all = session.query(RawLinesQuery { after: 0 }).await.unwrap();
    let text_of = |kind: RawKind| {
        let mut lines =
            all.lines.iter().filter(|line| line.kind == kind && line.direction == RawDirection::FromAgent);
        lines.next().unwrap().text.clone()
    };
    assert_eq!(text_of(RawKind::Unknown), r#"{"type":"smell","of":"rain","note":"use\n<key> now"}"#);
    assert_eq!(text_of(RawKind::Unreadable), "<key> is no message");
    let has = |direction: RawDirection, words: &str| {
        all.lines.iter().any(|line| line.direction == direction && line.text.contains(words))
    };
    assert!(has(RawDirection::Start, "\"args\":["), "{all:?}");
    assert!(
        has(RawDirection::ToAgent, "speak") && has(RawDirection::Stderr, "error output <key>"),
        "{all:?}"
    );
    assert!(!format!("{all:?}").contains("0123456789"), "{all:?}");
    assert_eq!(session.query(RawLinesQuery { after: all.last }).await.unwrap().lines, []);
}

/// A flood of lines costs the memory of the last ones, and no unknown line.
#[tokio::test(flavor = "multi_thread")]
async fn of_a_flood_of_lines_the_last_ones_are_kept() {
    let mut lines = String::from("{\"type\":\"smell\"}\n");
    for nr in 0..5_000 {
        lines.push_str(&json!({"type": "tool_progress", "nr": nr, "pad": "p".repeat(1_000)}).to_string());
        lines.push('\n');
    }
    let script = "ready; hear; hear; cat lines; result; until_end_of_input";
    let mut life = Setup::shell(script).file("lines", lines.as_bytes()).open().await;
    life.turn("speak").await;
    let (mut after, mut all, mut n_dropped) = (0, Vec::new(), 0);
    loop {
        let answer = life.session().query(RawLinesQuery { after }).await.unwrap();
        (after, n_dropped) = (answer.last, n_dropped + answer.n_dropped);
        all.extend(answer.lines);
        if !answer.has_more {
            break;
        }
    }
    assert!(all.len() <= 550 && n_dropped > 4_400, "{} and {n_dropped}", all.len());
    assert_eq!(all[0].text, r#"{"type":"smell"}"#);
    assert!(all.last().unwrap().text.contains("\"result\""));
    life.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_request_is_answered_with_an_error() {
    let mut life = Setup::demo().open().await;
    life.turn("UNKNOWN_CONTROL").await;
    let answer = life.answers().await.join("");
    let reply: Value = serde_json::from_str(answer.strip_prefix("reply: ").unwrap()).unwrap();
    assert_eq!(reply["subtype"], "error");
    assert!(reply["response"].is_null(), "{reply}");
    life.close().await;
}

/// The answer to this request of the agent.
async fn answered(request: &Value) -> Value {
    let line = json!({"type": "control_request", "request_id": "r", "request": request}).to_string();
    let script =
        r#"ready; hear; hear; cat asked; hear; printf '%s' "$heard" > answer; result; until_end_of_input"#;
    let setup = Setup::shell(script).file("asked", (line + "\n").as_bytes());
    let mut life = setup.open().await;
    life.turn("ask").await;
    let answer = serde_json::from_slice(&std::fs::read(life.path("answer")).unwrap()).unwrap();
    life.close().await;
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_cannot_be_read_is_never_allowed() {
    let malformed = [
        json!({"subtype": "can_use_tool"}),
        json!({"subtype": "can_use_tool", "tool_name": "Bash"}),
        json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": "rm -rf ."}),
        json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": ["rm", "-rf", "."]}),
        json!({"subtype": "can_use_tool", "tool_name": 7, "input": {}}),
        json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {}, "permission_suggestions": "all"}),
    ];
    for request in malformed {
        let answer = answered(&request).await;
        assert_eq!(answer["response"]["request_id"], "r", "{request}");
        assert_eq!(answer["response"]["response"]["behavior"], "deny", "{request}: {answer}");
    }
    let unknown = [
        json!({"subtype": "hook_callback", "callback_id": "h", "input": {}}),
        json!({"subtype": "mcp_message", "server_name": "s", "message": {}}),
        json!({"subtype": "CAN_USE_TOOL", "tool_name": "Bash", "input": {}}),
        json!({}),
        json!("can_use_tool"),
        json!(null),
    ];
    for request in unknown {
        let answer = answered(&request).await;
        assert_eq!(answer["response"]["request_id"], "r", "{request}");
        assert_eq!(answer["response"]["subtype"], "error", "{request}: {answer}");
    }
}

/// The end of a turn is too important to be lost because of one bad field.
#[tokio::test(flavor = "multi_thread")]
async fn a_result_of_another_shape_ends_its_turn() {
    let results = [
        json!({"type": "result"}),
        json!({"type": "result", "is_error": false, "duration_ms": 12.5, "errors": null, "modelUsage": null}),
        json!({"type": "result", "is_error": null, "result": {"text": "x"}, "usage": "none", "origin": 7}),
        json!({"type": "result", "subtype": "new", "total_cost_usd": "1", "user_message_uuids": "all"}),
    ];
    for result in results {
        let script = "ready; hear; hear; cat said; until_end_of_input";
        let mut life = Setup::shell(script).file("said", format!("{result}\n").as_bytes()).open().await;
        life.turn("speak").await;
        assert_eq!(life.notices().await, [""; 0], "{result}");
        life.close().await;
    }
}

/// Answers to requests that were never made, withdrawals of requests that were never open, ends of turns that never
/// began.
#[tokio::test(flavor = "multi_thread")]
async fn what_belongs_to_nothing_changes_nothing() {
    let lines = [
        json!({"type": "control_response", "response": {"subtype": "success", "request_id": "nobody"}}),
        json!({"type": "control_response", "response": {"subtype": "success", "request_id": "deskbell-1"}}),
        json!({"type": "control_cancel_request", "request_id": "nobody"}),
        json!({"type": "result", "subtype": "success", "is_error": true, "result": "No conversation found"}),
        json!({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "nobody"}]}}),
        json!({"type": "stream_event", "event": {"type": "content_block_delta", "index": 4_000_000_000_u32,
               "delta": {"type": "text_delta", "text": "x"}}}),
        json!({"type": "stream_event", "event": {"type": "message_stop"}}),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let script = "ready; hear; cat lines; say before; hear; say done; result; until_end_of_input";
    let mut life = Setup::shell(script).file("lines", lines.as_bytes()).open().await;
    life.session().start().await.unwrap();
    life.answer().await;
    life.turn("speak").await;
    assert_eq!(life.answers().await, ["before", "done"]);
    assert_eq!(life.notices().await, [""; 0]);
    life.close().await;
}
