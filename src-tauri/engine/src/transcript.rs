//! The transcript: folds the agent's messages into items, the same way for the live stream and for a transcript on
//! disk.
//!
//! Item ids are the same in both cases: a block of a reply is `<message id>.<block index>`, a tool call has the agent's
//! own id, a prompt its uuid. An id that an agent uses again gets a number (`keys`). Folding never fails: an unknown message is shown as raw data.

mod calls;
pub mod changed_inputs;
mod changes;
pub mod colours;
mod edits;
mod event;
mod facts;
pub mod find;
mod hooks;
mod keys;
pub mod lazy;
mod markdown;
mod mirror;
mod notices;
pub mod output;
pub(crate) mod past;
pub mod progress;
mod prompts;
pub mod questions;
mod reply;
mod results;
mod rows;
pub mod slices;
#[cfg(test)]
mod states;
pub mod supplement;
mod tasks;
#[cfg(test)]
mod tests;
mod tool;
pub mod wording;
pub(crate) mod words;

use crate::agent::tool::RawInput;
use crate::agent::{AgentEvent, Past, WokenBy};
use crate::api::*;
use crate::document::{DocumentChange, Stream as Document};
use crate::prompt::Prompt;
use changed_inputs::ChangedInput;
use changes::ChangeKind;
pub use changes::TranscriptChange;
pub use event::{CLEARED, RequestEnd, TranscriptEvent};
use keys::Keys;
use lazy::LazyItem;
use reply::Reply;
use slices::has_one_slice;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use supplement::{Pending, Supplement};

/// Why an answer is incomplete, if its process ended.
const PROCESS_ENDED: &str = "the agent's process ended";

/// Why an answer is incomplete, by the end of its turn.
fn reason(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Interrupted => "it was interrupted",
        Outcome::Crashed => PROCESS_ENDED,
        _ => "the connection or the agent failed",
    }
}

/// The items of one conversation and everything needed to update them.
#[derive(Default)]
pub struct Transcript {
    /// The project's folder. Paths inside it are shown relative to it.
    project: PathBuf,
    items: Vec<Arc<LazyItem>>,
    index: HashMap<ItemId, usize>,
    keys: Keys,
    rows: rows::Index,
    facts: facts::Facts,
    /// Events for changed facts (files, tasks), not published yet.
    change: Vec<Event>,
    documents: HashMap<ItemId, Document>,
    tools: HashMap<ItemId, tool::Call>,
    /// The calls whose images are kept, oldest first, each with their size.
    with_images: VecDeque<(ItemId, usize)>,
    /// Calls that have not ended, by call number.
    running: BTreeMap<u64, ItemId>,
    n_calls: u64,
    /// Calls that continue in the background, by task id.
    background: BTreeMap<String, ItemId>,
    /// Ends of tasks whose calls have no result yet, by task id.
    early_ends: HashMap<String, calls::TaskEnd>,
    /// Inputs that the user changed before the call ran, by call id.
    changed_inputs: HashMap<String, RawInput>,
    /// Prompts that were accepted but not sent. A prompt becomes an item when it is sent.
    waiting: HashMap<PromptId, Prompt>,
    /// The reply that is being streamed, with its incomplete blocks.
    reply: Option<Reply>,
    /// Blocks of a reply that stopped before they were complete. They are removed if the reply starts again; otherwise
    /// they stay as they are.
    broken_off: Vec<ItemId>,
    /// The last block of a reply that the agent itself reports as interrupted.
    aborted: Option<ItemId>,
    /// Number of complete blocks received per message id, and per subagent and message id.
    n_blocks: HashMap<String, u32>,
    n_notices: u64,
    retry: Option<notices::Retrying>,
    compaction: notices::Compaction,
    hooks: hooks::Hooks,
    /// The limits that were shown as near: their ids, and when they reset.
    near_limits: BTreeMap<String, Option<u64>>,
    /// The last text that the CLI itself wrote in the model's name.
    own_words: Option<ItemId>,
    unreadable: Option<ItemId>,
    /// Items whose code needs colours.
    wanted: colours::Wanted,
    /// The last changes of finished texts, not published yet.
    last_changes: HashMap<ItemId, DocumentChange>,
    /// How many bytes of each streaming thought are published.
    published_thoughts: HashMap<ItemId, usize>,
    dirty: Vec<(ItemId, ChangeKind)>,
    dirty_index: HashMap<ItemId, usize>,
    /// A stored conversation is being read, so changes are not recorded.
    is_reading: bool,
    /// The ids on disk of prompts that have a different id there.
    names: HashMap<ItemId, ItemId>,
    /// Records that the agent does not save, not drained yet.
    supplements: Vec<Supplement>,
    /// The texts that stream in another process, whose transcript this one mirrors.
    mirrored: HashSet<ItemId>,
    /// Supplements read back from disk that still have to be placed among the items.
    pending: Pending,
    /// The notice in the place of earlier messages that may come.
    awaits_past: Option<ItemId>,
}

