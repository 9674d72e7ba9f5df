//! Fuzz target for line splitting: the lines do not depend on how the stream is split, and a line that is too long is
//! dropped alone.

use super::cuts;
use crate::process::lines::{Line, Lines};

/// An owned line for comparison.
#[derive(Debug, PartialEq)]
enum Seen {
    Whole(Vec<u8>),
    TooLong { start: Vec<u8>, n_bytes: usize },
}

/// Splits the bytes into chunks and compares the resulting lines with those of the whole. The first byte is the line
/// limit.
pub fn lines(data: &[u8]) {
    let Some((limit, data)) = data.split_first() else { return };
    let (lengths, stream) = cuts(data);
    let limit = usize::from(*limit) + 1;
    let mut lines = Lines::up_to(limit);
    let start = lines.start();
    let mut seen = Vec::new();
    let mut left = stream;
    for length in lengths {
        let (chunk, behind) = left.split_at(length.min(left.len()));
        lines.push(chunk, |line| seen.push(Seen::of(line)));
        assert!(lines.held() <= limit, "holds {} bytes of a line of at most {limit}", lines.held());
        left = behind;
        if left.is_empty() {
            break;
        }
    }
    lines.finish(|line| seen.push(Seen::of(line)));
    assert_eq!(seen, expected(stream, limit, start));
}

impl Seen {
    fn of(line: Line<'_>) -> Self {
        match line {
            Line::Whole(line) => Self::Whole(line.to_owned()),
            Line::TooLong { start, n_bytes } => Self::TooLong { start: start.to_owned(), n_bytes },
        }
    }
}

fn expected(stream: &[u8], limit: usize, start: usize) -> Vec<Seen> {
    let mut lines: Vec<&[u8]> = stream.split(|byte| *byte == b'\n').collect();
    // Text after the last line feed is a line only if it is not empty.
    lines.pop_if(|last| last.is_empty());
    let seen = lines.into_iter().map(|line| match line.len() {
        n_bytes if n_bytes > limit => Seen::TooLong { start: line[..start].to_owned(), n_bytes },
        _ => Seen::Whole(line.to_owned()),
    });
    seen.collect()
}
