//! Replies of the agent: their blocks while streaming and when complete.

use super::changes::{ChangeKind, apply};
use super::{Transcript, tool};
use crate::agent::{Assistant, AssistantMessage, ContentBlock, Stream, StreamEvent};
use crate::api::*;
use crate::document::{self, DocumentChange, Painting, Stream as Document};
use std::collections::HashMap;

/// The source of a longer text is not stored; only its document is.
const SOURCE_LIMIT: usize = 1024 * 1024;

/// The reply that is being streamed.
pub(super) struct Reply {
    message_id: String,
    /// Its incomplete blocks, by index.
    pub(super) open: HashMap<u32, ItemId>,
}

impl Transcript {
    pub(super) fn stream(&mut self, now: u64, stream: &Stream) {
        // Subagents do not stream (2.1.329). If one ever does, its complete blocks are enough.
        if stream.parent_tool_use_id.is_some() {
            return;
        }
        match &stream.event {
            StreamEvent::MessageStart { message_id } => {
                self.void_reply();
                self.retries_over();
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
                    ContentBlock::ToolUse { id, call } => {
                        reply.open.insert(*index, ItemId::new(id));
                        let begun = tool::Begun { call: call.without_input(), state: ToolState::Preparing };
                        self.tool_begins(now, id, begun, None);
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
                    self.touch(&id, ChangeKind::Grown);
                }
            }
            StreamEvent::ThinkingDelta { index, text } => {
                let Some(id) = self.reply.as_ref().and_then(|reply| reply.open.get(index)).cloned() else {
                    return;
                };
                if let Some(Body::Thinking { text: known, .. }) = self.body(&id) {
                    known.push_str(text);
                    self.touch(&id, ChangeKind::Grown);
                }
            }
            // The complete block arrives before its stop event and has all the content.
            StreamEvent::BlockStop { .. } => {}
            StreamEvent::MessageStop => self.close_reply(),
            StreamEvent::InputDelta { .. } | StreamEvent::MessageDelta { .. } | StreamEvent::Other => {}
        }
    }

    /// Ends a streamed reply. For now, incomplete blocks stay as they are.
    pub(super) fn close_reply(&mut self) {
        let Some(reply) = self.reply.take() else { return };
        for id in reply.open.into_values() {
            self.finish(&id, None, None);
            self.broken_off.push(id);
        }
    }

    /// The reply starts again: removes what was received of the first copy.
    fn void_reply(&mut self) {
        self.close_reply();
        for id in std::mem::take(&mut self.broken_off) {
            self.remove(&id);
        }
    }

