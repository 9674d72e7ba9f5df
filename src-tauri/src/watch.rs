//! Watches the folders of open windows, and updates a window when trusted settings have changed.

use crate::project;
use crate::shell::Shell;
use deskbell_engine::disk;
use deskbell_engine::trust::Watch;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tauri::{AppHandle, Manager};
use tokio::sync::mpsc;

/// Delay between the first change and reading the settings once. A checkout changes many files together.
const TOGETHER: Duration = Duration::from_millis(200);

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
    pub fn watch(&self, project: &Path, open: &[PathBuf]) {
        let mut watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        watches.retain(|folder, _| open.contains(folder));
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

    fn get(&self, project: &Path) -> Option<Arc<Watch>> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner).get(project).cloned()
    }
}

/// Sends windows the current state of their folders, if it differs from the last one sent.
pub async fn follow(app: AppHandle, mut changes: mpsc::UnboundedReceiver<PathBuf>) {
    let mut known = HashMap::new();
    while let Some(first) = changes.recv().await {
        tokio::time::sleep(TOGETHER).await;
        let mut folders = vec![first];
        while let Ok(folder) = changes.try_recv() {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        for folder in folders {
            let shell = app.state::<Shell>();
            let Some(label) = shell.windows.label_of(&folder) else { continue };
            let (gate, watch) = (shell.registry().gate().clone(), shell.watches.get(&folder));
            let of = folder.clone();
            let read = move || {
                watch.iter().for_each(|watch| watch.renew());
                gate.view(&of)
            };
            match disk::run(&folder, disk::DEADLINE, read).await {
                Ok(Ok(view)) => {
                    // An unchanged view is not sent again.
                    if known.insert(folder, view.clone()) != Some(view) {
                        project::send_to_window(&app, &label).await;
                    }
                }
                Ok(Err(error)) => tracing::warn!(%error, "could not read a folder's settings"),
                Err(unfinished) => tracing::warn!(%unfinished, "could not read a folder's settings"),
            }
        }
    }
}
