//! Splits a stream of bytes into lines. A line that is too long is dropped alone, and never uses more memory than the
//! limit.
//!
//! The stream is read straight into the buffer that the lines are taken from, so that a long line is not copied, and
//! each byte is searched once for a line end.

use std::ops::Range;

/// Maximum length of a line in bytes. Lines over 1 MiB are ordinary (an image: 1.3 MB), 10.5 MB was seen (2.1.329).
pub(crate) const LIMIT: usize = 64 << 20;
/// Bytes kept from the beginning of a line that is too long.
const START: usize = 1024;
/// Space for one read: what a pipe holds.
const READ: usize = 64 * 1024;
/// Memory of a long line that is kept for the next one. Fresh memory costs as much as reading the line.
const MOST_KEPT: usize = 4 << 20;
/// Reads without a long line after which its memory is freed: they are rare in most sessions.
const READS_KEPT: u32 = 16;

pub enum Line<'a> {
    Whole(&'a [u8]),
    TooLong { start: &'a [u8], n_bytes: usize },
}

/// Line splitter; keeps the unfinished line between two reads.
pub struct Lines {
    buffer: Vec<u8>,
    /// Beginning of the next line in the buffer.
    start: usize,
    /// Everything between `start` and here was searched: it contains no line end.
    searched: usize,
    /// Length in bytes of a line that is too long, as far as it was dropped. Its start is in the buffer.
    skipped: usize,
    limit: usize,
    /// Reads since the last long line.
    n_reads: u32,
}

impl Default for Lines {
    fn default() -> Self {
        Self::up_to(LIMIT)
    }
}

impl Lines {
    /// Lines of at most `limit` bytes.
    pub fn up_to(limit: usize) -> Self {
        Self { buffer: Vec::new(), start: 0, searched: 0, skipped: 0, limit, n_reads: 0 }
    }

    /// Number of bytes kept from a line that is too long.
    pub fn start(&self) -> usize {
        START.min(self.limit)
    }

    /// Bytes of the unfinished line that are in memory.
    #[cfg(any(test, fuzzing))]
    pub fn held(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// The buffer, with space for one read. The caller only appends to it, then takes the lines.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.drop_taken();
        self.buffer.reserve(READ);
        &mut self.buffer
    }

    /// Drops the lines that were taken.
    fn drop_taken(&mut self) {
        self.buffer.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        self.free_unused();
    }

    /// The next complete line.
    pub fn next_line(&mut self) -> Option<Line<'_>> {
        let Some(length) = memchr::memchr(b'\n', &self.buffer[self.searched..]) else {
            self.skip();
            self.searched = self.buffer.len();
            if self.start > MOST_KEPT {
                // The caller works with what it made of a very long line: its bytes need not wait for the next read.
                self.drop_taken();
            }
            return None;
        };
        let line = self.start..self.searched + length;
        self.start = line.end + 1;
        self.searched = self.start;
        Some(self.line(line))
    }

    /// The line that the end of the stream ends, after all complete ones. An empty one is none.
    pub fn last_line(&mut self) -> Option<Line<'_>> {
        let line = self.start..self.buffer.len();
        self.start = line.end;
        self.searched = line.end;
        if line.is_empty() { None } else { Some(self.line(line)) }
    }

    /// Adds bytes and calls `each` for every line that they complete.
    pub fn push(&mut self, bytes: &[u8], mut each: impl FnMut(Line<'_>)) {
        self.buffer().extend_from_slice(bytes);
        while let Some(line) = self.next_line() {
            each(line);
        }
    }

    /// Passes on the last line if the stream ends without a newline.
    pub fn finish(&mut self, each: impl FnOnce(Line<'_>)) {
        if let Some(line) = self.last_line() {
            each(line);
        }
    }

    /// A line. The bytes of it that were dropped are not in the buffer.
    fn line(&mut self, range: Range<usize>) -> Line<'_> {
        let kept = self.start();
        let n_bytes = match std::mem::take(&mut self.skipped) {
            0 => range.len(),
            skipped => skipped + range.len() - kept,
        };
        if n_bytes > self.limit {
            Line::TooLong { start: &self.buffer[range.start..range.start + kept], n_bytes }
        } else {
            Line::Whole(&self.buffer[range])
        }
    }

    /// Drops what is in the buffer of a line that is too long, except its start.
    fn skip(&mut self) {
        let kept = self.start();
        let held = self.buffer.len() - self.start;
        if self.skipped > 0 {
            self.skipped += held - kept;
        } else if held > self.limit {
            self.skipped = held;
        } else {
            return;
        }
        self.buffer.truncate(self.start + kept);
    }

    fn free_unused(&mut self) {
        if self.buffer.capacity() <= 4 * READ {
            return;
        }
        if self.buffer.len() > READ {
            self.n_reads = 0;
            return;
        }
        self.n_reads += 1;
        if self.n_reads > READS_KEPT || self.buffer.capacity() > MOST_KEPT {
            self.n_reads = 0;
            self.buffer.shrink_to(2 * READ);
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

    #[test]
    fn carriage_returns_and_nul_bytes_belong_to_their_line() {
        assert_eq!(split(9, &[b"a\r", b"\n\0b\0\n\r\n\n"]), ["a\r", "\0b\0", "\r", ""]);
    }

    /// A session keeps the memory of long lines only while they come.
    #[test]
    fn memory_of_a_long_line_is_reused_and_then_freed() {
        let mut lines = Lines::default();
        let push = |lines: &mut Lines, line: &[u8]| {
            line.chunks(READ).for_each(|chunk| lines.push(chunk, |_| {}));
            lines.buffer.capacity()
        };
        let long = [&vec![b'x'; 1_000_000][..], b"\n"].concat();
        let capacity = push(&mut lines, &long);
        let memory = lines.buffer.as_ptr();
        assert_eq!((push(&mut lines, &long), lines.buffer.as_ptr()), (capacity, memory));
        for _ in 0..READS_KEPT {
            assert_eq!(push(&mut lines, b"short\n"), capacity);
        }
        assert!(push(&mut lines, b"short\n") <= 4 * READ);
        let very_long = [&vec![b'x'; 2 * MOST_KEPT][..], b"\n"].concat();
        assert!(push(&mut lines, &very_long) <= 4 * READ, "a very long line is freed once it was taken");
    }

    #[test]
    fn a_line_over_the_limit_frees_its_memory() {
        let mut lines = Lines::up_to(2 * MOST_KEPT);
        vec![b'x'; 3 * MOST_KEPT].chunks(READ).for_each(|chunk| lines.push(chunk, |_| {}));
        assert!(lines.held() <= START && lines.buffer.capacity() <= 4 * READ);
        let mut seen = Vec::new();
        lines.push(b"\nafter\n", |line| match line {
            Line::Whole(line) => seen.push(line.len()),
            Line::TooLong { n_bytes, .. } => seen.push(n_bytes),
        });
        assert_eq!(seen, [3 * MOST_KEPT, 5]);
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
