//! What was said, as text to take along: from the source as it came, not from what is drawn.

use super::{Transcript, words};
use crate::api::{Body, CopyOf, Item, ToolDetail};
use std::borrow::Cow;

impl Transcript {
    /// What `copy` names, as text.
    pub fn text_of(&self, title: &str, copy: &CopyOf) -> Option<String> {
        match copy {
            CopyOf::Conversation => Some(self.conversation(title)),
            CopyOf::Message { item_id } => {
                let place = *self.index.get(item_id)?;
                Some(self.message(&self.items[place]).into_owned())
            }
            CopyOf::Output { item_id } => self.output(item_id).map(|output| output.text()),
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

    /// A text as the agent wrote it; of a text whose source is not kept, and of anything else, what is read.
    fn message(&self, item: &Item) -> Cow<'_, str> {
        if let Some(source) = self.sources.get(&item.id) {
            return Cow::Borrowed(source);
        }
        if let Some(document) = self.documents.get(&item.id) {
            return Cow::Borrowed(document.text());
        }
        let mut text = String::new();
        words::shown(&item.body, &mut text);
        Cow::Owned(text)
    }

    /// The main thread. Thinking is left out; tool calls are a line each, with what they changed.
    fn conversation(&self, title: &str) -> String {
        let mut out = format!("# {title}\n");
        for item in self.items.iter().filter(|item| item.parent.is_none()) {
            match &item.body {
                Body::Prompt { text, .. } => paragraph(&mut out, &quoted(text)),
                Body::Text { .. } => paragraph(&mut out, self.message(item).trim_end()),
                Body::Notice { text, .. } => paragraph(&mut out, &format!("*{text}*")),
                Body::ToolCall(call) => {
                    paragraph(&mut out, &format!("{} {}", call.verb, code(&call.subject)));
                    if let ToolDetail::Edit(diff) = &call.detail {
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
    // A backtick at either end would count among those around.
    let room = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{room}{text}{room}{ticks}")
}

/// Backticks that enclose a text: at least so many, and more than it has anywhere.
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
        transcript.past_prompt(0, "u1", "fix\nit".to_owned(), 0);
        let text = serde_json::json!({ "type": "text", "text": SOURCE });
        let call = serde_json::json!({ "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": "a `b`" } });
        let message = serde_json::json!({ "id": "m1", "role": "assistant", "content": [text, call] });
        let line = serde_json::json!({ "type": "assistant", "message": message }).to_string();
        transcript.line(0, &mut wire::parse(line.as_bytes()));
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
