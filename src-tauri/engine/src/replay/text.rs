//! Text output of a replay: the conversation, and the recorded lines.

use super::Replayed;
use crate::api::*;
use crate::recorder::{Direction, Recorded, Recording};
use crate::transcript::questions;
use crate::wire::kept::{is_stream_event, kinds};
use serde::Serialize;
use serde_json::Value;

/// Maximum number of output lines shown below a tool call; the rest are counted.
const OUTPUT: usize = 12;

/// Maximum number of characters shown of a recorded line.
const WIDTH: usize = 160;

impl Replayed {
    /// The conversation as text.
    pub fn text(&self) -> String {
        conversation(&self.items, None)
    }

    /// The conversation as text. Each entry has its time since the recording began.
    pub fn text_with_times(&self) -> String {
        conversation(&self.items, Some(self.began_at))
    }

    /// One item as text, with its kind on the first line.
    pub fn text_of(item: &Item) -> String {
        conversation(std::slice::from_ref(item), None)
    }
}

impl Recording {
    /// The lines in order, both directions. Consecutive stream events are one line.
    pub fn text(&self) -> String {
        lines(&self.lines)
    }
}

/// Each entry has its time since `began_at`; with `None` no times are shown.
fn conversation(items: &[Item], began_at: Option<u64>) -> String {
    let mut text = String::new();
    for item in items {
        if !text.is_empty() {
            text.push('\n');
        }
        if let Some(began_at) = began_at {
            text.push_str(&seconds(item.at.saturating_sub(began_at)));
            text.push(' ');
        }
        if let Some(parent) = &item.parent {
            text.push_str(&format!("(in {parent}) "));
        }
        entry(&mut text, &item.body, began_at.is_some());
    }
    text
}

fn entry(text: &mut String, body: &Body, is_timed: bool) {
    let took = |duration_ms: Option<u64>| match duration_ms {
        Some(ms) if is_timed => format!(", {} s", seconds(ms).trim_start()),
        _ => String::new(),
    };
    match body {
        Body::Prompt { text: words, n_images, n_documents, state } => {
            let count = |n: u32, of: &str| if n == 0 { String::new() } else { format!(", {n} {of}") };
            let attached = count(*n_images, "images") + &count(*n_documents, "documents");
            line(text, &format!("you, {}{attached}", word(state)));
            indented(text, words);
        }
        Body::Message { sender, text: words } => {
            line(text, &sender.words());
            indented(text, words);
        }
        Body::Text { blocks, streaming } => {
            line(text, if *streaming { "agent, still writing" } else { "agent" });
            indented(text, &plain(blocks));
        }
        Body::Thinking { text: words, duration_ms, .. } => {
            line(text, &format!("thought{}", took(*duration_ms)));
            indented(text, words);
        }
        Body::ToolCall(call) => {
            let state = word(&call.state);
            let note = call.note.as_deref().filter(|note| *note != state);
            let note = note.map(|note| format!(", {note}")).unwrap_or_default();
            line(text, &format!("{}, {state}{note}{}", call.tool, took(call.duration_ms)));
            indented(text, &format!("{} {}", call.verb, call.subject));
            if let Some(original) = &call.original_input {
                indented(text, &format!("edited by you; the agent asked for:\n{original}"));
            }
            indented(text, &detail(&call.detail));
        }
        Body::Notice { level, text: words, detail, until_at } => {
            let until = until_at.map(|at| format!(" (until {at})")).unwrap_or_default();
            line(text, &format!("{}: {words}{until}", word(level)));
            indented(text, detail.as_deref().unwrap_or_default());
        }
        Body::TurnEnd(turn) => {
            let outcome = match &turn.outcome {
                Outcome::ApiError { status: Some(status) } => format!("apiError {status}"),
                outcome => tag(outcome),
            };
            let unasked = if turn.prompt_ids.is_empty() { ", started by the agent" } else { "" };
            line(text, &format!("end: {outcome}{unasked}{}", took(Some(turn.duration_ms))));
            indented(text, &turn.words);
        }
    }
}

fn detail(detail: &ToolDetail) -> String {
    match detail {
        ToolDetail::Command { output, .. } => put_out(output),
        ToolDetail::Edit(diff) => changes(diff),
        ToolDetail::Notebook { cell, diff } => joined([cell.clone(), changes(diff)]),
        ToolDetail::Questions { questions } => {
            joined(questions::lines(questions).map(|(question, answer)| format!("{question} {answer}")))
        }
        ToolDetail::Plan { blocks } => plain(blocks),
        ToolDetail::Text { output, .. } => put_out(output),
        ToolDetail::Todos { todos } => {
            joined(todos.iter().map(|todo| format!("{}: {}", word(&todo.state), todo.text)))
        }
        ToolDetail::Json { input, output } => joined([input.clone(), put_out(output)]),
    }
}

fn put_out(output: &Output) -> String {
    code(&output.lines, output.total as usize)
}

/// The first lines, and the number of the remaining ones.
fn code(lines: &[CodeLine], total: usize) -> String {
    let text = |line: &CodeLine| line.tokens.iter().map(|token| token.text.as_str()).collect();
    let mut shown: Vec<String> = lines.iter().take(OUTPUT).map(text).collect();
    let n_more = total.saturating_sub(shown.len());
    if n_more > 0 {
        shown.push(format!("… {n_more} more lines"));
    }
    joined(shown)
}

fn changes(diff: &Diff) -> String {
    let head = format!("{} +{} -{}", diff.path, diff.added, diff.removed);
    let lines = diff.hunks.iter().flat_map(|hunk| &hunk.lines).take(OUTPUT).map(|line| {
        let mark = match line.kind {
            DiffKind::Context => ' ',
            DiffKind::Added => '+',
            DiffKind::Removed => '-',
        };
        let words: String = line.parts.iter().map(|part| part.text.as_str()).collect();
        format!("{mark}{words}")
    });
    joined(std::iter::once(head).chain(lines))
}

