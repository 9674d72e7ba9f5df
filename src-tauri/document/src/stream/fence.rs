//! An open fenced code block, whose lines need no Markdown parser.

use crate::highlight::{plain_line, push_token, with_rest};
use deskbell_api::{CodeLine, TokenStyle};

/// The state of an open fence.
pub(super) struct Fence {
    mark: u8,
    n_marks: usize,
    /// Indent in columns of the list item that contains it; 0 at the top level.
    indent: usize,
    /// Complete lines so far.
    pub n_lines: usize,
    /// The incomplete line: how far the text was searched for its end, and how many bytes of it are shown.
    unfinished: Unfinished,
    /// Bytes read since the counter was last read.
    pub bytes: usize,
}

#[derive(Default)]
struct Unfinished {
    searched: usize,
    shown: usize,
}

/// The state of a fence after more text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Grown {
    Open,
    /// Its closing line was read.
    Closed,
    /// The list item may end with the next line, or its indentation needs the parser.
    Unclear,
}

impl Fence {
    /// Opens a fence if the first line of `source` is a complete opening line exactly at the column `indent`. Also
    /// returns the length of that line.
    pub fn open(source: &str, indent: usize) -> Option<(Self, usize)> {
        let len = source.find('\n')? + 1;
        let line = content(&source[..len - 1], indent)?;
        let mark = *line.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let n_marks = line.bytes().take_while(|&byte| byte == mark).count();
        if n_marks < 3 {
            return None;
        }
        Some((Self { mark, n_marks, indent, n_lines: 0, unfinished: Unfinished::default(), bytes: 0 }, len))
    }

    /// Reads more text. `at` is the offset up to which the text was read. `lines` are the lines of the block; the last
    /// one may be incomplete. Existing colours stay.
    pub fn grow(&mut self, source: &str, at: &mut usize, lines: &mut Vec<CodeLine>) -> Grown {
        lines.truncate(self.n_lines + 1);
        // Each byte of a line is searched for the line end only once, even if the pieces are small.
        while let Some(end) = source[self.unfinished.searched.max(*at)..].find('\n') {
            let len = self.unfinished.searched.max(*at) + end - *at;
            let Some(line) = content(&source[*at..*at + len], self.indent) else {
                lines.truncate(self.n_lines);
                return Grown::Unclear;
            };
            *at += len + 1;
            let Unfinished { shown, .. } = std::mem::take(&mut self.unfinished);
            let known = (lines.len() > self.n_lines).then(|| lines.swap_remove(self.n_lines));
            if self.closes(line) {
                return Grown::Closed;
            }
            self.bytes += line.len() + 1 - shown.min(line.len());
            self.n_lines += 1;
            let grown = known.and_then(|known| with_rest(&known, line));
            lines.push(grown.unwrap_or_else(|| plain_line(line)));
        }
        self.unfinished.searched = source.len();
        let unfinished = &source[*at..];
        let Some(line) = content(unfinished, self.indent) else {
            lines.truncate(self.n_lines);
            return Grown::Unclear;
        };
        // A line of only marks will probably close the fence; shown as code, it would only flash up.
        if !unfinished.is_empty() && !line.trim_matches(' ').bytes().all(|byte| byte == self.mark) {
            self.bytes += line.len() - self.unfinished.shown.min(line.len());
            match lines.get_mut(self.n_lines).filter(|_| self.unfinished.shown > 0) {
                Some(known) => {
                    let rest = &line[self.unfinished.shown..];
                    if !rest.is_empty() {
                        push_token(&mut known.tokens, rest, TokenStyle::Plain);
                    }
                }
                None => lines.push(plain_line(line)),
            }
            self.unfinished.shown = line.len();
        } else {
            lines.truncate(self.n_lines);
            self.unfinished.shown = 0;
        }
        Grown::Open
    }

    fn closes(&self, line: &str) -> bool {
        let marks = line.trim_start_matches(' ');
        let rest = marks.trim_start_matches(char::from(self.mark));
        line.len() - marks.len() <= 3
            && marks.len() - rest.len() >= self.n_marks
            && rest.trim_end_matches(' ').is_empty()
    }
}

/// A line of code without the indent of the list item. `None` if it is outside the item or indented with tabs.
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
