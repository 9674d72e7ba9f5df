//! Watches the files that a folder's trust depends on, and the `HEAD` of its repository.
//!
//! The watch is a hint, so that a change is shown at once. Nothing depends on it: agents load a copy, and every start
//! reads the files again.

use super::files;
use crate::git;
use notify::event::{Event, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A watch on one folder. Dropping it ends the watch.
pub struct Watch {
    project: PathBuf,
    state: Mutex<State>,
}

struct State {
    watcher: RecommendedWatcher,
    /// Folders that are watched, each by its path.
    watched: HashSet<PathBuf>,
}

impl Watch {
    /// Calls `changed` after each change in a folder's settings, servers, skills, agents or commands, and after a switch to
    /// another branch. It runs on the watcher's thread and must not block.
    pub fn new(project: &Path, changed: impl Fn() + Send + 'static) -> notify::Result<Self> {
        let project = dunce::canonicalize(project).unwrap_or_else(|_| project.to_owned());
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // An event that was lost may have been a relevant one.
            if event.as_ref().map_or(true, counts) {
                changed();
            }
        })?;
        let watch = Self { project, state: Mutex::new(State { watcher, watched: HashSet::new() }) };
        watch.renew();
        Ok(watch)
    }

    /// Watches folders that have appeared since. Call it after a change.
    pub fn renew(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut folders = Vec::new();
        for (_, folder) in files::extension_folders(&self.project) {
            folders.push((folder.to_owned(), RecursiveMode::NonRecursive));
            folders.push((folder.join(".claude"), RecursiveMode::Recursive));
        }
        folders.extend(git::head_folder(&self.project).map(|folder| (folder, RecursiveMode::NonRecursive)));
        // A folder that was removed is not watched any more, and may appear again.
        state.watched.retain(|folder| folder.is_dir());
        for (folder, mode) in folders {
            if !folder.is_dir() || state.watched.contains(&folder) {
                continue;
            }
            match state.watcher.watch(&folder, mode) {
                Ok(()) => {
                    state.watched.insert(folder);
                }
                Err(error) => {
                    tracing::info!(%error, folder = %folder.display(), "could not watch a folder's settings");
                }
            }
        }
    }
}

/// Returns whether the event is about a relevant file. Reading a file changes nothing.
fn counts(event: &Event) -> bool {
    let is_change = !matches!(event.kind, EventKind::Access(_));
    let counts = |path: &PathBuf| {
        path.iter().any(|part| part == OsStr::new(".claude") || part == ".mcp.json") || path.ends_with("HEAD")
    };
    is_change && (event.need_rescan() || event.paths.iter().any(counts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::sync::mpsc;
    use std::time::Duration;

    const SOON: Duration = Duration::from_secs(10);

    #[test]
    fn every_way_to_change_the_settings_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().canonicalize().unwrap().join("project");
        fs::create_dir_all(project.join(".git")).unwrap();
        let (sender, changes) = mpsc::channel();
        let watch = Watch::new(&project, move || sender.send(()).unwrap_or_default()).unwrap();
        let seen = |what: &str| {
            assert!(changes.recv_timeout(SOON).is_ok(), "{what}");
            watch.renew();
            // One change may produce several events.
            while changes.recv_timeout(Duration::from_millis(100)).is_ok() {}
        };
        fs::create_dir(project.join(".claude")).unwrap();
        seen("the folder appears");
        fs::write(project.join(".claude/settings.json"), "{}").unwrap();
        seen("a file appears");
        fs::write(project.join("new"), "{ }").unwrap();
        fs::rename(project.join("new"), project.join(".claude/settings.json")).unwrap();
        seen("a file is replaced");
        fs::create_dir_all(project.join(".claude/skills/x")).unwrap();
        fs::write(project.join(".claude/skills/x/SKILL.md"), "x").unwrap();
        seen("a skill appears");
        fs::write(project.join(".mcp.json"), "{}").unwrap();
        seen("servers appear");
        fs::rename(project.join(".claude"), project.join("before")).unwrap();
        seen("the folder goes");
        fs::rename(project.join("before"), project.join(".claude")).unwrap();
        seen("the folder comes again");
        fs::write(project.join(".claude/settings.local.json"), "{}").unwrap();
        seen("a file appears in it");
        fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        seen("a repository is there");
        // As git switches a branch.
        fs::write(project.join(".git/HEAD.lock"), "ref: refs/heads/topic\n").unwrap();
        fs::rename(project.join(".git/HEAD.lock"), project.join(".git/HEAD")).unwrap();
        seen("another branch");
        fs::write(project.join("README.md"), "x").unwrap();
        fs::write(project.join(".git/index"), "x").unwrap();
        assert!(changes.recv_timeout(Duration::from_millis(300)).is_err(), "another file counts");
    }
}
