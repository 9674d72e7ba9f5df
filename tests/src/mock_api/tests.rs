//! Tests of the server with a bare client.

use std::io;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::MockApi;

const DEADLINE: Duration = Duration::from_secs(60);

async fn send(api: &MockApi, method: &str, path: &str, body: &Value) -> TcpStream {
    let body = body.to_string();
    let mut stream = TcpStream::connect(api.address()).await.unwrap();
    let head =
        format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all((head + &body).as_bytes()).await.unwrap();
    stream
}

async fn reply(mut stream: TcpStream) -> String {
    let mut reply = String::new();
    match stream.read_to_string(&mut reply).await {
        Err(error) if error.kind() != io::ErrorKind::ConnectionReset => panic!("{error}"),
        _ => reply,
    }
}

fn asking(prompt: &str, stream: bool) -> Value {
    json!({"model": "claude-opus-5-5", "stream": stream, "messages": [{"role": "user", "content": prompt}]})
}

async fn message(api: &MockApi, prompt: &str) -> String {
    let reply = reply(send(api, "POST", "/v1/messages?beta=true", &asking(prompt, false)).await).await;
    let (_, body) = reply.split_once("\r\n\r\n").unwrap();
    let body: Value = serde_json::from_str(body).unwrap();
    body["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {body}")).to_owned()
}

#[tokio::test]
async fn the_prompt_says_what_is_answered() {
    let api = MockApi::start().await.unwrap();
    assert_eq!(message(&api, "SAY hello").await, "hello");
    assert_eq!(message(&api, "hello").await, "echo: hello");
    let prompts: Vec<_> = api.messages().iter().filter_map(super::Request::prompt).collect();
    assert_eq!(prompts, ["SAY hello", "hello"]);
}

#[tokio::test]
async fn tries_of_one_conversation_are_counted() {
    let api = MockApi::start().await.unwrap();
    let prompt = "TIMES 1 FAIL 529 no-retry\nSAY made it";
    let first = reply(send(&api, "POST", "/v1/messages", &asking(prompt, true)).await).await;
    assert!(first.starts_with("HTTP/1.1 529 ") && first.contains("x-should-retry: false"), "{first}");
    assert_eq!(message(&api, prompt).await, "made it");
}

#[tokio::test]
async fn a_gate_holds_one_reply_and_no_other() {
    let api = MockApi::start().await.unwrap();
    let held = send(&api, "POST", "/v1/messages", &asking("GATE a\nSAY held", true)).await;
    api.wait_for_prompt("GATE a\nSAY held", DEADLINE).await.unwrap();
    assert_eq!(message(&api, "SAY free").await, "free");
    api.open("a");
    assert!(reply(held).await.contains("held"));
}

#[tokio::test]
async fn a_dropped_stream_has_no_end() {
    let api = MockApi::start().await.unwrap();
    let reply = reply(send(&api, "POST", "/v1/messages", &asking("DROP half", true)).await).await;
    assert!(reply.contains("half") && !reply.ends_with("0\r\n\r\n"), "{reply}");
}

#[tokio::test]
async fn a_hundred_thousand_deltas_are_sent_whole() {
    let api = MockApi::start().await.unwrap();
    let reply = reply(send(&api, "POST", "/v1/messages", &asking("STREAM 100000 0 w", true)).await).await;
    assert_eq!(reply.matches("event: content_block_delta").count(), 100_000);
    assert!(reply.ends_with("0\r\n\r\n"));
}

#[tokio::test]
async fn other_endpoints_answer_in_kind() {
    let api = MockApi::start().await.unwrap();
    let cases = [
        ("POST", "/v1/messages/count_tokens", "200 OK"),
        ("GET", "/v1/models?limit=10", "200 OK"),
        ("GET", "/v1/models/claude-no-such", "404 Not Found"),
        ("HEAD", "/", "200 OK"),
        ("GET", "/api/hello", "404 Not Found"),
    ];
    for (method, path, expected) in cases {
        let reply = reply(send(&api, method, path, &json!({})).await).await;
        assert_eq!(reply.lines().next(), Some(format!("HTTP/1.1 {expected}").as_str()), "{method} {path}");
    }
}

#[tokio::test]
async fn a_wait_in_vain_tells_what_was_seen() {
    let api = MockApi::start().await.unwrap();
    message(&api, "SAY hello").await;
    let error = api.wait_for_prompt("SAY more", Duration::from_millis(1)).await.unwrap_err().to_string();
    assert!(error.contains("\"SAY hello\""), "{error}");
}

#[tokio::test]
async fn connections_end_with_the_server() {
    let api = MockApi::start().await.unwrap();
    let held = send(&api, "POST", "/v1/messages", &asking("HANG", true)).await;
    api.wait_for_prompt("HANG", DEADLINE).await.unwrap();
    drop(api);
    assert_eq!(reply(held).await, "");
}
