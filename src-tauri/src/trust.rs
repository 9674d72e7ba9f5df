//! The trust check before every start of an agent: whether the folder's own settings are loaded, or the user must be
//! asked first.

use deskbell_engine::api::{CommandError, ErrorCode, TrustDecision, TrustView};
use deskbell_engine::trust::{Admission, Snapshot, TrustError, TrustState, TrustStore};
use std::path::{Path, PathBuf};
use tokio::sync::mpsc;

/// The store of trust decisions, in the app's folder.
pub fn open_store(data: &Path) -> Result<TrustStore, TrustError> {
    TrustStore::open(data.join("trust"))
}

/// The trust check before every start of an agent.
#[derive(Clone)]
pub struct TrustGate {
    store: TrustStore,
    /// Folders in which a start was refused; their windows then ask the user.
    refused: mpsc::UnboundedSender<PathBuf>,
}

impl TrustGate {
    /// The receiver gets the folders in which a start was refused.
    pub fn new(store: TrustStore) -> (Self, mpsc::UnboundedReceiver<PathBuf>) {
        let (refused, told) = mpsc::unbounded_channel();
        (Self { store, refused }, told)
    }

    /// Returns the snapshot of the folder's settings to start with, `None` for a restricted start, or an error if the
    /// agent may not start in the folder.
    pub fn check(&self, project: &Path) -> Result<Option<Snapshot>, CommandError> {
        let state = match self.store.check(project)? {
            Admission::Trusted(snapshot) => return Ok(Some(snapshot)),
            Admission::Restricted => return Ok(None),
            Admission::Ask(state) => state,
        };
        if self.refused.send(project.to_owned()).is_err() {
            tracing::debug!("a start was refused while the app was ending");
        }
        let message = match state {
            TrustState::Changed { .. } => "The folder's settings changed since you trusted it.",
            _ => "You have not decided yet whether to trust this folder.",
        };
        Err(CommandError {
            code: ErrorCode::NotTrusted,
            message: message.to_owned(),
            detail: Some("No agent starts here until you decide. Your prompt is kept.".to_owned()),
        })
    }

    pub fn view(&self, project: &Path) -> Result<TrustView, CommandError> {
        Ok(self.store.view(project)?)
    }

    pub fn decide(
        &self,
        project: &Path,
        decision: TrustDecision,
        shown: Option<&str>,
    ) -> Result<(), CommandError> {
        Ok(self.store.decide(project, decision, shown)?)
    }

    /// Records that the user lets the agent save rules in the folder's local settings, so that they cause no new
    /// question.
    pub fn expect(&self, project: &Path, rules: &[String]) -> Result<(), CommandError> {
        for rule in rules {
            self.store.expect_rule(project, rule)?;
        }
        Ok(())
    }
}

/// Without a window the user cannot be asked: a folder that is not trusted in its current state is opened in restricted
/// mode, without a snapshot of its settings.
pub fn admit_unasked(store: &TrustStore, project: &Path) -> Result<Option<Snapshot>, CommandError> {
    match store.check(project)? {
        Admission::Trusted(snapshot) => Ok(Some(snapshot)),
        Admission::Restricted | Admission::Ask(_) => Ok(None),
    }
}
