//! A reply on the wire: as one message, or as a stream of events.

use std::io;
use std::iter;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio::io::AsyncWrite;

use super::http::EventStream;
use super::script::{Block, Ending, Reply};

/// The parts of a reply other than its blocks. Ids are derived from the request's number, so a run repeats exactly.
pub(crate) struct Header {
    /// The number of the request among all requests for a message.
    pub number: u32,
    pub model: String,
    pub input_tokens: usize,
    /// The state of the rate limit, if the script sets one.
    pub limit: Option<String>,
}

/// Seconds until the rate limit resets.
const RESET: u64 = 3 * 60 * 60;

impl Header {
    pub(crate) fn request_id(&self) -> String {
        format!("req_{:06}", self.number)
    }

    /// The headers of every reply. The names of the limit's headers are those that the CLI reads.
    pub(crate) fn http_headers(&self) -> Vec<(&'static str, String)> {
        let mut headers = vec![("request-id", self.request_id())];
        if let Some(status) = &self.limit {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
            let reset = (now + RESET).to_string();
            let utilization = match status.as_str() {
                "allowed" => "0.1",
                "rejected" => "1.0",
                _ => "0.92",
            };
            headers.push(("anthropic-ratelimit-unified-status", status.clone()));
            headers.push(("anthropic-ratelimit-unified-reset", reset.clone()));
            headers.push(("anthropic-ratelimit-unified-representative-claim", "five_hour".to_owned()));
            headers.push(("anthropic-ratelimit-unified-5h-status", status.clone()));
            headers.push(("anthropic-ratelimit-unified-5h-utilization", utilization.to_owned()));
            headers.push(("anthropic-ratelimit-unified-5h-reset", reset));
            if status == "allowed_warning" {
                headers.push(("anthropic-ratelimit-unified-5h-surpassed-threshold", "0.9".to_owned()));
            }
        }
        headers
    }

    fn message(&self, content: Value, stop_reason: Option<&str>, output_tokens: usize) -> Value {
        json!({
            "id": format!("msg_{:06}", self.number),
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": content,
            "stop_reason": stop_reason,
            "stop_sequence": null,
            "usage": {
                "input_tokens": self.input_tokens,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
                "output_tokens": output_tokens,
            },
        })
    }

    fn tool_use_id(&self, block_idx: usize) -> String {
        format!("toolu_{:06}_{block_idx}", self.number)
    }
}

/// The whole message, for a request that did not ask for a stream.
pub(crate) fn message(header: &Header, reply: &Reply) -> Value {
    let content: Vec<Value> =
        reply.blocks.iter().enumerate().map(|(idx, block)| whole(header, idx, block)).collect();
    header.message(content.into(), Some(stop_reason(reply)), output_tokens(reply))
}

/// Sends the reply event by event, up to its end or the point where it breaks off. The caller closes or keeps the
/// connection according to [`Reply::ending`].
pub(crate) async fn stream(
    output: &mut (impl AsyncWrite + Unpin),
    header: &Header,
    reply: &Reply,
) -> io::Result<()> {
    let mut events = EventStream::begin(output, &header.http_headers()).await?;
    events.push(&json!({"type": "message_start", "message": header.message(json!([]), None, 1)})).await?;
    for (idx, block) in reply.blocks.iter().enumerate() {
        let start =
            json!({"type": "content_block_start", "index": idx, "content_block": empty(header, idx, block)});
        events.push(&start).await?;
        for (pause, delta) in deltas(block) {
            if !pause.is_zero() {
                events.flush().await?;
                tokio::time::sleep(pause).await;
            }
            events.push(&json!({"type": "content_block_delta", "index": idx, "delta": delta})).await?;
        }
        if matches!(reply.ending, Ending::Stop(_) | Ending::Refused(_)) {
            events.push(&json!({"type": "content_block_stop", "index": idx})).await?;
        }
    }
    match &reply.ending {
        Ending::Hang | Ending::Drop => return events.flush().await,
        Ending::Error(kind) => events.push(&error(kind, "the script said so")).await?,
        Ending::Stop(_) | Ending::Refused(_) => {
            let mut delta = json!({"stop_reason": stop_reason(reply), "stop_sequence": null});
            if let Ending::Refused(category) = &reply.ending {
                delta["stop_details"] = json!({"type": "refusal", "category": category, "explanation": null});
            }
            let usage = json!({"output_tokens": output_tokens(reply)});
            events.push(&json!({"type": "message_delta", "delta": delta, "usage": usage})).await?;
            events.push(&json!({"type": "message_stop"})).await?;
        }
    }
    events.end().await
}

/// An error, as a body or as an event.
pub(crate) fn error(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

fn stop_reason(reply: &Reply) -> &'static str {
    match reply.ending {
        Ending::Stop(reason) => reason,
        Ending::Refused(_) => "refusal",
        Ending::Hang | Ending::Drop | Ending::Error(_) => "end_turn",
    }
}

fn output_tokens(reply: &Reply) -> usize {
    let sizes = reply.blocks.iter().map(|block| match block {
        Block::Text(text) | Block::Thinking(text) => text.len(),
        Block::Stream { n, word, .. } => *n as usize * word.len(),
        Block::ToolUse { input, .. } => input.to_string().len(),
    });
    1 + sizes.sum::<usize>() / 4
}

