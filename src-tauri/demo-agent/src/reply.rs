//! A reply of the model: messages made of blocks, streamed as deltas if the host wants them.
//!
//! The order is the real CLI's: a block's deltas, then the whole block as an `assistant` line, then its
//! `content_block_stop`; after the last block `message_delta` and `message_stop`.

use std::time::Duration;

use serde_json::{Value, json};

use crate::agent::Cut;
use crate::call::PlayedCall;
use crate::message::{Kind, MessageDraft};
use crate::turn::PlayedTurn;
use crate::usage::{self, TokenCounts};
use crate::{clock, wire};

/// Splits a text into deltas of `count` words, without losing a character.
pub fn words(text: &str, count: usize) -> Vec<&str> {
    let mut deltas = Vec::new();
    let mut start = 0;
    let mut seen = 0;
    let mut in_word = false;
    for (at, letter) in text.char_indices() {
        if letter.is_whitespace() {
            in_word = false;
        } else if !in_word {
            in_word = true;
            seen += 1;
            if seen > count {
                deltas.push(&text[start..at]);
                start = at;
                seen = 1;
            }
        }
    }
    if start < text.len() {
        deltas.push(&text[start..]);
    }
    deltas
}

impl PlayedTurn<'_> {
    /// Begins a message.
    pub fn open_message(&mut self) -> Result<(), Cut> {
        if let Some(limit) = self.agent.options.max_turns
            && self.requests >= limit
        {
            return Err(Cut::OutOfTurns(limit));
        }
        self.agent.pause(Duration::ZERO)?;
        let (model, context) = {
            let state = self.agent.lock();
            (state.model.clone(), state.context)
        };
        self.requests += 1;
        let usage = TokenCounts { input: 100, cached: context, output: 0, thinking: 0 };
        let message = MessageDraft {
            id: wire::short_id("msg"),
            request_id: wire::short_id("req"),
            model,
            usage,
            blocks: 0,
            block: None,
        };
        let start = json!({
            "type": "message_start",
            "message": {
                "id": message.id,
                "type": "message",
                "role": "assistant",
                "model": message.model,
                "content": [],
                "stop_reason": null,
                "stop_sequence": null,
                "usage": message.usage.of_message(),
            },
        });
        self.message = Some(message);
        if self.agent.options.partials {
            self.agent.send(wire::status(Some("requesting")));
        }
        let first = self.elapsed_ms();
        self.first_frame_ms.get_or_insert(first);
        self.event_with(start, json!({"ttft_ms": first, "thinking_display": "updates"}));
        Ok(())
    }

    /// Writes a thought, in deltas with a pause before each.
    pub fn thinking(&mut self, deltas: &[&str], pause: Duration) -> Result<(), Cut> {
        self.open_block(Kind::Thinking, json!({"type": "thinking", "thinking": "", "signature": ""}));
        let mut estimate = 0;
        for delta in deltas {
            self.agent.pause(pause)?;
            if self.agent.options.partials {
                let more = usage::tokens(delta);
                estimate += more;
                self.agent.send(json!({
                    "type": "system",
                    "subtype": "thinking_tokens",
                    "estimated_tokens": estimate,
                    "estimated_tokens_delta": more,
                }));
            }
            self.delta(delta, json!({"type": "thinking_delta", "thinking": delta}));
        }
        let signature = "ZGVtbw==";
        self.event(json!({
            "type": "content_block_delta",
            "index": self.block_index(),
            "delta": {"type": "signature_delta", "signature": signature},
        }));
        let text = self.block_text();
        if let Some(message) = &mut self.message {
            message.usage.thinking += usage::tokens(&text);
        }
        self.close_block(json!({"type": "thinking", "thinking": text, "signature": signature}));
        Ok(())
    }

    /// Writes a text, in deltas with a pause before each.
    pub fn text(&mut self, deltas: &[&str], pause: Duration) -> Result<(), Cut> {
        self.open_block(Kind::Text, json!({"type": "text", "text": ""}));
        for delta in deltas {
            self.agent.pause(pause)?;
            self.delta(delta, json!({"type": "text_delta", "text": delta}));
        }
        self.text = self.block_text();
        self.close_block(json!({"type": "text", "text": self.text}));
        Ok(())
    }

    /// Writes a whole text, in one line and without deltas. It does not become the turn's result.
    pub fn whole_text(&mut self, text: &str) {
        self.open_block(Kind::Text, json!({"type": "text", "text": ""}));
        self.close_block(json!({"type": "text", "text": text}));
    }

    /// Writes a whole block of any kind.
    pub fn whole_block(&mut self, block: Value) {
        self.open_block(Kind::Text, block.clone());
        self.close_block(block);
    }

    /// Begins a text and drops the message like a lost connection: nothing is closed, and the message is sent again.
    pub fn abandon_text(&mut self, deltas: &[&str], pause: Duration) -> Result<(), Cut> {
        self.open_block(Kind::Text, json!({"type": "text", "text": ""}));
        for delta in deltas {
            self.agent.pause(pause)?;
            self.delta(delta, json!({"type": "text_delta", "text": delta}));
        }
        self.message = None;
        self.requests = self.requests.saturating_sub(1);
        Ok(())
    }

    /// Calls a tool, its input in deltas with a pause before each.
    pub fn tool_use(&mut self, name: &str, input: Value, pause: Duration) -> Result<PlayedCall, Cut> {
        const DELTA: usize = 24;
        let call = PlayedCall { id: wire::short_id("toolu"), name: name.to_owned(), input, waiting: false };
        self.open_block(Kind::ToolUse, json!({"type": "tool_use", "id": call.id, "name": name, "input": {}}));
        let text = call.input.to_string();
        let letters: Vec<char> = text.chars().collect();
        for part in letters.chunks(DELTA) {
            self.agent.pause(pause)?;
            let part: String = part.iter().collect();
            self.delta(&part, json!({"type": "input_json_delta", "partial_json": part}));
        }
        self.close_block(json!({"type": "tool_use", "id": call.id, "name": name, "input": call.input}));
        self.calls.push(call.clone());
        Ok(call)
    }

    /// Ends the message.
    pub fn close_message(&mut self, stop_reason: &str) {
        let Some(message) = &self.message else { return };
        let delta = json!({
            "type": "message_delta",
            "delta": {"stop_reason": stop_reason, "stop_sequence": null},
            "usage": message.usage.of_message(),
        });
        self.event(delta);
        self.event(json!({"type": "message_stop"}));
        self.end_message();
    }

    /// A message of one text.
    pub fn say(&mut self, text: &str, per_delta: usize, pause: Duration) -> Result<(), Cut> {
        self.open_message()?;
        self.text(&words(text, per_delta), pause)?;
        self.close_message("end_turn");
        Ok(())
    }

    /// Cuts the message off: writes the partial open block, then the lines of `between`, then the closing events.
    pub fn cut_message(&mut self, between: impl FnOnce(&mut Self)) {
        let open = self.message.as_mut().and_then(|message| message.block.take());
        let had_block = open.is_some();
        if let Some((kind, text)) = open
            && kind != Kind::ToolUse
            && !text.is_empty()
        {
            let block = match kind {
                Kind::Thinking => json!({"type": "thinking", "thinking": text, "signature": ""}),
                _ => json!({"type": "text", "text": text}),
            };
            let extra = if self.agent.old() { json!({}) } else { json!({"aborted": true}) };
            self.assistant(block, extra);
        }
        between(self);
        if had_block {
            self.event(json!({"type": "content_block_stop", "index": self.block_index()}));
        }
        let Some(message) = &self.message else { return };
        let delta = json!({
            "type": "message_delta",
            "context_management": null,
            "delta": {"container": null, "stop_details": null, "stop_reason": null, "stop_sequence": null},
            "usage": message.usage.of_message(),
        });
        let abandoned = json!({"abandoned_blocks": {"api_message_id": message.id, "from_block_index": message.blocks + 1}});
        self.event(delta);
        self.event_with(json!({"type": "message_stop"}), abandoned);
        self.end_message();
    }

    fn end_message(&mut self) {
        if let Some(message) = self.message.take() {
            self.spend(&message.model, message.usage);
        }
    }

    fn open_block(&mut self, kind: Kind, block: Value) {
        if let Some(message) = &mut self.message {
            message.block = Some((kind, String::new()));
        }
        let event =
            json!({"type": "content_block_start", "index": self.block_index(), "content_block": block});
        self.event(event);
    }

    fn delta(&mut self, text: &str, delta: Value) {
        if let Some(message) = &mut self.message {
            if let Some((_, so_far)) = &mut message.block {
                so_far.push_str(text);
            }
            message.usage.output += usage::tokens(text);
        }
        self.event(json!({"type": "content_block_delta", "index": self.block_index(), "delta": delta}));
    }

    fn close_block(&mut self, block: Value) {
        self.assistant(block, json!({}));
        self.event(json!({"type": "content_block_stop", "index": self.block_index()}));
        if let Some(message) = &mut self.message {
            message.block = None;
            message.blocks += 1;
        }
    }

    fn block_index(&self) -> usize {
        self.message.as_ref().map_or(0, |message| message.blocks)
    }

    fn block_text(&self) -> String {
        let block = self.message.as_ref().and_then(|message| message.block.as_ref());
        block.map(|(_, text)| text.clone()).unwrap_or_default()
    }

    /// Writes a block as an `assistant` line and stores it.
    fn assistant(&self, block: Value, extra: Value) {
        let Some(message) = &self.message else { return };
        let mut provisional = message.usage;
        provisional.output = 1;
        let mut line = json!({
            "type": "assistant",
            "message": {
                "id": message.id,
                "type": "message",
                "role": "assistant",
                "model": message.model,
                "content": [block],
                "stop_reason": null,
                "stop_sequence": null,
                "usage": provisional.of_message(),
                "context_management": null,
            },
            "parent_tool_use_id": null,
        });
        let stop_reason = if block_is_call(&line) { "tool_use" } else { "end_turn" };
        let mut state = self.agent.lock();
        wire::stamp(&mut line, &state.session_id);
        line["timestamp"] = clock::timestamp().into();
        line["request_id"] = message.request_id.clone().into();
        if let (Some(line), Value::Object(extra)) = (line.as_object_mut(), extra) {
            line.extend(extra);
        }
        state.store.assistant(&line, message.usage.of_result(), stop_reason);
        self.agent.output.line(&line);
    }

    fn event(&self, event: Value) {
        self.event_with(event, json!({}));
    }

    fn event_with(&self, event: Value, extra: Value) {
        let Some(message) = self.message.as_ref().filter(|_| self.agent.options.partials) else { return };
        let mut line = wire::stream_event(event, &self.agent.lock().session_id, &message.id);
        if let (Some(line), Value::Object(extra)) = (line.as_object_mut(), extra) {
            line.extend(extra);
        }
        self.agent.output.line(&line);
    }
}

fn block_is_call(line: &Value) -> bool {
    line.pointer("/message/content/0/type").and_then(Value::as_str) == Some("tool_use")
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_lose_nothing() {
        let text = "  A line,\n\nanother\u{2003}one — and `code`.\n";
        for count in 1..6 {
            assert_eq!(words(text, count).concat(), text);
        }
        assert_eq!(words("a b c", 2), ["a b ", "c"]);
        assert!(words("", 1).is_empty());
        assert_eq!(words(" ", 1), [" "]);
    }
}
