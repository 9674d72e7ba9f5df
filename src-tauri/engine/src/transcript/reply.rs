//! A reply of the agent: its blocks while they stream, and whole.

use super::Transcript;
use super::news::{Dirty, apply};
use crate::api::*;
use crate::document::{self, Change, Stream as Document};
use crate::wire::{Assistant, ContentBlock, Stream, StreamEvent};
use serde_json::Value;
use std::collections::HashMap;

/// A longer text is kept once, as the document it is.
const SOURCE_LIMIT: usize = 1024 * 1024;

/// The reply that is being streamed.
pub(super) struct Reply {
    message_id: String,
    /// Its blocks that are not whole yet.
    pub(super) open: HashMap<u32, ItemId>,
}

impl Transcript {
    pub(super) fn stream(&mut self, now: u64, stream: &Stream) {
        // Subagents do not stream (2.1.329); if one ever does, its whole blocks are enough.
        if stream.parent_tool_use_id.is_some() {
            return;
        }
        match &stream.event {
            StreamEvent::MessageStart { message_id } => {
                self.void_reply();
                self.reply = Some(Reply { message_id: message_id.clone(), open: HashMap::new() });
            }
            StreamEvent::BlockStart { index, block } => {
                let Some(reply) = &mut self.reply else { return };
                let (id, body) = match block {
                    ContentBlock::Text { .. } => (
                        block_id(&reply.message_id, *index),
                        Body::Text { blocks: Vec::new(), streaming: true },
                    ),
                    ContentBlock::Thinking { .. } => (
                        block_id(&reply.message_id, *index),
                        Body::Thinking { text: String::new(), streaming: true, duration_ms: None },
                    ),
                    ContentBlock::ToolUse { id, name, .. } => {
                        reply.open.insert(*index, ItemId::new(id));
                        self.tool_begins(now, id, name, &Value::Null, None, ToolState::Preparing);
                        return;
                    }
                    _ => return,
                };
                reply.open.insert(*index, id.clone());
                if matches!(body, Body::Text { .. }) {
                    self.documents.insert(id.clone(), Document::default());
                }
                self.add(id, None, now, body);
            }
            StreamEvent::TextDelta { index, text } => {
                let Some(id) = self.reply.as_ref().and_then(|reply| reply.open.get(index)).cloned() else {
                    return;
                };
                if let Some(document) = self.documents.get_mut(&id) {
                    document.push(text);
                    self.touch(&id, Dirty::Grown);
                }
            }
            StreamEvent::ThinkingDelta { index, text } => {
                let Some(id) = self.reply.as_ref().and_then(|reply| reply.open.get(index)).cloned() else {
                    return;
                };
                if let Some(Body::Thinking { text: known, .. }) = self.body(&id) {
                    known.push_str(text);
                    self.touch(&id, Dirty::Grown);
                }
            }
            // The whole block comes before its stop, and says it all.
            StreamEvent::BlockStop { .. } => {}
            StreamEvent::MessageStop => self.close_reply(),
            StreamEvent::InputDelta { .. } | StreamEvent::MessageDelta { .. } | StreamEvent::Other => {}
        }
    }

    /// Ends a streamed reply. Blocks that never became whole stay as far as they came, for now.
    pub(super) fn close_reply(&mut self) {
        let Some(reply) = self.reply.take() else { return };
        for id in reply.open.into_values() {
            self.finish(&id, None, None);
            self.broken_off.push(id);
        }
    }

    /// The reply begins again: what came of the first copy is not part of the conversation.
    fn void_reply(&mut self) {
        self.close_reply();
        for id in std::mem::take(&mut self.broken_off) {
            self.remove(&id);
        }
    }