impl Transcript {
    /// Creates an empty transcript for this project.
    pub fn new(project: &Path) -> Self {
        Self { project: project.to_owned(), ..Self::default() }
    }

    /// Creates an empty transcript with the inputs that the user changed before the calls ran. The agent's own
    /// transcript does not contain them (2.1.197 and 2.1.329).
    pub fn with_changed_inputs(project: &Path, changed: &[ChangedInput]) -> Self {
        let changed = changed.iter().map(|one| (one.tool_use_id.clone(), one.input.clone()));
        Self { changed_inputs: changed.collect(), ..Self::new(project) }
    }

    /// Folds one message of the agent into the items.
    pub fn line(&mut self, now: u64, mut inbound: AgentEvent) {
        self.identify(&mut inbound);
        self.fold(now, inbound);
    }

    /// Folds a message that names calls by the keys of their items. Takes the message, because the texts of a reply can
    /// be large: they are moved into the items and never copied.
    pub fn fold(&mut self, now: u64, inbound: AgentEvent) {
        #[cfg(test)]
        crate::stages::passed(module_path!(), &inbound);
        if !matches!(inbound, AgentEvent::Unreadable { .. }) {
            self.unreadable = None;
        }
        match inbound {
            AgentEvent::Stream(stream) => self.stream(now, &stream),
            AgentEvent::Assistant(assistant) => self.assistant(now, *assistant),
            AgentEvent::User(user) => self.user(now, &user),
            AgentEvent::Message(message) => self.session_message(now, *message),
            AgentEvent::ApiRetry(retry) => self.api_retry(now, &retry),
            AgentEvent::Status { status, .. } => self.compaction.on_status(status.as_deref()),
            AgentEvent::Compacted { trigger, pre_tokens, post_tokens } => {
                self.compacted(now, &trigger, pre_tokens, post_tokens);
            }
            AgentEvent::CompactFailed { error } => self.not_compacted(now, error),
            AgentEvent::Informational { level, text } => self.informational(now, &level, text),
            AgentEvent::Woken { by: WokenBy::ScheduledJob, .. } => {
                self.info(now, "A scheduled job started this turn")
            }
            AgentEvent::Woken { by: WokenBy::WakeUp, .. } => {
                self.info(now, "A wake-up that the agent planned started this turn")
            }
            AgentEvent::ConversationReset => self.info(now, CLEARED),
            AgentEvent::PermissionDenied { tool, message } => {
                let text = format!("{tool} was denied by a rule");
                self.notice(now, Level::Warning, text, Some(message).filter(|message| !message.is_empty()));
            }
            AgentEvent::RateLimit(report) => self.rate_limit(now, &report.limits(now)),
            AgentEvent::Hook(run) => self.hook(now, *run),
            AgentEvent::TaskEnded { task_id, tool_use_id, status, summary, report } => {
                let end = calls::TaskEnd { status, summary, report };
                self.task_ended(now, &task_id, tool_use_id.as_deref(), end);
            }
            AgentEvent::WritesLost { error_code, transcript } => {
                self.writes_lost(now, &error_code, transcript)
            }
            AgentEvent::Unreadable { line, error } => self.unreadable(now, &line, &error),
            AgentEvent::Past(Past::Whole(past)) => self.past(past),
            _ => {}
        }
    }

