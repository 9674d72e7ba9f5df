//! The summary of a stored conversation, from the beginning and the end of its file.
//!
//! The format belongs to the agent: a line that does not parse, a missing field and a field of another type are skipped.

use crate::api::StoredState;
use crate::claude::stored::{INTERRUPTED, LineKind, StoredLine, is_by_agent, milliseconds};
use crate::disk::Ends;
use crate::title::Title;
use serde::{Deserialize, Serialize};

/// Longest prompt in a summary, in user-perceived characters.
const LONGEST_PROMPT: usize = 200;
/// Longest branch, model and error, in user-perceived characters.
const LONGEST_WORD: usize = 120;

/// Facts about a conversation. Each is `None` if no line that was read has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// The folder in which the session began.
    pub cwd: Option<String>,
    pub custom_title: Option<String>,
    pub generated_title: Option<String>,
    pub summary: Option<String>,
    pub last_prompt: Option<String>,
    pub first_prompt: Option<String>,
    pub branch: Option<String>,
    pub model: Option<String>,
    /// Time of the last message.
    pub at: Option<u64>,
    pub state: Option<StoredState>,
    /// It has a message of the conversation itself. A subagent's file and one with titles only have none.
    pub has_messages: bool,
}

impl Summary {
    /// The title to show: the user's, the agent's, the last prompt, the agent's summary, the first prompt.
    pub fn title(&self) -> &str {
        let titles =
            [&self.custom_title, &self.generated_title, &self.last_prompt, &self.summary, &self.first_prompt];
        titles.into_iter().find_map(Option::as_deref).unwrap_or("Untitled session")
    }
}

/// Summarizes a conversation.
pub fn summarize(ends: &Ends) -> Summary {
    let has_gap = !ends.end.is_empty();
    let start = lines_of(&ends.start, false, has_gap);
    let end = lines_of(&ends.end, has_gap, false);
    let mut summary = Summary::default();
    for line in &start {
        if summary.takes_first(line) {
            break;
        }
    }
    if has_gap && summary.first_prompt.is_none() {
        summary.take_cut(&ends.start);
    }
    let last = if has_gap { &end } else { &start };
    last.iter().rev().for_each(|line| summary.take_last(line));
    if has_gap {
        // These do not need to be the last ones of the file.
        let mut beginning = Summary::default();
        start.iter().rev().for_each(|line| beginning.take_last(line));
        summary.custom_title = summary.custom_title.or(beginning.custom_title);
        summary.generated_title = summary.generated_title.or(beginning.generated_title);
        summary.summary = summary.summary.or(beginning.summary);
        summary.branch = summary.branch.or(beginning.branch);
        summary.model = summary.model.or(beginning.model);
        summary.has_messages |= beginning.has_messages;
    }
    let is_visible = |title: &String| !title.is_empty();
    summary.custom_title = summary.custom_title.filter(is_visible);
    summary.generated_title = summary.generated_title.filter(is_visible);
    summary
}

/// The lines of a part of a file. An incomplete line at a cut is dropped.
fn lines_of(bytes: &[u8], cut_before: bool, cut_after: bool) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    if cut_after {
        lines.pop();
    }
    if cut_before && !lines.is_empty() {
        lines.remove(0);
    }
    lines.retain(|line| !line.is_empty());
    lines
}

impl Summary {
    /// Takes the facts that the first lines decide. Returns whether all of them are known.
    fn takes_first(&mut self, line: &[u8]) -> bool {
        let Some(line) = StoredLine::read(line) else { return false };
        if self.cwd.is_none() {
            self.cwd = line.cwd().filter(|cwd| !cwd.is_empty()).map(str::to_owned);
        }
        if self.first_prompt.is_none() {
            self.first_prompt = prompt(&line);
        }
        self.cwd.is_some() && self.first_prompt.is_some()
    }

