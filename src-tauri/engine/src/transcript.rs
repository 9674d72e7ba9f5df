//! Folds what an agent says into items: one way for the live stream and for a transcript on disk.
//!
//! An item's id is the same either way: a block of a reply is `<message id>.<place in it>`, a tool call has the
//! agent's own id, a prompt its uuid. The fold never fails: what it does not know is shown as what it is.

mod edits;
mod facts;
mod find;
mod markdown;
pub mod output;
pub mod parts;
mod results;
mod rows;
mod tasks;
mod tool;
mod words;

use crate::api::*;
use crate::document::{self, Change, Stream as Document};
use crate::session::machine::{CLEARED, Note, Prompt};
use crate::wire::{Assistant, ContentBlock, Inbound, Retry, Stream, StreamEvent, User};
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A longer text is kept once, as the document it is.
const SOURCE_LIMIT: usize = 1024 * 1024;
/// Text that a flood of unreadable lines may fill; the lines behind it are counted, not kept.
const UNREADABLE_LIMIT: usize = 64 * 1024;

/// The conversation so far.
#[derive(Default)]
pub struct Transcript {
    /// The project's folder: paths inside it are shown without it.
    project: PathBuf,
    items: Vec<Item>,
    index: HashMap<ItemId, usize>,
    rows: rows::Index,
    facts: facts::Facts,
    /// News of the facts, not told yet.
    news: Vec<Event>,
    documents: HashMap<ItemId, Document>,
    /// Finished texts, as the agent wrote them.
    sources: HashMap<ItemId, Box<str>>,
    tools: HashMap<ItemId, tool::Call>,
    /// The calls that have not ended, in the order they began.
    running: Vec<ItemId>,
    /// Prompts that were accepted and not sent: they become items when they are.
    waiting: HashMap<PromptId, Prompt>,
    /// The reply that is being streamed, and its blocks that are not whole yet.
    reply: Option<Reply>,
    /// Blocks of a reply that stopped before they were whole: void if the reply begins again, else all there is.
    broken_off: Vec<ItemId>,
    /// How many whole blocks each reply has given.
    n_blocks: HashMap<String, u32>,
    n_notices: u64,
    retry: Option<ItemId>,
    /// What the agent's program itself said last, in the model's place.
    own_words: Option<ItemId>,
    unreadable: Option<ItemId>,
    /// The last changes of texts that are finished, not told yet.
    last_changes: HashMap<ItemId, Change>,
    dirty: Vec<(ItemId, Dirty)>,
    dirty_index: HashMap<ItemId, usize>,
}

/// Something that happened.
pub enum News {
    Event(Event),
    /// A text that was streamed is whole: its last change, and that nothing more comes.
    Finished {
        item_id: ItemId,
        last: Option<Event>,
    },
}

impl News {
    /// To whoever has all that was told before: no more than what is new.
    pub fn into_patch(self) -> Vec<Event> {
        match self {
            Self::Event(event) => vec![event],
            Self::Finished { item_id, last } => {
                last.into_iter().chain([Event::TextFinished { item_id }]).collect()
            }
        }
    }

    /// To everybody else, in one event; `transcript` is the one it came from.
    pub fn whole(&self, transcript: &Transcript) -> Option<Event> {
        match self {
            Self::Event(event) => Some(event.clone()),
            Self::Finished { item_id, .. } => {
                transcript.item(item_id).map(|item| Event::ItemChanged { item: item.clone() })
            }
        }
    }
}

struct Reply {
    message_id: String,
    open: HashMap<u32, ItemId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Dirty {
    Added,
    Changed,
    Grown,
    /// A text that was streamed is whole.
    Finished,
    Removed,
}

impl Transcript {
    /// An empty conversation in this project.
    pub fn new(project: &Path) -> Self {
        Self { project: project.to_owned(), ..Self::default() }
    }

    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Is there such an item?
    pub fn knows(&self, id: &str) -> bool {
        self.index.contains_key(&ItemId::new(id))
    }

    pub fn n_rows(&self) -> u32 {
        self.rows.count()
    }

    /// The row that an item is drawn in.
    pub fn row_of(&self, id: &ItemId) -> Option<u32> {
        Some(self.items[*self.index.get(id)?].row)
    }

