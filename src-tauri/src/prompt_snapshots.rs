//! The working tree at the first and at the last prompt of each session, to compare it with later. In memory: after a
//! restart of the app, the next prompt is the first.

use deskbell_engine::LocalHost;
use deskbell_engine::api::{Against, SessionId};
use deskbell_engine::changes::{Snapshot, snapshot};
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Shared by its clones.
#[derive(Clone, Default)]
pub struct PromptSnapshots(Arc<Mutex<HashMap<SessionId, Snapshots>>>);

#[derive(Default)]
struct Snapshots {
    first: Option<Arc<Snapshot>>,
    last: Option<Arc<Snapshot>>,
}

impl PromptSnapshots {
    /// Reads the working tree now, while the agent gets the prompt. The agent takes longer to change something.
    pub fn take(&self, project: &Path, id: &SessionId) {
        let (all, project, id) = (self.clone(), project.to_owned(), id.clone());
        tokio::spawn(async move {
            let now =
                SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
            match snapshot(&LocalHost, &project, now).await {
                Ok(made) => all.keep(id, made.map(Arc::new)),
                Err(error) => {
                    tracing::info!(%error, "the working tree was not read at the prompt");
                    all.keep(id, None);
                }
            }
        });
    }

    fn keep(&self, id: SessionId, made: Option<Arc<Snapshot>>) {
        let mut all = self.lock();
        let of = all.entry(id).or_default();
        of.last = made;
        if of.first.is_none() {
            of.first = of.last.clone();
        }
    }

    pub fn get(&self, id: &SessionId, against: Against) -> Option<Arc<Snapshot>> {
        let all = self.lock();
        let of = all.get(id)?;
        match against {
            Against::Commit => None,
            Against::Session => of.first.clone(),
            Against::Prompt => of.last.clone(),
        }
    }

    pub fn forget(&self, id: &SessionId) {
        self.lock().remove(id);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Snapshots>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
