//! Copying a conversation, a message, an output or an input as text. Uses the source as received, not the rendered
//! form.

use super::lazy::LazyItem;
use super::tool::Call;
use super::{Transcript, questions, words};
use crate::agent::tool::ToolInput;
use crate::api::{Block, Body, CopyOf, ExportFormat, ToolDetail, ToolIcon, ToolState};
use crate::export::{Conversation, ExportedItem};
use std::borrow::Cow;
use std::sync::Arc;

impl Transcript {
    /// The whole conversation as it is now, for an export.
    pub fn exported(&self, title: &str, format: ExportFormat) -> Conversation {
        if format == ExportFormat::Markdown {
            return Conversation { markdown: self.conversation(title), ..Conversation::default() };
        }
        let exported = |item: &Arc<LazyItem>| ExportedItem {
            item: item.clone(),
            source: matches!(item.head().body, Body::Text { .. }).then(|| self.message(item).into_owned()),
            output: self.output(&item.head().id).cloned(),
            images: self.images(&item.head().id).map(|(images, _)| images).unwrap_or_default(),
            stored_id: self.names.get(&item.head().id).unwrap_or(&item.head().id).as_str().to_owned(),
        };
        Conversation { items: self.items.iter().map(exported).collect(), ..Conversation::default() }
    }

    /// The text that `copy` names; `None` if it does not exist.
    pub fn text_of(&self, title: &str, copy: &CopyOf) -> Option<String> {
        match copy {
            CopyOf::Conversation => Some(self.conversation(title)),
            // The session knows its folder and its id.
            CopyOf::ResumeCommand => None,
            CopyOf::Message { item_id } => {
                let place = *self.index.get(item_id)?;
                Some(self.message(&self.items[place]).into_owned())
            }
            CopyOf::Code { item_id, block } => match &self.item(item_id)?.body {
                Body::Text { blocks, .. } => match blocks.get(*block as usize)? {
                    Block::Code { lines, .. } => {
                        let mut text = String::new();
                        words::code(lines, &mut text);
                        Some(text)
                    }
                    _ => None,
                },
                _ => None,
            },
            CopyOf::Output { item_id } => self.output(item_id).map(|output| output.text()),
            CopyOf::Raw { item_id } => self.tools.get(item_id).map(|call| call.raw()),
            CopyOf::Input { item_id } => match &self.item(item_id)?.body {
                Body::ToolCall(call) => match &call.detail {
                    ToolDetail::Command { command: input, .. } | ToolDetail::Json { input, .. } => {
                        Some(input.clone())
                    }
                    _ => None,
                },
                _ => None,
            },
        }
    }

    /// The last text of the main thread after the last prompt, as the agent wrote it.
    pub fn last_answer(&self) -> Option<String> {
        let mut turn = self.items.iter().rev().filter(|item| item.head().parent.is_none());
        let mut turn = turn.by_ref().take_while(|item| !matches!(item.head().body, Body::Prompt { .. }));
        let answer = turn.find(|item| matches!(item.head().body, Body::Text { .. }))?;
        Some(self.message(answer).into_owned())
    }

    /// The source of a text as the agent wrote it. Without a stored source, and for other items, the visible text.
    fn message<'a>(&'a self, item: &'a LazyItem) -> Cow<'a, str> {
        if let Some(source) = item.source() {
            return Cow::Borrowed(source);
        }
        if let Some(document) = self.documents.get(&item.head().id) {
            return Cow::Borrowed(document.text());
        }
        let mut text = String::new();
        words::shown(&item.body, &mut text);
        Cow::Owned(text)
    }

