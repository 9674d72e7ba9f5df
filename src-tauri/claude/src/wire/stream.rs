//! Stream events: the parts of a reply while it is generated.

use super::message::{TokenCounts, read_content_block};
use deskbell_agent::{Stream, StreamEvent};
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;

/// Parses the stream event in a line.
pub(super) fn read_stream(text: &str) -> Result<Stream, serde_json::Error> {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        event: Event<'a>,
        #[serde(default)]
        parent_tool_use_id: Option<String>,
    }
    #[derive(Deserialize)]
    struct Event<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
        #[serde(default)]
        index: u32,
        #[serde(default)]
        message: Option<Message>,
        #[serde(default)]
        content_block: Option<Value>,
        #[serde(borrow, default)]
        delta: Option<Delta<'a>>,
        #[serde(default)]
        usage: Option<TokenCounts>,
    }
    #[derive(Deserialize)]
    struct Message {
        #[serde(default)]
        id: String,
    }
    #[derive(Deserialize)]
    struct Delta<'a> {
        #[serde(borrow, default, rename = "type")]
        kind: Cow<'a, str>,
        #[serde(default)]
        text: String,
        #[serde(default)]
        thinking: String,
        #[serde(default)]
        partial_json: String,
    }
    let Outer { event, parent_tool_use_id } = serde_json::from_str(text)?;
    let index = event.index;
    let event = match (event.kind.as_ref(), event.message, event.content_block, event.delta) {
        ("message_start", Some(message), ..) => StreamEvent::MessageStart { message_id: message.id },
        ("content_block_start", _, Some(block), _) => {
            StreamEvent::BlockStart { index, block: read_content_block(block) }
        }
        ("content_block_delta", .., Some(delta)) => match delta.kind.as_ref() {
            "text_delta" => StreamEvent::TextDelta { index, text: delta.text },
            "thinking_delta" => StreamEvent::ThinkingDelta { index, text: delta.thinking },
            "input_json_delta" => StreamEvent::InputDelta { index, json: delta.partial_json },
            _ => StreamEvent::Other,
        },
        ("content_block_stop", ..) => StreamEvent::BlockStop { index },
        ("message_delta", ..) => StreamEvent::MessageDelta { usage: event.usage.map(TokenCounts::into) },
        ("message_stop", ..) => StreamEvent::MessageStop,
        _ => StreamEvent::Other,
    };
    Ok(Stream { event, parent_tool_use_id })
}
