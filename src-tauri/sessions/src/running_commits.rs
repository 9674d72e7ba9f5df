//! The commits that windows are making, and how each is stopped.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// The running commits by the label of their window, each with the sender that stops it. A stopped one has none.
#[derive(Default)]
pub struct RunningCommits(Mutex<HashMap<String, Option<oneshot::Sender<()>>>>);

impl RunningCommits {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Option<oneshot::Sender<()>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None` if a commit of this window is being made.
    pub fn begin(&self, label: &str) -> Option<oneshot::Receiver<()>> {
        let mut running = self.lock();
        if running.contains_key(label) {
            return None;
        }
        let (stop, stopped) = oneshot::channel();
        running.insert(label.to_owned(), Some(stop));
        Some(stopped)
    }

    pub fn has(&self, label: &str) -> bool {
        self.lock().contains_key(label)
    }

    pub fn ended(&self, label: &str) {
        self.lock().remove(label);
    }

    /// Stops the commit of a window, if there is one.
    pub fn stop(&self, label: &str) {
        // Dropping the sender completes the receiver.
        drop(self.lock().get_mut(label).and_then(Option::take));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot::error::TryRecvError;

    #[test]
    fn a_window_makes_one_commit_at_a_time_and_stops_only_its_own() {
        let running = RunningCommits::default();
        let mut stopped = running.begin("project-1").unwrap();
        let mut other = running.begin("project-2").unwrap();
        assert!(running.begin("project-1").is_none());
        running.stop("project-1");
        assert_eq!(stopped.try_recv(), Err(TryRecvError::Closed));
        assert_eq!(other.try_recv(), Err(TryRecvError::Empty));
        // Another commit begins only when the stopped one has ended.
        assert!(running.has("project-1") && running.begin("project-1").is_none());
        running.stop("project-1");
        running.ended("project-1");
        assert!(!running.has("project-1") && running.begin("project-1").is_some());
    }
}
