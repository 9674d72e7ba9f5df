//! The APIs of models on loopback: Messages, OpenAI's chat completions and responses, and Gemini. Each makes the agent call
//! one tool and then ends the turn.

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

mod models;

const EVENTS: &str = "text/event-stream";

/// The command changes a file, so the agent must ask for permission; the change is harmless.
const COMMAND: &str = "touch deskbell-was-not-asked";

/// The API server; stops when dropped.
pub struct LoopbackApi {
    address: SocketAddr,
    saw_tool_result: Arc<AtomicBool>,
    server: JoinHandle<()>,
}

impl LoopbackApi {
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let saw_tool_result = Arc::new(AtomicBool::new(false));
        let server = tokio::spawn(serve(listener, saw_tool_result.clone()));
        Ok(Self { address, saw_tool_result, server })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Did the agent send a tool result?
    pub fn saw_tool_result(&self) -> bool {
        self.saw_tool_result.load(Ordering::Relaxed)
    }
}

impl Drop for LoopbackApi {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(listener: TcpListener, saw_tool_result: Arc<AtomicBool>) {
    // Dropping this set also ends the connections.
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "the doctor's API stopped accepting connections");
                return;
            }
        };
        let saw_tool_result = saw_tool_result.clone();
        let service = service_fn(move |request| answer(request, saw_tool_result.clone()));
        connections.spawn(async move {
            let connection = hyper::server::conn::http1::Builder::new();
            if let Err(error) = connection.serve_connection(TokioIo::new(stream), service).await {
                tracing::debug!(%error, "a connection to the doctor's API failed");
            }
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    saw_tool_result: Arc<AtomicBool>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let api = Api::of(request.method(), request.uri().path());
    // A body that cannot be read is treated as empty.
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let asked: Asked = serde_json::from_slice(&body).unwrap_or_default();
    let Some(api) = api else {
        return Ok(reply("application/json", json!({"object": "list", "data": []}).to_string()));
    };
    let has_result = api.has_tool_result(&asked);
    saw_tool_result.fetch_or(has_result, Ordering::Relaxed);
    let tool = api.tool(&asked).filter(|_| !has_result);
    Ok(match api {
        Api::Messages if asked.stream => reply(EVENTS, stream(tool.is_some())),
        Api::Messages => reply("application/json", whole(tool.is_some()).to_string()),
        Api::Chat => models::chat(asked.stream, tool),
        Api::Responses => models::responses(tool),
        Api::Gemini { streams } => models::gemini(streams, tool),
    })
}

/// The API that a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Api {
    Messages,
    Chat,
    Responses,
    Gemini { streams: bool },
}

impl Api {
    fn of(method: &Method, path: &str) -> Option<Self> {
        if method != Method::POST {
            return None;
        }
        let streams = path.ends_with(":streamGenerateContent");
        match path {
            "/v1/messages" => Some(Self::Messages),
            _ if path.ends_with("/chat/completions") => Some(Self::Chat),
            _ if path.ends_with("/responses") => Some(Self::Responses),
            _ if streams || path.ends_with(":generateContent") => Some(Self::Gemini { streams }),
            _ => None,
        }
    }

    fn has_tool_result(self, asked: &Asked) -> bool {
        match self {
            Self::Messages => asked.messages.iter().any(|message| match &message.content {
                Some(Content::Blocks(blocks)) => blocks.iter().any(|block| block.kind == "tool_result"),
                _ => false,
            }),
            Self::Chat => asked.messages.iter().any(|message| message.role == "tool"),
            Self::Responses => asked.input.iter().any(|item| item.kind == "function_call_output"),
            Self::Gemini { .. } => {
                asked.contents.iter().flat_map(|turn| &turn.parts).any(|part| part.result.is_some())
            }
        }
    }

    /// The tool that runs a command, if the request offers it.
    fn tool(self, asked: &Asked) -> Option<&str> {
        let names = asked.tools.iter().flat_map(|tool| {
            let own = Some(&tool.name).filter(|name| !name.is_empty());
            own.into_iter().chain(tool.function.iter().chain(&tool.declared).map(|function| &function.name))
        });
        names
            .map(String::as_str)
            .find(|name| ["Bash", "bash", "run_shell_command", "exec_command"].contains(name))
    }
}

/// The fields of a request that decide the reply, of all APIs. What is not there is empty.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Asked {
    stream: bool,
    tools: Vec<Tool>,
    messages: Vec<Message>,
    input: Vec<Typed>,
    contents: Vec<Turn>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tool {
    name: String,
    /// Chat completions.
    function: Option<Function>,
    /// Gemini.
    #[serde(rename = "functionDeclarations")]
    declared: Vec<Function>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Function {
    name: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message {
    role: String,
    content: Option<Content>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Blocks(Vec<Typed>),
    Text(IgnoredAny),
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Typed {
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Turn {
    parts: Vec<Part>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Part {
    #[serde(rename = "functionResponse")]
    result: Option<IgnoredAny>,
}

fn reply(content_type: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(content_type));
    response
}

/// A message in the API's format: complete for a request without streaming, or with empty content for the start of a
/// stream.
fn message(content: Value, stop_reason: Option<&str>) -> Value {
    json!({
        "id": "msg_deskbell",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": null,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    })
}

fn whole(calls_tool: bool) -> Value {
    let content = if calls_tool {
        json!([{"type": "tool_use", "id": "toolu_deskbell", "name": "Bash", "input": {"command": COMMAND}}])
    } else {
        json!([{"type": "text", "text": "Checked."}])
    };
    message(content, Some(stop_reason(calls_tool)))
}

fn stop_reason(calls_tool: bool) -> &'static str {
    if calls_tool { "tool_use" } else { "end_turn" }
}

/// The same message as server-sent events.
fn stream(calls_tool: bool) -> String {
    let (block, delta) = if calls_tool {
        let input = json!({"command": COMMAND}).to_string();
        (
            json!({"type": "tool_use", "id": "toolu_deskbell", "name": "Bash", "input": {}}),
            json!({"type": "input_json_delta", "partial_json": input}),
        )
    } else {
        (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": "Checked."}))
    };
    let events = [
        json!({"type": "message_start", "message": message(json!([]), None)}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({
            "type": "message_delta",
            "delta": {"stop_reason": stop_reason(calls_tool), "stop_sequence": null},
            "usage": {"output_tokens": 1},
        }),
        json!({"type": "message_stop"}),
    ];
    named(&events)
}

/// Server-sent events that are named as their type.
fn named(events: &[Value]) -> String {
    let line =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    events.iter().map(line).collect()
}
