//! A mock Messages API on the loopback interface, for tests in which the real CLI must not reach the real service.
//!
//! The prompt contains its replies: each line of the newest prompt is a directive (see [`script`]), and the n-th
//! request of a turn carries out the n-th line. So a test states a prompt and the “model's” reaction in one place, and
//! needs no set-up.
//!
//! HTTP/1.1 is written by hand over tokio's `TcpListener`. This server exists for replies that break off in mid-stream,
//! never arrive or wait for the test; with a plain socket each is one line. The rest of HTTP that the CLI needs fits on
//! a page (`http`).
//!
//! Every request is recorded before it is answered. The server ends when its [`MockApi`] is dropped.

mod conversation;
pub(crate) mod http;
mod reply;
pub mod script;
mod server;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use conversation::Conversation;
use server::Shared;

/// A running server.
pub struct MockApi {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

/// A request as it was received.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    /// With its query.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// `null` if the body was empty or not JSON.
    pub body: Value,
}

impl MockApi {
    /// Listens on a free port of 127.0.0.1.
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.context("binding the mock API")?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let server = tokio::spawn(server::serve(listener, Arc::clone(&shared)));
        Ok(Self { address, shared, server })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The value for `ANTHROPIC_BASE_URL`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far, in the order in which they came.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.requests.borrow().clone()
    }

    /// The requests for a message so far, as sent to the model.
    pub fn messages(&self) -> Vec<Request> {
        self.requests().into_iter().filter(Request::is_message).collect()
    }

    /// Waits until the requests fulfil a condition, and returns them; fails after `deadline`.
    pub async fn wait_for(
        &self,
        what: &str,
        deadline: Duration,
        fulfilled: impl Fn(&[Request]) -> bool,
    ) -> Result<Vec<Request>> {
        let mut requests = self.shared.requests.subscribe();
        let waited = tokio::time::timeout(deadline, requests.wait_for(|requests| fulfilled(requests))).await;
        match waited {
            Ok(found) => Ok(found.context("the mock API is gone")?.clone()),
            Err(_) => {
                let seen: Vec<String> = self.requests().iter().map(ToString::to_string).collect();
                bail!("the mock API waited {deadline:?} for {what}; it has seen:\n{}", seen.join("\n"))
            }
        }
    }

    /// Waits until a request whose newest prompt is `prompt` came in.
    pub async fn wait_for_prompt(&self, prompt: &str, deadline: Duration) -> Result<Request> {
        let asked = |request: &Request| request.prompt().as_deref() == Some(prompt);
        let what = format!("the prompt {prompt:?}");
        let requests = self.wait_for(&what, deadline, |requests| requests.iter().any(asked)).await?;
        requests.into_iter().find(asked).context("it was there a moment ago")
    }

    /// Opens `GATE name`: replies that wait there now or later continue.
    pub fn open(&self, gate: &str) {
        self.shared.open_gates.send_modify(|open| {
            open.insert(gate.to_owned());
        });
    }
}

impl Drop for MockApi {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Request {
    /// Whether it asked for a message, not for a count, a list or a sign of life.
    pub fn is_message(&self) -> bool {
        self.method == "POST" && self.path.split('?').next() == Some("/v1/messages")
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The newest prompt, without the CLI's additions.
    pub fn prompt(&self) -> Option<String> {
        self.prompts().pop()
    }

    /// Every prompt of the conversation in this request, oldest first.
    pub fn prompts(&self) -> Vec<String> {
        Conversation::read(&self.body).prompts
    }

    /// What the user sent in the middle of turns, oldest first.
    pub fn joined(&self) -> Vec<String> {
        Conversation::read(&self.body).joined
    }

    /// The newest tool result, as the model reads it.
    pub fn tool_result(&self) -> Option<String> {
        Conversation::read(&self.body).newest_result
    }

    pub fn model(&self) -> Option<&str> {
        self.body["model"].as_str()
    }
}

/// One line, for the message of a failed wait.
impl std::fmt::Display for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.path)?;
        match self.prompt() {
            Some(prompt) => write!(f, " {prompt:?}"),
            None => Ok(()),
        }
    }
}
