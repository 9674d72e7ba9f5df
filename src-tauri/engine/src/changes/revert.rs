//! Reverting changes: a file or a hunk of it becomes what it was, and the revert can be undone.
//!
//! Deskbell writes the files itself. Git is only asked for the earlier content, so nothing runs that the repository
//! configures, and the index stays as it is.

use super::Repository;
use super::compare::on_disk;
use super::content::inside;
use super::git::{Git, GitError};
use super::snapshot::{Snapshot, hash};
use super::versions::{Versions, versions};
use crate::api::{CommandError, DiffKind, ErrorCode, HunkPlace, Reverted};
use crate::disk;
use crate::document::{LineHunk, line_hunks};
use crate::host::Host;
use crate::rewind::{EXPIRES_AFTER_MS, UndoFault, copies};
use std::fs;
use std::path::{Path, PathBuf};

/// Reverts changes of a project, and undoes it.
pub struct Reverts<'a> {
    host: &'a dyn Host,
    project: &'a Path,
    copies: PathBuf,
}

/// A file that is written, or removed if it has no content.
struct Write {
    path: PathBuf,
    /// What it must be until then; `None` if there is no file.
    expected: Option<Vec<u8>>,
    content: Option<Vec<u8>>,
    mode: Option<u32>,
}

impl Write {
    /// Makes a file, or a hunk of it, what it was.
    fn back(path: &str, found: &Versions, hunk: Option<HunkPlace>) -> Result<Self, CommandError> {
        if found.has_link() {
            return Err(refused("A link is not reverted."));
        }
        let content = match hunk {
            Some(hunk) => Some(without_hunk(found, hunk)?),
            None => found.old.as_ref().map(|old| with_line_ends(found, &old.bytes)),
        };
        Ok(Self {
            path: inside(path.as_bytes()).ok_or_else(|| refused("This file is not in the project."))?,
            expected: found.is_there().then(|| found.raw.clone()),
            mode: content.as_ref().and(found.old.as_ref()).filter(|_| hunk.is_none()).map(|old| old.mode),
            content,
        })
    }
}

impl<'a> Reverts<'a> {
    /// `data` is Deskbell's folder, in which the copies for an undo are kept.
    pub fn new(host: &'a dyn Host, project: &'a Path, data: &Path) -> Self {
        let name = hash(project.as_os_str().as_encoded_bytes());
        Self { host, project, copies: data.join("reverts").join(name) }
    }

    /// Makes a file, or one hunk of it, what it was in the commit or the snapshot. `version` is that of the diff that
    /// was shown; without it the present one. `old_path` is the earlier name of a renamed file, which it gets back.
    pub async fn revert(
        &self,
        since: Option<&Snapshot>,
        path: &str,
        old_path: Option<&str>,
        version: Option<&str>,
        hunk: Option<HunkPlace>,
        now: u64,
    ) -> Result<Reverted, CommandError> {
        let git = Git::new(self.host, self.project).await.map_err(failed)?;
        let repository = Repository::of(&git).await.map_err(failed)?;
        let repository = repository.ok_or_else(|| refused("This folder is not in a git repository."))?;
        let unmerged = git.ask(&["ls-files", "--unmerged", "-z", "--", path]).await.map_err(failed)?;
        if !unmerged.is_empty() {
            return Err(refused("A merge left a conflict in this file. Resolve it first."));
        }
        let read = async |path: &str| {
            let found = versions(&git, &repository, since, &[path]).await.map_err(failed)?.pop();
            let found = found.ok_or_else(|| refused("This file no longer has changes."))?;
            found.map_err(|said| refused(&said))
        };
        let found = read(path).await?;
        if version.is_some_and(|version| version != found.fingerprint()) {
            return Err(changed(path));
        }
        let mut writes = vec![Write::back(path, &found, hunk)?];
        if let Some(old_path) = old_path {
            let old = read(old_path).await?;
            if old.is_there() || !old.was_there() || found.was_there() {
                return Err(changed(old_path));
            }
            // The file has a place again before it loses the other.
            writes.insert(0, Write::back(old_path, &old, None)?);
        }
        let files = [old_path, Some(path)].into_iter().flatten().map(str::to_owned).collect();
        let (project, root) = (self.project.to_owned(), self.copies.clone());
        let carried_out = on_disk(self.project, move || carry_out(&project, &root, &writes, now));
        let at = carried_out.await.map_err(failed)??;
        Ok(Reverted { at, files })
    }

