//! Subagents of a stored conversation: the lines of each are in `<session id>/subagents/agent-<id>.jsonl`, and
//! `agent-<id>.meta.json` names the call that started it (2.1.197 and 2.1.329).

mod growth;

pub(super) use growth::{FilesRead, Followed, GrownThread};

use super::{Place, call_of_subagent, lines_of, milliseconds, wire};
use crate::agent::tool::ToolKind;
use crate::agent::{AgentEvent, ContentBlock};
use crate::api::ItemId;
use crate::disk::{self, ReadError, Regular};
use crate::transcript::Transcript;
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};

/// Maximum number of files in the folder: two for each subagent.
const MOST_FILES: usize = 20_000;

/// Maximum size of the file that names the call.
const MOST_OF_META: u64 = 64 * 1024;

/// Maximum number of bytes read of one subagent, and of all. Of a larger file the end is read.
const MOST_OF_ONE: u64 = 16 * 1024 * 1024;
const MOST_OF_ALL: u64 = 128 * 1024 * 1024;

/// Maximum depth of subagents that subagents started.
const MOST_NESTED: usize = 32;

/// The files of one subagent.
#[derive(Clone, Debug)]
struct Files {
    /// Names the call.
    meta: PathBuf,
    lines: PathBuf,
    /// The agent's id of the call that started it. An agent may use it for other calls too.
    call: String,
}

/// The lines of one subagent.
#[derive(Debug)]
struct Thread {
    files: Files,
    bytes: Vec<u8>,
    /// The place in the file at which `bytes` begins.
    offset: u64,
    /// These are not all of its lines.
    is_cut: bool,
}

/// The subagents of a conversation.
#[derive(Debug, Default)]
pub(crate) struct Subagents {
    threads: Vec<Thread>,
    /// The reason why none, or not all, could be looked for.
    problem: Option<String>,
}

impl Subagents {
    /// Reads those of the conversation with this transcript file. A file without a call is one that the agent started
    /// for itself, and is not read.
    pub fn load(transcript: &Path) -> Self {
        let folder = folder_of(transcript);
        if disk::kind(&folder).is_err_and(|error| error.is_missing()) {
            return Self::default();
        }
        let mut listing = match disk::list(&folder, MOST_FILES) {
            Ok(listing) => listing,
            Err(error) => return Self::failed(error.to_string()),
        };
        listing.paths.sort();
        let problem = listing.is_cut.then(|| "There are too many of them.".to_owned());
        let mut found = Self { problem, ..Self::default() };
        let mut left = MOST_OF_ALL;
        for path in listing.paths {
            match Files::of(&path) {
                Ok(None) => {}
                Ok(Some(files)) => {
                    let thread = Thread::load(files, left);
                    left = left.saturating_sub(thread.bytes.len() as u64);
                    found.threads.push(thread);
                }
                Err(error) => found.problem = Some(error.to_string()),
            }
        }
        // Calls with one id started in this order.
        found.threads.sort_by_key(Thread::started_at);
        found
    }

    /// None could be looked for.
    pub fn failed(problem: String) -> Self {
        Self { problem: Some(problem), ..Self::default() }
    }
}

/// The folder of the subagents of the conversation with this transcript file.
fn folder_of(transcript: &Path) -> PathBuf {
    transcript.with_extension("").join("subagents")
}

impl Files {
    /// The files of the subagent that this file describes; `None` if it describes none.
    fn of(meta: &Path) -> Result<Option<Self>, ReadError> {
        let name =
            meta.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".meta.json"));
        let Some(name) = name else { return Ok(None) };
        let call = call_of_subagent(&disk::read_regular(meta, MOST_OF_META)?);
        let lines = meta.with_file_name(format!("{name}.jsonl"));
        Ok(call.map(|call| Self { meta: meta.to_owned(), lines, call }))
    }
}

impl Thread {
    /// The time of its first line.
    fn started_at(&self) -> u64 {
        let first = lines_of(&self.bytes).into_iter().find_map(Place::read);
        milliseconds(first.as_ref().and_then(Place::timestamp))
    }

    /// Reads the end of the file with the lines. What cannot be read is said where it is missing.
    fn load(files: Files, left: u64) -> Self {
        let limit = MOST_OF_ONE.min(left);
        let read = || {
            let Regular { size, .. } = disk::open_regular(&files.lines)?;
            Ok::<_, ReadError>((size, disk::read_end(&files.lines, limit)?))
        };
        let Ok((size, mut bytes)) = read() else {
            return Self { files, bytes: Vec::new(), offset: 0, is_cut: true };
        };
        let is_cut = size > limit;
        let mut offset = size.saturating_sub(limit);
        if is_cut {
            // The first line is incomplete.
            let n_cut = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
            bytes.drain(..n_cut);
            offset += n_cut as u64;
        }
        Self { files, bytes, offset, is_cut }
    }
}

