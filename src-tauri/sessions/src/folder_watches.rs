//! Watches the folders of open windows, and reports those that may have changed.

use deskbell_engine::api::ProjectRef;
use deskbell_engine::trust::Watch;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;

/// The watches, by their folder.
pub struct FolderWatches {
    watches: Mutex<HashMap<PathBuf, Arc<Watch>>>,
    changed: mpsc::UnboundedSender<PathBuf>,
}

impl FolderWatches {
    /// The receiver gets each folder that may have changed.
    pub fn new() -> (Self, mpsc::UnboundedReceiver<PathBuf>) {
        let (changed, changes) = mpsc::unbounded_channel();
        (Self { watches: Mutex::default(), changed }, changes)
    }

    /// Watches a folder, and stops watching the folders that are not in `open`.
    pub fn watch(&self, project: &Path, open: &[ProjectRef]) {
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        watches.retain(|folder, _| open.iter().any(|one| one.here() == Some(folder)));
        if watches.contains_key(project) {
            return;
        }
        let (changed, folder) = (self.changed.clone(), project.to_owned());
        match Watch::new(project, move || changed.send(folder.clone()).unwrap_or_default()) {
            Ok(watch) => drop(watches.insert(project.to_owned(), Arc::new(watch))),
            Err(error) => {
                tracing::warn!(%error, "could not watch a folder: changes show with the next prompt")
            }
        }
    }

    /// Requests another read of a folder, without waiting for it.
    pub fn look(&self, project: &Path) {
        if self.changed.send(project.to_owned()).is_err() {
            tracing::debug!("not reading a folder again while the app ends");
        }
    }

    pub fn get(&self, project: &Path) -> Option<Arc<Watch>> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner).get(project).cloned()
    }
}
