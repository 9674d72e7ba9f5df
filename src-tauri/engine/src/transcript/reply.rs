//! Replies of the agent: their blocks while streaming and when complete.

use super::changes::ChangeKind;
use super::lazy::{Late, LazyItem, SOURCE_LIMIT};
use super::{Transcript, tool};
use crate::agent::{Assistant, AssistantMessage, ContentBlock, Stream, StreamEvent};
use crate::api::*;
use crate::document::{self, Painting, Stream as Document};
use std::collections::HashMap;

/// The reply that is being streamed.
pub(super) struct Reply {
    message_id: String,
    /// Number of blocks of earlier replies with this id.
    n_earlier: u32,
    /// It began before, and its first copy is void.
    has_restarted: bool,
    /// Its incomplete blocks, by index.
    pub(super) open: HashMap<u32, ItemId>,
}

impl Reply {
    pub(super) fn message_id(&self) -> &str {
        &self.message_id
    }
}

impl Transcript {
    pub(super) fn stream(&mut self, now: u64, stream: &Stream) {
        // Subagents do not stream (2.1.329). If one ever does, its complete blocks are enough.
        if stream.parent_tool_use_id.is_some() {
            return;
        }
        match &stream.event {
            StreamEvent::MessageStart { message_id } => {
                let first_copy = self.reply.take_if(|reply| reply.message_id == *message_id);
                let n_earlier = match &first_copy {
                    Some(first_copy) => first_copy.n_earlier,
                    None => self.n_blocks.get(message_id).copied().unwrap_or(0),
                };
                let has_restarted = first_copy.is_some();
                self.reply = first_copy.or(self.reply.take());
                self.void_reply();
                self.retries_over();
                let message_id = message_id.clone();
                self.reply = Some(Reply { message_id, n_earlier, has_restarted, open: HashMap::new() });
            }
            StreamEvent::BlockStart { index, block } => {
                let Some(reply) = &mut self.reply else { return };
                let body = match block {
                    ContentBlock::Text { .. } => Body::Text { blocks: Vec::new(), streaming: true },
                    ContentBlock::Thinking { .. } => {
                        Body::Thinking { text: String::new(), streaming: true, duration_ms: None }
                    }
                    ContentBlock::ToolUse { id, call } => {
                        reply.open.insert(*index, ItemId::new(id));
                        let begun = tool::Begun { call: call.without_input(), state: ToolState::Preparing };
                        self.tool_begins(now, id, begun, None);
                        return;
                    }
                    _ => return,
                };
                let usual = block_id(&reply.message_id, reply.n_earlier.saturating_add(*index));
                let is_known = reply.has_restarted || reply.open.get(index) == Some(&usual);
                let items = &self.index;
                let id = if is_known { usual } else { self.keys.next(&usual.0, |id| items.contains_key(id)) };
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
            if let Some(whole) = whole {
                // A text that was never streamed needs no stream, which would keep its text.
                if document.text().is_empty() {
                    return self.put_text(id, whole);
                }
                document.set_text(&whole);
            }
            document.finish();
            let change = document.take_change();
            let Some(item) = self.lazy_mut(id) else { return };
            item.keep_source(document.text().into());
            let Body::Text { blocks, streaming } = item.body_mut() else { return };
            *streaming = false;
            if let Some(change) = change {
                change.clone().apply(blocks);
                self.last_changes.insert(id.clone(), change);
            }
            let painting = document.into_painting();
            if !painting.is_complete() {
                self.wanted.paintings.insert(id.clone(), painting);
            }
            self.touch(id, ChangeKind::Finished);
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
        self.add(id.clone(), parent, now, Body::Text { blocks: Vec::new(), streaming: false });
        self.put_text(&id, text);
    }

    /// Puts a finished text that was never streamed into its item. No subscriber has any of it yet, so a patch would not
    /// be smaller.
    pub(super) fn put_text(&mut self, id: &ItemId, text: String) {
        let is_late = self.is_reading && text.len() <= SOURCE_LIMIT;
        let is_text = |item: &&mut LazyItem| matches!(item.head().body, Body::Text { .. });
        let Some(item) = self.lazy_mut(id).filter(is_text) else { return };
        let blocks = if is_late { Vec::new() } else { document::markdown(&text) };
        let painting = Painting::of(&blocks);
        item.is_plain = is_late;
        item.put(Body::Text { blocks, streaming: false }, is_late.then_some(Late::Document));
        item.keep_source(text.into_boxed_str());
        if !painting.is_complete() {
            self.wanted.paintings.insert(id.clone(), painting);
        }
        self.touch(id, ChangeKind::Changed);
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
        // The blocks that were streamed before their reply ended.
        let broken_off = self.broken_off.clone();
        if parent.is_none() && is_another && !is_the_clis_own {
            self.broken_off.retain(|id| !id.as_str().starts_with(&format!("{message_id}.")));
            self.void_reply();
        }
        // A subagent's replies are counted apart, because they come between the blocks of others.
        let counted =
            parent.as_ref().map_or_else(|| message_id.clone(), |call| format!("{call}\n{message_id}"));
        let n_before = match self.n_blocks.get_mut(&counted) {
            Some(n_blocks) => {
                let n_before = *n_blocks;
                *n_blocks += content.len() as u32;
                n_before
            }
            None => {
                self.n_blocks.insert(counted, content.len() as u32);
                0
            }
        };
        for (place, block) in (n_before..).zip(content) {
            let usual = block_id(&message_id, place);
            let is_main = parent.is_none();
            let reply = self.reply.as_mut().filter(|reply| is_main && reply.message_id == message_id);
            let streamed = reply.and_then(|reply| reply.open.remove(&place.wrapping_sub(reply.n_earlier)));
            let is_begun = is_main && (broken_off.contains(&usual) || self.pending.has_placed(&usual));
            let streamed = streamed.or_else(|| is_begun.then(|| usual.clone()));
            let is_streamed = streamed.as_ref().is_some_and(|id| self.index.contains_key(id));
            let items = &self.index;
            let is_shown = matches!(block, ContentBlock::Text { .. } | ContentBlock::Thinking { .. });
            let id = match streamed {
                Some(streamed) => streamed,
                None if is_shown => self.keys.next(&usual.0, |id| items.contains_key(id)),
                None => usual,
            };
            match block {
                ContentBlock::Text { text } => {
                    if is_streamed {
                        self.documents.entry(id.clone()).or_default();
                        self.finish(&id, Some(text), None);
                    } else if text.is_empty() || (is_the_clis_own && text == "(no content)") {
                        // 2.1.197 answers `/clear` with the latter, in the model's name.
                        continue;
                    } else {
                        self.whole_text(now, id.clone(), parent.clone(), text);
                    }
                    if is_aborted {
                        self.aborted = Some(id.clone());
                    }
                    self.own_words = is_the_clis_own.then_some(id);
                }
                ContentBlock::Thinking { text } => {
                    if !is_streamed {
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
                // The server of the API ran the call.
                ContentBlock::ToolResult(result) => self.tool_ends(now, &result, None),
                ContentBlock::Image | ContentBlock::Document => {}
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
