//! Tool output: stored complete as received, shown in parts. An item contains a short excerpt; a window requests the
//! lines that it shows.

use super::words;
use crate::api::{CodeLine, Output, Token};
use crate::document;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum size of the excerpt in an item.
const EXCERPT_LINES: usize = 100;
const EXCERPT_BYTES: usize = 8 * 1024;
/// Maximum size of one requested part.
const PART_LINES: usize = 500;
const PART_BYTES: usize = 64 * 1024;
/// A longer line is split into several, because no window can draw ten million characters in one line.
const LINE_BYTES: usize = 2_000;

/// An output as received.
#[derive(Clone, Debug)]
pub struct Source {
    text: Arc<str>,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Terminal,
    Code(Option<String>),
}

/// The part of an output that an item contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Beginning,
    End,
}

impl Source {
    pub fn terminal(text: &str) -> Self {
        Self { text: text.into(), kind: Kind::Terminal }
    }

    pub fn code(language: Option<String>, text: &str) -> Self {
        Self { text: text.into(), kind: Kind::Code(language) }
    }

    /// The text as received, including terminal control sequences.
    pub fn raw(&self) -> &str {
        &self.text
    }

    /// The readable text, for copying.
    pub fn text(&self) -> String {
        match self.kind {
            Kind::Terminal => {
                let mut text = String::with_capacity(self.text.len());
                words::code(&document::terminal(&self.text), &mut text);
                text
            }
            Kind::Code(_) => self.text.as_ref().to_owned(),
        }
    }

    /// All lines as they are shown.
    pub fn lines(&self) -> Vec<CodeLine> {
        cut_lines(self.whole())
    }

    /// All lines, whatever their length.
    pub fn whole(&self) -> Vec<CodeLine> {
        match &self.kind {
            Kind::Terminal => document::terminal(&self.text),
            Kind::Code(language) => document::highlight(language.as_deref(), &self.text),
        }
    }

    /// Whether both are the same stored output (pointer equality).
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.text, &other.text)
    }

    /// Whether this is code in a known language.
    pub fn is_code(&self) -> bool {
        matches!(self.kind, Kind::Code(Some(_)))
    }

    /// Highlighted lines of the excerpt at the beginning. Takes a while, so it must not run on the session's task.
    pub fn coloured_beginning(&self) -> Vec<CodeLine> {
        let Kind::Code(language) = &self.kind else { return Vec::new() };
        let end = self.text.match_indices('\n').map(|(at, _)| at + 1).take(EXCERPT_LINES);
        let end = end.take_while(|end| *end <= 2 * EXCERPT_BYTES).last().unwrap_or(0);
        let rest = self.text[end..].split('\n').next().unwrap_or("");
        let more = if end <= EXCERPT_BYTES { rest.len() } else { 0 };
        cut_lines(document::highlight(language.as_deref(), &self.text[..end + more]))
    }

    /// An excerpt with plain code; for colours see [`Source::coloured_beginning`].
    pub fn excerpt(&self, part: Part) -> Output {
        let lines = match &self.kind {
            Kind::Terminal => self.lines(),
            Kind::Code(_) => cut_lines(document::plain(&self.text)),
        };
        let first = match part {
            Part::Beginning => 0,
            Part::End => lines.len() - fitting(lines.iter().rev(), EXCERPT_LINES, EXCERPT_BYTES),
        };
        from(&lines, first, EXCERPT_LINES, EXCERPT_BYTES)
    }
}

/// Caches the lines of the output that was read last, because a window requests one part after the other.
#[derive(Debug, Default)]
pub struct Reader {
    last: Mutex<Option<Read>>,
}

/// An output and its lines.
#[derive(Debug)]
struct Read {
    text: Arc<str>,
    lines: Arc<Vec<CodeLine>>,
}

impl Reader {
    /// Up to `count` lines from `first` on. The first call for an output processes all of it, which takes time in
    /// proportion to its size.
    pub fn part(&self, source: &Source, first: u32, count: u32) -> Output {
        let lines = self.lines(source);
        from(&lines, first as usize, (count as usize).min(PART_LINES), PART_BYTES)
    }

    fn lines(&self, source: &Source) -> Arc<Vec<CodeLine>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(read) if Arc::ptr_eq(&read.text, &source.text) => read.lines.clone(),
            _ => {
                let lines = Arc::new(source.lines());
                *last = Some(Read { text: source.text.clone(), lines: lines.clone() });
                lines
            }
        }
    }
}

/// The lines of a terminal's text as they are shown.
pub fn terminal_lines(text: &str) -> Vec<CodeLine> {
    cut_lines(document::terminal(text))
}

fn cut_lines(lines: Vec<CodeLine>) -> Vec<CodeLine> {
    lines.into_iter().flat_map(|line| cut_line(line, LINE_BYTES)).collect()
}

