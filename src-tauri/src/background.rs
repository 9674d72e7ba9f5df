//! Projects whose sessions keep working without a window.
//!
//! The tray icon shows them where the desktop has a tray. A notification says how the window comes back: by a click on
//! it, or by a second start of the app.

use deskbell_engine::api::ProjectRef;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long the app stays without a window and without work, so that its last notification can be clicked.
pub const IDLE: Duration = Duration::from_secs(30 * 60);

/// The projects that were sent to the background, each with whether it is the demo's.
#[derive(Default)]
pub struct Background(Mutex<Vec<(ProjectRef, bool)>>);

impl Background {
    /// The window of this project closes; its sessions go on.
    pub fn add(&self, project: &ProjectRef, demo: bool) {
        let mut kept = self.lock();
        kept.retain(|(known, _)| known != project);
        kept.push((project.clone(), demo));
    }

    /// The project has a window again. Returns whether it was in the background.
    pub fn remove(&self, project: &ProjectRef) -> bool {
        let mut kept = self.lock();
        let n_before = kept.len();
        kept.retain(|(known, _)| known != project);
        kept.len() < n_before
    }

    pub fn has(&self, project: &ProjectRef) -> bool {
        self.lock().iter().any(|(known, _)| known == project)
    }

    /// The projects, oldest first.
    pub fn all(&self) -> Vec<(ProjectRef, bool)> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(ProjectRef, bool)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_in_the_background_until_it_has_a_window() {
        let background = Background::default();
        let (a, b) = (&ProjectRef::from("/a"), &ProjectRef::from("/b"));
        background.add(a, false);
        background.add(b, true);
        background.add(a, false);
        assert_eq!(background.all(), [(b.clone(), true), (a.clone(), false)]);
        assert!(background.has(a) && background.remove(a) && !background.remove(a) && !background.has(a));
    }
}
