//! Readable text of an item, for searching and copying.

use crate::api::*;
use std::fmt::Write;

/// Note of a call that ran with an input changed by the user.
pub const CHANGED: &str = "edited by you";

/// Appends the text that is always visible.
pub fn shown(body: &Body, out: &mut String) {
    match body {
        Body::Prompt { text, .. } | Body::Notice { text, .. } => out.push_str(text),
        Body::Message { sender, text } => {
            line(&sender.words(), out);
            out.push_str(text);
        }
        Body::Text { blocks: list, .. } => blocks(list, out),
        Body::Thinking { .. } => {}
        Body::ToolCall(call) => {
            let changed = call.original_input.as_ref().map(|_| CHANGED);
            // Writing to a string cannot fail.
            let _ = write!(out, "{} {}", call.verb, call.subject);
            changed.into_iter().chain(call.note.as_deref()).for_each(|words| {
                let _ = write!(out, " {words}");
            });
        }
        Body::TurnEnd(turn) => out.push_str(&turn.words),
    }
}

/// Appends the text that is visible only when expanded, without a tool's output.
pub fn inside(body: &Body, out: &mut String) {
    match body {
        Body::Thinking { text, .. } => out.push_str(text),
        Body::Notice { detail, .. } => out.push_str(detail.as_deref().unwrap_or_default()),
        Body::ToolCall(call) => {
            if let Some(original) = &call.original_input {
                line(original, out);
            }
            detail(&call.detail, out);
        }
        Body::Prompt { .. } | Body::Message { .. } | Body::Text { .. } | Body::TurnEnd(_) => {}
    }
}

fn detail(detail: &ToolDetail, out: &mut String) {
    match detail {
        ToolDetail::Command { command, .. } => out.push_str(command),
        ToolDetail::Edit(diff) => diff_lines(diff, out),
        ToolDetail::Notebook { cell, diff } => {
            line(cell, out);
            diff_lines(diff, out);
        }
        ToolDetail::Questions { questions } => questions.iter().for_each(|question| {
            line(&question.text, out);
            for option in &question.options {
                line(&option.label, out);
                line(&option.description, out);
            }
            question.own_words.iter().for_each(|words| line(words, out));
        }),
        ToolDetail::Plan { blocks: plan } => blocks(plan, out),
        ToolDetail::Text { .. } => {}
        ToolDetail::Todos { todos } => {
            todos.iter().for_each(|todo| line(&todo.text, out));
        }
        ToolDetail::Json { input, .. } => out.push_str(input),
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
            Span::File { destination, spans: list, .. } => {
                spans(list, out);
                if let Some(destination) = destination {
                    out.push(' ');
                    out.push_str(destination);
                }
            }
            Span::Image { alt, .. } => out.push_str(alt),
            Span::FootnoteRef { label } => out.push_str(label),
            Span::Break => out.push('\n'),
        }
    }
}

/// Appends lines of code as text.
pub fn code(lines: &[CodeLine], out: &mut String) {
    for (nr, line) in lines.iter().enumerate() {
        if nr > 0 {
            out.push('\n');
        }
        line.tokens.iter().for_each(|token| out.push_str(&token.text));
    }
}

/// Appends a diff as text, with a sign before each line.
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
