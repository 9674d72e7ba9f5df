//! Orphan processes of earlier runs: searched for once, when the app starts, and shown to the user.

use crate::agent;
use deskbell_engine::api::{CommandError, ErrorCode, OrphanProcess as View};
use deskbell_engine::disk;
use deskbell_engine::process::app_runs::AppRuns;
use deskbell_engine::process::orphans::OrphanProcess;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The orphan processes that were found.
pub struct OrphanProcesses {
    runs: AppRuns,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The runs that have ended and whose files still exist.
    over: Vec<String>,
    found: Vec<OrphanProcess>,
}

impl OrphanProcesses {
    pub fn open(data: &Path) -> io::Result<Self> {
        Ok(Self { runs: agent::open_runs(data)?, state: Mutex::default() })
    }

    /// The processes for display.
    pub fn views(&self) -> Vec<View> {
        self.lock().found.iter().map(|orphan| orphan.facts.clone()).collect()
    }

    /// Ends the processes with these numbers, and searches again.
    pub async fn end(&self, pids: &[u32]) -> Result<(), CommandError> {
        let mut asked = self.lock().found.clone();
        asked.retain(|orphan| pids.contains(&orphan.facts.pid));
        let failed = OrphanProcess::end_all(&asked).await;
        let over = self.lock().over.clone();
        self.search(over).await;
        if failed.is_empty() {
            return Ok(());
        }
        let detail: Vec<String> = failed.iter().map(ToString::to_string).collect();
        Err(CommandError {
            code: ErrorCode::Internal,
            message: "Not every process could be ended.".to_owned(),
            detail: Some(detail.join("\n")),
        })
    }

    /// Keeps the processes running, and does not show them again.
    pub async fn leave(&self) {
        let State { over, .. } = std::mem::take(&mut *self.lock());
        self.forget(over).await;
    }

    /// Searches for processes of these runs. If there are none, removes the files of the runs.
    async fn search(&self, over: Vec<String>) {
        let found = OrphanProcess::of_runs(&over);
        if found.is_empty() {
            self.forget(over).await;
            *self.lock() = State::default();
        } else {
            *self.lock() = State { over, found };
        }
    }

    async fn forget(&self, over: Vec<String>) {
        let runs = self.runs.clone();
        let forgotten = disk::run(Path::new("runs"), disk::DEADLINE, move || {
            over.iter().try_for_each(|token| runs.forget(token))
        });
        if let Err(error) = forgotten.await.unwrap_or_else(|unfinished| Err(unfinished.into())) {
            tracing::warn!(%error, "could not remove the file of an earlier run");
        }
    }

    /// Searches once the guards of earlier runs have finished. Returns whether there are orphans.
    pub async fn look(&self) -> bool {
        let over: Vec<String> = match self.runs.over().await {
            Ok(over) => over.into_iter().map(|(token, _)| token).collect(),
            Err(error) => {
                tracing::error!(%error, "could not find out whether an earlier run left processes");
                return false;
            }
        };
        if over.is_empty() {
            return false;
        }
        self.search(over).await;
        !self.lock().found.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