/// A block as it starts in a stream.
fn empty(header: &Header, idx: usize, block: &Block) -> Value {
    match block {
        Block::Text(_) | Block::Stream { .. } => json!({"type": "text", "text": ""}),
        Block::Thinking(_) => json!({"type": "thinking", "thinking": "", "signature": ""}),
        Block::ToolUse { name, .. } => {
            json!({"type": "tool_use", "id": header.tool_use_id(idx), "name": name, "input": {}})
        }
    }
}

/// A block in a whole message.
fn whole(header: &Header, idx: usize, block: &Block) -> Value {
    let mut whole = empty(header, idx, block);
    match block {
        Block::Text(text) => whole["text"] = text.as_str().into(),
        Block::Stream { n, word, .. } => whole["text"] = words(*n, word).collect::<String>().into(),
        Block::Thinking(text) => {
            whole["thinking"] = text.as_str().into();
            whole["signature"] = SIGNATURE.into();
        }
        Block::ToolUse { input, .. } => whole["input"] = input.clone(),
    }
    whole
}

const SIGNATURE: &str = "c2lnbmF0dXJl";

/// The deltas of a block, each with the pause before it.
fn deltas(block: &Block) -> Box<dyn Iterator<Item = (Duration, Value)> + Send + '_> {
    let text_delta = |text: &str| json!({"type": "text_delta", "text": text});
    match block {
        Block::Text(text) => Box::new(pieces(text).map(move |piece| (Duration::ZERO, text_delta(piece)))),
        Block::Stream { n, pause, word } => {
            Box::new(words(*n, word).map(move |word| (*pause, text_delta(&word))))
        }
        Block::Thinking(text) => {
            let thoughts = pieces(text).map(|piece| json!({"type": "thinking_delta", "thinking": piece}));
            let signature = iter::once(json!({"type": "signature_delta", "signature": SIGNATURE}));
            Box::new(thoughts.chain(signature).map(|delta| (Duration::ZERO, delta)))
        }
        Block::ToolUse { input, .. } => {
            let input = input.to_string();
            let parts: Vec<Value> = pieces(&input)
                .map(|piece| json!({"type": "input_json_delta", "partial_json": piece}))
                .collect();
            Box::new(parts.into_iter().map(|delta| (Duration::ZERO, delta)))
        }
    }
}

fn words(n: u32, word: &str) -> impl Iterator<Item = String> + Send {
    (1..=n).map(move |number| format!("{word}{number} "))
}

/// Cuts a text after its spaces, as tokens would; a long text into at most some hundred pieces.
fn pieces(text: &str) -> impl Iterator<Item = &str> + Send {
    let at_least = text.len() / 400;
    let mut size = 0;
    text.split_inclusive(move |char: char| {
        size += char.len_utf8();
        let ends = char == ' ' && size > at_least;
        if ends {
            size = 0;
        }
        ends
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock_api::script::{Act, step};

    fn reply(prompt: &str) -> Reply {
        match step(prompt, 0).act(0) {
            Act::Reply(reply) => reply,
            other => panic!("{other:?} is no reply"),
        }
    }

    async fn events(prompt: &str) -> Vec<Value> {
        let header = Header { number: 7, model: "m".into(), input_tokens: 3, limit: None };
        let mut output = Vec::new();
        stream(&mut output, &header, &reply(prompt)).await.unwrap();
        let output = String::from_utf8(output).unwrap();
        let data = output.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| serde_json::from_str(data).unwrap()).collect()
    }

    fn kinds(events: &[Value]) -> Vec<&str> {
        events.iter().map(|event| event["type"].as_str().unwrap()).collect()
    }

    #[tokio::test]
    async fn a_text_is_streamed_word_by_word() {
        let events = events("SAY one two").await;
        assert_eq!(
            kinds(&events),
            [
                "message_start",
                "content_block_start",
                "content_block_delta",
                "content_block_delta",
                "content_block_stop",
                "message_delta",
                "message_stop"
            ]
        );
        assert_eq!(events[2]["delta"]["text"], "one ");
        assert_eq!(events[0]["message"]["id"], "msg_000007");
    }

    #[tokio::test]
    async fn a_reply_that_breaks_off_has_no_end() {
        assert_eq!(kinds(&events("DROP half").await).last(), Some(&"content_block_delta"));
        assert_eq!(kinds(&events("STREAMERR overloaded_error half").await).last(), Some(&"error"));
    }

    #[test]
    fn the_whole_message_is_what_the_stream_adds_up_to() {
        let header = Header { number: 1, model: "m".into(), input_tokens: 3, limit: None };
        let message = message(&header, &reply("TALK look | BASH ls -l"));
        assert_eq!(message["content"][0]["text"], "look");
        assert_eq!(message["content"][1]["input"]["command"], "ls -l");
        assert_eq!(message["stop_reason"], "tool_use");
    }

    #[test]
    fn a_long_text_makes_few_pieces() {
        let text = "word ".repeat(100_000);
        assert!(pieces(&text).count() <= 401);
        assert_eq!(pieces(&text).collect::<String>(), text);
    }
}
