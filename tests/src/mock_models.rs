//! A mock of the services that other agents call: OpenAI's chat completions and Gemini, on the loopback interface.
//!
//! As in [`crate::mock_api`] the prompt contains its replies, one a line: `SAY text`, `RUN command` and `WRITE path`. The
//! n-th request of a turn carries out the n-th line: each result of a tool is one line further.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use crate::mock_api::http::read_request;

/// What `WRITE` writes.
pub const WRITTEN: &str = "hello\n";

/// A running server. It ends when it is dropped.
pub struct MockModels {
    address: SocketAddr,
    server: JoinHandle<()>,
}

impl MockModels {
    /// Listens on a free port of 127.0.0.1.
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.context("binding the mock of the models")?;
        let address = listener.local_addr()?;
        let server = tokio::spawn(async move {
            // Ends with the runtime.
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(async move {
                    // A client that leaves in the middle of a reply is no failure of the mock.
                    let _ = serve(socket).await;
                });
            }
        });
        Ok(Self { address, server })
    }

    /// Its address, without a path.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for MockModels {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(socket: TcpStream) -> std::io::Result<()> {
    let mut socket = BufReader::new(socket);
    let Some(request) = read_request(&mut socket).await? else { return Ok(()) };
    let path = request.path.split('?').next().unwrap_or_default();
    let (kind, body) = if path.ends_with("/chat/completions") {
        chat(&request.body)
    } else if path.ends_with("GenerateContent") {
        gemini(&request.body, path.ends_with(":streamGenerateContent"))
    } else {
        ("application/json", json!({"object": "list", "data": []}).to_string())
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    socket.write_all(head.as_bytes()).await?;
    socket.write_all(body.as_bytes()).await?;
    socket.shutdown().await
}

/// One part of a conversation.
enum Part<'a> {
    User(&'a str),
    ToolResult,
}

/// The line of the newest prompt that has its turn, and its rest.
fn directive(parts: &[Part<'_>]) -> (String, String) {
    let is_line = |line: &&str| ["SAY ", "RUN ", "WRITE "].iter().any(|word| line.starts_with(word));
    let (mut lines, mut n): (Vec<&str>, usize) = (Vec::new(), 0);
    for part in parts {
        match part {
            Part::User(text) => {
                let own: Vec<&str> = text.lines().filter(is_line).collect();
                // Agents add texts of their own in the user's name.
                if !own.is_empty() {
                    (lines, n) = (own, 0);
                }
            }
            Part::ToolResult => n += 1,
        }
    }
    let line = lines.get(n).copied().unwrap_or("SAY done");
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    (word.to_owned(), rest.to_owned())
}

fn chat(body: &Value) -> (&'static str, String) {
    let texts = |message: &Value| -> Vec<String> {
        match &message["content"] {
            Value::String(text) => vec![text.clone()],
            Value::Array(parts) => {
                parts.iter().filter_map(|part| Some(part["text"].as_str()?.to_owned())).collect()
            }
            _ => Vec::new(),
        }
    };
    let messages: Vec<(bool, String)> = body["messages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|message| match message["role"].as_str()? {
            "user" => Some((true, texts(message).join("\n"))),
            "tool" => Some((false, String::new())),
            _ => None,
        })
        .collect();
    let parts: Vec<Part<'_>> = messages
        .iter()
        .map(|(is_user, text)| if *is_user { Part::User(text) } else { Part::ToolResult })
        .collect();
    let (word, rest) = directive(&parts);
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15});
    if body["stream"] != true {
        let message = json!({"role": "assistant", "content": "A title"});
        let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
        let reply = json!({"id": "1", "object": "chat.completion", "created": 1, "model": "mock-1",
            "choices": [choice], "usage": usage});
        return ("application/json", reply.to_string());
    }
    let tools: Vec<&str> = body["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|tool| tool["function"]["name"].as_str())
        .collect();
    let has = |name: &str| tools.contains(&name);
    let call = match word.as_str() {
        "RUN" if has("bash") => Some(("bash", json!({"command": rest, "description": "Harmless"}))),
        "RUN" if has("run_shell_command") => {
            let input = json!({"command": rest, "description": "Harmless", "is_background": false});
            Some(("run_shell_command", input))
        }
        "WRITE" if has("write") => Some(("write", json!({"filePath": rest, "content": WRITTEN}))),
        "WRITE" if has("write_file") => Some(("write_file", json!({"file_path": rest, "content": WRITTEN}))),
        _ => None,
    };
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        json!({"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "mock-1", "choices": [choice]})
    };
    let mut chunks = match call {
        Some((name, input)) => {
            let function = json!({"name": name, "arguments": input.to_string()});
            let id = format!("call_{}", uuid::Uuid::new_v4().simple());
            let call = json!([{"index": 0, "id": id, "type": "function", "function": function}]);
            let delta = json!({"role": "assistant", "content": null, "tool_calls": call});
            vec![chunk(delta, Value::Null), chunk(json!({}), json!("tool_calls"))]
        }
        None => {
            let delta = json!({"role": "assistant", "content": rest});
            vec![chunk(delta, Value::Null), chunk(json!({}), json!("stop"))]
        }
    };
    let mut last = chunk(json!({}), Value::Null);
    last["choices"] = json!([]);
    last["usage"] = usage;
    chunks.push(last);
    let lines: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    ("text/event-stream", lines + "data: [DONE]\n\n")
}

fn gemini(body: &Value, streams: bool) -> (&'static str, String) {
    let contents = body["contents"].as_array().into_iter().flatten();
    let parts: Vec<Part<'_>> = contents
        .filter(|content| content["role"] == "user")
        .flat_map(|content| content["parts"].as_array().into_iter().flatten())
        .filter_map(|part| match part.get("functionResponse") {
            Some(_) => Some(Part::ToolResult),
            None => Some(Part::User(part["text"].as_str()?)),
        })
        .collect();
    let (word, rest) = directive(&parts);
    let part = match word.as_str() {
        "RUN" => {
            json!({"functionCall": {"name": "run_shell_command", "args": {"command": rest, "description": "Harmless"}}})
        }
        "WRITE" => {
            json!({"functionCall": {"name": "write_file", "args": {"file_path": rest, "content": WRITTEN}}})
        }
        _ => json!({"text": rest}),
    };
    let content = json!({"role": "model", "parts": [part]});
    let usage = json!({"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15});
    let candidate = json!({"content": content, "finishReason": "STOP", "index": 0});
    let reply = json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "mock-1"});
    if streams {
        ("text/event-stream", format!("data: {reply}\n\n"))
    } else {
        ("application/json", reply.to_string())
    }
}
