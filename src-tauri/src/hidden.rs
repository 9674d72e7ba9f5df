//! The stored sessions that the user removed from the list.

use deskbell_engine::api::StoredChange;
use deskbell_engine::disk;
use deskbell_engine::stored::Hidden;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Shared by all windows.
#[derive(Clone)]
pub struct HiddenSessions {
    data: PathBuf,
    hidden: Arc<Mutex<Hidden>>,
}

impl HiddenSessions {
    /// Reads the file in Deskbell's folder.
    pub fn open(data: &Path) -> Self {
        let hidden = Hidden::open(data.join("hidden-sessions.json"));
        Self { data: data.to_owned(), hidden: Arc::new(Mutex::new(hidden)) }
    }

    /// Hides a session until it changes after `grace` from now. If that cannot be saved, it is hidden until the app
    /// ends.
    pub async fn hide(&self, agent_session_id: String, grace: Duration) {
        let hidden = self.hidden.clone();
        let until = SystemTime::now() + grace;
        let until = until.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let hide = move || lock(&hidden).hide(&agent_session_id, until);
        let hidden = disk::run(&self.data, disk::DEADLINE, hide).await;
        if let Err(error) = hidden.map_err(std::io::Error::from).and_then(|hidden| hidden) {
            tracing::warn!(%error, "could not save which sessions were removed from the list");
        }
    }

    /// Whether the user removed this session once.
    pub fn was_removed(&self, agent_session_id: &str) -> bool {
        lock(&self.hidden).has(agent_session_id, 0)
    }

    /// Whether a session is hidden that changed at this time, in milliseconds since the epoch.
    pub fn hides(&self, agent_session_id: &str, changed_at: u64) -> bool {
        lock(&self.hidden).has(agent_session_id, changed_at)
    }

    /// Removes hidden sessions from a change.
    pub fn remove_from(&self, change: &mut StoredChange) {
        let hidden = lock(&self.hidden);
        change.changed.retain(|session| !hidden.has(&session.agent_session_id, session.changed_at));
    }
}

fn lock(hidden: &Mutex<Hidden>) -> MutexGuard<'_, Hidden> {
    hidden.lock().unwrap_or_else(PoisonError::into_inner)
}
