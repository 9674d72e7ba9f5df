//! Watches the folders of a project's stored sessions, of the agent's live processes and of their subagents.

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

/// Maximum number of sessions whose subagents are watched.
const MOST_WITH_SUBAGENTS: usize = 64;

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
    /// Sessions whose subagents wrote something, by the agent's id.
    subagents: HashSet<String>,
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

    fn note_subagents(&self, session: String) {
        let mut state = self.lock();
        if state.subagents.len() < MOST_FILES {
            state.subagents.insert(session);
        }
        drop(state);
        self.changed.notify_one();
    }

    /// The sessions whose subagents wrote something since the last call.
    pub fn take_subagents(&self) -> HashSet<String> {
        std::mem::take(&mut self.lock().subagents)
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
    /// Where they were stored before it was moved.
    earlier: Vec<PathBuf>,
    /// The agent's live processes.
    live: PathBuf,
}

impl Targets {
    fn all(&self) -> Vec<PathBuf> {
        self.sessions.iter().chain(&self.earlier).chain([&self.live]).cloned().collect()
    }

    /// The session that has this path in its own folder, or as that.
    fn session_with(&self, path: &Path) -> Option<String> {
        let within = path.strip_prefix(self.sessions.as_deref()?).ok()?;
        let id = within.components().next()?.as_os_str().to_str()?;
        (id.len() == 36 && uuid::Uuid::try_parse(id).is_ok()).then(|| id.to_owned())
    }
}

/// A watch on the folders, or on their nearest parents until they exist.
pub(super) struct Watch {
    targets: Targets,
    watcher: RecommendedWatcher,
    watched: HashSet<PathBuf>,
    /// The sessions whose subagents are watched.
    with_subagents: Vec<String>,
    pending: Arc<Pending>,
}

impl Watch {
    /// `None` if the system offers no watch; this is logged.
    pub fn new(place: &Place, pending: Arc<Pending>) -> Option<Self> {
        let live = owner::live_folder(&place.config);
        let earlier = place.earlier.iter().map(|(_, folder)| folder.clone()).collect();
        Self::on(Targets { sessions: Some(place.folder.clone()), earlier, live }, pending)
    }

    /// Watches the agent's live processes only.
    pub fn of_live(config: &Path, pending: Arc<Pending>) -> Option<Self> {
        Self::on(Targets { sessions: None, earlier: Vec::new(), live: owner::live_folder(config) }, pending)
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
        let mut watch =
            Self { targets, watcher, watched: HashSet::new(), with_subagents: Vec::new(), pending };
        watch.renew().then_some(watch)
    }

    /// Watches the subagents of these sessions and of no others, from the next `renew` on.
    pub fn with_subagents(&mut self, sessions: Vec<String>) {
        self.with_subagents = sessions;
        self.with_subagents.truncate(MOST_WITH_SUBAGENTS);
    }

    /// Watches folders that have appeared since. Returns whether all are watched, except those of subagents: their
    /// sessions are listed without that.
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
        self.renew_subagents();
        true
    }

    fn renew_subagents(&mut self) {
        let Some(sessions) = self.targets.sessions.clone() else { return };
        let folders: Vec<(&String, PathBuf)> = self
            .with_subagents
            .iter()
            .flat_map(|id| [(id, sessions.join(id)), (id, sessions.join(id).join("subagents"))])
            .filter(|(_, folder)| folder.is_dir())
            .collect();
        let is_wanted = |folder: &PathBuf| folders.iter().any(|(_, wanted)| wanted == folder);
        self.watched.retain(|folder| {
            let is_kept = !folder.starts_with(&sessions) || *folder == sessions || is_wanted(folder);
            if !is_kept {
                // It may be gone.
                let _ = self.watcher.unwatch(folder);
            }
            is_kept
        });
        for (id, folder) in folders {
            if self.watched.contains(&folder) {
                continue;
            }
            match self.watcher.watch(&folder, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    self.watched.insert(folder);
                    // Files may have appeared in it before the watch.
                    self.pending.note_subagents(id.clone());
                }
                Err(error) => {
                    tracing::info!(%error, folder = %folder.display(), "could not watch a session's subagents");
                }
            }
        }
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
        } else if path.parent().is_some_and(|parent| targets.earlier.iter().any(|one| one == parent)) {
            pending.note(Some(path.clone()));
        } else if path.parent().is_some_and(|parent| targets.sessions.as_deref() == Some(parent)) {
            if path.extension().is_some_and(|extension| extension == "jsonl") {
                pending.note(Some(path.clone()));
            } else if let Some(session) = targets.session_with(path) {
                pending.note_subagents(session);
            }
        } else if let Some(session) = targets.session_with(path) {
            pending.note_subagents(session);
        } else if targets.all().iter().any(|target| is_above(path, target)) {
            pending.note_folders();
        }
    }
}

/// Whether a path is one of the folders or a parent: it appeared, or it is gone.
fn is_above(path: &Path, target: &Path) -> bool {
    target.starts_with(path)
}