    /// Takes the beginning of the line that is cut at the end of `start`: a prompt can be longer than what is read.
    fn take_cut(&mut self, start: &[u8]) {
        let at = memchr::memrchr(b'\n', start).map_or(0, |at| at + 1);
        let Some(line) = StoredLine::read_beginning(&start[at..]) else { return };
        if matches!(line.kind(), LineKind::User | LineKind::Assistant) && !line.is_sidechain() {
            self.has_messages = true;
            self.first_prompt = prompt(&line);
        }
    }

    /// Takes the facts that the last lines decide. Lines come in reverse order.
    fn take_last(&mut self, line: &[u8]) {
        let is_known = self.state.is_some()
            && self.at.is_some()
            && self.branch.is_some()
            && self.model.is_some()
            && self.last_prompt.is_some();
        if is_known && !StoredLine::may_have_title(line) {
            return;
        }
        let Some(line) = StoredLine::read(line) else { return };
        let title = |text: Option<&str>| text.map(|text| Title::one_line(text, LONGEST_PROMPT));
        match line.kind() {
            LineKind::CustomTitle(text) if self.custom_title.is_none() => self.custom_title = title(text),
            LineKind::GeneratedTitle(text) if self.generated_title.is_none() => {
                self.generated_title = title(text)
            }
            LineKind::Summary(text) if self.summary.is_none() => {
                self.summary = title(text).filter(|text| !text.is_empty())
            }
            LineKind::LastPrompt(text) if self.last_prompt.is_none() => {
                self.last_prompt = text.filter(|text| !is_by_agent(text)).and_then(shortened);
            }
            LineKind::User | LineKind::Assistant if !line.is_sidechain() => self.take_message(&line),
            _ => {}
        }
    }

    fn take_message(&mut self, line: &StoredLine) {
        self.has_messages = true;
        if self.at.is_none() {
            self.at = Some(milliseconds(line.timestamp())).filter(|at| *at > 0);
        }
        if self.branch.is_none() {
            // Without a branch git says HEAD.
            let branch = line.branch().map(|branch| Title::one_line(branch, LONGEST_WORD));
            self.branch = branch.filter(|branch| !branch.is_empty() && branch != "HEAD");
        }
        if self.model.is_none() {
            self.model = line
                .model()
                .map(|model| Title::one_line(model, LONGEST_WORD))
                .filter(|model| !model.is_empty());
        }
        if self.last_prompt.is_none() {
            self.last_prompt = prompt(line);
        }
        if self.state.is_none() {
            self.state = state(line);
        }
    }
}

fn shortened(text: &str) -> Option<String> {
    // The first line that has a visible character, as in a title; its length is the only difference.
    Title::of_prompt(text)?;
    Some(Title::one_line(text, LONGEST_PROMPT))
}

/// The prompt, if this is one that the user wrote.
fn prompt(line: &StoredLine) -> Option<String> {
    if line.kind() != LineKind::User || line.is_sidechain() || line.is_remark() || line.has_tool_result() {
        return None;
    }
    line.words().filter(|words| !is_by_agent(words)).and_then(shortened)
}

/// The state of a conversation that ends with this message; `None` if the message does not decide it.
fn state(line: &StoredLine) -> Option<StoredState> {
    if line.kind() == LineKind::Assistant { state_after_reply(line) } else { state_after_user(line) }
}

fn state_after_reply(line: &StoredLine) -> Option<StoredState> {
    if line.is_api_error() {
        let message = Title::one_line(line.words().unwrap_or("The API reported an error"), LONGEST_WORD);
        return Some(StoredState::Failed { message });
    }
    if line.is_by_the_agent_itself() {
        return None;
    }
    let is_over = !line.goes_on() && line.has_answer();
    Some(if is_over { StoredState::Completed } else { StoredState::Interrupted })
}

fn state_after_user(line: &StoredLine) -> Option<StoredState> {
    let words = line.words().unwrap_or_default();
    if words.starts_with(INTERRUPTED) {
        return Some(StoredState::Interrupted);
    }
    // A prompt or a tool's result that was never answered.
    (!line.is_remark() && !is_by_agent(words)).then_some(StoredState::Interrupted)
}
