//! Watches the folders of a project's stored sessions and of the agent's live processes.

use super::catalogue::Extent;
use super::files::Place;
use crate::owner;
use notify::event::{Event, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Changed files that are remembered one by one. When there are more, everything is looked at again.
const MOST_FILES: usize = 1_000;

/// Changes that were seen and not read yet.
#[derive(Default)]
pub(super) struct Pending {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    all: bool,
    files: HashSet<PathBuf>,
    /// A watched folder appeared, moved or is gone: a watch on its path may be a watch on another folder.
    folders: bool,
}

impl Pending {
    pub fn note(&self, file: Option<PathBuf>) {
        let mut state = self.lock();
        match file {
            Some(file) if state.files.len() < MOST_FILES => {
                state.files.insert(file);
            }
            _ => state.all = true,
        }
        drop(state);
        self.changed.notify_one();
    }

    /// The agent's list of its processes changed.
    fn note_live(&self) {
        self.changed.notify_one();
    }

    fn note_folders(&self) {
        self.lock().folders = true;
        self.note(None);
    }

    fn take_folders(&self) -> bool {
        std::mem::take(&mut self.lock().folders)
    }

    /// Waits for a change. One that came before counts.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    pub fn take(&self) -> Extent {
        let mut state = self.lock();
        let (all, files) = (std::mem::take(&mut state.all), std::mem::take(&mut state.files));
        if all { Extent::All } else { Extent::Files(files) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The watched folders.
#[derive(Clone)]
struct Targets {
    /// A project's stored sessions.
    sessions: Option<PathBuf>,
    /// The agent's live processes.
    live: PathBuf,
}

impl Targets {
    fn all(&self) -> Vec<PathBuf> {
        self.sessions.iter().chain([&self.live]).cloned().collect()
    }
}

/// A watch on the folders, or on their nearest parents until they exist.
pub(super) struct Watch {
    targets: Targets,
    watcher: RecommendedWatcher,
    watched: HashSet<PathBuf>,
    pending: Arc<Pending>,
}

impl Watch {
    /// `None` if the system offers no watch; this is logged.
    pub fn new(place: &Place, pending: Arc<Pending>) -> Option<Self> {
        let live = owner::live_folder(&place.config);
        Self::on(Targets { sessions: Some(place.folder.clone()), live }, pending)
    }

    /// Watches the agent's live processes only.
    pub fn of_live(config: &Path, pending: Arc<Pending>) -> Option<Self> {
        Self::on(Targets { sessions: None, live: owner::live_folder(config) }, pending)
    }

    fn on(targets: Targets, pending: Arc<Pending>) -> Option<Self> {
        let (noted, of) = (pending.clone(), targets.clone());
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| match event {
            Ok(event) => note(&event, &of, &noted),
            // An event that was lost may have been a relevant one.
            Err(_) => noted.note(None),
        });
        let watcher = match watcher {
            Ok(watcher) => watcher,
            Err(error) => {
                tracing::warn!(%error, "could not watch the agent's sessions: the list is read from time to time");
                return None;
            }
        };
        let mut watch = Self { targets, watcher, watched: HashSet::new(), pending };
        watch.renew().then_some(watch)
    }

    /// Watches folders that have appeared since. Returns whether all are watched.
    pub fn renew(&mut self) -> bool {
        if self.pending.take_folders() {
            for folder in self.watched.drain() {
                // It is gone, or is watched again below.
                let _ = self.watcher.unwatch(&folder);
            }
        }
        // A folder that was removed is not watched any more, and may appear again.
        self.watched.retain(|folder| folder.is_dir());
        for target in self.targets.all() {
            let Some(folder) = target.ancestors().find(|folder| folder.is_dir()) else { continue };
            if self.watched.contains(folder) {
                continue;
            }
            match self.watcher.watch(folder, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    self.watched.insert(folder.to_owned());
                    // Files may have appeared in it before the watch.
                    self.pending.note(None);
                }
                Err(error) => {
                    let folder = folder.display();
                    tracing::warn!(%error, %folder, "could not watch the agent's sessions: they are read from time to time");
                    return false;
                }
            }
        }
        true
    }
}

fn note(event: &Event, targets: &Targets, pending: &Pending) {
    if event.need_rescan() {
        return pending.note(None);
    }
    if matches!(event.kind, EventKind::Access(_)) {
        return;
    }
    for path in &event.paths {
        if path.parent() == Some(targets.live.as_path()) {
            pending.note_live();
        } else if path.parent().is_some_and(|parent| targets.sessions.as_deref() == Some(parent)) {
            if path.extension().is_some_and(|extension| extension == "jsonl") {
                pending.note(Some(path.clone()));
            }
        } else if targets.all().iter().any(|target| is_above(path, target)) {
            pending.note_folders();
        }
    }
}

/// Whether a path is one of the folders or a parent: it appeared, or it is gone.
fn is_above(path: &Path, target: &Path) -> bool {
    target.starts_with(path)
}
