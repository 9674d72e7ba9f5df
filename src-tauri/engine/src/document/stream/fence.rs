//! A fenced code block that is still open: its lines need no Markdown parser.

use crate::api::{CodeLine, TokenStyle};
use crate::document::highlight::{Highlighter, plain_line, push_token};

/// The state of an open fence, and of its highlighting.
pub(super) struct Fence {
    mark: u8,
    n_marks: usize,
    /// The column of the list item that it stands in; 0 at the top level.
    indent: usize,
    highlighter: Highlighter,
    /// Complete lines so far.
    pub n_lines: usize,
    /// How long the unfinished line was when it was highlighted.
    coloured: usize,
    /// Bytes highlighted since it was last asked.
    pub bytes: usize,
}

/// What to do with a line that has no line end yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfinished {
    Plain,
    Coloured,
    /// Nothing more comes: it is a line like the others.
    Last,
}

/// What became of a fence with more text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Grown {
    Open,
    /// Its last line was read.
    Closed,
    /// The list item may end with the next line, or is indented in a way that only the parser can tell.
    Unclear,
}

impl Fence {
    /// Opens at the first line of `source`, if that is a complete opening line exactly at the column `indent`.
    /// Returns with it the length of that line.
    pub fn open(source: &str, indent: usize, language: Option<&str>) -> Option<(Self, usize)> {
        let len = source.find('\n')? + 1;
        let line = content(&source[..len - 1], indent)?;
        let mark = *line.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let n_marks = line.bytes().take_while(|&byte| byte == mark).count();
        if n_marks < 3 {
            return None;
        }
        let highlighter = Highlighter::new(language);
        Some((Self { mark, n_marks, indent, highlighter, n_lines: 0, coloured: 0, bytes: 0 }, len))
    }

    /// Reads on. `at` is how far the text was read; `lines` are the block's, and lose their unfinished line.
    pub fn grow(
        &mut self,
        source: &str,
        at: &mut usize,
        lines: &mut Vec<CodeLine>,
        unfinished_as: Unfinished,
    ) -> Grown {
        let known = (lines.len() > self.n_lines).then(|| lines.swap_remove(self.n_lines));
        lines.truncate(self.n_lines);
        let n_lines = self.n_lines;
        while let Some(len) = source[*at..].find('\n') {
            let Some(line) = content(&source[*at..*at + len], self.indent) else { return Grown::Unclear };
            *at += len + 1;
            if self.closes(line) {
                return Grown::Closed;
            }
            self.bytes += line.len() + 1;
            self.n_lines += 1;
            self.coloured = 0;
            lines.push(self.highlighter.line(line));
        }
        let unfinished = &source[*at..];
        let Some(line) = content(unfinished, self.indent) else { return Grown::Unclear };
        // Marks alone are about to close it: as code they would only flash up.
        if !unfinished.is_empty() && !line.trim_matches(' ').bytes().all(|byte| byte == self.mark) {
            let known = known.filter(|_| self.n_lines == n_lines);
            lines.push(self.unfinished(line, known, unfinished_as));
        }
        Grown::Open
    }

    /// A line that has no end yet, of which `known` is the beginning. It is highlighted again once it is twice as long:
    /// in all that is at most twice what it is in the end.
    fn unfinished(&mut self, line: &str, known: Option<CodeLine>, unfinished: Unfinished) -> CodeLine {
        match (unfinished, known) {
            (Unfinished::Coloured, Some(mut known)) if line.len() < 2 * self.coloured => {
                let n_known = known.tokens.iter().map(|token| token.text.len()).sum();
                if let Some(rest) = line.get(n_known..).filter(|rest| !rest.is_empty()) {
                    push_token(&mut known.tokens, rest, TokenStyle::Plain);
                }
                known
            }
            (Unfinished::Plain, _) => plain_line(line),
            (Unfinished::Coloured, _) => {
                self.coloured = line.len();
                self.bytes += line.len();
                self.highlighter.unfinished_line(line)
            }
            (Unfinished::Last, _) => {
                self.bytes += line.len();
                self.highlighter.line(line)
            }
        }
    }

    fn closes(&self, line: &str) -> bool {
        let marks = line.trim_start_matches(' ');
        let rest = marks.trim_start_matches(char::from(self.mark));
        line.len() - marks.len() <= 3
            && marks.len() - rest.len() >= self.n_marks
            && rest.trim_end_matches(' ').is_empty()
    }
}

/// A line of the code without the indent of the list item. `None` if it is not in the item, or indented by tabs.
fn content(line: &str, indent: usize) -> Option<&str> {
    let n_spaces = line.bytes().take(indent).take_while(|&byte| byte == b' ').count();
    if n_spaces == indent {
        Some(&line[indent..])
    } else if n_spaces == line.len() {
        Some("")
    } else {
        None
    }
}