    /// Ends the streaming of a text or thinking block, with its complete text if known.
    fn finish(&mut self, id: &ItemId, whole: Option<String>, thought_ms: Option<u64>) {
        if let Some(mut document) = self.documents.remove(id) {
            let (source, change, was_streamed) = match whole {
                // A text that was never streamed needs no stream, which would keep its text.
                Some(whole) if document.text().is_empty() => {
                    let blocks = document::markdown(&whole);
                    (whole.into_boxed_str(), Some(DocumentChange::Blocks { keep: 0, blocks }), false)
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
            let painting = if was_streamed { Some(document.into_painting()) } else { None };
            let Some(Body::Text { blocks, streaming }) = self.body(id) else { return };
            *streaming = false;
            match change {
                Some(change) if was_streamed => {
                    apply(blocks, change.clone());
                    self.last_changes.insert(id.clone(), change);
                }
                // No subscriber has any of it yet, so a patch would not be smaller.
                Some(change) => apply(blocks, change),
                None => {}
            }
            let painting = painting.or_else(|| match self.body(id) {
                Some(Body::Text { blocks, .. }) => Some(Painting::of(blocks)),
                _ => None,
            });
            if let Some(painting) = painting.filter(|painting| !painting.is_complete()) {
                self.wanted.paintings.insert(id.clone(), painting);
            }
            self.touch(id, if was_streamed { ChangeKind::Finished } else { ChangeKind::Changed });
        } else if let Some(Body::Thinking { text, streaming, duration_ms }) = self.body(id) {
            *streaming = false;
            *duration_ms = thought_ms.or(*duration_ms);
            if let Some(whole) = whole.filter(|whole| !whole.is_empty()) {
                *text = whole;
            }
            self.touch(id, ChangeKind::Changed);
        }
    }

    /// The time at which this message began to stream, if it did.
    pub fn began(&self, message_id: &str) -> Option<u64> {
        self.item(&block_id(message_id, 0)).map(|item| item.at)
    }

    /// Adds a text that was never streamed.
    pub(super) fn whole_text(&mut self, now: u64, id: ItemId, parent: Option<ItemId>, text: String) {
        self.add(id.clone(), parent, now, Body::Text { blocks: Vec::new(), streaming: true });
        self.documents.entry(id.clone()).or_default();
        self.finish(&id, Some(text), None);
    }

    pub(super) fn assistant(&mut self, now: u64, assistant: Assistant) {
        if let Some(command) = &assistant.unavailable_command {
            let words = unavailable(command);
            return self.notice(now, Level::Warning, words, None);
        }
        let AssistantMessage { id: message_id, content, .. } = assistant.message;
        let parent = assistant.parent_tool_use_id.as_ref().map(ItemId::new);
        let is_aborted = assistant.aborted && parent.is_none();
        // After a stream error the reply arrives again, under another id and not streamed (2.1.329): the first copy is
        // removed. A message of the CLI itself reports the failure and removes nothing.
        let is_another = self.reply.as_ref().is_none_or(|reply| reply.message_id != message_id);
        let is_the_clis_own = assistant.is_by_agent;
        if parent.is_none() && is_another && !is_the_clis_own {
            self.broken_off.retain(|id| !id.as_str().starts_with(&format!("{message_id}.")));
            self.void_reply();
        }
        for block in content {
            let count = self.n_blocks.entry(message_id.clone()).or_default();
            let place = *count;
            *count += 1;
            let id = block_id(&message_id, place);
            if let Some(reply) = &mut self.reply
                && reply.message_id == message_id
            {
                reply.open.remove(&place);
            }
            match block {
                ContentBlock::Text { text } => {
                    if !self.index.contains_key(&id) {
                        // 2.1.197 answers `/clear` with this text, in the model's name.
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
                    if is_aborted {
                        self.aborted = Some(id.clone());
                    }
                    self.own_words = is_the_clis_own.then_some(id);
                }
                ContentBlock::Thinking { text } => {
                    if !self.index.contains_key(&id) {
                        let body = Body::Thinking { text: String::new(), streaming: true, duration_ms: None };
                        self.add(id.clone(), parent.clone(), now, body);
                    }
                    self.finish(&id, Some(text), assistant.thinking_duration_ms);
                    if is_aborted {
                        self.aborted = Some(id);
                    }
                }
                ContentBlock::ToolUse { id, call } => {
                    let begun = tool::Begun { call: *call, state: ToolState::Running };
                    self.tool_begins(now, &id, begun, parent.clone());
                }
                ContentBlock::Image | ContentBlock::Document | ContentBlock::ToolResult(_) => {}
                ContentBlock::Unknown { kind, raw } => {
                    let detail = serde_json::to_string_pretty(&raw).unwrap_or_default();
                    self.notice(
                        now,
                        Level::Info,
                        format!("The agent sent content of an unknown type: “{kind}”"),
                        Some(detail),
                    );
                }
            }
        }
    }
}

/// The notice for a slash command that works only in a terminal.
fn unavailable(command: &str) -> String {
    let next = match command {
        "/login" => "Log in with `claude` in a terminal.",
        "/logout" => "Log out with `claude` in a terminal.",
        _ => "Run it with `claude` in a terminal.",
    };
    format!("“{command}” is not available here. {next}")
}

fn block_id(message_id: &str, place: u32) -> ItemId {
    ItemId(format!("{message_id}.{place}"))
}