    /// Folds in an event that Deskbell itself caused or observed.
    pub fn apply(&mut self, now: u64, event: TranscriptEvent) {
        match event {
            TranscriptEvent::PromptAccepted(prompt) => {
                self.waiting.insert(prompt.id.clone(), prompt);
            }
            TranscriptEvent::PromptEdited { id, text } => {
                if let Some(prompt) = self.waiting.get_mut(&id) {
                    prompt.text = text;
                }
            }
            TranscriptEvent::PromptState { id, state } => self.prompt_state(now, &id, state),
            TranscriptEvent::Asked { tool_use_id } => self.request_opened(tool_use_id),
            TranscriptEvent::Answered { tool_use_id, end } => self.request_closed(now, tool_use_id, end),
            TranscriptEvent::Notice { level, text, detail } => self.notice(now, level, text, detail),
            TranscriptEvent::PastAwaited { agent } => self.past_awaited(now, &agent),
            TranscriptEvent::PastMissing { reason } => self.past_missing(now, reason),
            TranscriptEvent::TurnEnded(turn) => {
                self.hooks_of_turn_over(now);
                self.cut_off(now, reason(&turn.outcome));
                if let Some(id) = self.aborted.take() {
                    self.incomplete(now, &id, reason(&turn.outcome));
                }
                self.early_ends.clear();
                self.keep_turn_end(now, &turn);
                self.add_turn_end(now, turn);
            }
            TranscriptEvent::ProcessEnded => {
                self.retries_over();
                self.compaction = notices::Compaction::default();
                self.hooks_cut_off(now);
                self.cut_off(now, PROCESS_ENDED);
                self.keys.end_tasks();
                self.background_cut_off(now);
            }
        }
    }

    fn add_turn_end(&mut self, at: u64, turn: TurnEnd) {
        self.retries_over();
        self.retry = None;
        self.compaction = notices::Compaction::default();
        self.say_failure_once(&turn);
        // A crash has one row: its notice, which also has the error output.
        if turn.outcome != Outcome::Crashed {
            let id = self.notice_id();
            self.add(id, None, at, Body::TurnEnd(turn));
        }
    }

    /// All items, made whole.
    pub fn items(&self) -> impl ExactSizeIterator<Item = &Item> + Clone {
        self.items.iter().map(|item| &***item)
    }

    /// The number of items with a part that has not been needed so far.
    #[cfg(test)]
    pub fn n_late(&self) -> usize {
        self.items.iter().filter(|item| item.is_late()).count()
    }

    /// The items that may have more than one slice. They may lack their outputs, which are in no slice.
    pub fn items_that_may_be_long(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter_map(|item| match item.source() {
            Some(source) => (!has_one_slice(source)).then(|| &***item),
            None => Some(item.head()),
        })
    }

    /// Whether the item exists.
    pub fn knows(&self, id: &str) -> bool {
        self.index.contains_key(&ItemId::new(id))
    }

    pub fn n_rows(&self) -> u32 {
        self.rows.count()
    }

    /// The row that the item is drawn in.
    pub fn row_of(&self, id: &ItemId) -> Option<u32> {
        Some(self.head(id)?.row)
    }

    /// The first item of a row, as far as it is there at once.
    pub fn head_of(&self, row: u32) -> Option<&Item> {
        self.rows.head(row).map(|place| self.items[place].head())
    }

    /// Whether the row folds a run of calls, which have no rows of their own.
    pub fn is_run(&self, row: u32) -> bool {
        self.rows.is_run(row)
    }

    /// The items that a subagent made, if the row is that of its call.
    pub fn inside(&self, row: u32) -> impl Iterator<Item = &Item> {
        let inside = if self.rows.is_run(row) { &[] } else { self.rows.inside(row) };
        inside.iter().map(|place| &**self.items[*place as usize])
    }

    /// Whether a subagent made the item, and it is in the row of its call.
    pub fn is_inside_call(&self, item: &Item) -> bool {
        !self.rows.is_run(item.row) && self.head_of(item.row).is_some_and(|head| head.id != item.id)
    }

    /// The items of the rows `first..end`, without those of subagents.
    pub fn items_of(&self, first: u32, end: u32) -> impl Iterator<Item = &Item> {
        self.rows.places(first, end).map(|place| &**self.items[place])
    }

    pub fn item(&self, id: &ItemId) -> Option<&Item> {
        Some(self.lazy(id)?)
    }

    /// The session that sent the message in this item.
    pub fn sender(&self, id: &ItemId) -> Option<&Sender> {
        match &self.item(id)?.body {
            Body::Message { sender, .. } => Some(sender),
            _ => None,
        }
    }

    fn lazy(&self, id: &ItemId) -> Option<&LazyItem> {
        Some(&self.items[*self.index.get(id)?])
    }

