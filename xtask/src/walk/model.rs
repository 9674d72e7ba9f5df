//! A stand-in for the model of Claude Code, on loopback: it answers each prompt with the same sentence.
//!
//! The tests have one that follows a script (`tests/src/mock_api.rs`). That is a crate with dependencies, and the walk
//! must not compile anything of its own.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use crate::Outcome;

/// The answer.
pub const ANSWER: &str =
    "Hello! This is the first answer of Claude Code. Its model is a stand-in on this computer.";

/// The running stand-in; it ends with the process.
pub struct Model {
    address: SocketAddr,
    answered: Receiver<()>,
}

impl Model {
    /// Listens on a free port of 127.0.0.1.
    pub fn start() -> Outcome<Self> {
        let error = |error| format!("could not start the stand-in for the model: {error}");
        let listener = TcpListener::bind("127.0.0.1:0").map_err(error)?;
        let address = listener.local_addr().map_err(error)?;
        let (sender, answered) = mpsc::channel();
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let sender = sender.clone();
                // A client that leaves early needs no answer.
                thread::spawn(move || serve(connection, &sender).unwrap_or_default());
            }
        });
        Ok(Self { address, answered })
    }

    /// The variables by which Claude Code uses it, with a key that opens nothing.
    pub fn variables(&self) -> [(&'static str, String); 4] {
        [
            ("ANTHROPIC_BASE_URL", format!("http://{}", self.address)),
            ("ANTHROPIC_API_KEY", "dummy".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
        ]
    }

    /// Waits until it has answered a prompt.
    pub fn wait_for_prompt(&self, limit: Duration) -> Outcome {
        let waited = self.answered.recv_timeout(limit);
        waited.map_err(|_| format!("no prompt reached the model within {} s", limit.as_secs()))
    }
}

/// Answers one request.
fn serve(connection: TcpStream, answered: &Sender<()>) -> std::io::Result<()> {
    let mut reader = BufReader::new(&connection);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut n_bytes = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            n_bytes = value.trim().parse().unwrap_or_default();
        }
    }
    let mut body = vec![0; n_bytes];
    reader.read_exact(&mut body)?;

    let is_prompt = first.starts_with("POST /v1/messages?") || first.starts_with("POST /v1/messages ");
    let is_streamed = String::from_utf8_lossy(&body).contains(r#""stream":true"#);
    let (kind, text) = match (is_prompt, is_streamed) {
        (true, true) => ("text/event-stream", streamed()),
        (true, false) => ("application/json", message(&block(ANSWER), r#""end_turn""#)),
        (false, _) => ("application/json", r#"{"object":"list","data":[]}"#.to_owned()),
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        text.len()
    );
    let mut connection = &connection;
    connection.write_all(head.as_bytes())?;
    if !first.starts_with("HEAD ") {
        connection.write_all(text.as_bytes())?;
    }
    if is_prompt && is_streamed {
        // Without a receiver the walk is over.
        let _ = answered.send(());
    }
    Ok(())
}

fn block(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

fn message(content: &str, stop_reason: &str) -> String {
    format!(
        r#"{{"id":"msg_walk","type":"message","role":"assistant","model":"claude","content":[{content}],"stop_reason":{stop_reason},"stop_sequence":null,"usage":{{"input_tokens":1,"output_tokens":1}}}}"#
    )
}

/// The answer as server-sent events.
fn streamed() -> String {
    let start = format!(r#""message":{}"#, message("", "null"));
    let begun = format!(r#""index":0,"content_block":{}"#, block(""));
    let delta = format!(r#""index":0,"delta":{{"type":"text_delta","text":"{ANSWER}"}}"#);
    let end = r#""delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":1}"#;
    let events = [
        ("message_start", start.as_str()),
        ("content_block_start", &begun),
        ("content_block_delta", &delta),
        ("content_block_stop", r#""index":0"#),
        ("message_delta", end),
    ];
    let mut text: String = events
        .iter()
        .map(|(kind, fields)| format!("event: {kind}\ndata: {{\"type\":\"{kind}\",{fields}}}\n\n"))
        .collect();
    text.push_str("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn what_is_answered_is_json() {
        let answer: Value = serde_json::from_str(&message(&block(ANSWER), "null")).unwrap();
        assert_eq!(answer["type"], "message");
        for line in streamed().lines().filter_map(|line| line.strip_prefix("data: ")) {
            assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
        }
    }

    #[test]
    fn a_prompt_is_answered_and_counted() {
        let model = Model::start().unwrap();
        let mut connection = TcpStream::connect(model.address).unwrap();
        let body = r#"{"stream":true}"#;
        write!(
            connection,
            "POST /v1/messages?beta=true HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        assert!(answer.contains(ANSWER) && answer.ends_with("\n\n"), "{answer}");
        assert_eq!(model.wait_for_prompt(Duration::from_secs(20)), Ok(()));
    }
}
