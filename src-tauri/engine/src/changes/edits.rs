//! Changes of the files that the agent edited, compared with its own copies from before: for a folder without git.

use super::{MOST_FILES, MOST_LINES, cut, note};
use crate::api::{Changes, ChangesBase, FileChange, FileContent, FileDiff, FileState};
use crate::disk::{self, ReadError};
use crate::document::diff;
use crate::rewind::copies::MOST_OF_FILE;
use crate::rewind::preview::CheckpointFiles;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Maximum size of a text with a diff, in bytes.
const MOST_OF_TEXT: usize = 512 * 1024;

/// Time limit for reading the files.
const DEADLINE: Duration = Duration::from_secs(30);

const NO_COPY: &str = "The agent kept no copy of this file from before. Its edits are in the conversation.";

/// The files that the agent edited, and the place of its copies.
#[derive(Clone, Debug)]
pub struct EditedFiles {
    /// The folder of the agent's configuration.
    pub config: PathBuf,
    pub project: PathBuf,
    /// The id of the conversation in the agent's store.
    pub conversation: String,
    /// The id of the prompt to compare with; `None`: each file before its first edit.
    pub since_prompt: Option<String>,
    /// As the transcript names them: relative to the project, or absolute if they are elsewhere.
    pub files: Vec<String>,
}

impl EditedFiles {
    /// The edited files that differ from the copies.
    pub async fn changes(self) -> Changes {
        let base = ChangesBase::Edits { since_prompt: self.since_prompt.is_some() };
        let place = self.project.clone();
        let read = disk::run(&place, DEADLINE, move || {
            let then = self.then();
            let mut all: Vec<FileChange> =
                self.paths().iter().filter_map(|path| Some(compare(&then, path)?.change)).collect();
            all.sort_by(|one, other| one.path.cmp(&other.path));
            let n_more = u32::try_from(all.len().saturating_sub(MOST_FILES)).unwrap_or(u32::MAX);
            all.truncate(MOST_FILES);
            (all, n_more)
        });
        match read.await {
            Ok((files, n_more)) => Changes { files, n_more, ..Changes::empty(base) },
            Err(error) => {
                let problem = Some(format!("The files could not be read: {error}."));
                Changes { problem, ..Changes::empty(base) }
            }
        }
    }

    /// The change of one file. `path` is one of the list's.
    pub async fn file_diff(self, path: String) -> FileDiff {
        let place = self.project.clone();
        let read = disk::run(&place, DEADLINE, move || {
            let then = self.then();
            let named = self.paths().into_iter().find(|file| shown(&then, file) == path);
            named.and_then(|file| compare(&then, &file))
        });
        let Compared { change, texts, said } = match read.await {
            Ok(Some(compared)) => compared,
            Ok(None) => return note("This file no longer has changes."),
            Err(error) => return note(&format!("The file could not be read: {error}.")),
        };
        let Some((before, now)) = texts else { return note(&said) };
        let mut diff = diff(&change.path, &before, &now);
        let n_more_lines = cut(&mut diff, MOST_LINES);
        let is_empty = diff.hunks.is_empty();
        let said = is_empty.then(|| "It is an empty file.".to_owned());
        FileDiff { diff: (!is_empty).then_some(diff), note: said, n_more_lines, version: None }
    }

    fn paths(&self) -> Vec<String> {
        self.files.iter().map(|file| self.project.join(file).display().to_string()).collect()
    }

    fn then(&self) -> CheckpointFiles {
        CheckpointFiles::before(&self.config, &self.project, &self.conversation, self.since_prompt.as_deref())
    }
}

struct Compared {
    change: FileChange,
    /// Before and now.
    texts: Option<(String, String)>,
    /// Why there are no texts.
    said: String,
}

/// A path as it is listed: relative to the project, with slashes, or absolute if it is elsewhere.
fn shown(then: &CheckpointFiles, path: &str) -> String {
    let inside = then.inside(Path::new(path)).and_then(Path::to_str).unwrap_or(path);
    inside.replace(std::path::MAIN_SEPARATOR, "/")
}