    /// Brings back the files as they were before a revert; the last one if none is named. Refuses if one has changed
    /// since.
    pub async fn undo(&self, at: Option<u64>) -> Result<(), CommandError> {
        let root = self.copies.clone();
        let undo = move || {
            let at = at.or_else(|| last(&root)).ok_or_else(|| refused("There is no revert to undo."))?;
            match copies::undo(&root, at, false) {
                Ok(_) => {
                    copies::discard(&root, at);
                    Ok(())
                }
                Err(UndoFault::Changed(files)) => Err(CommandError {
                    code: ErrorCode::ChangedSince { files },
                    message: "The file has changed since the revert, so nothing was undone.".to_owned(),
                    detail: None,
                }),
                Err(UndoFault::Unusable(why)) => Err(CommandError {
                    detail: Some(why),
                    ..refused("The copy of the file cannot be used, so nothing was undone.")
                }),
                Err(UndoFault::Partly(why)) => Err(CommandError {
                    detail: Some(why.join("\n")),
                    ..refused("The file could not be written.")
                }),
            }
        };
        on_disk(self.project, undo).await.map_err(failed)?
    }
}

/// The time of the last revert of which there are copies.
fn last(root: &Path) -> Option<u64> {
    let listing = disk::list(root, copies::MOST_FILES).ok()?;
    listing.paths.iter().filter_map(|path| path.file_name()?.to_str()?.parse().ok()).max()
}

/// Copies the files, writes them, and notes their state for the undo. Returns the name of the copies.
fn carry_out(project: &Path, root: &Path, writes: &[Write], now: u64) -> Result<u64, CommandError> {
    let io = |error: std::io::Error| CommandError {
        detail: Some(error.to_string()),
        ..refused("The file was not reverted.")
    };
    for write in writes {
        let folder = write.path.parent().unwrap_or(Path::new(""));
        for part in folder.ancestors().filter(|part| !part.as_os_str().is_empty()) {
            match fs::symlink_metadata(project.join(part)) {
                Ok(found) if found.is_dir() => {}
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                _ => {
                    return Err(refused(
                        "A folder of this file is a link or a file, so it was not reverted.",
                    ));
                }
            }
        }
    }
    if let Some(parent) = root.parent() {
        disk::own_folder(parent).map_err(io)?;
    }
    copies::discard_before(root, now.saturating_sub(EXPIRES_AFTER_MS));
    let at = last(root).map_or(now, |last| now.max(last + 1));
    let places: Vec<PathBuf> = writes.iter().map(|write| project.join(&write.path)).collect();
    let named: Vec<String> = places.iter().map(|place| place.display().to_string()).collect();
    let copied = copies::copy(root, at, &named, |_| None).map_err(io)?;
    if let Some(left_out) = copied.left_out.first() {
        copies::discard(root, at);
        return Err(CommandError {
            detail: Some(left_out.clone()),
            ..refused("No copy of the file could be kept for an undo, so it was not reverted.")
        });
    }
    for (write, place) in writes.iter().zip(&places) {
        // It may have been written since both versions were read.
        if present(place, write.expected.as_deref()) != Some(true) {
            copies::discard(root, at);
            return Err(changed(&write.path.display().to_string()));
        }
    }
    let mut written = Ok(());
    for (write, place) in writes.iter().zip(&places) {
        let mode = mode(place, write.mode);
        written = written.and_then(|()| copies::put(place, write.content.as_deref(), mode));
    }
    // Also after a failure: the copies say what the files were.
    copies::check(root, at).map_err(io)?;
    written.map(|()| at).map_err(io)
}

