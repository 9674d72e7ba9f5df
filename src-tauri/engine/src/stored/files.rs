//! The files of a project's stored sessions.

use super::summary::{Summary, summarize};
use crate::disk::{self, ReadError};
use crate::history::project_folder;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Bytes read from the beginning and from the end of each file.
pub(super) const EACH_END: u64 = 64 * 1024;

/// Maximum number of entries of a project's folder that are looked at.
const MOST_FILES: usize = 100_000;

/// A project in the agent's store.
#[derive(Clone, Debug)]
pub struct Place {
    pub config: PathBuf,
    /// The project's folder as Deskbell knows it, and with its links resolved.
    pub(crate) project: PathBuf,
    pub(crate) real: PathBuf,
    /// The agent's folder for it. Other projects may share it.
    pub folder: PathBuf,
}

impl Place {
    /// Resolves the paths on disk.
    pub fn new(config: PathBuf, project: &Path) -> Self {
        let real = dunce::canonicalize(project).unwrap_or_else(|_| project.to_owned());
        let folder = project_folder(&config, project);
        Self { config, project: project.to_owned(), real, folder }
    }

    /// Whether a session belongs to this project. Different paths can have the same encoded name, so the session's own
    /// folder decides; a file that names none is of the project that its folder is named for.
    pub fn has(&self, summary: &Summary) -> bool {
        let is_here = |cwd: &String| [&self.project, &self.real].contains(&&PathBuf::from(cwd));
        summary.has_messages && summary.cwd.as_ref().is_none_or(is_here)
    }
}

/// A session's file, as it was listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub id: String,
    pub path: PathBuf,
    pub size: u64,
    /// Nanoseconds since the epoch.
    pub modified: u64,
}

/// Lists the sessions' files of a folder, the last changed one first. A missing folder has none.
pub(crate) fn list(folder: &Path) -> io::Result<Vec<Found>> {
    let listing = match disk::list(folder, MOST_FILES) {
        Ok(listing) => listing,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    if listing.is_cut {
        tracing::warn!(folder = %folder.display(), MOST_FILES, "too many files; some sessions are not listed");
    }
    let mut found: Vec<Found> = listing.paths.iter().filter_map(|path| look(path)).collect();
    found.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.id.cmp(&b.id)));
    Ok(found)
}

/// A session's file; `None` for anything else. The agent's ids are UUIDs: a subagent's file has another name.
pub(crate) fn look(path: &Path) -> Option<Found> {
    let id = path.file_stem()?.to_str()?;
    if path.extension()? != "jsonl" || id.len() != 36 || uuid::Uuid::try_parse(id).is_err() {
        return None;
    }
    let metadata = std::fs::metadata(path).ok()?;
    let since = metadata.modified().ok().and_then(|modified| modified.duration_since(UNIX_EPOCH).ok());
    let modified = since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX));
    Some(Found { id: id.to_owned(), path: path.to_owned(), size: metadata.len(), modified })
}

/// Reads one file. Returns its summary and the number of bytes that were read.
pub(crate) fn read(found: &Found) -> Result<(Summary, u64), ReadError> {
    let ends = disk::read_ends(&found.path, EACH_END)?;
    Ok((summarize(&ends), (ends.start.len() + ends.end.len()) as u64))
}