/// `None` if the file is as it was.
fn compare(then: &CheckpointFiles, path: &str) -> Option<Compared> {
    let compared = |state, content, said: &str| Compared {
        change: FileChange {
            path: shown(then, path),
            old_path: None,
            state,
            content,
            added: None,
            removed: None,
        },
        texts: None,
        said: said.to_owned(),
    };
    let now = match disk::read_regular(Path::new(path), MOST_OF_FILE) {
        Ok(bytes) => Some(bytes),
        Err(ReadError::Missing) => None,
        Err(error @ ReadError::TooLarge { .. }) => {
            return Some(compared(FileState::Modified, FileContent::Large, &format!("{error}.")));
        }
        Err(error) => {
            return Some(compared(FileState::Modified, FileContent::Unknown, &format!("{error}.")));
        }
    };
    let Some(before) = then.content(path) else {
        let state = if now.is_some() { FileState::Modified } else { FileState::Deleted };
        return Some(compared(state, FileContent::Unknown, NO_COPY));
    };
    let state = match (&before, &now) {
        (None, Some(_)) => FileState::Added,
        (Some(_), None) => FileState::Deleted,
        (Some(before), Some(now)) if before != now => FileState::Modified,
        _ => return None,
    };
    let (before, now) = (before.unwrap_or_default(), now.unwrap_or_default());
    if before.len().max(now.len()) > MOST_OF_TEXT {
        let said = format!("Too large to show: {} bytes before, {} bytes now.", before.len(), now.len());
        return Some(compared(state, FileContent::Large, &said));
    }
    let sizes = format!("A binary file: {} bytes before, {} bytes now.", before.len(), now.len());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    let (Some(before), Some(now)) = (text(before), text(now)) else {
        return Some(compared(state, FileContent::Binary, &sizes));
    };
    let counted = diff(path, &before, &now);
    let mut compared = compared(state, FileContent::Text, "");
    (compared.change.added, compared.change.removed) = (Some(counted.added), Some(counted.removed));
    compared.texts = Some((before, now));
    Some(compared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history;
    use serde_json::json;
    use std::fs;

    /// A file's path, and its content before the first and the second prompt; `None` if there was no file.
    type Copied<'a> = (&'a str, Option<&'a [u8]>, Option<&'a [u8]>);

    struct World {
        scratch: tempfile::TempDir,
    }

    impl World {
        /// A folder without git, with the agent's copies of these files from before prompts `1` and `2`.
        fn new(files: &[Copied<'_>]) -> Self {
            let world = Self { scratch: tempfile::tempdir().unwrap() };
            fs::create_dir(world.path("project")).unwrap();
            let copies = world.path("config/file-history/s");
            fs::create_dir_all(&copies).unwrap();
            let mut lines = String::new();
            for prompt in [1, 2] {
                let mut backups = serde_json::Map::new();
                for (nr, (path, first, second)) in files.iter().enumerate() {
                    let content = if prompt == 1 { first } else { second };
                    let name = content.map(|_| format!("{nr}@v{prompt}"));
                    if let (Some(name), Some(content)) = (&name, content) {
                        fs::write(copies.join(name), content).unwrap();
                    }
                    backups.insert((*path).to_owned(), json!({"backupFileName": name, "version": prompt}));
                }
                let snapshot = json!({"messageId": prompt.to_string(), "trackedFileBackups": backups});
                lines += &format!("{}\n", json!({"type": "file-history-snapshot", "snapshot": snapshot}));
            }
            let transcript = history::transcript_path(&world.path("config"), &world.path("project"), "s");
            fs::create_dir_all(transcript.parent().unwrap()).unwrap();
            fs::write(transcript, lines).unwrap();
            world
        }

        fn path(&self, name: &str) -> PathBuf {
            dunce::canonicalize(self.scratch.path()).unwrap().join(name)
        }

        fn write(&self, name: &str, content: &[u8]) {
            fs::write(self.path("project").join(name), content).unwrap();
        }

        fn edited(&self, files: &[&str], since_prompt: Option<&str>) -> EditedFiles {
            EditedFiles {
                config: self.path("config"),
                project: self.path("project"),
                conversation: "s".to_owned(),
                since_prompt: since_prompt.map(str::to_owned),
                files: files.iter().map(|name| (*name).to_owned()).collect(),
            }
        }
    }

    fn words(changes: &Changes) -> Vec<(&str, FileState, Option<u32>, Option<u32>)> {
        changes.files.iter().map(|file| (file.path.as_str(), file.state, file.added, file.removed)).collect()
    }

    #[tokio::test]
    async fn files_are_compared_with_the_agents_copies() {
        let world = World::new(&[
            ("changed", Some(b"one\ntwo\n"), Some(b"one\n2\n")),
            ("made", None, None),
            ("gone", Some(b"a\nb\n"), Some(b"a\nb\n")),
            ("same", Some(b"x\n"), Some(b"y\n")),
            ("binary", Some(b"\x00"), Some(b"\x00")),
        ]);
        world.write("changed", b"one\n2\n3\n");
        world.write("made", b"new\n");
        world.write("same", b"x\n");
        world.write("binary", b"\x01");
        world.write("kept", b"1\n");
        let files = ["same", "made", "gone", "changed", "binary", "kept"];
        let first = world.edited(&files, None).changes().await;
        let absolute = files.map(|name| world.path("project").join(name).display().to_string());
        let absolute = world.edited(&absolute.each_ref().map(String::as_str), None).changes().await;
        assert_eq!(absolute, first, "a file is the same however it is named");
        assert_eq!(first.base, ChangesBase::Edits { since_prompt: false });
        assert_eq!(
            words(&first),
            [
                ("binary", FileState::Modified, None, None),
                ("changed", FileState::Modified, Some(2), Some(1)),
                ("gone", FileState::Deleted, Some(0), Some(2)),
                ("kept", FileState::Modified, None, None),
                ("made", FileState::Added, Some(1), Some(0)),
            ]
        );
        let contents: Vec<FileContent> = first.files.iter().map(|file| file.content).collect();
        assert_eq!(contents[0], FileContent::Binary);
        assert_eq!(contents[3], FileContent::Unknown, "the agent has no copy of it");
        let second = world.edited(&files, Some("2")).changes().await;
        assert_eq!(second.base, ChangesBase::Edits { since_prompt: true });
        assert_eq!(words(&second)[1], ("changed", FileState::Modified, Some(1), Some(0)));
        assert!(second.files.iter().any(|file| file.path == "same"), "it has changed since that prompt");
    }

    #[tokio::test]
    async fn only_a_listed_file_has_a_diff() {
        let world = World::new(&[("a", Some(b"one\n"), Some(b"one\n")), ("b", Some(b"\x00"), None)]);
        world.write("a", b"two\n");
        world.write("b", b"\x01");
        world.write("secret", b"s\n");
        let diff = world.edited(&["a", "b"], None).file_diff("a".to_owned()).await;
        let shown = diff.diff.unwrap();
        assert_eq!((shown.path.as_str(), shown.added, shown.removed), ("a", 1, 1));
        assert_eq!((diff.note, diff.version), (None, None), "there is nothing to revert it with");
        let said = |path: &str| world.edited(&["a", "b"], None).file_diff(path.to_owned());
        let binary = "A binary file: 1 bytes before, 1 bytes now.";
        assert_eq!(said("b").await.note.as_deref(), Some(binary));
        for other in ["secret", "../config/file-history/s/0@v1", "/etc/passwd", ""] {
            let diff = said(other).await;
            assert_eq!(diff.note.as_deref(), Some("This file no longer has changes."), "{other}");
            assert_eq!(diff.diff, None);
        }
    }
}
