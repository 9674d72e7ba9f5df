//! What can be read in an item: the words that are searched.

use crate::api::*;
use std::fmt::Write;

/// What is read at a glance.
pub fn shown(body: &Body, out: &mut String) {
    match body {
        Body::Prompt { text, .. } | Body::Notice { text, .. } => out.push_str(text),
        Body::Text { blocks: list, .. } => blocks(list, out),
        Body::Thinking { .. } => {}
        Body::ToolCall(call) => {
            let note = call.note.as_deref().unwrap_or_default();
            // A string takes every write.
            let _ = write!(out, "{} {} {note}", call.verb, call.subject);
        }
        Body::TurnEnd(turn) => out.push_str(&turn.words),
    }
}

/// What has to be unfolded first, without a tool's output.
pub fn inside(body: &Body, out: &mut String) {
    match body {
        Body::Thinking { text, .. } => out.push_str(text),
        Body::Notice { detail, .. } => out.push_str(detail.as_deref().unwrap_or_default()),
        Body::ToolCall(call) => match &call.detail {
            ToolDetail::Command { command, .. } => out.push_str(command),
            ToolDetail::Edit(diff) => diff_lines(diff, out),
            ToolDetail::Text { .. } => {}
            ToolDetail::Todos { todos } => {
                todos.iter().for_each(|todo| line(&todo.text, out));
            }
            ToolDetail::Json { input, .. } => out.push_str(input),
        },
        Body::Prompt { .. } | Body::Text { .. } | Body::TurnEnd(_) => {}
    }
}

fn line(text: &str, out: &mut String) {
    out.push_str(text);
    out.push('\n');
}

fn blocks(list: &[Block], out: &mut String) {
    for block in list {
        match block {
            Block::Paragraph { spans: list } | Block::Heading { spans: list, .. } => spans(list, out),
            Block::Code { lines, .. } => code(lines, out),
            Block::Quote { blocks: list } | Block::Footnote { blocks: list, .. } => blocks(list, out),
            Block::List { items, .. } => items.iter().for_each(|item| blocks(&item.blocks, out)),
            Block::Table { head, rows, .. } => {
                for cell in head.iter().chain(rows.iter().flatten()) {
                    spans(&cell.spans, out);
                    out.push('\n');
                }
            }
            Block::Rule => {}
        }
        out.push('\n');
    }
}

fn spans(list: &[Span], out: &mut String) {
    for span in list {
        match span {
            Span::Text { text } | Span::Code { text } | Span::Raw { text } => out.push_str(text),
            Span::Emphasis { spans: list }
            | Span::Strong { spans: list }
            | Span::Strike { spans: list }
            | Span::Link { spans: list, .. } => spans(list, out),
            Span::Image { alt, .. } => out.push_str(alt),
            Span::FootnoteRef { label } => out.push_str(label),
            Span::Break => out.push('\n'),
        }
    }
}

/// Lines of code as text.
pub fn code(lines: &[CodeLine], out: &mut String) {
    for (nr, line) in lines.iter().enumerate() {
        if nr > 0 {
            out.push('\n');
        }
        line.tokens.iter().for_each(|token| out.push_str(&token.text));
    }
}

/// A change as text, a sign before each line.
pub fn diff_lines(diff: &Diff, out: &mut String) {
    for (nr, hunk) in diff.hunks.iter().enumerate() {
        if nr > 0 {
            out.push_str("⋯\n");
        }
        for line in &hunk.lines {
            out.push(match line.kind {
                DiffKind::Context => ' ',
                DiffKind::Added => '+',
                DiffKind::Removed => '-',
            });
            line.parts.iter().for_each(|part| out.push_str(&part.text));
            out.push('\n');
        }
    }
}
