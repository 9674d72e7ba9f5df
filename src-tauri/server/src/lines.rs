//! Reading lines of bounded length.

use std::io;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt};

/// The longest line of a client, in bytes: a prompt with attachments, whose data has up to 28 MiB.
pub const MAX_LINE: usize = 32 << 20;

/// The longest line of a server, in bytes: twice the largest snapshot. A client gives up a connection with a longer one.
pub const MAX_SERVER_LINE: usize = 64 << 20;

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

/// Reads a line of a server with its line feed. False: the input has ended, and an incomplete last line is left. A line
/// above the limit, which is without the line feed, is an error.
///
/// A complete line that the buffer has from before is removed. Cancel safe: what was read stays in the buffer, and the
/// next call continues it.
pub async fn next_server_line(
    reader: &mut (impl AsyncBufRead + Unpin),
    buffer: &mut Vec<u8>,
    limit: usize,
) -> io::Result<bool> {
    if buffer.last() == Some(&b'\n') {
        buffer.clear();
        // A long line must not occupy its memory forever.
        buffer.shrink_to(64 << 10);
    }
    let n_left = (limit + 1).saturating_sub(buffer.len());
    reader.take(n_left as u64).read_until(b'\n', buffer).await?;
    let is_complete = buffer.last() == Some(&b'\n');
    if !is_complete && buffer.len() > limit {
        let problem = format!("the server sent a line of more than {limit} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
    }
    Ok(is_complete)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    #[tokio::test]
    async fn lines_of_a_server_have_at_most_the_limit() {
        for capacity in [1, 7, 100_000] {
            let mut reader = tokio::io::BufReader::with_capacity(capacity, &b"\nab\nabc\ntorn"[..]);
            let mut buffer = Vec::new();
            for expected in ["\n", "ab\n", "abc\n"] {
                assert!(next_server_line(&mut reader, &mut buffer, 3).await.unwrap());
                assert_eq!(buffer, expected.as_bytes(), "{capacity}");
            }
            let error = next_server_line(&mut reader, &mut buffer, 3).await.unwrap_err();
            assert_eq!(error.to_string(), "the server sent a line of more than 3 bytes");
            let mut reader = tokio::io::BufReader::with_capacity(capacity, &b"abc"[..]);
            buffer.clear();
            assert!(!next_server_line(&mut reader, &mut buffer, 3).await.unwrap(), "it was cut off");
        }
    }

    #[tokio::test]
    async fn an_endless_line_of_a_server_is_refused_again_and_again() {
        let mut reader = tokio::io::BufReader::new(tokio::io::repeat(b'x'));
        let mut buffer = Vec::new();
        for _ in 0..2 {
            let error = next_server_line(&mut reader, &mut buffer, 100_000).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
            assert_eq!(buffer.len(), 100_001, "no more is kept");
        }
    }

    #[tokio::test]
    async fn a_read_that_was_given_up_is_continued() {
        let (reader, mut writer) = tokio::io::duplex(64);
        let mut reader = tokio::io::BufReader::new(reader);
        let mut buffer = Vec::new();
        writer.write_all(b"ab").await.unwrap();
        tokio::select! {
            biased;
            _ = next_server_line(&mut reader, &mut buffer, 4) => panic!("the line is incomplete"),
            () = std::future::ready(()) => {}
        }
        writer.write_all(b"cd\n").await.unwrap();
        assert!(next_server_line(&mut reader, &mut buffer, 4).await.unwrap());
        assert_eq!(buffer, b"abcd\n");
    }

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