    /// The main thread as Markdown. Thinking is left out. A tool call is one line, followed by its diff.
    fn conversation(&self, title: &str) -> String {
        let mut out = format!("# {title}\n");
        let mut items = self.items.iter().filter(|item| item.head().parent.is_none()).peekable();
        while let Some(item) = items.next() {
            // Texts are copied as the agent wrote them, and outputs are left out.
            match &item.head().body {
                // A run of task updates is one line, as in the window.
                Body::ToolCall(call) if call.icon == ToolIcon::Todo => {
                    let mut note = call.note.as_deref();
                    while let Some(next) = items.next_if(|next| next.head().row == item.head().row) {
                        note = note_of(&next.head().body).or(note);
                    }
                    let note = note.map(|note| format!(": {note}")).unwrap_or_default();
                    paragraph(&mut out, &format!("Updated tasks{note}"));
                }
                Body::Prompt { text, .. } => paragraph(&mut out, &quoted(text)),
                Body::Message { sender, text } => {
                    paragraph(&mut out, &format!("*{}:*", sender.words()));
                    paragraph(&mut out, &quoted(text));
                }
                Body::Text { .. } => paragraph(&mut out, self.message(item).trim_end()),
                Body::Notice { text, .. } => paragraph(&mut out, &format!("*{text}*")),
                Body::ToolCall(call) => {
                    let changed = call.original_input.as_ref().map(|_| words::CHANGED);
                    let known: Vec<&str> = changed.into_iter().chain(call.note.as_deref()).collect();
                    let behind = match known.is_empty() {
                        true => String::new(),
                        false => format!(" ({})", known.join(", ")),
                    };
                    paragraph(&mut out, &format!("{} {}{behind}", call.verb, code(&call.subject)));
                    if let ToolDetail::Questions { questions } = &call.detail {
                        let line = |(question, answer): (&str, String)| {
                            let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
                            format!("- {} **{}**", one_line(question), one_line(&answer))
                        };
                        let lines: Vec<String> = questions::lines(questions).map(line).collect();
                        paragraph(&mut out, &lines.join("\n"));
                    }
                    if let ToolDetail::Notebook { cell, .. } = &call.detail {
                        paragraph(&mut out, cell);
                    }
                    if let Some(ToolInput::Plan { plan: Some(plan) }) =
                        self.tools.get(&item.head().id).map(Call::input)
                    {
                        paragraph(&mut out, &quoted(plan));
                    }
                    // An edit that did not succeed has no diff here.
                    if let ToolDetail::Edit(diff) | ToolDetail::Notebook { diff, .. } = &call.detail
                        && !diff.hunks.is_empty()
                        && call.state == ToolState::Succeeded
                    {
                        let mut lines = String::new();
                        words::diff_lines(diff, &mut lines);
                        let fence = fence(&lines, 3);
                        paragraph(&mut out, &format!("{fence}diff\n{lines}{fence}"));
                    }
                }
                Body::Thinking { .. } | Body::TurnEnd(_) => {}
            }
        }
        out
    }
}

fn note_of(body: &Body) -> Option<&str> {
    match body {
        Body::ToolCall(call) => call.note.as_deref(),
        _ => None,
    }
}

fn paragraph(out: &mut String, text: &str) {
    if !text.is_empty() {
        out.push('\n');
        out.push_str(text);
        out.push('\n');
    }
}

fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}

fn code(text: &str) -> String {
    let ticks = fence(text, 1);
    // A backtick at either end would count as part of the delimiter.
    let room = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{room}{text}{room}{ticks}")
}

/// Backticks that enclose a text: at least `least`, and more than its longest run of backticks.
fn fence(text: &str, least: usize) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let n_ticks = if longest < least { least } else { longest + 1 };
    "`".repeat(n_ticks)
}

#[cfg(test)]
mod tests {
    use crate::api::{CopyOf, ItemId};
    use crate::transcript::Transcript;
    use crate::wire;
    use std::path::Path;

    const SOURCE: &str = "# A  *title*\n\n* one\n+ two";

    fn transcript() -> Transcript {
        let mut transcript = Transcript::new(Path::new("/p"));
        transcript.past_prompt(0, "u1", "fix\nit".to_owned());
        let text = serde_json::json!({ "type": "text", "text": SOURCE });
        let call = serde_json::json!({ "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": "a `b`" } });
        let message = serde_json::json!({ "id": "m1", "role": "assistant", "content": [text, call] });
        let line = serde_json::json!({ "type": "assistant", "message": message }).to_string();
        transcript.line(0, wire::parse(line.as_bytes()));
        transcript
    }

    #[test]
    fn a_message_is_copied_as_the_agent_wrote_it() {
        let copy = CopyOf::Message { item_id: ItemId::new("m1.0") };
        assert_eq!(transcript().text_of("T", &copy).as_deref(), Some(SOURCE));
        let nobody = CopyOf::Message { item_id: ItemId::new("nobody") };
        assert_eq!(transcript().text_of("T", &nobody), None);
    }

    #[test]
    fn a_conversation_is_copied_whole() {
        let text = transcript().text_of("Title", &CopyOf::Conversation).unwrap();
        assert_eq!(text, format!("# Title\n\n> fix\n> it\n\n{SOURCE}\n\nRunning `` a `b` ``\n"));
    }
}