    /// The items of the rows from `first` up to `end`.
    pub fn items_of(&self, first: u32, end: u32) -> impl Iterator<Item = &Item> {
        self.rows.places(first, end).map(|place| &self.items[place])
    }

    pub fn item(&self, id: &ItemId) -> Option<&Item> {
        Some(&self.items[*self.index.get(id)?])
    }

    /// The bytes of a text that streams, as they came.
    pub fn streamed(&self, id: &ItemId) -> usize {
        self.documents.get(id).map_or(0, |document| document.text().len())
    }

    /// What a tool call put out, whole.
    pub fn output(&self, id: &ItemId) -> Option<&output::Source> {
        self.tools.get(id)?.output()
    }

    /// The files that were changed, the one that changed last at the end.
    pub fn files(&self) -> &[ChangedFile] {
        self.facts.files()
    }

    pub fn tasks(&self) -> &[Todo] {
        self.facts.tasks()
    }

    /// The last prompts, oldest first.
    pub fn prompts(&self) -> Vec<String> {
        self.facts.prompts()
    }

    /// What happened since this was asked last: one event for each item, in the order of their first change.
    pub fn take_events(&mut self) -> Vec<Event> {
        let news = self.take_news();
        let whole = |news| match news {
            News::Event(event) => Some(event),
            news => news.whole(self),
        };
        news.into_iter().filter_map(whole).collect()
    }

    /// The same, in as little as there is to tell.
    pub fn take_news(&mut self) -> Vec<News> {
        self.dirty_index.clear();
        let mut all = Vec::new();
        for (id, dirty) in std::mem::take(&mut self.dirty) {
            let last = self.last_changes.remove(&id);
            if dirty == Dirty::Finished {
                all.push(News::Finished { last: last.map(|change| told(id.clone(), change)), item_id: id });
            } else {
                all.extend(self.event(id, dirty).map(News::Event));
            }
        }
        all.extend(self.news.drain(..).map(News::Event));
        all
    }

    fn event(&mut self, id: ItemId, dirty: Dirty) -> Option<Event> {
        if dirty == Dirty::Removed {
            return Some(Event::ItemRemoved { item_id: id });
        }
        let item_idx = *self.index.get(&id)?;
        let change = self.documents.get_mut(&id).and_then(Document::take_change);
        if let Body::Text { blocks, .. } = &mut self.items[item_idx].body
            && let Some(change) = &change
        {
            apply(blocks, change.clone());
        }
        match (dirty, change) {
            (Dirty::Added, _) => Some(Event::ItemAdded { item: self.items[item_idx].clone() }),
            (Dirty::Changed, _) => Some(Event::ItemChanged { item: self.items[item_idx].clone() }),
            (Dirty::Grown, Some(change)) => Some(told(id, change)),
            (Dirty::Grown, None) if matches!(self.items[item_idx].body, Body::Text { .. }) => None,
            (Dirty::Grown, None) => Some(Event::ItemChanged { item: self.items[item_idx].clone() }),
            // Told as what they are.
            (Dirty::Finished | Dirty::Removed, _) => None,
        }
    }

    /// What the agent does just now, in a word or two.
    pub fn activity(&self) -> String {
        let at_work = |item: &Item| match &item.body {
            Body::ToolCall(call) if matches!(call.state, ToolState::Running | ToolState::Preparing) => {
                Some(format!("{} {}", call.verb, call.subject).trim().to_owned())
            }
            Body::Text { streaming: true, .. } => Some("Writing".to_owned()),
            Body::Thinking { streaming: true, .. } => Some("Thinking".to_owned()),
            _ => None,
        };
        // What is at work is among what has not ended, however long the turn is.
        let open = self.reply.iter().flat_map(|reply| reply.open.values()).chain(&self.running);
        let last = open.filter_map(|id| self.index.get(id)).filter_map(|place| {
            let words = at_work(&self.items[*place])?;
            Some((*place, words))
        });
        last.max_by_key(|(place, _)| *place).map_or_else(|| "Working".to_owned(), |(_, words)| words)
    }

