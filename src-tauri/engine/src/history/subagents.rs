//! Subagents of a stored conversation: the lines of each are in `<session id>/subagents/agent-<id>.jsonl`, and
//! `agent-<id>.meta.json` names the call that started it (2.1.197 and 2.1.329).

use super::{Place, call_of_subagent, lines_of, milliseconds, wire};
use crate::agent::tool::ToolKind;
use crate::agent::{AgentEvent, ContentBlock};
use crate::disk::{self, ReadError, Regular};
use crate::transcript::Transcript;
use std::collections::{HashMap, HashSet};
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

/// The lines of one subagent.
#[derive(Debug, Default)]
struct Thread {
    bytes: Vec<u8>,
    /// These are not all of its lines.
    is_cut: bool,
}

/// The subagents of a conversation, by the id of the call that started each.
#[derive(Debug, Default)]
pub(crate) struct Subagents {
    threads: HashMap<String, Thread>,
    /// The reason why none, or not all, could be looked for.
    problem: Option<String>,
}

impl Subagents {
    /// Reads those of the conversation with this transcript file. A file without a call is one that the agent started
    /// for itself, and is not read.
    pub fn load(transcript: &Path) -> Self {
        let folder = transcript.with_extension("").join("subagents");
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
            match lines_and_call(&path) {
                Ok(None) => {}
                Ok(Some((path, call))) => {
                    // A thread that cannot be read is said where it is missing.
                    let thread =
                        Thread::load(&path, left).unwrap_or(Thread { bytes: Vec::new(), is_cut: true });
                    left = left.saturating_sub(thread.bytes.len() as u64);
                    found.threads.insert(call, thread);
                }
                Err(error) => found.problem = Some(error.to_string()),
            }
        }
        found
    }

    /// None could be looked for.
    pub fn failed(problem: String) -> Self {
        Self { problem: Some(problem), ..Self::default() }
    }
}

/// The file with the lines, and the call, of the subagent that this file describes; `None` if it describes none.
fn lines_and_call(meta: &Path) -> Result<Option<(PathBuf, String)>, ReadError> {
    let name =
        meta.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".meta.json"));
    let Some(name) = name else { return Ok(None) };
    let call = call_of_subagent(&disk::read_regular(meta, MOST_OF_META)?);
    Ok(call.map(|call| (meta.with_file_name(format!("{name}.jsonl")), call)))
}

impl Thread {
    fn load(path: &Path, left: u64) -> Result<Self, ReadError> {
        let Regular { size, .. } = disk::open_regular(path)?;
        let limit = MOST_OF_ONE.min(left);
        let mut bytes = disk::read_end(path, limit)?;
        let is_cut = size > limit;
        if is_cut {
            // The first line is incomplete.
            bytes.drain(..bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1));
        }
        Ok(Self { bytes, is_cut })
    }
}

/// The subagents whose calls have not been folded yet.
#[derive(Default)]
pub(super) struct Threads<'a> {
    waiting: HashMap<&'a str, &'a Thread>,
    pub problem: Option<&'a str>,
    /// Subagents that are not shown completely.
    pub n_cut: usize,
    /// Lines that are no JSON.
    pub n_damaged: usize,
    n_nested: usize,
    is_live: bool,
}

impl<'a> Threads<'a> {
    /// `is_live`: another process works on the conversation, and may not have written the whole last line.
    pub fn of(subagents: &'a Subagents, is_live: bool) -> Self {
        let waiting = subagents.threads.iter().map(|(call, thread)| (call.as_str(), thread)).collect();
        Self { waiting, problem: subagents.problem.as_deref(), is_live, ..Self::default() }
    }

    /// Folds the threads of these calls, as their lines arrive live: below the calls and before their results.
    pub fn fold(&mut self, transcript: &mut Transcript, calls: &[String]) {
        for call in calls {
            let Some(thread) = self.waiting.remove(call.as_str()) else { continue };
            let is_too_deep = self.n_nested == MOST_NESTED;
            self.n_cut += usize::from(thread.is_cut || is_too_deep);
            if !is_too_deep {
                self.n_nested += 1;
                self.fold_thread(transcript, call, thread);
                self.n_nested -= 1;
            }
        }
    }

    /// All messages are shown, in the order of the file: a subagent has no branches.
    fn fold_thread(&mut self, transcript: &mut Transcript, call: &str, thread: &Thread) {
        let mut folded = HashSet::new();
        for line in lines_of(&thread.bytes).into_iter().filter(|line| !line.trim_ascii().is_empty()) {
            let Some(place) = Place::read(line) else {
                let is_end = thread.bytes.ends_with(line);
                self.n_damaged += usize::from(!(is_end && self.is_live));
                continue;
            };
            // 2.1.197 writes messages again.
            let is_new = place.uuid.as_ref().is_none_or(|uuid| folded.insert(uuid.clone()));
            if is_new && place.is_message() {
                let event = below(wire::parse(line), call);
                let calls = calls_in(&event);
                transcript.line(milliseconds(place.timestamp.as_deref()), event);
                self.fold(transcript, &calls);
            }
        }
    }
}

/// The same message in the thread of a call.
fn below(event: AgentEvent, call: &str) -> AgentEvent {
    match event {
        AgentEvent::Assistant(mut assistant) => {
            assistant.parent_tool_use_id = Some(call.to_owned());
            AgentEvent::Assistant(assistant)
        }
        AgentEvent::User(mut user) => {
            user.parent_tool_use_id = Some(call.to_owned());
            AgentEvent::User(user)
        }
        event => event,
    }
}

/// The ids of the calls in a message that start subagents.
pub(super) fn calls_in(event: &AgentEvent) -> Vec<String> {
    let AgentEvent::Assistant(assistant) = event else { return Vec::new() };
    let id = |block: &ContentBlock| match block {
        ContentBlock::ToolUse { id, call } if call.kind == ToolKind::Subagent => Some(id.clone()),
        _ => None,
    };
    assistant.message.content.iter().filter_map(id).collect()
}

#[cfg(test)]
mod tests;
