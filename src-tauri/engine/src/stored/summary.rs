//! The summary of a stored conversation, from the beginning and the end of its file.
//!
//! The format belongs to the agent: a line that does not parse, a missing field and a field of another type are skipped.

use crate::api::StoredState;
use crate::claude::stored::{INTERRUPTED, LineKind, StoredLine, is_by_agent, milliseconds};
use crate::disk::Ends;
use crate::title::Title;
use memchr::{memchr, memrchr};
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
    /// The folder to which it moved last, if it did not move back.
    pub moved_to: Option<String>,
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
    /// The title to show: the user's, the agent's, the first prompt, the last prompt, the agent's summary.
    pub fn title(&self) -> &str {
        let titles =
            [&self.custom_title, &self.generated_title, &self.first_prompt, &self.last_prompt, &self.summary];
        titles.into_iter().find_map(Option::as_deref).unwrap_or("Untitled session")
    }
}

/// Summarizes a conversation. Returns also the number of lines that were parsed for it.
pub fn summarize(ends: Ends<'_>) -> (Summary, usize) {
    let has_gap = !ends.end.is_empty();
    let mut reading = Reading::default();
    let start = if has_gap { up_to_last_break(ends.start) } else { ends.start };
    reading.take_first_lines(start);
    if has_gap && reading.summary.first_prompt.is_none() {
        reading.take_cut(ends.start);
    }
    if has_gap {
        reading.take_last_lines(after_first_break(ends.end), Part::End);
        // These do not need to be the last ones of the file.
        reading.take_last_lines(start, Part::Beginning);
    } else {
        reading.take_last_lines(start, Part::End);
    }
    let Reading { mut summary, n_parsed, .. } = reading;
    let is_visible = |title: &String| !title.is_empty();
    summary.custom_title = summary.custom_title.filter(is_visible);
    summary.generated_title = summary.generated_title.filter(is_visible);
    (summary, n_parsed)
}

/// Without the incomplete line at the end.
fn up_to_last_break(bytes: &[u8]) -> &[u8] {
    memrchr(b'\n', bytes).map_or(&[], |at| &bytes[..at])
}

/// Without the incomplete line at the beginning.
fn after_first_break(bytes: &[u8]) -> &[u8] {
    memchr(b'\n', bytes).map_or(&[], |at| &bytes[at + 1..])
}

/// A part of a file, read from its last line to its first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// It decides what the last lines of the conversation decide, such as its state.
    End,
    /// It only adds what the end does not have.
    Beginning,
}

/// A summary that is being made.
#[derive(Default)]
struct Reading {
    summary: Summary,
    /// The last message that names a branch was read. Without a branch git says HEAD, and the summary has none.
    has_branch: bool,
    /// The last line about a move was read. It may say that the session moved back.
    has_move: bool,
    n_parsed: usize,
}

impl Reading {
    fn parse(&mut self, line: &[u8]) -> Option<StoredLine> {
        self.n_parsed += usize::from(!line.is_empty());
        StoredLine::read(line)
    }

    /// Takes the facts that the first lines decide, until all of them are known.
    fn take_first_lines(&mut self, part: &[u8]) {
        for line in part.split(|byte| *byte == b'\n') {
            let Some(line) = self.parse(line) else { continue };
            let summary = &mut self.summary;
            if summary.cwd.is_none() {
                summary.cwd = line.cwd().filter(|cwd| !cwd.is_empty()).map(str::to_owned);
            }
            if summary.first_prompt.is_none() {
                summary.first_prompt = prompt(&line);
            }
            if summary.cwd.is_some() && summary.first_prompt.is_some() {
                return;
            }
        }
    }

    /// Takes the beginning of the line that is cut at the end of `start`: a prompt can be longer than what is read.
    fn take_cut(&mut self, start: &[u8]) {
        let at = memrchr(b'\n', start).map_or(0, |at| at + 1);
        let Some(line) = StoredLine::read_beginning(&start[at..]) else { return };
        if matches!(line.kind(), LineKind::User | LineKind::Assistant) && !line.is_sidechain() {
            self.summary.has_messages = true;
            self.summary.first_prompt = prompt(&line);
        }
    }

    /// Takes the facts that the last lines decide, from the last line to the first.
    fn take_last_lines(&mut self, part: &[u8], from: Part) {
        let mut rest = part;
        while !rest.is_empty() && !self.has_facts(from) {
            let at = memrchr(b'\n', rest);
            let line = &rest[at.map_or(0, |at| at + 1)..];
            rest = &rest[..at.unwrap_or(0)];
            self.take_last(line, from);
        }
        // A title or another folder can be in any line.
        for line in StoredLine::with_titles_or_moves(rest).into_iter().rev() {
            if self.summary.has_titles() && self.has_move {
                return;
            }
            self.take_last(line, from);
        }
    }

    fn take_last(&mut self, line: &[u8], from: Part) {
        let Some(line) = self.parse(line) else { return };
        let title = |text: Option<&str>| text.map(|text| Title::one_line(text, LONGEST_PROMPT));
        let summary = &mut self.summary;
        match line.kind() {
            LineKind::CustomTitle(text) if summary.custom_title.is_none() => {
                summary.custom_title = title(text)
            }
            LineKind::GeneratedTitle(text) if summary.generated_title.is_none() => {
                summary.generated_title = title(text)
            }
            LineKind::Summary(text) if summary.summary.is_none() => {
                summary.summary = title(text).filter(|text| !text.is_empty())
            }
            LineKind::LastPrompt(text) if from == Part::End && summary.last_prompt.is_none() => {
                summary.last_prompt = text.filter(|text| !is_by_agent(text)).and_then(shortened);
            }
            LineKind::Moved(Some(folder)) if !self.has_move && !folder.is_empty() => {
                self.has_move = true;
                summary.moved_to = Some(folder.to_owned());
            }
            LineKind::MovedBack => self.has_move = true,
            LineKind::User | LineKind::Assistant if !line.is_sidechain() => self.take_message(&line, from),
            _ => {}
        }
    }

    /// It has all facts that messages of this part can add.
    fn has_facts(&self, from: Part) -> bool {
        let Summary { state, at, last_prompt, model, has_messages, .. } = &self.summary;
        let has_last = state.is_some() && at.is_some() && last_prompt.is_some();
        *has_messages && self.has_branch && model.is_some() && (from == Part::Beginning || has_last)
    }

    fn take_message(&mut self, line: &StoredLine, from: Part) {
        let summary = &mut self.summary;
        summary.has_messages = true;
        if let Some(branch) = line.branch().filter(|_| !self.has_branch) {
            self.has_branch = true;
            let branch = Title::one_line(branch, LONGEST_WORD);
            summary.branch = Some(branch).filter(|branch| !branch.is_empty() && branch != "HEAD");
        }
        if summary.model.is_none() {
            summary.model = line
                .model()
                .map(|model| Title::one_line(model, LONGEST_WORD))
                .filter(|model| !model.is_empty());
        }
        if from == Part::Beginning {
            return;
        }
        if summary.at.is_none() {
            summary.at = Some(milliseconds(line.timestamp())).filter(|at| *at > 0);
        }
        if summary.last_prompt.is_none() {
            summary.last_prompt = prompt(line);
        }
        if summary.state.is_none() {
            summary.state = state(line);
        }
    }
}

impl Summary {
    fn has_titles(&self) -> bool {
        self.custom_title.is_some() && self.generated_title.is_some() && self.summary.is_some()
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
