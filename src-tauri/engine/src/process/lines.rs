//! Splits a stream of bytes into lines. A line that is too long is dropped alone, and never uses more memory than the
//! limit.

/// Maximum length of a line in bytes. Lines over 1 MiB are ordinary (an image: 1.3 MB), 10.5 MB was seen (2.1.329).
pub const LIMIT: usize = 64 << 20;
/// Bytes kept from the beginning of a line that is too long.
const START: usize = 1024;

pub enum Line<'a> {
    Whole(&'a [u8]),
    TooLong { start: &'a [u8], n_bytes: usize },
}

/// Line splitter; keeps the unfinished line between two reads.
pub struct Lines {
    rest: Vec<u8>,
    /// Length in bytes of a line that is too long; `rest` then contains its start.
    skipped: usize,
    limit: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self::up_to(LIMIT)
    }
}

impl Lines {
    /// Lines of at most `limit` bytes.
    pub fn up_to(limit: usize) -> Self {
        Self { rest: Vec::new(), skipped: 0, limit }
    }

    /// Number of bytes kept from a line that is too long.
    pub fn start(&self) -> usize {
        START.min(self.limit)
    }

    /// Bytes of the unfinished line that are in memory.
    #[cfg(any(test, fuzzing))]
    pub fn held(&self) -> usize {
        self.rest.len()
    }

    /// Adds bytes and calls `each` for every line that they complete.
    pub fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (head, tail) = (&bytes[..end], &bytes[end + 1..]);
            if self.rest.is_empty() && self.skipped == 0 && head.len() <= self.limit {
                each(Line::Whole(head));
            } else {
                self.keep(head);
                self.give(&mut each);
            }
            bytes = tail;
        }
        self.keep(bytes);
    }

    /// Passes on the last line if the stream ends without a newline.
    pub fn finish(&mut self, mut each: impl FnMut(Line<'_>)) {
        if !self.rest.is_empty() {
            self.give(&mut each);
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.skipped > 0 {
            self.skipped += bytes.len();
        } else if self.rest.len() + bytes.len() > self.limit {
            self.skipped = self.rest.len() + bytes.len();
            let start = self.start();
            self.rest.extend_from_slice(&bytes[..bytes.len().min(start.saturating_sub(self.rest.len()))]);
            self.rest.truncate(start);
            self.rest.shrink_to_fit();
        } else {
            self.rest.extend_from_slice(bytes);
        }
    }

    fn give(&mut self, each: &mut impl FnMut(Line<'_>)) {
        if self.skipped > 0 {
            each(Line::TooLong { start: &self.rest, n_bytes: self.skipped });
        } else {
            each(Line::Whole(&self.rest));
        }
        self.skipped = 0;
        if self.rest.capacity() > 1 << 20 {
            // Free the memory of a rare long line instead of keeping it for the whole session.
            self.rest = Vec::new();
        } else {
            self.rest.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(limit: usize, chunks: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::up_to(limit);
        let mut out = Vec::new();
        let mut each = |line: Line<'_>| {
            out.push(match line {
                Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                Line::TooLong { n_bytes, .. } => format!("<{n_bytes}>"),
            })
        };
        for chunk in chunks {
            lines.push(chunk, &mut each);
        }
        lines.finish(&mut each);
        out
    }

    #[test]
    fn a_line_over_the_limit_costs_itself_only() {
        assert_eq!(split(4, &[b"abcd\nabc", b"de\n", b"ok\nabcdefg\nz"]), ["abcd", "<5>", "ok", "<7>", "z"]);
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(text in "[ab\n]{0,60}", cuts in prop::collection::vec(0usize..60, 0..8)) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.push(0);
            cuts.push(bytes.len());
            cuts.sort();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
            prop_assert_eq!(split(7, &chunks), split(7, &[bytes]));
        }
    }
}
