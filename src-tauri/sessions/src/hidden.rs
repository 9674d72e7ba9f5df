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

    /// Hides a session until it changes after `grace` from now.
    pub async fn hide(&self, agent_session_id: String, grace: Duration) {
        let until = milliseconds(SystemTime::now() + grace);
        self.change(move |hidden| hidden.hide(&agent_session_id, until)).await;
    }

    /// Hides a hidden session until it changes after now, unless it was listed again.
    pub async fn hide_on(&self, agent_session_id: String) {
        let until = milliseconds(SystemTime::now());
        self.change(move |hidden| hidden.hide_on(&agent_session_id, until)).await;
    }

    /// Lists a session again.
    pub async fn show(&self, agent_session_id: String) {
        self.change(move |hidden| hidden.show(&agent_session_id)).await;
    }

    /// Makes a change. If it cannot be saved, it is in force until the app ends.
    async fn change(&self, change: impl FnOnce(&mut Hidden) -> std::io::Result<()> + Send + 'static) {
        let hidden = self.hidden.clone();
        let changed = disk::run(&self.data, disk::DEADLINE, move || change(&mut lock(&hidden))).await;
        if let Err(error) = changed.map_err(std::io::Error::from).and_then(|changed| changed) {
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

fn milliseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

fn lock(hidden: &Mutex<Hidden>) -> MutexGuard<'_, Hidden> {
    hidden.lock().unwrap_or_else(PoisonError::into_inner)
}