    /// The item as far as it is there at once.
    fn head(&self, id: &ItemId) -> Option<&Item> {
        self.lazy(id).map(LazyItem::head)
    }

    /// Ids of the texts that are streaming.
    pub fn streams(&self) -> impl Iterator<Item = &ItemId> {
        self.documents.keys().chain(&self.mirrored)
    }

    /// The complete output of a tool call.
    pub fn output(&self, id: &ItemId) -> Option<&output::Source> {
        self.tools.get(id)?.output()
    }

    /// The images that a call returned, as far as they are kept here, and the id of the call in the agent's own transcript.
    pub fn images(&self, id: &ItemId) -> Option<(Vec<Arc<str>>, String)> {
        let call = self.tools.get(id)?;
        Some((call.images().to_vec(), self.names.get(id).unwrap_or(id).as_str().to_owned()))
    }

    /// The changed files; the most recently changed one is last.
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

    /// What the agent is doing now, in one or two words.
    pub fn activity(&self) -> String {
        if self.compaction.is_running() {
            return "Compacting the conversation".to_owned();
        }
        let at_work = |item: &Item| match &item.body {
            Body::ToolCall(call) if matches!(call.state, ToolState::Running | ToolState::Preparing) => {
                Some(format!("{} {}", call.verb, call.subject).trim().to_owned())
            }
            Body::Text { streaming: true, .. } => Some("Writing".to_owned()),
            Body::Thinking { streaming: true, .. } => Some("Thinking".to_owned()),
            _ => None,
        };
        let at_work = |id: &ItemId| {
            let place = *self.index.get(id)?;
            Some((place, at_work(self.items[place].head())?))
        };
        // Only open blocks and running calls are searched, so the cost does not depend on the length of the turn. Of
        // several running calls, the one that started last counts.
        let open = self.reply.iter().flat_map(|reply| reply.open.values()).filter_map(at_work);
        let call = self.running.values().rev().find_map(at_work);
        let last = open.chain(call).max_by_key(|(place, _)| *place);
        let or_hook = || self.hooks.activity().unwrap_or_else(|| "Working".to_owned());
        last.map_or_else(or_hook, |(_, words)| words)
    }

    fn body(&mut self, id: &ItemId) -> Option<&mut Body> {
        self.lazy_mut(id).map(LazyItem::body_mut)
    }

    fn lazy_mut(&mut self, id: &ItemId) -> Option<&mut LazyItem> {
        Some(Arc::make_mut(&mut self.items[*self.index.get(id)?]))
    }

    /// Appends an item, or replaces the body of the item with this id.
    fn add(&mut self, id: ItemId, parent: Option<ItemId>, at: u64, body: Body) {
        if self.index.contains_key(&id) {
            // The same id came twice: the later body replaces the earlier one.
            if !matches!(body, Body::Text { .. }) {
                self.documents.remove(&id);
            }
            if let Some(known) = self.body(&id) {
                *known = body;
            }
            return self.touch(&id, ChangeKind::Changed);
        }
        let is_inside = parent.is_some();
        if !is_inside {
            self.supplement_before(Some((&id, &body)));
        }
        if let Body::Prompt { text, .. } = &body {
            self.facts.prompted(text);
        }
        let row_of_parent = parent.as_ref().and_then(|parent| self.row_of(parent));
        let (row, nr) = self.rows.add(self.items.len(), row_of_parent, &body);
        self.index.insert(id.clone(), self.items.len());
        let item = Item { parent, row, nr, at, ..Item::new(id.0.clone(), body) };
        self.items.push(Arc::new(LazyItem::new(item)));
        self.touch(&id, ChangeKind::Added);
        if !is_inside {
            self.supplement_after(&id);
        }
    }

    fn remove(&mut self, id: &ItemId) {
        let Some(item_idx) = self.index.remove(id) else { return };
        self.rows.remove(item_idx, self.items[item_idx].head().row);
        self.items.remove(item_idx);
        self.keys.removed(id);
        for idx in self.index.values_mut().filter(|idx| **idx > item_idx) {
            *idx -= 1;
        }
        self.documents.remove(id);
        self.published_thoughts.remove(id);
        self.wanted.forget(id);
        if let Some(call) = self.tools.remove(id) {
            self.running.remove(&call.number);
        }
        self.touch(id, ChangeKind::Removed);
    }
}