    // --- notes: what we know ourselves -----------------------------------------------------------------------

    pub fn note(&mut self, now: u64, note: Note) {
        match note {
            Note::PromptAccepted(prompt) => {
                self.waiting.insert(prompt.id.clone(), prompt);
            }
            Note::PromptEdited { id, text } => {
                if let Some(prompt) = self.waiting.get_mut(&id) {
                    prompt.text = text;
                }
            }
            Note::PromptState { id, state } => self.prompt_state(now, &id, state),
            Note::Asked { tool_use_id } => self.tool_state(now, tool_use_id, ToolState::Waiting),
            Note::Answered { tool_use_id, denied } => {
                if let Some(call) = tool_use_id.as_ref().and_then(|id| self.tools.get_mut(&ItemId::new(id))) {
                    call.denied = denied;
                    // The time a person took is not the tool's.
                    call.started_at = now;
                }
                self.tool_state(now, tool_use_id, ToolState::Running);
            }
            Note::Notice { level, text, detail } => self.notice(now, level, text, detail),
            Note::TurnEnded(turn) => {
                self.cut_off(now);
                self.retry = None;
                self.say_failure_once(&turn);
                let id = self.notice_id();
                self.add(id, None, now, Body::TurnEnd(turn));
            }
            Note::ProcessEnded => self.cut_off(now),
        }
    }

    fn prompt_state(&mut self, now: u64, id: &PromptId, state: PromptState) {
        let item_id = ItemId::new(id.as_str());
        if let Some(Body::Prompt { state: known, .. }) = self.body(&item_id) {
            *known = state;
            self.touch(&item_id, Dirty::Changed);
            if state == PromptState::Sent {
                // Sent again: it belongs where the conversation goes on.
                self.waiting.remove(id);
            }
            return;
        }
        match state {
            PromptState::Sent => {
                let Some(prompt) = self.waiting.remove(id) else { return };
                let n_images = prompt.images.len() as u32;
                self.add(item_id, None, now, Body::Prompt { text: prompt.text, n_images, state });
            }
            PromptState::Withdrawn => {
                self.waiting.remove(id);
            }
            // Not sent yet: the session's queue shows it.
            PromptState::Queued | PromptState::Held | PromptState::Done | PromptState::Failed => {}
        }
    }

    /// The program says a failure of the API in the model's place, and again as the turn's end.
    fn say_failure_once(&mut self, turn: &TurnEnd) {
        let Some(id) = self.own_words.take() else { return };
        let said = self.sources.get(&id).map(|words| words.trim());
        if turn.outcome != Outcome::Done && said == Some(turn.words.trim()) {
            self.remove(&id);
        }
    }

    fn notice_id(&mut self) -> ItemId {
        self.n_notices += 1;
        ItemId(format!("notice.{}", self.n_notices))
    }

    fn notice(&mut self, now: u64, level: Level, text: String, detail: Option<String>) {
        self.notice_until(now, level, text, detail, None);
    }

    fn notice_until(
        &mut self,
        now: u64,
        level: Level,
        text: String,
        detail: Option<String>,
        until_at: Option<u64>,
    ) {
        let body = Body::Notice { level, text, detail, until_at };
        if self.items.last().is_some_and(|last| last.body == body) {
            // Said a moment ago, and nothing has happened since.
            return;
        }
        let id = self.notice_id();
        self.add(id, None, now, body);
    }

    fn info(&mut self, now: u64, text: impl Into<String>) {
        self.notice(now, Level::Info, text.into(), None);
    }

    /// Whatever was being written or run is not going on.
    fn cut_off(&mut self, now: u64) {
        self.close_reply();
        self.broken_off.clear();
        for id in std::mem::take(&mut self.running) {
            if let Some(call) = self.tools.get_mut(&id) {
                call.ended = true;
            }
            self.tool_state(now, Some(id.0), ToolState::Interrupted);
        }
    }

    // --- lines: what the agent says --------------------------------------------------------------------------

