//! A Messages API on loopback. It makes the agent call one tool and then ends the turn.

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

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
    let is_message = request.method() == Method::POST && request.uri().path() == "/v1/messages";
    // A body that cannot be read is treated as empty.
    let body = request.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    if !is_message {
        return Ok(reply("application/json", "{}".to_owned()));
    }
    let has_result = has_tool_result(&asked);
    saw_tool_result.fetch_or(has_result, Ordering::Relaxed);
    let calls_tool = !has_result && offers_bash(&asked);
    Ok(if asked["stream"] == true {
        reply("text/event-stream", stream(calls_tool))
    } else {
        reply("application/json", whole(calls_tool).to_string())
    })
}

fn reply(content_type: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body)));
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(content_type));
    response
}

fn offers_bash(asked: &Value) -> bool {
    asked["tools"].as_array().is_some_and(|tools| tools.iter().any(|tool| tool["name"] == "Bash"))
}

fn has_tool_result(asked: &Value) -> bool {
    let blocks = asked["messages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|message| message["content"].as_array());
    blocks.flatten().any(|block| block["type"] == "tool_result")
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
    let named =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    events.iter().map(named).collect()
}