/// A document as plain text, one block per line.
fn plain(blocks: &[Block]) -> String {
    joined(blocks.iter().map(|block| match block {
        Block::Paragraph { spans } | Block::Heading { spans, .. } => words(spans),
        Block::Code { lines, .. } => code(lines, lines.len()),
        Block::Quote { blocks } | Block::Footnote { blocks, .. } => plain(blocks),
        Block::List { items, .. } => joined(items.iter().map(|item| format!("- {}", plain(&item.blocks)))),
        Block::Table { head, rows, .. } => joined(std::iter::once(head).chain(rows).map(|row| {
            let cells: Vec<String> = row.iter().map(|cell| words(&cell.spans)).collect();
            cells.join(" | ")
        })),
        Block::Rule => "---".to_owned(),
    }))
}

fn words(spans: &[Span]) -> String {
    let words = spans.iter().map(|span| match span {
        Span::Text { text } | Span::Code { text } | Span::Raw { text } => text.clone(),
        Span::Emphasis { spans } | Span::Strong { spans } | Span::Strike { spans } => words(spans),
        Span::Link { url, spans, .. } => format!("{} <{url}>", words(spans)),
        Span::File { destination: Some(destination), spans, .. } => format!("{} {destination}", words(spans)),
        Span::File { spans, .. } => words(spans),
        Span::Image { url, alt, .. } => format!("{alt} <{url}>"),
        Span::FootnoteRef { label } => format!("[{label}]"),
        Span::Break => "\n".to_owned(),
    });
    words.collect()
}

fn joined(lines: impl IntoIterator<Item = String>) -> String {
    let lines: Vec<String> = lines.into_iter().filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

fn lines(recording: &[Recorded]) -> String {
    let is_piece = |recorded: &Recorded| recorded.dir == Direction::Out && is_stream_event(&recorded.line);
    let mut text = String::new();
    let mut rest = recording;
    while let [recorded, behind @ ..] = rest {
        let n_pieces = rest.iter().take_while(|recorded| is_piece(recorded)).count();
        rest = if n_pieces > 0 { &rest[n_pieces..] } else { behind };
        let (mark, brief) = match recorded.dir {
            Direction::Out if n_pieces > 0 => ("<-", format!("{n_pieces} pieces of a reply")),
            Direction::Out => ("<-", brief(&recorded.line)),
            Direction::In => ("->", brief(&recorded.line)),
            Direction::Err => ("err", brief(&recorded.line)),
            Direction::Opened => ("opened", brief(&recorded.line)),
            Direction::Start => ("start", brief(&recorded.line)),
            Direction::Input => ("input", brief(&recorded.line)),
        };
        line(&mut text, &format!("{} {mark:<6} {brief}", seconds(recorded.ms)));
    }
    text
}

/// The kind of a line and its first characters.
fn brief(line: &Value) -> String {
    let kinds = kinds(line);
    let whole = match line {
        Value::String(text) => text.escape_debug().to_string(),
        value => value.to_string(),
    };
    let mut start: String = whole.chars().take(WIDTH).collect();
    if start.len() < whole.len() {
        start.push('…');
    }
    if kinds.is_empty() { start } else { format!("{} {start}", kinds.join("/")) }
}

fn line(text: &mut String, words: &str) {
    text.push_str(words.trim_end());
    text.push('\n');
}

fn indented(text: &mut String, words: &str) {
    if !words.trim().is_empty() {
        words.lines().for_each(|words| line(text, &format!("    {words}")));
    }
}

/// Seconds with three decimal places.
fn seconds(ms: u64) -> String {
    format!("{:>5}.{:03}", ms / 1000, ms % 1000)
}

/// The serialized name of a variant without fields.
fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| Some(value.as_str()?.to_owned())).unwrap_or_default()
}

/// The serialized name of a variant with fields.
fn tag(value: &impl Serialize) -> String {
    serde_json::to_value(value).map(|value| word(&value["type"])).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pieces_of_a_reply_are_counted() {
        let recorded = |ms, dir, line| Recorded { ms, dir, line };
        let recording = [
            recorded(5, Direction::In, json!({"type": "user", "message": {}})),
            recorded(1207, Direction::Out, json!({"type": "stream_event"})),
            recorded(1208, Direction::Out, json!({"type": "stream_event"})),
            recorded(61_208, Direction::Err, json!("two\nlines")),
        ];
        let expected = "    0.005 ->     user {\"type\":\"user\",\"message\":{}}\n    \
            1.207 <-     2 pieces of a reply\n   61.208 err    two\\nlines\n";
        assert_eq!(lines(&recording), expected);
    }

    #[test]
    fn a_conversation_can_be_read() {
        let paragraph = Block::Paragraph { spans: vec![Span::Text { text: "well".into() }] };
        let item = |id: &str, at, body| Item { at, ..Item::new(id, body) };
        let items = [
            item(
                "a",
                1500,
                Body::Prompt {
                    text: "how\nare you".into(),
                    n_images: 0,
                    n_documents: 0,
                    state: PromptState::Done,
                },
            ),
            item("b", 2750, Body::Text { blocks: vec![paragraph], streaming: false }),
        ];
        let expected = "    0.500 you, done\n    how\n    are you\n\n    1.750 agent\n    well\n";
        assert_eq!(conversation(&items, Some(1000)), expected);
        assert!(conversation(&items, None).starts_with("you, done\n"));
    }
}
