//! Processes of an earlier run that are still there: looked for once, when the app starts, and offered to its user.

use crate::shell::Shell;
use crate::{agent, project};
use deskbell_engine::api::{CommandError, ErrorCode, Survivor as View};
use deskbell_engine::process::runs::Runs;
use deskbell_engine::process::survivors::{self, Survivor};
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tauri::{AppHandle, Manager};

/// How often is looked whether the guard of a run that was killed just now is through, and for how long: it takes
/// 3.5 s at most and a look or two.
const LOOK_AGAIN: Duration = Duration::from_millis(250);
const LOOKS: usize = 40;

/// What is known of them.
pub struct Survivors {
    runs: Runs,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The runs that are over, and whose files are still there.
    over: Vec<String>,
    found: Vec<Survivor>,
}

impl Survivors {
    pub fn open(data: &Path) -> io::Result<Self> {
        Ok(Self { runs: agent::open_runs(data)?, state: Mutex::default() })
    }

    /// For people.
    pub fn views(&self) -> Vec<View> {
        self.lock().found.iter().map(|survivor| survivor.facts.clone()).collect()
    }

    /// Ends those of these numbers, and looks what is there then.
    pub async fn end(&self, pids: &[u32]) -> Result<(), CommandError> {
        let mut asked = self.lock().found.clone();
        asked.retain(|survivor| pids.contains(&survivor.facts.pid));
        let failed = survivors::end(&asked).await;
        let over = self.lock().over.clone();
        self.search(over);
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

    /// Lets them be, and asks no more.
    pub fn leave(&self) {
        let State { over, .. } = std::mem::take(&mut *self.lock());
        self.forget(&over);
    }

    /// Looks for what is there of these runs. Where there is nothing, there is nothing to come back to.
    fn search(&self, over: Vec<String>) {
        let found = survivors::of_runs(&over);
        if found.is_empty() {
            self.forget(&over);
            *self.lock() = State::default();
        } else {
            *self.lock() = State { over, found };
        }
    }

    fn forget(&self, over: &[String]) {
        for token in over {
            if let Err(error) = self.runs.forget(token) {
                tracing::warn!(%error, "the file of an earlier run could not be removed");
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks once the guards of earlier runs are through, and tells the windows what was found.
pub async fn look(app: AppHandle) {
    let shell = app.state::<Shell>();
    let mut over = Vec::new();
    for _ in 0..LOOKS {
        match shell.survivors.runs.earlier() {
            Ok(earlier) => {
                over = earlier.over;
                if !earlier.some_end {
                    break;
                }
            }
            Err(error) => {
                tracing::error!(%error, "it is not known whether an earlier run left something behind");
                return;
            }
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    if over.is_empty() {
        return;
    }
    shell.survivors.search(over);
    if !shell.survivors.lock().found.is_empty() {
        project::tell_all(&app);
    }
}
