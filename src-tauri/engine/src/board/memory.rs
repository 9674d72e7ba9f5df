//! What the board keeps over restarts: failures until the user clears them, and which rows were cleared.

use crate::api::{BoardRow, BoardState, Checkout, SessionId, Status};
use crate::disk::{Loaded, load_json};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Maximum size of the file.
const MOST_BYTES: u64 = 8 * 1024 * 1024;
/// Maximum number of failures, and of cleared rows. The oldest is dropped first.
const MOST: usize = 1_000;

/// A failure as it is in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SavedFailure {
    session_id: SessionId,
    title: String,
    project: String,
    project_name: String,
    #[serde(default)]
    profile: Option<String>,
    #[serde(default)]
    agent: Option<String>,
    message: String,
    needs_login: bool,
    since: u64,
    cost_usd: f64,
}

/// What the file has.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SavedBoard {
    failures: Vec<SavedFailure>,
    /// The cleared sessions, each with the time since which it was over.
    cleared: HashMap<SessionId, u64>,
}

/// The failures, also of sessions that Deskbell no longer has, and the rows that the user cleared.
#[derive(Debug, Default)]
pub(super) struct BoardMemory {
    saved: SavedBoard,
    /// The failures that were cleared in this run, for a return.
    returnable: HashMap<SessionId, SavedFailure>,
    has_changed: bool,
}

impl BoardMemory {
    /// Reads the file. An unreadable one is set aside.
    pub fn open(path: &Path) -> Self {
        let saved = match load_json(path, MOST_BYTES) {
            Loaded::Read(saved) => saved,
            Loaded::Missing => SavedBoard::default(),
            Loaded::Unreadable(aside) => {
                tracing::warn!(problem = aside.problem, "earlier failures are not on the board");
                SavedBoard::default()
            }
        };
        Self { saved, ..Self::default() }
    }

    /// Whether the content of the file changed since it was taken.
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// The content of the file, if it changed since the last call.
    pub fn take_unsaved(&mut self) -> Option<serde_json::Result<Vec<u8>>> {
        std::mem::take(&mut self.has_changed).then(|| serde_json::to_vec(&self.saved))
    }

    /// Whether the user cleared this row.
    pub fn hides(&self, row: &BoardRow) -> bool {
        row.state.is_over()
            && self.saved.cleared.get(&row.session_id).is_some_and(|since| row.since <= *since)
    }

    /// Keeps the failure of a row of this computer, unless the user cleared it.
    pub fn keep_row(&mut self, row: &BoardRow) {
        let Status::Failed { message } = &row.status else { return };
        if self.hides(row) {
            return;
        }
        self.keep(SavedFailure {
            session_id: row.session_id.clone(),
            title: row.title.clone(),
            project: row.project.clone(),
            project_name: row.project_name.clone(),
            profile: row.profile.clone(),
            agent: row.agent.clone(),
            message: message.clone(),
            needs_login: row.needs_login,
            since: row.since,
            cost_usd: row.cost_usd,
        });
    }

    /// The turn that failed ended with this outcome.
    pub fn set_needs_login(&mut self, id: &SessionId, needs_login: bool) {
        let kept = self.saved.failures.iter_mut().find(|failure| failure.session_id == *id);
        if let Some(failure) = kept.filter(|failure| failure.needs_login != needs_login) {
            failure.needs_login = needs_login;
            self.has_changed = true;
        }
    }

    fn keep(&mut self, failure: SavedFailure) {
        let known = self.saved.failures.iter_mut().find(|known| known.session_id == failure.session_id);
        match known {
            Some(known) if *known == failure => return,
            Some(known) => *known = failure,
            None => self.saved.failures.push(failure),
        }
        let n_more = self.saved.failures.len().saturating_sub(MOST);
        self.saved.failures.drain(..n_more);
        self.has_changed = true;
    }

    /// Forgets the failure of a session: it goes on, or was removed.
    pub fn forget(&mut self, id: &SessionId) {
        let n_before = self.saved.failures.len();
        self.saved.failures.retain(|failure| failure.session_id != *id);
        self.has_changed |= self.saved.failures.len() != n_before;
    }

    /// Forgets that the row of a session was cleared: the session starts again, or was removed.
    pub fn show(&mut self, id: &SessionId) {
        self.returnable.remove(id);
        self.has_changed |= self.saved.cleared.remove(id).is_some();
    }

    /// The folder of a kept failure.
    pub fn project_of(&self, id: &SessionId) -> Option<&str> {
        let failure = self.saved.failures.iter().find(|failure| failure.session_id == *id)?;
        Some(&failure.project)
    }

    /// The failures without a row among these.
    pub fn failures(&self, rows: &[BoardRow]) -> Vec<BoardRow> {
        let shown: HashSet<&SessionId> = rows.iter().map(|row| &row.session_id).collect();
        let is_missing = |failure: &&SavedFailure| !shown.contains(&failure.session_id);
        self.saved.failures.iter().filter(is_missing).map(row).collect()
    }

    /// Clears a row that is over. It appears again when its session fails or finishes again.
    pub fn clear(&mut self, id: &SessionId, since: u64) {
        if let Some(at) = self.saved.failures.iter().position(|failure| failure.session_id == *id) {
            self.returnable.insert(id.clone(), self.saved.failures.remove(at));
        }
        self.saved.cleared.insert(id.clone(), since);
        while self.saved.cleared.len() > MOST {
            let oldest = self.saved.cleared.iter().min_by_key(|(_, since)| **since).map(|(id, _)| id.clone());
            let Some(oldest) = oldest else { break };
            self.saved.cleared.remove(&oldest);
        }
        self.has_changed = true;
    }

    /// Shows a cleared row again.
    pub fn restore(&mut self, id: &SessionId) {
        let was_cleared = self.saved.cleared.remove(id).is_some();
        self.has_changed |= was_cleared;
        if let Some(failure) = self.returnable.remove(id).filter(|_| was_cleared) {
            self.keep(failure);
        }
    }
}

fn row(failure: &SavedFailure) -> BoardRow {
    BoardRow {
        session_id: failure.session_id.clone(),
        title: failure.title.clone(),
        project: failure.project.clone(),
        project_name: failure.project_name.clone(),
        machine: None,
        profile: failure.profile.clone(),
        agent: failure.agent.clone(),
        checkout: Checkout::default(),
        state: BoardState::Failed,
        status: Status::Failed { message: failure.message.clone() },
        request: None,
        answer: None,
        needs_login: failure.needs_login,
        is_reached: true,
        since: failure.since,
        n_background: 0,
        other_pid: None,
        cost_usd: failure.cost_usd,
        processes: None,
    }
}
