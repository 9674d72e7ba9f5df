//! What a rewind would change, as diffs from the files as they are now to the agent's checkpoints.

use super::copies::{MOST_OF_FILE, State};
use crate::api::{Diff, RewindChange, RewindFile};
use crate::claude::checkpoints::{Checkpoints, SavedFile};
use crate::disk::{self, ReadError};
use crate::document;
use crate::history::{self, Kept};
use std::path::{Path, PathBuf};

/// Maximum number of files in a preview.
const MOST_FILES: usize = 200;
/// Maximum size of a text with a diff, in bytes.
const MOST_OF_TEXT: usize = 512 * 1024;
/// Maximum number of lines of all diffs.
const MOST_LINES: usize = 4_000;

const NO_CONTENT: &str = "The agent did not say what this file would be. It is shown after the rewind.";

/// The agent's checkpoints of one conversation.
#[derive(Debug)]
pub struct CheckpointFiles {
    checkpoints: Checkpoints,
    copies: PathBuf,
    /// The project's folder, as named and with links resolved.
    projects: [PathBuf; 2],
    /// The prompt; `None`: the state of each file before its first edit.
    wire_id: Option<String>,
}

impl CheckpointFiles {
    /// Reads the list of the checkpoints from the agent's transcript. If that is not possible, there are none.
    pub fn of_prompt(config: &Path, project: &Path, conversation: &str, wire_id: &str) -> Self {
        Self::before(config, project, conversation, Some(wire_id))
    }

    /// Reads them for a prompt, or without one for the state of each file before its first edit.
    pub fn before(config: &Path, project: &Path, conversation: &str, wire_id: Option<&str>) -> Self {
        let mut checkpoints = Checkpoints::default();
        match Kept::load(&history::transcript_path(config, project, conversation)) {
            Ok(kept) => {
                let mark = memchr::memmem::Finder::new(Checkpoints::MARK);
                let lines = kept.lines().filter(|line| mark.find(line).is_some());
                lines.for_each(|line| checkpoints.read(line));
            }
            Err(error) => tracing::warn!(%error, "could not read the agent's list of checkpoints"),
        }
        let real = dunce::canonicalize(project).unwrap_or_else(|_| project.to_owned());
        Self {
            checkpoints,
            copies: config.join("file-history").join(conversation),
            projects: [real, project.to_owned()],
            wire_id: wire_id.map(str::to_owned),
        }
    }

    /// The path relative to the project, if it is in it.
    pub fn inside<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        self.projects.iter().find_map(|project| path.strip_prefix(project).ok())
    }

    /// The content that a rewind gives a file; `Some(None)`: it would be missing. `None`: unknown.
    pub fn content(&self, path: &str) -> Option<Option<Vec<u8>>> {
        let inside = self.inside(Path::new(path)).and_then(Path::to_str);
        let names = [Some(path), inside].into_iter().flatten();
        let saved = names.into_iter().find_map(|name| match &self.wire_id {
            Some(prompt) => self.checkpoints.before(prompt, name),
            None => self.checkpoints.before_first_edit(name),
        })?;
        match saved {
            SavedFile::Missing => Some(None),
            SavedFile::Copy(name) => match disk::read_regular(&self.copies.join(name), MOST_OF_FILE) {
                Ok(content) => Some(Some(content)),
                Err(error) => {
                    tracing::debug!(%error, "a checkpoint cannot be read");
                    None
                }
            },
        }
    }

    /// The state that a file should have after the rewind, as far as known.
    pub fn expected(&self, path: &str) -> Option<State> {
        Some(self.content(path)?.map_or(State::Missing, |content| State::of(&content)))
    }

    /// The first of these files with their diffs, and the number of the others.
    pub fn preview(&self, files: &[String]) -> (Vec<RewindFile>, u32) {
        let mut n_lines = 0;
        let shown = files.iter().take(MOST_FILES).map(|path| {
            let mut file = self.file(path);
            n_lines += file.diff.as_ref().map_or(0, length);
            if n_lines > MOST_LINES && file.diff.take().is_some() {
                file.note = Some("Too many changes to show.".to_owned());
            }
            file
        });
        let shown: Vec<RewindFile> = shown.collect();
        let n_more = files.len().saturating_sub(shown.len());
        (shown, n_more as u32)
    }

    fn file(&self, path: &str) -> RewindFile {
        let inside = self.inside(Path::new(path));
        let name = inside.and_then(Path::to_str).unwrap_or(path).to_owned();
        let (now, has_undo, problem) = match disk::read_regular(Path::new(path), MOST_OF_FILE) {
            Ok(content) => (Some(content), true, None),
            Err(ReadError::Missing) => (None, true, None),
            Err(error) => (None, false, Some(error.to_string())),
        };
        let then = self.content(path);
        let (change, shown) = match (&now, &then, problem) {
            (_, _, Some(problem)) => {
                (RewindChange::Unknown, Err(format!("No copy for an undo can be made: {problem}.")))
            }
            (_, None, None) => (RewindChange::Unknown, Err(NO_CONTENT.to_owned())),
            (now, Some(then), None) => {
                let change = match (now, then) {
                    (None, _) => RewindChange::Created,
                    (_, None) => RewindChange::Removed,
                    _ => RewindChange::Modified,
                };
                (change, diff(&name, now.as_deref(), then.as_deref()))
            }
        };
        let (diff, note) = match shown {
            Ok(diff) => (Some(diff), None),
            Err(note) => (None, Some(note)),
        };
        RewindFile { path: name, change, is_outside: inside.is_none(), diff, note, has_undo }
    }
}

