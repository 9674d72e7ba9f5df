//! The server: accepts connections and answers each request according to the script of its prompt.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::conversation::Conversation;
use super::http::{read_request, send_json};
use super::reply::{self, Header};
use super::script::{self, Act, Ending};
use super::{Request, http};

/// State shared by the connections and the test's [`super::MockApi`].
pub(crate) struct Shared {
    pub requests: watch::Sender<Vec<Request>>,
    pub open_gates: watch::Sender<BTreeSet<String>>,
    n_messages: AtomicU32,
    /// The number of requests for each conversation: the CLI retries failed ones word for word.
    tries: Mutex<HashMap<u64, u32>>,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            requests: watch::Sender::new(Vec::new()),
            open_gates: watch::Sender::new(BTreeSet::new()),
            n_messages: AtomicU32::new(0),
            tries: Mutex::default(),
        }
    }
}

impl Shared {
    /// The number of this try, from 0, for exactly this conversation.
    fn try_idx(&self, conversation: &Conversation) -> u32 {
        let mut hasher = DefaultHasher::new();
        (&conversation.prompts, conversation.n_results, &conversation.newest_result).hash(&mut hasher);
        let mut tries = self.tries.lock().expect("nothing panics while it counts");
        let n_tries = tries.entry(hasher.finish()).or_default();
        *n_tries += 1;
        *n_tries - 1
    }
}

/// Accepts connections until it is aborted; they end with it.
pub(crate) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                // A broken connection is not an error: the peer may have been killed.
                Ok((stream, _)) => { connections.spawn(converse(stream, Arc::clone(&shared))); }
                Err(error) => eprintln!("the mock API could not accept a connection: {error}"),
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn converse(stream: TcpStream, shared: Arc<Shared>) -> io::Result<()> {
    // Without this each small delta would wait for the peer's acknowledgement of the one before.
    stream.set_nodelay(true)?;
    let (input, mut output) = stream.into_split();
    let mut input = BufReader::with_capacity(64 * 1024, input);
    while let Some(request) = read_request(&mut input).await? {
        shared.requests.send_modify(|requests| requests.push(request.clone()));
        let answer = answer(&request, &mut input, &mut output, &shared).await?;
        if answer.is_break() || request.header("connection").is_some_and(|value| value == "close") {
            break;
        }
    }
    Ok(())
}

/// Answers one request; breaks if the connection must not be used again.
async fn answer(
    request: &Request,
    input: &mut (impl AsyncBufRead + Unpin),
    output: &mut (impl AsyncWrite + Unpin),
    shared: &Shared,
) -> io::Result<ControlFlow<()>> {
    let path = request.path.split('?').next().unwrap_or_default();
    let mut send = async |status, body: &Value| send_json(output, status, &[], body).await;
    match (request.method.as_str(), path) {
        ("POST", "/v1/messages") => return answer_message(request, input, output, shared).await,
        ("POST", "/v1/messages/count_tokens") => send(200, &json!({"input_tokens": tokens(request)})).await?,
        ("GET", "/v1/models") => {
            let models: Vec<Value> = MODELS.iter().map(|name| model(name)).collect();
            send(200, &json!({"data": models, "has_more": false})).await?;
        }
        ("HEAD", _) => {
            // With the length of an absent body the peer would wait for the body.
            output.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await?;
        }
        _ => match path.strip_prefix("/v1/models/") {
            Some(name) if is_model(name) => send(200, &model(name)).await?,
            _ => send(404, &reply::error("not_found_error", "no such endpoint")).await?,
        },
    }
    Ok(ControlFlow::Continue(()))
}

async fn answer_message(
    request: &Request,
    input: &mut (impl AsyncBufRead + Unpin),
    output: &mut (impl AsyncWrite + Unpin),
    shared: &Shared,
) -> io::Result<ControlFlow<()>> {
    let mut header = Header {
        number: shared.n_messages.fetch_add(1, Ordering::Relaxed) + 1,
        model: request.model().unwrap_or_default().to_owned(),
        input_tokens: tokens(request),
        limit: None,
    };
    if !is_model(&header.model) {
        let error = reply::error("not_found_error", &format!("model: {}", header.model));
        send_json(output, 404, &header.http_headers(), &error).await?;
        return Ok(ControlFlow::Continue(()));
    }

    let conversation = Conversation::read(&request.body);
    let prompt = conversation.prompts.last().map_or("SAY nothing was asked", String::as_str);
    let step = script::step(prompt, conversation.n_results);
    let act = step.act(shared.try_idx(&conversation));
    header.limit = step.limit().map(str::to_owned);
    for gate in step.gates() {
        let mut open_gates = shared.open_gates.subscribe();
        tokio::select! {
            _ = open_gates.wait_for(|open| open.contains(gate)) => {}
            () = peer_gone(input) => return Ok(ControlFlow::Break(())),
        }
    }

    let reply = match act {
        Act::Reply(reply) => reply,
        Act::Recall => said(&recalled(&conversation)),
        Act::Heard => said(conversation.newest_result.as_deref().unwrap_or("nothing")),
        Act::Fail { status, kind, message, retry } => {
            let mut headers = header.http_headers();
            headers.extend((!retry).then(|| ("x-should-retry", "false".to_owned())));
            send_json(output, status, &headers, &reply::error(&kind, &message)).await?;
            return Ok(ControlFlow::Continue(()));
        }
        Act::Silence => {
            peer_gone(input).await;
            return Ok(ControlFlow::Break(()));
        }
        Act::HangUp => return Ok(ControlFlow::Break(())),
    };
    if request.body["stream"] == true {
        let sent = async {
            reply::stream(output, &header, &reply).await?;
            match reply.ending {
                Ending::Stop(_) | Ending::Refused(_) | Ending::Error(_) => Ok(ControlFlow::Continue(())),
                Ending::Drop => Ok(ControlFlow::Break(())),
                Ending::Hang => std::future::pending().await,
            }
        };
        // A peer that was interrupted or killed in mid-stream must not keep a slow reply alive.
        tokio::select! {
            biased;
            sent = sent => sent,
            () = peer_gone(input) => Ok(ControlFlow::Break(())),
        }
    } else {
        http::send_json(output, 200, &header.http_headers(), &reply::message(&header, &reply)).await?;
        Ok(ControlFlow::Continue(()))
    }
}

fn said(text: &str) -> script::Reply {
    script::Reply { blocks: vec![script::Block::Text(text.to_owned())], ending: Ending::Stop("end_turn") }
}

fn recalled(conversation: &Conversation) -> String {
    let earlier = conversation.prompts.split_last().map_or(&[][..], |(_, earlier)| earlier);
    if earlier.is_empty() { "nothing".to_owned() } else { earlier.join(" / ") }
}

/// Returns when the peer closes the connection, and never if it sends data instead.
async fn peer_gone(input: &mut (impl AsyncBufRead + Unpin)) {
    if let Ok(sent) = input.fill_buf().await
        && !sent.is_empty()
    {
        std::future::pending::<()>().await;
    }
}

/// A quarter of the bytes: a sufficient estimate, and the same in each run.
fn tokens(request: &Request) -> usize {
    request.body["messages"].to_string().len() / 4
}

const MODELS: [&str; 3] = ["claude-opus-5-5", "claude-sonnet-4-6", "claude-haiku-4-5"];

/// Every model name of the family is accepted, except one that a test made up to be refused.
fn is_model(name: &str) -> bool {
    name.starts_with("claude-") && !name.contains("no-such")
}

fn model(name: &str) -> Value {
    json!({"type": "model", "id": name, "display_name": name, "created_at": "2025-01-01T00:00:00Z"})
}
