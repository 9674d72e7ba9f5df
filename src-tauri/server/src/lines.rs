//! Reading lines of bounded length.

use std::io;
use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// The longest line of a client, in bytes: a prompt with images.
pub const MAX_LINE: usize = 16 << 20;

#[derive(Debug, PartialEq, Eq)]
pub enum ReadLine {
    /// The line is in the buffer, without its line feed.
    Line,
    /// The line was longer than the limit; it was read to its end and dropped.
    TooLong,
    /// The end of input. An incomplete last line is dropped: its sender may have been cut off in the middle.
    End,
}

/// Reads a line into the buffer, whose old content is removed. Not cancel safe.
pub async fn next_line(
    reader: &mut (impl AsyncBufRead + Unpin),
    buffer: &mut Vec<u8>,
    limit: usize,
) -> io::Result<ReadLine> {
    buffer.clear();
    // A long line must not occupy its memory forever.
    buffer.shrink_to(64 << 10);
    let mut is_too_long = false;
    loop {
        let chunk = reader.fill_buf().await?;
        if chunk.is_empty() {
            return Ok(ReadLine::End);
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let part = &chunk[..end.unwrap_or(chunk.len())];
        is_too_long |= buffer.len() + part.len() > limit;
        if is_too_long {
            *buffer = Vec::new();
        } else {
            buffer.extend_from_slice(part);
        }
        let n_read = part.len() + usize::from(end.is_some());
        reader.consume(n_read);
        if end.is_some() {
            return Ok(if is_too_long { ReadLine::TooLong } else { ReadLine::Line });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_long_line_is_dropped_and_the_next_is_read() {
        let text = format!("\nab\n{}\nabc\ntorn", "x".repeat(5_000));
        for capacity in [1, 7, 100_000] {
            let mut reader = tokio::io::BufReader::with_capacity(capacity, text.as_bytes());
            let mut buffer = Vec::new();
            let mut read = Vec::new();
            loop {
                let line = next_line(&mut reader, &mut buffer, 3).await.unwrap();
                if line == ReadLine::End {
                    break;
                }
                read.push((line, String::from_utf8_lossy(&buffer).into_owned()));
            }
            let expected = [
                (ReadLine::Line, ""),
                (ReadLine::Line, "ab"),
                (ReadLine::TooLong, ""),
                (ReadLine::Line, "abc"),
            ];
            assert_eq!(read, expected.map(|(line, text)| (line, text.to_owned())), "{capacity}");
        }
    }
}
