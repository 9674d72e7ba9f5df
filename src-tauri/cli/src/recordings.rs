//! `deskbell recordings`: lists the recordings that were made in the window, and removes them.

use crate::exit::NotThere;
use crate::output::{ended, print};
use anyhow::Context;
use deskbell_engine::disk;
use serde_json::json;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::UNIX_EPOCH;

/// Maximum number of recordings in a list.
const MOST: usize = 10_000;

/// A recording of a session, in the folder of recordings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptRecording {
    pub name: String,
    pub path: PathBuf,
    pub n_bytes: u64,
    /// When it was last written, in milliseconds since the epoch.
    pub changed_at: u64,
}

/// Whether this is the name of a recording, and no path.
pub fn is_name(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("session-").and_then(|rest| rest.strip_suffix(".ndjson")) else {
        return false;
    };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !rest.is_empty() && rest.bytes().all(is_plain)
}

/// The recordings in a folder, the oldest first. A folder that is missing has none; other files are left out.
pub fn list(folder: &Path) -> io::Result<Vec<KeptRecording>> {
    let listing = match disk::list(folder, MOST) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        listing => listing?,
    };
    let kept = listing.paths.into_iter().filter_map(|path| {
        let name = path.file_name()?.to_str().filter(|name| is_name(name))?.to_owned();
        let found = path.symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
        let changed = found.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        let changed_at = u64::try_from(changed.as_millis()).unwrap_or(u64::MAX);
        Some(KeptRecording { name, path, n_bytes: found.len(), changed_at })
    });
    let mut kept: Vec<KeptRecording> = kept.collect();
    kept.sort_by(|one, other| (one.changed_at, &one.name).cmp(&(other.changed_at, &other.name)));
    Ok(kept)
}

/// Removes a recording. One that is being written ends with an error.
pub fn remove(folder: &Path, name: &str) -> io::Result<()> {
    if !is_name(name) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is not the name of a recording"));
    }
    std::fs::remove_file(folder.join(name))
}

/// What is removed; `List` removes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordingsMode {
    List,
    Remove(String),
    Clear,
}

pub fn main(mode: RecordingsMode, folder: &Path) -> ExitCode {
    ended(run(mode, folder))
}

fn run(mode: RecordingsMode, folder: &Path) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let place = folder.to_owned();
    // On a thread with a deadline: the folder may be on a disk that does not respond.
    let work = disk::run(folder, disk::DEADLINE, move || match mode {
        RecordingsMode::List => lines(&place),
        RecordingsMode::Remove(name) => match remove(&place, &name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let why = format!("there is no recording {name}; `deskbell recordings` lists them");
                Err(NotThere(why).into())
            }
            removed => removed.map(|()| Vec::new()).with_context(|| format!("removing {name}")),
        },
        RecordingsMode::Clear => {
            for one in list(&place).with_context(|| format!("reading {}", place.display()))? {
                remove(&place, &one.name).with_context(|| format!("removing {}", one.name))?;
            }
            Ok(Vec::new())
        }
    });
    let lines = runtime.block_on(work)??;
    Ok(print(&lines)?)
}

/// One JSON object a line.
fn lines(folder: &Path) -> anyhow::Result<Vec<u8>> {
    let mut lines = Vec::new();
    for one in list(folder).with_context(|| format!("reading {}", folder.display()))? {
        let line = json!({
            "name": one.name,
            "path": one.path,
            "nBytes": one.n_bytes,
            "changedAt": one.changed_at,
        });
        serde_json::to_writer(&mut lines, &line)?;
        lines.push(b'\n');
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_are_listed_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let names = ["a", "b", "c"].map(|id| format!("session-1-{id}.ndjson"));
        names.iter().for_each(|name| std::fs::write(path.join(name), "12345").unwrap());
        let listed = || -> Vec<serde_json::Value> {
            let text = String::from_utf8(lines(path).unwrap()).unwrap();
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        assert_eq!(listed().len(), 3);
        assert_eq!(listed()[0]["nBytes"], 5);
        run(RecordingsMode::Remove(names[1].clone()), path).unwrap();
        assert!(!path.join(&names[1]).exists() && listed().len() == 2);
        let error = run(RecordingsMode::Remove("../x".to_owned()), path).unwrap_err();
        assert!(format!("{error:#}").contains("not the name of a recording"), "{error:#}");
        run(RecordingsMode::Clear, path).unwrap();
        assert_eq!(listed().len(), 0);
        assert_eq!(lines(&path.join("missing")).unwrap(), b"");
    }

    #[test]
    fn only_recordings_are_listed_and_removed() {
        let data = tempfile::tempdir().unwrap();
        let folder = data.path().join("recordings");
        assert_eq!(list(&folder).unwrap(), []);
        std::fs::create_dir(&folder).unwrap();
        let names = ["session-1-0d58f447-6268.ndjson".to_owned(), "session-2-a.ndjson".to_owned()];
        for (name, text) in names.iter().zip(["one", "three"]) {
            std::fs::write(folder.join(name), text).unwrap();
        }
        std::fs::write(folder.join("notes.txt"), "mine").unwrap();
        std::fs::create_dir(folder.join("session-3-b.ndjson")).unwrap();
        std::fs::write(data.path().join("session-4-c.ndjson"), "elsewhere").unwrap();
        let mut kept: Vec<(String, u64)> =
            list(&folder).unwrap().into_iter().map(|one| (one.name, one.n_bytes)).collect();
        kept.sort();
        assert_eq!(kept, [(names[0].clone(), 3), (names[1].clone(), 5)]);
        remove(&folder, &names[0]).unwrap();
        assert_eq!(list(&folder).unwrap().len(), 1);
        for wrong in ["notes.txt", "../session-4-c.ndjson", "session-.ndjson", "", "session-a/b.ndjson"] {
            assert_eq!(remove(&folder, wrong).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{wrong}");
        }
        assert_eq!(remove(&folder, &names[0]).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(folder.join("notes.txt").exists() && data.path().join("session-4-c.ndjson").exists());
    }
}