    /// Ends the streaming of a text or a thought, with its whole text if that is known.
    fn finish(&mut self, id: &ItemId, whole: Option<String>, thought_ms: Option<u64>) {
        if let Some(mut document) = self.documents.remove(id) {
            let (source, change, was_streamed) = match whole {
                // What was never streamed needs no stream, which keeps its text.
                Some(whole) if document.text().is_empty() => {
                    let blocks = document::markdown(&whole);
                    (whole.into_boxed_str(), Some(Change::Blocks { keep: 0, blocks }), false)
                }
                whole => {
                    whole.iter().for_each(|whole| document.set_text(whole));
                    document.finish();
                    (document.text().into(), document.take_change(), true)
                }
            };
            if source.len() <= SOURCE_LIMIT {
                self.sources.insert(id.clone(), source);
            }
            let Some(Body::Text { blocks, streaming }) = self.body(id) else { return };
            *streaming = false;
            match change {
                Some(change) if was_streamed => {
                    apply(blocks, change.clone());
                    self.last_changes.insert(id.clone(), change);
                }
                // All of it is new to everybody: no copy of its end is less.
                Some(change) => apply(blocks, change),
                None => {}
            }
            self.touch(id, if was_streamed { Dirty::Finished } else { Dirty::Changed });
        } else if let Some(Body::Thinking { text, streaming, duration_ms }) = self.body(id) {
            *streaming = false;
            *duration_ms = thought_ms.or(*duration_ms);
            if let Some(whole) = whole.filter(|whole| !whole.is_empty()) {
                *text = whole;
            }
            self.touch(id, Dirty::Changed);
        }
    }

    pub(super) fn assistant(&mut self, now: u64, assistant: &mut Assistant) {
        let content = std::mem::take(&mut assistant.message.content);
        let message_id = &assistant.message.id;
        let parent = assistant.parent_tool_use_id.as_ref().map(ItemId::new);
        // After an error in the stream the reply comes again under another id, and not streamed (2.1.329): what came
        // of the first copy is void. A message of the CLI's own is about the failure, and voids nothing.
        let is_another = self.reply.as_ref().is_none_or(|reply| reply.message_id != *message_id);
        let is_the_clis_own = assistant.message.model.as_deref() == Some("<synthetic>");
        if parent.is_none() && is_another && !is_the_clis_own {
            self.broken_off.retain(|id| !id.as_str().starts_with(&format!("{message_id}.")));
            self.void_reply();
        }
        for block in content {
            let count = self.n_blocks.entry(message_id.clone()).or_default();
            let place = *count;
            *count += 1;
            let id = block_id(message_id, place);
            if let Some(reply) = &mut self.reply
                && reply.message_id == *message_id
            {
                reply.open.remove(&place);
            }
            match block {
                ContentBlock::Text { text } => {
                    if !self.index.contains_key(&id) {
                        // 2.1.197 answers `/clear` with these words, in the model's name.
                        if text.is_empty() || (is_the_clis_own && text == "(no content)") {
                            continue;
                        }
                        self.add(
                            id.clone(),
                            parent.clone(),
                            now,
                            Body::Text { blocks: Vec::new(), streaming: true },
                        );
                    }
                    self.documents.entry(id.clone()).or_default();
                    self.finish(&id, Some(text), None);
                    self.own_words = is_the_clis_own.then_some(id);
                }
                ContentBlock::Thinking { text } => {
                    if !self.index.contains_key(&id) {
                        let body = Body::Thinking { text: String::new(), streaming: true, duration_ms: None };
                        self.add(id.clone(), parent.clone(), now, body);
                    }
                    self.finish(&id, Some(text), assistant.thinking_duration_ms);
                }
                ContentBlock::ToolUse { id, name, input } => {
                    self.tool_begins(now, &id, &name, &input, parent.clone(), ToolState::Running);
                    // Whoever watches what is asked has to see what was called.
                    assistant.message.content.push(ContentBlock::ToolUse { id, name, input });
                }
                ContentBlock::Image | ContentBlock::ToolResult { .. } => {}
                ContentBlock::Unknown { kind, raw } => {
                    let detail = serde_json::to_string_pretty(&raw).unwrap_or_default();
                    self.notice(
                        now,
                        Level::Info,
                        format!("The agent sent a block of kind “{kind}”"),
                        Some(detail),
                    );
                }
            }
        }
    }
}

fn block_id(message_id: &str, place: u32) -> ItemId {
    ItemId(format!("{message_id}.{place}"))
}
