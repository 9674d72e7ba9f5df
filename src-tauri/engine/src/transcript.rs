//! Folds what an agent says into items: one way for the live stream and for a transcript on disk.
//!
//! An item's id is the same either way: a block of a reply is `<message id>.<place in it>`, a tool call has the
//! agent's own id, a prompt its uuid. The fold never fails: what it does not know is shown as what it is.

mod calls;
mod earlier;
mod edits;
mod facts;
pub mod find;
mod markdown;
mod news;
mod notices;
mod outcome;
pub mod output;
pub mod parts;
mod prompts;
mod reply;
mod results;
mod rows;
pub mod tail;
mod tasks;
#[cfg(test)]
mod tests;
mod tool;
pub(crate) mod words;

use crate::api::*;
use crate::document::{Change, Stream as Document};
use crate::session::machine::{CLEARED, Note, Prompt};
use crate::wire::Inbound;
use news::Dirty;
pub use news::News;
use reply::Reply;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The conversation so far.
#[derive(Default)]
pub struct Transcript {
    /// The project's folder: paths inside it are shown without it.
    project: PathBuf,
    items: Vec<Arc<Item>>,
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

impl Transcript {
    /// An empty conversation in this project.
    pub fn new(project: &Path) -> Self {
        Self { project: project.to_owned(), ..Self::default() }
    }

    /// Takes in what the agent says.
    ///
    /// The texts of a reply are taken out of its message: a very long one is not kept twice.
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

    /// Takes in what Deskbell knows by itself, since it did it or saw it.
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

    pub fn items(&self) -> impl ExactSizeIterator<Item = &Item> + Clone {
        self.items.iter().map(Arc::as_ref)
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

    /// The items of the rows from `first` up to `end`, of a subagent's the last ones.
    pub fn items_of(&self, first: u32, end: u32) -> impl Iterator<Item = &Item> {
        self.rows.places(first, end).map(|place| self.items[place].as_ref())
    }

    pub fn item(&self, id: &ItemId) -> Option<&Item> {
        self.shared(id).map(Arc::as_ref)
    }

    /// An item as it is now, to be looked at elsewhere while the conversation goes on.
    pub fn shared(&self, id: &ItemId) -> Option<&Arc<Item>> {
        Some(&self.items[*self.index.get(id)?])
    }

    /// The bytes of a text that streams, as they came.
    pub fn streamed(&self, id: &ItemId) -> usize {
        self.documents.get(id).map_or(0, |document| document.text().len())
    }

    /// The texts that stream.
    pub fn streams(&self) -> impl Iterator<Item = &ItemId> {
        self.documents.keys()
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

    fn body(&mut self, id: &ItemId) -> Option<&mut Body> {
        let item_idx = *self.index.get(id)?;
        Some(&mut Arc::make_mut(&mut self.items[item_idx]).body)
    }

    /// Puts an item at the end.
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
        let (row, nr) = self.rows.add(self.items.len(), row_of_parent, &body);
        self.index.insert(id.clone(), self.items.len());
        self.items.push(Arc::new(Item { id: id.clone(), parent, row, nr, at, part: 0, parts: 1, body }));
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
}
