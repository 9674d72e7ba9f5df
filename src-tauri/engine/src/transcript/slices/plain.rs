//! Slices of a plain text: a prompt or a thought. They end between lines, or in a line that is too long for one slice.

use super::{BYTES, NODES};

/// The slices of one plain text: where each of them begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainSlices {
    /// Never empty.
    starts: Vec<usize>,
}

/// Walks a text, line by line.
#[derive(Default)]
struct Cutter {
    starts: Vec<usize>,
    at: usize,
    /// Content of the current slice so far.
    bytes: usize,
    n_lines: usize,
}

impl PlainSlices {
    /// The boundaries depend on what precedes them only: a text that grows keeps them.
    pub fn of(text: &str) -> Self {
        let mut cutter = Cutter { starts: vec![0], ..Cutter::default() };
        text.split_inclusive('\n').for_each(|line| cutter.line(line));
        Self { starts: cutter.starts }
    }

    /// At least 1.
    pub fn count(&self) -> u32 {
        self.starts.len() as u32
    }

    pub fn content<'a>(&self, text: &'a str, nr: u32) -> &'a str {
        let start = |nr: usize| self.starts.get(nr).copied().unwrap_or(text.len());
        text.get(start(nr as usize)..start(nr as usize + 1)).unwrap_or_default()
    }
}

impl Cutter {
    fn line(&mut self, line: &str) {
        let is_full = self.bytes + line.len() > BYTES || self.n_lines == NODES;
        if is_full && self.bytes > 0 {
            self.begin();
        }
        let mut rest = line;
        while rest.len() > BYTES {
            let (piece, behind) = rest.split_at(end_of_piece(rest));
            self.at += piece.len();
            self.begin();
            rest = behind;
        }
        self.at += rest.len();
        self.bytes += rest.len();
        self.n_lines += 1;
    }

    fn begin(&mut self) {
        self.starts.push(self.at);
        (self.bytes, self.n_lines) = (0, 0);
    }
}

/// Where a line that is too long is cut: after a word, unless a word is as long as half a slice.
fn end_of_piece(line: &str) -> usize {
    let most = line.floor_char_boundary(BYTES);
    let blank = line[..most].rfind(' ').map(|at| at + 1);
    blank.filter(|end| *end > most / 2).unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slices(text: &str) -> Vec<&str> {
        let slices = PlainSlices::of(text);
        (0..slices.count()).map(|nr| slices.content(text, nr)).collect()
    }

    #[test]
    fn slices_are_never_long_and_together_are_the_text() {
        let texts = [
            String::new(),
            "short".to_owned(),
            "\n".repeat(5_000),
            "A line of a thought.\n".repeat(2_000),
            "words in one line ".repeat(5_000),
            "é😀".repeat(20_000),
            format!("{}\n{}\nend", "x".repeat(BYTES), "y".repeat(BYTES + 1)),
        ];
        for text in texts {
            let slices = slices(&text);
            assert_eq!(slices.concat(), text);
            assert!(slices.iter().all(|slice| slice.len() <= BYTES && slice.lines().count() <= NODES));
            let n_most = 1 + text.len().div_ceil(BYTES / 2) + text.lines().count().div_ceil(NODES);
            assert!(slices.len() <= n_most, "{} slices of {} bytes", slices.len(), text.len());
        }
    }

    #[test]
    fn slices_end_between_lines_or_words() {
        let lines = "A line of a thought.\n".repeat(2_000);
        assert!(slices(&lines).iter().all(|slice| slice.ends_with("thought.\n")));
        let words = "words in one line ".repeat(5_000);
        assert!(slices(&words).iter().all(|slice| slice.ends_with(' ')));
    }

    #[test]
    fn a_text_that_grows_keeps_its_slices() {
        let text = format!("{}{}", "A line.\n".repeat(3_000), "one line é ".repeat(2_000));
        let whole = PlainSlices::of(&text);
        for end in (0..text.len()).step_by(997) {
            let PlainSlices { starts } = PlainSlices::of(&text[..text.floor_char_boundary(end)]);
            // Only the last line can move to another slice.
            let (_, earlier) = starts.split_last().unwrap();
            assert!(whole.starts.starts_with(earlier), "after {end} bytes");
        }
    }
}
