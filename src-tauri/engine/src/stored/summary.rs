//! The summary of a stored conversation, from the beginning and the end of its file.
//!
//! The format belongs to the agent: a line that does not parse, a missing field and a field of another type are skipped.

use crate::api::StoredState;
use crate::disk::Ends;
use crate::history::{INTERRUPTED, is_by_agent, milliseconds};
use crate::title::{Title, one_line};
use memchr::memmem;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
        let Some(line) = Line::parse(line) else { return false };
        if self.cwd.is_none() {
            self.cwd = line.text("cwd").filter(|cwd| !cwd.is_empty()).map(str::to_owned);
        }
        if self.first_prompt.is_none() {
            self.first_prompt = line.prompt();
        }
        self.cwd.is_some() && self.first_prompt.is_some()
    }

    /// Takes the facts that the last lines decide. Lines come in reverse order.
    fn take_last(&mut self, line: &[u8]) {
        let is_known = self.state.is_some()
            && self.at.is_some()
            && self.branch.is_some()
            && self.model.is_some()
            && self.last_prompt.is_some();
        if is_known && !has_title(line) {
            return;
        }
        let Some(line) = Line::parse(line) else { return };
        let title = |name: &str| line.text(name).map(|text| one_line(text, LONGEST_PROMPT));
        match line.kind() {
            "custom-title" if self.custom_title.is_none() => self.custom_title = title("customTitle"),
            "ai-title" if self.generated_title.is_none() => self.generated_title = title("aiTitle"),
            "summary" if self.summary.is_none() => {
                self.summary = title("summary").filter(|text| !text.is_empty())
            }
            "last-prompt" if self.last_prompt.is_none() => {
                self.last_prompt =
                    line.text("lastPrompt").filter(|text| !is_by_agent(text)).and_then(shortened);
            }
            "user" | "assistant" if !line.is("isSidechain") => self.take_message(&line),
            _ => {}
        }
    }

    fn take_message(&mut self, line: &Line) {
        self.has_messages = true;
        if self.at.is_none() {
            self.at = Some(milliseconds(line.text("timestamp"))).filter(|at| *at > 0);
        }
        if self.branch.is_none() {
            // Without a branch git says HEAD.
            let branch = line.text("gitBranch").map(|branch| one_line(branch, LONGEST_WORD));
            self.branch = branch.filter(|branch| !branch.is_empty() && branch != "HEAD");
        }
        if self.model.is_none() {
            let model = line.model().filter(|model| *model != SYNTHETIC);
            self.model = model.map(|model| one_line(model, LONGEST_WORD)).filter(|model| !model.is_empty());
        }
        if self.last_prompt.is_none() {
            self.last_prompt = line.prompt();
        }
        if self.state.is_none() {
            self.state = line.state();
        }
    }
}

/// Whether a line may contain a title. Most lines are not parsed for it.
fn has_title(line: &[u8]) -> bool {
    memmem::find(line, b"-title\"").is_some() || memmem::find(line, b"\"type\":\"summary\"").is_some()
}

/// The model of messages that the agent wrote itself.
const SYNTHETIC: &str = "<synthetic>";

fn shortened(text: &str) -> Option<String> {
    // The first line that has a visible character, as in a title; its length is the only difference.
    Title::of_prompt(text)?;
    Some(one_line(text, LONGEST_PROMPT))
}

/// One line of the file.
struct Line(Value);

impl Line {
    fn parse(line: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(line).ok()?;
        value.is_object().then_some(Self(value))
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    fn is(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    fn kind(&self) -> &str {
        self.text("type").unwrap_or_default()
    }

    fn model(&self) -> Option<&str> {
        self.0.get("message")?.get("model")?.as_str()
    }

    /// The blocks of the message; a plain text has none.
    fn blocks(&self) -> &[Value] {
        let content = self.0.get("message").and_then(|message| message.get("content"));
        content.and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    fn has_block(&self, kind: &str) -> bool {
        self.blocks().iter().any(|block| block.get("type").and_then(Value::as_str) == Some(kind))
    }

    /// The first text of the message.
    fn words(&self) -> Option<&str> {
        let content = self.0.get("message")?.get("content")?;
        let of_block = |block: &'_ Value| block.get("type").and_then(Value::as_str) == Some("text");
        content.as_str().or_else(|| self.blocks().iter().find(|block| of_block(block))?.get("text")?.as_str())
    }

    /// The prompt, if this is one that the user wrote.
    fn prompt(&self) -> Option<String> {
        let not_written = ["isSidechain", "isMeta", "isSynthetic", "isCompactSummary"];
        if self.kind() != "user"
            || not_written.iter().any(|name| self.is(name))
            || self.has_block("tool_result")
        {
            return None;
        }
        self.words().filter(|words| !is_by_agent(words)).and_then(shortened)
    }

    /// The state of a conversation that ends with this message; `None` if the message does not decide it.
    fn state(&self) -> Option<StoredState> {
        if self.kind() == "assistant" { self.state_after_reply() } else { self.state_after_user() }
    }

    fn state_after_reply(&self) -> Option<StoredState> {
        if self.is("isApiErrorMessage") {
            let message = one_line(self.words().unwrap_or("The API reported an error"), LONGEST_WORD);
            return Some(StoredState::Failed { message });
        }
        // “No response requested.”, written when a killed session is resumed (2.1.329).
        if self.model() == Some(SYNTHETIC) {
            return None;
        }
        let stop =
            self.0.get("message").and_then(|message| message.get("stop_reason")).and_then(Value::as_str);
        let goes_on = self.has_block("tool_use") || matches!(stop, Some("tool_use" | "pause_turn"));
        let has_answer = self.words().is_some() || stop == Some("end_turn");
        Some(if goes_on || !has_answer { StoredState::Interrupted } else { StoredState::Completed })
    }

    fn state_after_user(&self) -> Option<StoredState> {
        let words = self.words().unwrap_or_default();
        if words.starts_with(INTERRUPTED) {
            return Some(StoredState::Interrupted);
        }
        let not_a_step = ["isMeta", "isSynthetic", "isCompactSummary"].iter().any(|name| self.is(name));
        // A prompt or a tool's result that was never answered.
        (!not_a_step && !is_by_agent(words)).then_some(StoredState::Interrupted)
    }
}