/// Whether a file is what is expected. `None` if it cannot be read.
fn present(place: &Path, expected: Option<&[u8]>) -> Option<bool> {
    match (disk::read_regular(place, super::compare::MOST_BYTES), expected) {
        (Ok(now), Some(expected)) => Some(now == expected),
        (Err(disk::ReadError::Missing), None) => Some(true),
        (Ok(_), None) | (Err(disk::ReadError::Missing), Some(_)) => Some(false),
        (Err(_), _) => None,
    }
}

/// The permissions of the file that is written: its own, executable if it was. A new one gets no more than its folder.
#[cfg(unix)]
fn mode(place: &Path, of_git: Option<u32>) -> Option<u32> {
    use super::listing::EXECUTABLE;
    use std::os::unix::fs::PermissionsExt;
    let of = |path: &Path| fs::metadata(path).ok().map(|found| found.permissions().mode() & 0o7777);
    let is_executable = of_git.map(|mode| mode == EXECUTABLE);
    match of(place) {
        Some(now) => Some(match is_executable {
            None => now,
            Some(false) => now & !0o111,
            // Who may read it may run it, as for git.
            Some(true) => now | ((now & 0o444) >> 2),
        }),
        None => {
            let folder = place.ancestors().skip(1).find_map(of).unwrap_or(0o755);
            Some(if is_executable == Some(true) { 0o755 } else { 0o644 } & folder)
        }
    }
}

#[cfg(not(unix))]
fn mode(_: &Path, _: Option<u32>) -> Option<u32> {
    None
}

/// The present content with one hunk as it was.
fn without_hunk(found: &Versions, hunk: HunkPlace) -> Result<Vec<u8>, CommandError> {
    let (Some((before, after)), true, true) = (found.texts(), found.was_there(), found.is_there()) else {
        return Err(refused("This change has no parts. Revert the whole file."));
    };
    let hunks = line_hunks(&before, &after);
    let hunk = hunks.iter().find(|found| place(found) == hunk);
    let hunk = hunk.ok_or_else(|| refused("This part of the change no longer exists."))?;
    let old: Vec<&[u8]> = found.before().split_inclusive(|byte| *byte == b'\n').collect();
    let now: Vec<&[u8]> = found.raw.split_inclusive(|byte| *byte == b'\n').collect();
    let lines = |of: &[&[u8]], range: std::ops::Range<usize>| of.get(range).unwrap_or_default().concat();
    let mut content = lines(&now, 0..hunk.new.start);
    for (kind, range) in &hunk.runs {
        match kind {
            DiffKind::Context => content.extend(lines(&now, range.clone())),
            DiffKind::Removed => content.extend(with_line_ends(found, &lines(&old, range.clone()))),
            DiffKind::Added => {}
        }
    }
    content.extend(lines(&now, hunk.new.end..now.len()));
    Ok(content)
}

/// Earlier content with the line ends that the file has on disk, if git converts them.
fn with_line_ends(found: &Versions, old: &[u8]) -> Vec<u8> {
    if !found.is_there() || found.raw == found.now() {
        return old.to_vec();
    }
    let mut converted = Vec::with_capacity(old.len());
    for byte in old {
        if *byte == b'\n' && converted.last() != Some(&b'\r') {
            converted.push(b'\r');
        }
        converted.push(*byte);
    }
    converted
}

/// The place of a hunk, as in a patch.
pub(super) fn place(hunk: &LineHunk) -> HunkPlace {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    // Without lines it is the line before.
    let start = |range: &std::ops::Range<usize>| number(range.start + usize::from(!range.is_empty()));
    HunkPlace {
        old_start: start(&hunk.old),
        n_old: number(hunk.old.len()),
        new_start: start(&hunk.new),
        n_new: number(hunk.new.len()),
    }
}

fn changed(path: &str) -> CommandError {
    CommandError {
        code: ErrorCode::ChangedSince { files: vec![path.to_owned()] },
        message:
            "The file has changed since it was shown, so nothing was reverted. Look at its change again."
                .to_owned(),
        detail: None,
    }
}

fn failed(error: GitError) -> CommandError {
    CommandError { detail: Some(error.to_string()), ..refused("The change was not reverted.") }
}

fn refused(message: &str) -> CommandError {
    CommandError { code: ErrorCode::Refused, message: message.to_owned(), detail: None }
}