/// The diff of two contents, or why it is not shown.
fn diff(path: &str, now: Option<&[u8]>, then: Option<&[u8]>) -> Result<Diff, String> {
    let (now, then) = (now.unwrap_or_default(), then.unwrap_or_default());
    if now.len().max(then.len()) > MOST_OF_TEXT {
        return Err(format!("Too large to show: {} bytes now, {} after.", now.len(), then.len()));
    }
    let text = |bytes| std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    let (Some(now), Some(then)) = (text(now), text(then)) else {
        return Err("Not a text, so its changes cannot be shown.".to_owned());
    };
    if now == then {
        return Err("Its content stays the same.".to_owned());
    }
    Ok(document::diff(path, now, then))
}

fn length(diff: &Diff) -> usize {
    diff.hunks.iter().map(|hunk| hunk.lines.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct World {
        scratch: tempfile::TempDir,
    }

    impl World {
        fn path(&self, name: &str) -> PathBuf {
            dunce::canonicalize(self.scratch.path()).unwrap().join(name)
        }

        fn in_project(&self, name: &str) -> String {
            self.path("project").join(name).display().to_string()
        }

        /// Checkpoints of prompt `p`: each file with its copy.
        fn new(files: &[(&str, Option<&[u8]>)]) -> Self {
            let world = Self { scratch: tempfile::tempdir().unwrap() };
            fs::create_dir(world.path("project")).unwrap();
            let copies = world.path("config/file-history/s");
            fs::create_dir_all(&copies).unwrap();
            let mut backups = serde_json::Map::new();
            for (nr, (path, content)) in files.iter().enumerate() {
                let name = content.map(|_| format!("{nr}@v1"));
                if let (Some(name), Some(content)) = (&name, content) {
                    fs::write(copies.join(name), content).unwrap();
                }
                backups.insert((*path).to_owned(), serde_json::json!({"backupFileName": name, "version": 1}));
            }
            let snapshot = serde_json::json!({"messageId": "p", "trackedFileBackups": backups});
            let line = serde_json::json!({"type": "file-history-snapshot", "snapshot": snapshot});
            let transcript = history::transcript_path(&world.path("config"), &world.path("project"), "s");
            fs::create_dir_all(transcript.parent().unwrap()).unwrap();
            fs::write(transcript, format!("{line}\n")).unwrap();
            world
        }

        fn files(&self) -> CheckpointFiles {
            CheckpointFiles::of_prompt(&self.path("config"), &self.path("project"), "s", "p")
        }
    }

    #[test]
    fn each_file_has_its_diff_or_the_reason_why_there_is_none() {
        let outside = tempfile::tempdir().unwrap();
        let outside = outside.path().join("o").display().to_string();
        let large = vec![b'x'; MOST_OF_TEXT + 1];
        let world = World::new(&[
            ("a", Some(b"one\ntwo\n")),
            ("made", None),
            ("gone", Some(b"back\n")),
            ("binary", Some(b"\xff\x00")),
            ("large", Some(&large)),
            (&outside, Some(b"out\n")),
        ]);
        fs::write(world.in_project("a"), "one\nTWO\n").unwrap();
        fs::write(world.in_project("made"), "x\n").unwrap();
        fs::write(world.in_project("binary"), "x").unwrap();
        fs::write(world.in_project("large"), "x").unwrap();
        fs::write(world.in_project("unknown"), "x").unwrap();
        let names = ["a", "made", "gone", "binary", "large", "unknown"].map(|name| world.in_project(name));
        let (files, n_more) = world.files().preview(&[&names[..], &[outside]].concat());
        assert_eq!(n_more, 0);
        let lines = |file: &RewindFile| file.diff.as_ref().map(|diff| (diff.added, diff.removed));
        let said: Vec<_> = files.iter().map(|file| (file.path.as_str(), file.change, lines(file))).collect();
        assert_eq!(said[0], ("a", RewindChange::Modified, Some((1, 1))));
        assert_eq!(said[1], ("made", RewindChange::Removed, Some((0, 1))));
        assert_eq!(said[2], ("gone", RewindChange::Created, Some((1, 0))));
        assert_eq!(said[3], ("binary", RewindChange::Modified, None));
        assert_eq!(said[4], ("large", RewindChange::Modified, None));
        assert_eq!(said[5], ("unknown", RewindChange::Unknown, None));
        assert!(files[..6].iter().all(|file| !file.is_outside) && files[6].is_outside);
        assert!(files[3..6].iter().all(|file| file.note.is_some() && file.has_undo));
        assert_eq!(world.files().expected(&names[0]), Some(State::of(b"one\ntwo\n")));
        assert_eq!(world.files().expected(&names[1]), Some(State::Missing));
        assert_eq!(world.files().expected(&names[5]), None);
    }

    #[test]
    fn many_changes_are_bounded_and_counted() {
        let text = "x\n".repeat(MOST_LINES);
        let world = World::new(&[("a", Some(text.as_bytes())), ("b", Some(b"one\n"))]);
        let paths: Vec<String> = ["a", "b"].iter().map(|name| world.in_project(name)).collect();
        let more: Vec<String> = (0..MOST_FILES).map(|nr| world.in_project(&nr.to_string())).collect();
        let (files, n_more) = world.files().preview(&[paths, more].concat());
        assert_eq!((files.len(), n_more), (MOST_FILES, 2));
        assert!(files[0].diff.is_some() && files[1].diff.is_none() && files[1].note.is_some());
    }

    #[test]
    fn a_transcript_that_cannot_be_read_leaves_the_contents_unknown() {
        let world = World::new(&[]);
        let files = CheckpointFiles::of_prompt(&world.path("config"), &world.path("none"), "s", "p");
        let (files, _) = files.preview(&[world.in_project("a")]);
        assert_eq!((files[0].change, files[0].note.as_deref()), (RewindChange::Unknown, Some(NO_CONTENT)));
    }
}
