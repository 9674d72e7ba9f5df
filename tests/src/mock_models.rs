//! A mock of the services that other agents call: OpenAI's chat completions and responses, and Gemini, on the loopback
//! interface.
//!
//! As in [`crate::mock_api`] the prompt contains its replies, one a line: `SAY text`, `RUN command` and `WRITE path`. The
//! n-th request of a turn carries out the n-th line: each result of a tool is one line further.

mod chat;
mod gemini;
mod responses;

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
        chat::reply(&request.body)
    } else if path.ends_with("/responses") {
        responses::reply(&request.body)
    } else if path.ends_with("GenerateContent") {
        gemini::reply(&request.body, path.ends_with(":streamGenerateContent"))
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
enum Part {
    User(String),
    ToolResult,
}

/// The line of the newest prompt that has its turn, and its rest.
fn directive(parts: &[Part]) -> (String, String) {
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

/// The names of the tools that the agent offers to the model; `name` finds one's.
fn tools<'a>(body: &'a Value, name: impl Fn(&'a Value) -> &'a Value) -> Vec<&'a str> {
    body["tools"].as_array().into_iter().flatten().filter_map(|tool| name(tool).as_str()).collect()
}

/// The texts of a content that is one text, or a list of parts.
fn texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
