//! Fast read of the end of a long conversation file, backward from its end, so that a window can show the last screen
//! before the rest is read.

use super::branch::Branch;
use super::subagents::Threads;
use super::{Additions, Colouring, finished, fold};
use crate::disk::{Regular, open_regular};
use crate::transcript::Transcript;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Files shorter than this are read completely.
const LONG: u64 = 2 * 1024 * 1024;
/// Bytes read at first, and the factor by which each further attempt reads more.
const FIRST: u64 = 512 * 1024;
const MORE: u64 = 4;
/// Maximum number of bytes read; a single message can be longer.
const MOST: u64 = 8 * 1024 * 1024;
/// Number of lines that fill a screen and its surroundings.
const LINES: usize = 240;

/// Folds the end of a transcript file. `None` if the file is short, or if its end cannot be interpreted without reading
/// all of it.
pub fn read_end(path: &Path, project: &Path, additions: &Additions) -> io::Result<Option<Transcript>> {
    let Regular { mut file, size } = open_regular(path)?;
    read_end_of(&mut file, size, project, additions)
}

fn read_end_of(
    file: &mut (impl Read + Seek),
    length: u64,
    project: &Path,
    additions: &Additions,
) -> io::Result<Option<Transcript>> {
    if length < LONG {
        return Ok(None);
    }
    let mut size = FIRST;
    while size <= MOST.min(length) {
        file.seek(SeekFrom::Start(length - size))?;
        let mut bytes = Vec::new();
        file.take(size).read_to_end(&mut bytes)?;
        // The first line is almost always incomplete.
        let whole = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
        let lines = Branch::of_end(&bytes[whole..]).lines;
        if let Some(first) = lines.len().checked_sub(LINES) {
            let mut transcript = additions.transcript(project);
            transcript.begin_reading(lines.len() - first);
            // The work of subagents follows with the rest.
            let mut threads = Threads::default();
            lines[first..].iter().for_each(|line| fold(&mut transcript, line, &mut threads));
            return Ok(Some(finished(transcript, Colouring::End)));
        }
        size *= MORE;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::io::Cursor;

    /// Counts the bytes read from it.
    struct Counted {
        file: Cursor<Vec<u8>>,
        n_read: u64,
    }

    impl Read for Counted {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = self.file.read(buffer)?;
            self.n_read += n as u64;
            Ok(n)
        }
    }

    impl Seek for Counted {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.file.seek(to)
        }
    }

    /// A conversation of `n` assistant messages of about `size` bytes, each the child of the previous one.
    fn conversation(n: usize, size: usize) -> Vec<u8> {
        let line = |nr: usize| {
            let parent = nr.checked_sub(1).map(|parent| format!("u{parent}"));
            let content = json!([{"type": "text", "text": format!("{nr} {}", "x".repeat(size))}]);
            let message = json!({"id": format!("m{nr}"), "role": "assistant", "content": content});
            json!({"type": "assistant", "uuid": format!("u{nr}"), "parentUuid": parent, "message": message})
        };
        (0..n).flat_map(|nr| format!("{}\n", line(nr)).into_bytes()).collect()
    }

    fn read(bytes: Vec<u8>) -> (Option<Vec<String>>, u64) {
        let length = bytes.len() as u64;
        let mut file = Counted { file: Cursor::new(bytes), n_read: 0 };
        let transcript = read_end_of(&mut file, length, Path::new("/p"), &Additions::default()).unwrap();
        let ids = transcript.map(|transcript| transcript.items().map(|item| item.id.0.clone()).collect());
        (ids, file.n_read)
    }

    #[test]
    fn the_last_screen_takes_half_a_megabyte_of_a_hundred_thousand_items() {
        let (ids, n_read) = read(conversation(100_000, 100));
        let ids = ids.unwrap();
        assert_eq!((ids.len(), ids[0].as_str(), ids[239].as_str()), (240, "m99760.0", "m99999.0"));
        assert_eq!(n_read, FIRST);
    }

    #[test]
    fn long_messages_take_more_and_very_long_ones_all_of_it() {
        let (ids, n_read) = read(conversation(1_000, 5_000));
        assert_eq!(ids.unwrap().len(), 240);
        assert_eq!(n_read, FIRST + FIRST * MORE);
        let (ids, n_read) = read(conversation(200, 100_000));
        assert_eq!(ids, None);
        assert!(n_read <= FIRST + FIRST * MORE + FIRST * MORE * MORE);
    }

    #[test]
    fn what_is_not_long_is_read_at_once() {
        assert_eq!(read(conversation(1_000, 100)), (None, 0));
    }

    /// The fast read shows the same items as the end of the complete read.
    #[test]
    fn the_end_is_that_of_the_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, conversation(5_000, 1_000)).unwrap();
        let whole =
            super::super::Kept::load(&path).unwrap().transcript(Path::new("/p"), &Additions::default());
        let end = read_end(&path, Path::new("/p"), &Additions::default()).unwrap().unwrap();
        let of_whole: Vec<_> = whole.items().skip(5_000 - LINES).map(|item| (&item.id, &item.body)).collect();
        assert_eq!(end.items().map(|item| (&item.id, &item.body)).collect::<Vec<_>>(), of_whole);
    }
}
