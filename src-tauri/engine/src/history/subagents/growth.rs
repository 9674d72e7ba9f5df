//! Following the files of subagents while another process writes them: the lines that were added since they were read.

use super::{Files, MOST_FILES, MOST_OF_ALL, MOST_OF_ONE, Shown, Subagents, Thread, Threads, folder_of};
use crate::api::ItemId;
use crate::disk::{self, ReadError};
use crate::transcript::Transcript;
use std::collections::{HashMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};

/// How far the file of a subagent was read.
#[derive(Clone, Debug)]
struct FileRead {
    files: Files,
    /// Up to here its lines are in the transcript.
    offset: u64,
    /// The size of the file then. The file is not read again until it has another one.
    size: u64,
    /// Its call has come into the transcript since: the file is read again whatever its size.
    is_behind: bool,
}

/// The files of the known subagents, by the file that names the call.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct FilesRead(HashMap<PathBuf, FileRead>);

/// Added lines of a subagent.
#[derive(Debug)]
pub(in super::super) struct GrownThread {
    /// Its whole lines.
    thread: Thread,
    size: u64,
}

#[cfg(test)]
impl GrownThread {
    pub fn n_bytes(&self) -> usize {
        self.thread.bytes.len()
    }
}

impl FilesRead {
    /// Reads what was added; `None` if a file is shorter than before. Accesses the disk.
    pub fn read(&self, transcript: &Path) -> Result<Option<Vec<GrownThread>>, ReadError> {
        let mut grown = Vec::new();
        let folder = folder_of(transcript);
        if disk::kind(&folder).is_err_and(|error| error.is_missing()) {
            return Ok(Some(grown));
        }
        let mut paths = disk::list(&folder, MOST_FILES)?.paths;
        paths.sort();
        let mut left = MOST_OF_ALL;
        for path in paths {
            let known = match self.0.get(&path) {
                Some(known) => known.clone(),
                // One that is being written names no call yet.
                None => match Files::of(&path).ok().flatten() {
                    Some(files) => FileRead { files, offset: 0, size: 0, is_behind: false },
                    None => continue,
                },
            };
            let lines = &known.files.lines;
            let is_as_before = || disk::size(lines).is_ok_and(|size| size == known.size);
            if !known.is_behind && is_as_before() {
                continue;
            }
            let mut bytes = match disk::read_from(lines, known.offset, MOST_OF_ONE.min(left)) {
                Ok(Some(bytes)) => bytes,
                Ok(None) => return Ok(None),
                // It appears later, or is said when the whole conversation is read.
                Err(_) => continue,
            };
            let size = known.offset + bytes.len() as u64;
            left = left.saturating_sub(bytes.len() as u64);
            bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1));
            let thread = Thread { files: known.files, bytes, offset: known.offset, is_cut: false };
            grown.push(GrownThread { thread, size });
        }
        Ok(Some(grown))
    }
}

/// The subagents of a conversation that is followed.
#[derive(Debug, Default)]
pub(in super::super) struct Followed {
    files: FilesRead,
    shown: Shown,
}

impl Followed {
    /// The subagents that were read, and what of them is shown. An incomplete last line is read again.
    pub fn of(subagents: &Subagents, shown: Shown) -> Self {
        let read = |thread: &Thread| {
            let size = thread.offset + thread.bytes.len() as u64;
            let n_whole = thread.bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let is_shown = shown.has_thread(&thread.files);
            let offset = if is_shown { thread.offset + n_whole as u64 } else { thread.offset };
            (
                thread.files.meta.clone(),
                FileRead { files: thread.files.clone(), offset, size, is_behind: false },
            )
        };
        Self { files: FilesRead(subagents.threads.iter().map(read).collect()), shown }
    }

    pub fn files(&self) -> FilesRead {
        self.files.clone()
    }

    /// Folds added lines: those of calls that are shown at once, and those of other calls when `fold_main` folds them.
    /// Returns `false` if a line is damaged, or if `fold_main` does.
    pub fn fold(
        &mut self,
        grown: &[GrownThread],
        transcript: &mut Transcript,
        fold_main: impl FnOnce(&mut Transcript, &mut Threads<'_>) -> bool,
    ) -> bool {
        let before: HashSet<ItemId> = self.shown.calls.keys().cloned().collect();
        let mut threads = Threads { shown: std::mem::take(&mut self.shown), ..Threads::default() };
        for GrownThread { thread, .. } in grown {
            let known = threads.shown.threads.get(&thread.files.meta).cloned();
            let without = threads.shown.without_thread.get_mut(&thread.files.call);
            match known.or_else(|| without.and_then(VecDeque::pop_front)) {
                Some(call) => threads.fold_thread(transcript, &call, thread),
                None => threads.wait(thread),
            }
        }
        let is_folded = fold_main(transcript, &mut threads) && threads.n_damaged == 0;
        self.shown = threads.into_shown();
        for GrownThread { thread, size } in grown {
            let is_shown = self.shown.has_thread(&thread.files);
            let n_folded = if is_shown { thread.bytes.len() as u64 } else { 0 };
            let offset = thread.offset + n_folded;
            let read = FileRead { files: thread.files.clone(), offset, size: *size, is_behind: false };
            self.files.0.insert(thread.files.meta.clone(), read);
        }
        for read in self.files.0.values_mut() {
            let calls = self.shown.without_thread.get(&read.files.call).into_iter().flatten();
            let is_new =
                !self.shown.has_thread(&read.files) && calls.into_iter().any(|call| !before.contains(call));
            read.is_behind = is_new && read.offset == 0 && read.size > 0;
        }
        is_folded
    }

    /// Whether files have to be read again, because they were read before their calls.
    pub fn is_behind(&self) -> bool {
        self.files.0.values().any(|read| read.is_behind)
    }
}

#[cfg(test)]
mod tests;
