//! Projects whose sessions keep working without a window.
//!
//! The tray icon shows them where the desktop has a tray. A notification says how the window comes back: by a click on
//! it, or by a second start of the app.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long the app stays without a window and without work, so that its last notification can be clicked.
pub const IDLE: Duration = Duration::from_secs(30 * 60);

/// The projects that were sent to the background, each with whether it is the demo's.
#[derive(Default)]
pub struct Background(Mutex<Vec<(PathBuf, bool)>>);

impl Background {
    /// The window of this project closes; its sessions go on.
    pub fn add(&self, project: &Path, demo: bool) {
        let mut kept = self.lock();
        kept.retain(|(known, _)| known != project);
        kept.push((project.to_owned(), demo));
    }

    /// The project has a window again. Returns whether it was in the background.
    pub fn remove(&self, project: &Path) -> bool {
        let mut kept = self.lock();
        let n_before = kept.len();
        kept.retain(|(known, _)| known != project);
        kept.len() < n_before
    }

    pub fn has(&self, project: &Path) -> bool {
        self.lock().iter().any(|(known, _)| known == project)
    }

    /// The projects, oldest first.
    pub fn all(&self) -> Vec<(PathBuf, bool)> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(PathBuf, bool)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_in_the_background_until_it_has_a_window() {
        let background = Background::default();
        let (a, b) = (Path::new("/a"), Path::new("/b"));
        background.add(a, false);
        background.add(b, true);
        background.add(a, false);
        assert_eq!(background.all(), [(b.to_owned(), true), (a.to_owned(), false)]);
        assert!(background.has(a) && background.remove(a) && !background.remove(a) && !background.has(a));
    }
}
