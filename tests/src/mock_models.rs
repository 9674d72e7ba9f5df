//! A mock of the services that other agents call: OpenAI's chat completions and responses, and Gemini, on the loopback
//! interface.
//!
//! As in [`crate::mock_api`] the prompt contains its replies, one a line. The n-th request of a turn carries out the n-th
//! line: each result of a tool is one line further.
//!
//! | Line | Reply |
//! |---|---|
//! | `SAY text` | the text |
//! | `THINK thought \| answer` | a thought, then the answer |
//! | `RUN command`, `WRITE path` | a call of the agent's tool for commands, or for files |
//! | `QUESTION text \| option \| option…` | a call of the agent's tool for questions; without one, [`NO_QUESTIONS`] |
//! | `RECALL` | the first lines of the prompts that came with the request |
//! | `HEARD` | the newest result of a tool that came with the request |

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

/// The reply to `QUESTION` if the agent offers the model no tool for questions.
pub const NO_QUESTIONS: &str = "There is no tool for questions.";

/// Names of agents' tools for questions.
const QUESTION_TOOLS: &[&str] = &["ask_user", "ask_user_question", "question", "request_user_input"];

/// The words that a line of a script begins with.
const WORDS: &[&str] = &["SAY", "THINK", "RUN", "WRITE", "QUESTION", "RECALL", "HEARD"];

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
    /// With its text.
    ToolResult(String),
}

/// What the model does for one request.
enum Act<'a> {
    Say(String),
    /// A thought and an answer.
    Think(String, String),
    Run(String),
    Write(String),
    /// A call of this tool with this input.
    Ask(&'a str, Value),
}

impl<'a> Act<'a> {
    /// What the line of the newest prompt says that has its turn. `tools`: the names of the tools that the agent offers to
    /// the model.
    fn of(parts: &[Part], tools: &[&'a str]) -> Self {
        let is_line = |line: &&str| WORDS.contains(&line.split(' ').next().unwrap_or_default());
        let (mut lines, mut n): (Vec<&str>, usize) = (Vec::new(), 0);
        let (mut prompts, mut heard): (Vec<&str>, &str) = (Vec::new(), "");
        for part in parts {
            match part {
                Part::User(text) => {
                    let own: Vec<&str> = text.lines().filter(is_line).collect();
                    // Agents add texts of their own in the user's name.
                    if let Some(first) = own.first() {
                        prompts.push(*first);
                        (lines, n) = (own, 0);
                    }
                }
                Part::ToolResult(text) => {
                    n += 1;
                    heard = text;
                }
            }
        }
        let line = lines.get(n).copied().unwrap_or("SAY done");
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "THINK" => {
                let (thought, answer) = rest.split_once(" | ").unwrap_or((rest, ""));
                Self::Think(thought.to_owned(), answer.to_owned())
            }
            "RUN" => Self::Run(rest.to_owned()),
            "WRITE" => Self::Write(rest.to_owned()),
            "QUESTION" => match tools.iter().find(|tool| QUESTION_TOOLS.contains(tool)) {
                Some(tool) => Self::Ask(tool, question(rest)),
                None => Self::Say(NO_QUESTIONS.to_owned()),
            },
            "HEARD" => Self::Say(heard.to_owned()),
            "RECALL" => Self::Say(prompts.join(" / ")),
            _ => Self::Say(rest.to_owned()),
        }
    }
}

/// The input of a tool for questions: a question, and its options.
fn question(text: &str) -> Value {
    let mut parts = text.split(" | ");
    let question = parts.next().unwrap_or_default();
    let options: Vec<Value> = parts.map(|label| json!({"label": label, "description": label})).collect();
    json!({"questions": [{"id": "q", "header": "Question", "question": question, "multiSelect": false,
        "options": options}]})
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
