//! Following a transcript file that another process writes: the lines that were added since it was read.

use super::branch::{Branch, Line};
use super::subagents::{FilesRead, Followed, GrownThread, Shown, Threads};
use super::{Kept, Place, fold, lines_of};
use crate::disk::{self, ReadError};
use crate::transcript::Transcript;
use std::collections::VecDeque;
use std::path::Path;

/// Bytes read at once. A longer line waits for the next read of the whole file.
const MOST: u64 = 64 * 1024 * 1024;

/// Number of last messages of the branch that a new line may continue.
const KNOWN: usize = 4_096;

/// The place in a file up to which its lines are in a transcript.
#[derive(Debug, Default)]
pub struct Tail {
    offset: u64,
    /// The uuids of the last lines on the branch.
    known: VecDeque<String>,
    subagents: Followed,
}

/// How far the files of a conversation were read.
#[derive(Debug)]
pub struct TailPosition {
    offset: u64,
    subagents: FilesRead,
}

/// The bytes that were added to the files of a conversation.
#[derive(Debug)]
pub struct Growth {
    bytes: Vec<u8>,
    subagents: Vec<GrownThread>,
}

#[cfg(test)]
impl Growth {
    /// The number of bytes of subagents in whole lines.
    pub fn n_bytes_of_subagents(&self) -> usize {
        self.subagents.iter().map(GrownThread::n_bytes).sum()
    }
}

impl TailPosition {
    /// Reads what was added; `None` if a file is shorter than before. Accesses the disk.
    pub fn read(&self, path: &Path) -> Result<Option<Growth>, ReadError> {
        let Some(bytes) = disk::read_from(path, self.offset, MOST)? else { return Ok(None) };
        // After the conversation: what a subagent writes comes after its call.
        let subagents = self.subagents.read(path)?;
        Ok(subagents.map(|subagents| Growth { bytes, subagents }))
    }
}

impl Tail {
    /// The end of a file that was read. An incomplete last line is read again.
    pub(super) fn of(kept: &Kept, branch: &Branch<'_>, shown: Shown) -> Self {
        let mut whole = kept.bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        if Place::read(&kept.bytes[whole..]).is_some() {
            // Only its line break is missing.
            whole = kept.bytes.len();
        }
        let subagents = Followed::of(&kept.subagents, shown);
        let mut tail = Self { offset: kept.n_left_out + whole as u64, known: VecDeque::new(), subagents };
        let last = &branch.lines[branch.lines.len().saturating_sub(KNOWN)..];
        last.iter().filter_map(|line| line.place.uuid()).for_each(|uuid| tail.knows(uuid.to_owned()));
        // The agent continues also after lines that are not shown.
        branch.ends.iter().for_each(|uuid| tail.knows(uuid.clone()));
        tail
    }

    fn knows(&mut self, uuid: String) {
        if self.known.len() == KNOWN {
            self.known.pop_front();
        }
        self.known.push_back(uuid);
    }

    pub fn position(&self) -> TailPosition {
        TailPosition { offset: self.offset, subagents: self.subagents.files() }
    }

    /// Folds added lines into a transcript. An incomplete last line is left for the next time. Returns `false` if the
    /// lines continue another branch or are damaged: then all of it has to be read again.
    pub fn fold(&mut self, growth: &Growth, transcript: &mut Transcript) -> bool {
        let mut subagents = std::mem::take(&mut self.subagents);
        let is_folded = subagents.fold(&growth.subagents, transcript, |transcript, threads| {
            self.fold_lines(&growth.bytes, transcript, threads)
        });
        self.subagents = subagents;
        is_folded
    }

    /// Whether there is more to read at once: lines of subagents whose calls have just been folded.
    pub fn is_behind(&self) -> bool {
        self.subagents.is_behind()
    }