    /// Takes the texts of a reply out of its message: a very long one is not kept twice.
    pub fn line(&mut self, now: u64, inbound: &mut Inbound) {
        if !matches!(inbound, Inbound::Unreadable { .. }) {
            self.unreadable = None;
        }
        match inbound {
            Inbound::Stream(stream) => self.stream(now, stream),
            Inbound::Assistant(assistant) => self.assistant(now, assistant),
            Inbound::User(user) => self.user(now, user),
            Inbound::ApiRetry(retry) => self.api_retry(now, retry),
            Inbound::CompactBoundary { pre_tokens, .. } => {
                let size = pre_tokens.map(|tokens| format!(" of {tokens} tokens")).unwrap_or_default();
                self.info(now, format!("The conversation{size} was compacted"));
            }
            Inbound::ConversationReset => self.info(now, CLEARED),
            Inbound::PermissionDenied { tool, message } => {
                let text = format!("{tool} was denied by a rule");
                self.notice(
                    now,
                    Level::Warning,
                    text,
                    Some(message.clone()).filter(|message| !message.is_empty()),
                );
            }
            Inbound::RateLimit { status, resets_at } => self.rate_limit(now, status, *resets_at),
            Inbound::Hook { event, name, outcome: Some(outcome) }
                if outcome != "success" && outcome != "done" =>
            {
                self.notice(now, Level::Warning, format!("The hook {name} ({event}) ended: {outcome}"), None);
            }
            // While its call runs, it is no task of the background: what came of it, the call's end says.
            Inbound::TaskEnded { tool_use_id, status, summary, .. }
                if !summary.is_empty() && !self.is_running(tool_use_id.as_deref()) =>
            {
                self.info(now, format!("Background task {status}: {summary}"));
            }
            Inbound::Unreadable { line, error } => self.unreadable(now, line, error),
            _ => {}
        }
    }