/// Copies colours to the excerpt's lines, as long as the text is equal. Returns whether anything changed.
pub fn paint(output: &mut Output, coloured: &[CodeLine]) -> bool {
    let text = |line: &CodeLine| line.tokens.iter().map(|token| token.text.as_str()).collect::<String>();
    let mut is_changed = false;
    let lines = output.lines.iter_mut().zip(coloured).filter(|_| output.first == 0);
    for (line, coloured) in lines.take_while(|(line, coloured)| text(line) == text(coloured)) {
        is_changed |= line != coloured;
        line.clone_from(coloured);
    }
    is_changed
}

fn from(lines: &[CodeLine], first: usize, count: usize, bytes: usize) -> Output {
    let first = first.min(lines.len());
    let rest = &lines[first..];
    let part = rest[..fitting(rest.iter(), count, bytes)].to_vec();
    Output { total: lines.len() as u32, first: first as u32, lines: part }
}

/// How many of the lines fit the limits; at least one if there are any lines.
fn fitting<'a>(lines: impl Iterator<Item = &'a CodeLine>, count: usize, bytes: usize) -> usize {
    let mut left = bytes;
    let fits = |line: &&CodeLine| {
        let len = length(line);
        let fits = len <= left;
        left = left.saturating_sub(len);
        fits
    };
    let mut lines = lines.take(count).peekable();
    let least = usize::from(lines.peek().is_some());
    lines.take_while(fits).count().max(least)
}

fn length(line: &CodeLine) -> usize {
    line.tokens.iter().map(|token| token.text.len()).sum()
}

/// Splits a line into pieces of at most `most` bytes. Returns a short line unchanged.
pub fn cut_line(line: CodeLine, most: usize) -> Vec<CodeLine> {
    if length(&line) <= most {
        return vec![line];
    }
    let mut pieces = vec![CodeLine::default()];
    let mut room = most;
    for Token { text, style } in line.tokens {
        let mut rest = text.as_str();
        while !rest.is_empty() {
            if room == 0 {
                pieces.push(CodeLine::default());
                room = most;
            }
            let mut end = rest.floor_char_boundary(room);
            if end == 0 && room == most {
                end = rest.ceil_char_boundary(1);
            }
            let (piece, behind) = rest.split_at(end);
            if let Some(line) = pieces.last_mut().filter(|_| !piece.is_empty()) {
                line.tokens.push(Token { text: piece.to_owned(), style });
            }
            // A character that does not fit starts the next piece.
            room = if behind.is_empty() { room.saturating_sub(end) } else { 0 };
            rest = behind;
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: &[CodeLine]) -> Vec<String> {
        lines.iter().map(|line| line.tokens.iter().map(|token| token.text.as_str()).collect()).collect()
    }

    fn numbered(count: usize) -> Source {
        Source::terminal(&(0..count).map(|nr| nr.to_string()).collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn an_excerpt_is_the_beginning_or_the_end() {
        let source = numbered(1_000);
        let end = source.excerpt(Part::End);
        assert_eq!((end.total, end.first, end.lines.len()), (1_000, 900, 100));
        assert_eq!(text(&end.lines)[99], "999");
        let beginning = source.excerpt(Part::Beginning);
        assert_eq!((beginning.total, beginning.first, text(&beginning.lines)[0].as_str()), (1_000, 0, "0"));
        assert_eq!(numbered(3).excerpt(Part::End).first, 0);
    }

    #[test]
    fn any_part_is_there_and_nothing_behind_the_end() {
        let (reader, source) = (Reader::default(), numbered(100_000));
        assert_eq!(text(&reader.part(&source, 54_321, 2).lines), ["54321", "54322"]);
        assert_eq!(reader.part(&source, 0, u32::MAX).lines.len(), PART_LINES);
        let behind = reader.part(&source, 200_000, 5);
        assert_eq!((behind.first, behind.lines.len()), (100_000, 0));
        let other = Source::terminal("other");
        assert_eq!(text(&reader.part(&other, 0, 5).lines), ["other"]);
    }

    #[test]
    fn a_line_of_any_length_is_given_in_pieces_that_make_it_up() {
        let long = "aé\u{1f600}".repeat(300_000);
        let source = Source::terminal(&long);
        let lines = source.lines();
        assert!(lines.iter().all(|line| length(line) <= LINE_BYTES));
        assert_eq!(text(&lines).concat(), long);
        let part = Reader::default().part(&source, 0, 500);
        assert!(part.lines.iter().map(length).sum::<usize>() <= PART_BYTES);
        assert_eq!(source.text(), long);
    }

    #[test]
    fn what_is_copied_is_whole_and_without_control_sequences() {
        assert_eq!(Source::terminal("\u{1b}[31mred\u{1b}[0m\nplain").text(), "red\nplain");
    }
}