    fn fold_lines(&mut self, bytes: &[u8], transcript: &mut Transcript, threads: &mut Threads<'_>) -> bool {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        for bytes in lines_of(&bytes[..whole]) {
            if bytes.trim_ascii().is_empty() {
                continue;
            }
            // A damaged line is counted with those of the whole file.
            let Some(place) = Place::read(bytes) else { return false };
            let Some(uuid) = place.uuid().filter(|_| !place.is_sidechain) else { continue };
            let uuid = uuid.to_owned();
            let continues_last =
                place.parent().is_some_and(|parent| self.known.back().is_some_and(|last| last == parent));
            // 2.1.197 writes messages again when it compacts.
            if !continues_last && self.known.contains(&uuid) {
                continue;
            }
            let is_next = continues_last
                || match place.parent() {
                    Some(parent) => self.known.iter().rev().any(|known| known == parent),
                    None => self.known.is_empty(),
                };
            if !is_next {
                return false;
            }
            self.knows(uuid);
            if place.is_shown() {
                fold(transcript, &Line { bytes, place, is_after_gap: false }, threads);
            }
        }
        self.offset += whole as u64;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Additions, Colouring, Kept};
    use serde_json::json;
    use std::fs;
    use std::io::Write;

    fn line(kind: &str, uuid: &str, parent: Option<&str>) -> String {
        let content = json!([{"type": "text", "text": uuid}]);
        let message = json!({"id": format!("m-{uuid}"), "role": kind, "content": content});
        format!("{}\n", json!({"type": kind, "uuid": uuid, "parentUuid": parent, "message": message}))
    }

    fn ids(transcript: &Transcript) -> Vec<String> {
        transcript.items().map(|item| item.id.as_str().to_owned()).collect()
    }

    #[test]
    fn added_lines_are_folded_once_and_a_torn_one_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let (next, last) = (line("assistant", "b", Some("a")), line("user", "c", Some("b")));
        fs::write(&path, line("user", "a", None) + &next[..9]).unwrap();
        let kept = Kept::load(&path).unwrap();
        let (mut transcript, mut tail) =
            kept.followed(Path::new("/p"), &Additions::default(), true, Colouring::All);
        let mut grow = |text: &str, transcript: &mut Transcript| {
            fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(text.as_bytes()).unwrap();
            let growth = tail.position().read(&path).unwrap().unwrap();
            tail.fold(&growth, transcript)
        };
        assert!(grow("", &mut transcript));
        assert_eq!(ids(&transcript), ["a"]);
        assert!(grow(&next[9..], &mut transcript));
        assert!(grow("{\"type\":\"last-prompt\"}\n\n", &mut transcript));
        assert!(grow(&last, &mut transcript));
        assert_eq!(ids(&transcript), ["a", "m-b.0", "c"]);
        let whole = Kept::load(&path).unwrap().transcript(Path::new("/p"), &Additions::default());
        assert_eq!(ids(&whole), ids(&transcript));
        assert!(!grow(&line("user", "x", Some("gone")), &mut transcript), "another branch");
        fs::write(&path, "").unwrap();
        let (_, tail) = kept.followed(Path::new("/p"), &Additions::default(), true, Colouring::All);
        assert!(tail.position().read(&path).unwrap().is_none(), "the file was replaced");
    }

    #[test]
    fn a_running_call_is_not_ended_while_another_process_works_on_it() {
        let call = json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "x"}});
        let line = json!({"type": "assistant", "uuid": "a", "message": {"id": "m", "content": [call]}});
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        fs::write(&path, format!("{line}\n")).unwrap();
        let state = |transcript: Transcript| match &transcript.items().next().unwrap().body {
            crate::api::Body::ToolCall(call) => call.state,
            other => panic!("{other:?}"),
        };
        let kept = Kept::load(&path).unwrap();
        let none = Additions::default();
        assert_eq!(
            state(kept.followed(Path::new("/p"), &none, true, Colouring::All).0),
            crate::api::ToolState::Running
        );
        assert_eq!(state(kept.transcript(Path::new("/p"), &none)), crate::api::ToolState::Interrupted);
    }
}