    fn stream(&mut self, now: u64, stream: &Stream) {
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
    fn close_reply(&mut self) {
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

    fn assistant(&mut self, now: u64, assistant: &mut Assistant) {
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

    fn user(&mut self, now: u64, user: &User) {
        for block in &user.message.content {
            if let ContentBlock::ToolResult { tool_use_id, content, is_error } = block {
                let result =
                    tool::Outcome { content, structured: user.tool_use_result.as_ref(), is_error: *is_error };
                self.tool_ends(now, tool_use_id, &result);
            }
        }
    }

    /// A prompt that stands in a transcript on disk.
    pub fn past_prompt(&mut self, at: u64, id: &str, text: String, n_images: u32) {
        self.add(ItemId::new(id), None, at, Body::Prompt { text, n_images, state: PromptState::Done });
    }

    // --- tools -----------------------------------------------------------------------------------------------

    fn tool_begins(
        &mut self,
        now: u64,
        id: &str,
        name: &str,
        input: &Value,
        parent: Option<ItemId>,
        state: ToolState,
    ) {
        let item_id = ItemId::new(id);
        let call = tool::Call::new(name, input.clone(), now, &self.project);
        let view = call.view(state, None, None);
        match self.body(&item_id) {
            Some(Body::ToolCall(known)) => {
                **known = view;
                self.touch(&item_id, Dirty::Changed);
            }
            _ => self.add(item_id.clone(), parent, now, Body::ToolCall(Box::new(view))),
        }
        self.learn(&item_id);
        self.running.retain(|known| *known != item_id);
        self.running.push(item_id.clone());
        self.tools.insert(item_id, call);
    }

    fn tool_state(&mut self, now: u64, id: Option<String>, state: ToolState) {
        let Some(id) = id.map(ItemId) else { return };
        let Some(call) = self.tools.get(&id) else { return };
        let duration_ms = (state == ToolState::Interrupted).then(|| now.saturating_sub(call.started_at));
        let view = call.view(state, duration_ms, None);
        if let Some(Body::ToolCall(known)) = self.body(&id) {
            **known = view;
            self.touch(&id, Dirty::Changed);
        }
    }

    fn tool_ends(&mut self, now: u64, id: &str, outcome: &tool::Outcome<'_>) {
        let id = ItemId::new(id);
        let Some(call) = self.tools.get_mut(&id) else { return };
        let is_news = !call.ended;
        call.end(outcome);
        self.running.retain(|known| *known != id);
        let state = match (outcome.is_error, call.denied) {
            (true, true) => ToolState::Denied,
            // The agent says so of whatever an interrupt ends, as if its user had refused it.
            (true, false) if outcome.is_rejected() => ToolState::Interrupted,
            (true, false) => ToolState::Failed,
            (false, _) => ToolState::Succeeded,
        };
        let view = call.view(state, Some(now.saturating_sub(call.started_at)), Some(outcome));
        if is_news {
            self.news.extend(self.facts.task(call.name(), call.input(), outcome));
        }
        if let Some(Body::ToolCall(known)) = self.body(&id) {
            **known = view;
            self.touch(&id, Dirty::Changed);
        }
        if is_news {
            self.learn(&id);
        }
    }

    /// What a tool call means for the facts beside the transcript.
    fn learn(&mut self, id: &ItemId) {
        if let Some(place) = self.index.get(id) {
            self.news.extend(self.facts.learn(&self.items[*place]));
        }
    }

    fn is_running(&self, tool_use_id: Option<&str>) -> bool {
        tool_use_id.is_some_and(|id| self.running.iter().any(|running| running.as_str() == id))
    }

    // --- notices from lines ----------------------------------------------------------------------------------

    /// One notice a turn, that counts on.
    fn api_retry(&mut self, now: u64, retry: &Retry) {
        let what = match (retry.error_status, &retry.error) {
            (Some(status), Some(error)) => format!("The API answered {status} ({})", error.replace('_', " ")),
            (Some(status), None) => format!("The API answered {status}"),
            (None, _) => "The API could not be reached".to_owned(),
        };
        let (attempt, of) = (retry.attempt, retry.max_retries);
        let seconds = retry.retry_delay_ms / 1000.0;
        let text = format!("{what}; trying again in {seconds:.1} s ({attempt} of {of})");
        let body = Body::Notice { level: Level::Warning, text, detail: None, until_at: None };
        match self.retry.clone() {
            Some(id) if self.index.contains_key(&id) => {
                if let Some(known) = self.body(&id) {
                    *known = body;
                }
                self.touch(&id, Dirty::Changed);
            }
            _ => {
                let id = self.notice_id();
                self.retry = Some(id.clone());
                self.add(id, None, now, body);
            }
        }
    }

    fn rate_limit(&mut self, now: u64, status: &str, resets_at: Option<u64>) {
        let (level, text) = match status {
            "allowed_warning" => (Level::Warning, "The rate limit is near"),
            "rejected" => (Level::Error, "The rate limit is reached"),
            _ => return,
        };
        self.notice_until(now, level, text.to_owned(), None, resets_at);
    }

    /// Lines in a row that are no messages share one notice.
    fn unreadable(&mut self, now: u64, line: &str, error: &str) {
        if let Some(id) = self.unreadable.clone()
            && let Some(Body::Notice { detail: Some(detail), .. }) = self.body(&id)
        {
            if detail.len() + line.len() < UNREADABLE_LIMIT {
                detail.push('\n');
                detail.push_str(line);
                self.touch(&id, Dirty::Changed);
            }
            return;
        }
        let id = self.notice_id();
        self.unreadable = Some(id.clone());
        let text = "The agent wrote something that is not a message".to_owned();
        let detail = if line.is_empty() { error.to_owned() } else { line.to_owned() };
        self.add(
            id,
            None,
            now,
            Body::Notice { level: Level::Warning, text, detail: Some(detail), until_at: None },
        );
    }

    // --- items -----------------------------------------------------------------------------------------------

    fn body(&mut self, id: &ItemId) -> Option<&mut Body> {
        let item_idx = *self.index.get(id)?;
        Some(&mut self.items[item_idx].body)
    }

    fn add(&mut self, id: ItemId, parent: Option<ItemId>, at: u64, body: Body) {
        if self.index.contains_key(&id) {
            // The same id twice: the later one says what is.
            if !matches!(body, Body::Text { .. }) {
                self.documents.remove(&id);
            }
            if let Some(known) = self.body(&id) {
                *known = body;
            }
            return self.touch(&id, Dirty::Changed);
        }
        if let Body::Prompt { text, .. } = &body {
            self.facts.prompted(text);
        }
        let row_of_parent = parent.as_ref().and_then(|parent| self.row_of(parent));
        let row = self.rows.add(self.items.len(), row_of_parent, &body);
        self.index.insert(id.clone(), self.items.len());
        self.items.push(Item { id: id.clone(), parent, row, at, parts: 1, body });
        self.touch(&id, Dirty::Added);
    }

    fn remove(&mut self, id: &ItemId) {
        let Some(item_idx) = self.index.remove(id) else { return };
        self.rows.remove(item_idx, self.items[item_idx].row);
        self.items.remove(item_idx);
        for idx in self.index.values_mut().filter(|idx| **idx > item_idx) {
            *idx -= 1;
        }
        self.documents.remove(id);
        self.sources.remove(id);
        self.tools.remove(id);
        self.running.retain(|known| known != id);
        self.touch(id, Dirty::Removed);
    }

    fn touch(&mut self, id: &ItemId, dirty: Dirty) {
        match self.dirty_index.get(id) {
            // Added again, it stands behind what came in between: it goes, then it comes.
            Some(at) if (self.dirty[*at].1, dirty) != (Dirty::Removed, Dirty::Added) => {
                let known = &mut self.dirty[*at].1;
                *known = match (*known, dirty) {
                    (_, Dirty::Removed) => Dirty::Removed,
                    (Dirty::Added, _) => Dirty::Added,
                    (_, Dirty::Changed) | (Dirty::Changed, _) => Dirty::Changed,
                    (_, dirty) => dirty,
                };
            }
            _ => {
                self.dirty_index.insert(id.clone(), self.dirty.len());
                self.dirty.push((id.clone(), dirty));
            }
        }
    }
}

fn block_id(message_id: &str, place: u32) -> ItemId {
    ItemId(format!("{message_id}.{place}"))
}

fn told(item_id: ItemId, change: Change) -> Event {
    match change {
        Change::Blocks { keep, blocks } => Event::BlocksChanged { item_id, keep: keep as u32, blocks },
        Change::Code { keep_lines, lines } => Event::CodeGrew { item_id, keep: keep_lines as u32, lines },
    }
}

fn apply(blocks: &mut Vec<Block>, change: Change) {
    match change {
        Change::Blocks { keep, blocks: new } => {
            blocks.truncate(keep);
            blocks.extend(new);
        }
        Change::Code { keep_lines, lines: new } => {
            if let Some(Block::Code { lines, .. }) = blocks.last_mut() {
                lines.truncate(keep_lines);
                lines.extend(new);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text becomes a thought: what came for the text must not hide what comes for the thought.
    #[test]
    fn a_block_that_begins_again_as_another_kind_is_of_that_kind() {
        let stream = |event| Inbound::Stream(Box::new(Stream { event, parent_tool_use_id: None }));
        let block = |block| stream(StreamEvent::BlockStart { index: 0, block });
        let mut transcript = Transcript::new(Path::new("/project"));
        let mut shown = Vec::new();
        for batch in [
            vec![
                stream(StreamEvent::MessageStart { message_id: "m".into() }),
                block(ContentBlock::Text { text: String::new() }),
                block(ContentBlock::Thinking { text: String::new() }),
            ],
            vec![
                stream(StreamEvent::TextDelta { index: 0, text: "a".into() }),
                stream(StreamEvent::ThinkingDelta { index: 0, text: "b".into() }),
            ],
        ] {
            batch.into_iter().for_each(|mut inbound| transcript.line(0, &mut inbound));
            transcript.take_events().iter().for_each(|event| crate::patch::apply(&mut shown, event));
            assert_eq!(shown, transcript.items());
        }
        assert!(matches!(&shown[0].body, Body::Thinking { text, .. } if text == "b"), "{shown:?}");
    }

    /// A reply begins again under its own id while a notice stands behind its first copy.
    #[test]
    fn what_goes_and_comes_again_at_once_stands_where_it_came() {
        let stream = |event| Inbound::Stream(Box::new(Stream { event, parent_tool_use_id: None }));
        let begin = || stream(StreamEvent::MessageStart { message_id: "m".into() });
        let block = || {
            let block = ContentBlock::Thinking { text: String::new() };
            stream(StreamEvent::BlockStart { index: 0, block })
        };
        let retry = Inbound::ApiRetry(Retry { attempt: 1, max_retries: 10, ..Retry::default() });
        let mut transcript = Transcript::new(Path::new("/project"));
        let mut shown = Vec::new();
        for batch in [vec![begin(), block(), retry], vec![begin(), block()]] {
            batch.into_iter().for_each(|mut inbound| transcript.line(0, &mut inbound));
            transcript.take_events().iter().for_each(|event| crate::patch::apply(&mut shown, event));
            assert_eq!(shown, transcript.items());
        }
        assert_eq!(shown.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(), ["notice.1", "m.0"]);
    }

    fn parsed(line: serde_json::Value) -> Inbound {
        crate::wire::parse(line.to_string().as_bytes())
    }

    fn own_words(words: &str) -> Inbound {
        let content = serde_json::json!([{"type": "text", "text": words}]);
        let message = serde_json::json!({"id": words, "model": "<synthetic>", "content": content});
        parsed(serde_json::json!({"type": "assistant", "message": message}))
    }

    fn ended(outcome: Outcome, words: &str) -> Note {
        let (words, prompt_ids) = (words.to_owned(), Vec::new());
        Note::TurnEnded(TurnEnd {
            outcome,
            words,
            prompt_ids,
            duration_ms: 1,
            output_tokens: 0,
            cost_usd: 0.0,
            timing: TurnTiming::default(),
        })
    }

    fn bodies(transcript: &Transcript) -> Vec<&str> {
        let kind = |item: &Item| match item.body {
            Body::Text { .. } => "text",
            Body::Notice { .. } => "notice",
            Body::TurnEnd(_) => "end",
            _ => "other",
        };
        transcript.items().iter().map(kind).collect()
    }

    /// The program says a failure in the model's place and as the turn's result.
    #[test]
    fn the_words_of_a_failure_are_said_once() {
        let failed = Outcome::ApiError { status: Some(529) };
        let cases = [
            ("API Error: 529", failed.clone(), "API Error: 529", &["end"][..]),
            ("Prompt is too long", Outcome::ContextExceeded, "It no longer fits", &["text", "end"]),
            ("Total cost: $1", Outcome::Done, "Total cost: $1", &["text", "end"]),
        ];
        for (said, outcome, words, expected) in cases {
            let mut transcript = Transcript::new(Path::new("/project"));
            transcript.line(1, &mut own_words(said));
            transcript.note(2, ended(outcome, words));
            assert_eq!(bodies(&transcript), expected, "{said}");
        }
        // What a later turn's end repeats is not its own.
        let mut transcript = Transcript::new(Path::new("/project"));
        transcript.line(1, &mut own_words("API Error: 529"));
        transcript.note(2, ended(Outcome::Done, "Done"));
        transcript.note(3, ended(failed, "API Error: 529"));
        assert_eq!(bodies(&transcript), ["text", "end", "end"]);
    }

    /// A subagent that the turn waits for ends with its call; a task in the background has no other end than this.
    #[test]
    fn only_the_end_of_what_ran_in_the_background_is_told_by_itself() {
        let call = serde_json::json!([{"type": "tool_use", "id": "t", "name": "Agent", "input": {}}]);
        let message = serde_json::json!({"id": "m", "content": call});
        let called = serde_json::json!({"type": "assistant", "message": message});
        let result = serde_json::json!([{"type": "tool_result", "tool_use_id": "t", "content": "begun"}]);
        let answered = serde_json::json!({"type": "user", "message": {"content": result}});
        let over = serde_json::json!({"type": "system", "subtype": "task_notification", "task_id": "a",
                                      "tool_use_id": "t", "status": "completed", "summary": "found"});
        for (lines, expected) in [
            ([&called, &over, &answered], &["other"][..]),
            ([&called, &answered, &over], &["other", "notice"]),
        ] {
            let mut transcript = Transcript::new(Path::new("/project"));
            lines.into_iter().for_each(|line| transcript.line(1, &mut parsed(line.clone())));
            assert_eq!(bodies(&transcript), expected);
        }
    }
}
