//! The files of a project's stored sessions.

use super::summary::{Summary, summarize};
use crate::disk::{self, EndsReader, FileKind, ReadError};
use crate::git::linked_worktrees;
use crate::history::{folder_of_real, project_folder, worktree_folders};
use crate::projects::ProjectFolders;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Bytes read from the beginning and from the end of each file.
pub(super) const EACH_END: usize = 64 * 1024;

/// Maximum number of entries of a project's folder that are looked at.
const MOST_FILES: usize = 100_000;

/// A project in the agent's store.
#[derive(Clone, Debug)]
pub struct Place {
    pub config: PathBuf,
    /// The project's folder as Deskbell knows it, and with its links resolved.
    pub(crate) project: PathBuf,
    pub(crate) real: PathBuf,
    /// The folders that it was before it was moved, each with the agent's folder for it. The agent (2.1.329) continues a
    /// conversation in the file in which it began.
    pub(crate) earlier: Vec<(PathBuf, PathBuf)>,
    /// The agent's folder for it. Other projects may share it.
    pub folder: PathBuf,
}

impl Place {
    /// Resolves the paths on disk.
    pub fn new(config: PathBuf, project: impl Into<ProjectFolders>) -> Self {
        let ProjectFolders { now, earlier } = project.into();
        let real = dunce::canonicalize(&now).unwrap_or_else(|_| now.clone());
        let folder = project_folder(&config, &now);
        // Something else may be there now, also a link: its place then is that of its sessions.
        let of_agent = |earlier: PathBuf| {
            let folder = folder_of_real(&config, &earlier);
            (earlier, folder)
        };
        let earlier = earlier.into_iter().map(of_agent).collect();
        Self { config, project: now, real, earlier, folder }
    }

    /// Whether a session belongs to this project. Different paths can have the same encoded name, so the session's own
    /// folder decides, or the one to which it moved; a file that names none is of the project that its folder is named for.
    pub fn has(&self, summary: &Summary) -> bool {
        let earlier = || self.earlier.iter().map(|(earlier, _)| earlier);
        let is_here = |cwd: &String| {
            [&self.project, &self.real].into_iter().chain(earlier()).any(|one| one == Path::new(cwd))
        };
        summary.has_messages
            && (summary.cwd.as_ref().is_none_or(is_here) || summary.moved_to.as_ref().is_some_and(is_here))
    }
}

/// A session's file, as it was listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub id: String,
    pub path: PathBuf,
    pub kind: FileKind,
    pub size: u64,
    /// Nanoseconds since the epoch.
    pub modified: u64,
}

/// The sessions' files of a folder.
#[derive(Default)]
pub(crate) struct Files {
    /// The last changed one first.
    pub found: Vec<Found>,
    /// Why some are missing.
    pub problem: Option<String>,
}

impl Place {
    /// Lists the sessions' files of the project. Those of an agent that entered a worktree (2.1.332) are in the folder of
    /// that worktree, among those that began there.
    pub(crate) fn list(&self) -> io::Result<Files> {
        let mut files = list(&self.folder)?;
        for folder in self.further_folders() {
            let Ok(others) = list(&folder) else { continue };
            files.problem = files.problem.or(others.problem);
            files.found.extend(others.found);
        }
        files.found.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.id.cmp(&b.id)));
        let mut seen = HashSet::new();
        files.found.retain(|found| seen.insert(found.id.clone()));
        Ok(files)
    }

    /// The agent's other folders with sessions of the project: those of its worktrees, wherever they are, and those of
    /// earlier places.
    fn further_folders(&self) -> Vec<PathBuf> {
        let earlier = self.earlier.iter().map(|(_, folder)| folder);
        let worktrees = [&self.folder]
            .into_iter()
            .chain(earlier.clone())
            .flat_map(|of| worktree_folders(&self.config, of));
        let linked = linked_worktrees(&self.real).into_iter().map(|real| folder_of_real(&self.config, &real));
        worktrees.chain(earlier.cloned()).chain(linked).collect()
    }

    /// A session's file, where it is now; `None` if it is gone.
    pub(crate) fn look(&self, path: &Path) -> Option<Found> {
        let elsewhere = || {
            let name = path.file_name()?;
            self.further_folders().iter().find_map(|folder| look(&folder.join(name)))
        };
        look(path).or_else(elsewhere)
    }
}

/// Lists the sessions' files of a folder. A missing folder has none.
pub(crate) fn list(folder: &Path) -> io::Result<Files> {
    let listing = match disk::list(folder, MOST_FILES) {
        Ok(listing) => listing,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Files::default()),
        Err(error) => return Err(error),
    };
    let problem = listing.is_cut.then(|| {
        let folder = folder.display();
        format!("{folder} has more than {MOST_FILES} files, so some sessions are missing")
    });
    let mut found: Vec<Found> = listing.paths.iter().filter_map(|path| look(path)).collect();
    found.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.id.cmp(&b.id)));
    Ok(Files { found, problem })
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
    let (kind, size) = (FileKind::of(&metadata), metadata.len());
    Some(Found { id: id.to_owned(), path: path.to_owned(), kind, size, modified })
}

/// What one file says about its session, and the work that it took.
pub(crate) struct ReadSession {
    pub summary: Summary,
    pub n_bytes: u64,
    /// Lines that were parsed.
    pub n_parsed: usize,
}

/// Reads sessions' files one after the other, into the same memory.
pub(crate) struct Reader(EndsReader);

impl Reader {
    pub fn new() -> Self {
        Self(EndsReader::new(EACH_END))
    }

    pub fn read(&mut self, found: &Found) -> Result<ReadSession, ReadError> {
        let ends = self.0.read(&found.path, found.kind)?;
        let (summary, n_parsed) = summarize(ends);
        Ok(ReadSession { summary, n_bytes: (ends.start.len() + ends.end.len()) as u64, n_parsed })
    }
}

/// Reads one file.
pub(crate) fn read(found: &Found) -> Result<Summary, ReadError> {
    Ok(Reader::new().read(found)?.summary)
}