/// What a transcript has of subagents.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// The calls that started subagents, each with the uuids of the messages that are shown below it.
    calls: HashMap<ItemId, HashSet<String>>,
    /// The calls of the threads that are shown, by the files that name the calls.
    threads: HashMap<PathBuf, ItemId>,
    /// The calls without a thread, by the agent's id, oldest first.
    without_thread: HashMap<String, VecDeque<ItemId>>,
}

impl Shown {
    fn has_thread(&self, files: &Files) -> bool {
        self.threads.contains_key(&files.meta)
    }
}

/// The subagents whose calls have not been folded yet.
#[derive(Default)]
pub(super) struct Threads<'a> {
    waiting: HashMap<&'a str, VecDeque<&'a Thread>>,
    pub problem: Option<&'a str>,
    /// Subagents that are not shown completely.
    pub n_cut: usize,
    /// Lines that are no JSON.
    pub n_damaged: usize,
    n_nested: usize,
    is_live: bool,
    shown: Shown,
}

impl<'a> Threads<'a> {
    /// `is_live`: another process works on the conversation, and may not have written the whole last line.
    pub fn of(subagents: &'a Subagents, is_live: bool) -> Self {
        let mut threads = Self { problem: subagents.problem.as_deref(), is_live, ..Self::default() };
        subagents.threads.iter().for_each(|thread| threads.wait(thread));
        threads
    }

    /// The thread is shown when its call comes.
    fn wait(&mut self, thread: &'a Thread) {
        self.waiting.entry(thread.files.call.as_str()).or_default().push_back(thread);
    }

    /// What the transcript has of them now.
    pub fn into_shown(self) -> Shown {
        self.shown
    }

    /// Folds the threads of these calls, as their lines arrive live: below the calls and before their results.
    pub fn fold(&mut self, transcript: &mut Transcript, calls: &[ItemId]) {
        for call in calls {
            let is_too_deep = self.n_nested == MOST_NESTED;
            let id = transcript.agents_id(call);
            let thread = self.waiting.get_mut(id).and_then(VecDeque::pop_front);
            if !is_too_deep {
                self.shown.calls.entry(call.clone()).or_default();
                if thread.is_none() {
                    self.shown.without_thread.entry(id.to_owned()).or_default().push_back(call.clone());
                }
            }
            let Some(thread) = thread else { continue };
            self.n_cut += usize::from(thread.is_cut || is_too_deep);
            if !is_too_deep {
                self.n_nested += 1;
                self.fold_thread(transcript, call, thread);
                self.n_nested -= 1;
            }
        }
    }

    /// All messages are shown, in the order of the file: a subagent has no branches.
    fn fold_thread(&mut self, transcript: &mut Transcript, call: &ItemId, thread: &Thread) {
        self.shown.threads.insert(thread.files.meta.clone(), call.clone());
        let mut folded = self.shown.calls.remove(call).unwrap_or_default();
        for line in lines_of(&thread.bytes).into_iter().filter(|line| !line.trim_ascii().is_empty()) {
            let Some(place) = Place::read(line) else {
                let is_end = thread.bytes.ends_with(line);
                self.n_damaged += usize::from(!(is_end && self.is_live));
                continue;
            };
            // 2.1.197 writes messages again.
            let is_new = place.uuid().is_none_or(|uuid| folded.insert(uuid.to_owned()));
            if is_new && place.is_message() {
                let mut event = wire::parse(line);
                transcript.identify_below(&mut event, call);
                let calls = calls_in(&event);
                transcript.fold(milliseconds(place.timestamp()), event);
                self.fold(transcript, &calls);
            }
        }
        self.shown.calls.insert(call.clone(), folded);
    }
}

/// The keys of the calls in a message that start subagents.
pub(super) fn calls_in(event: &AgentEvent) -> Vec<ItemId> {
    let AgentEvent::Assistant(assistant) = event else { return Vec::new() };
    let id = |block: &ContentBlock| match block {
        ContentBlock::ToolUse { id, call } if call.kind == ToolKind::Subagent => Some(ItemId::new(id)),
        _ => None,
    };
    assistant.message.content.iter().filter_map(id).collect()
}

#[cfg(test)]
mod tests;
