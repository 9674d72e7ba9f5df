//! Stands between a folder and every start of an agent in it: whether the folder's own settings are loaded, or its user
//! is to be asked first.

use deskbell_engine::api::{CommandError, ErrorCode, TrustDecision, TrustView};
use deskbell_engine::trust::{Standing, TrustError, TrustStore};
use std::path::{Path, PathBuf};
use tokio::sync::mpsc;

/// The one store of decisions, in the app's folder.
pub fn open_store(data: &Path) -> Result<TrustStore, TrustError> {
    TrustStore::open(data.join("trust"))
}

/// Asked before every start of an agent.
#[derive(Clone)]
pub struct Gate {
    store: TrustStore,
    /// Folders in which a start was refused, so that their window asks.
    refused: mpsc::UnboundedSender<PathBuf>,
}

impl Gate {
    /// The receiver tells in which folders a start was refused.
    pub fn new(store: TrustStore) -> (Self, mpsc::UnboundedReceiver<PathBuf>) {
        let (refused, told) = mpsc::unbounded_channel();
        (Self { store, refused }, told)
    }

    /// May an agent start in the folder, and is it to be restricted?
    pub fn admit(&self, project: &Path) -> Result<bool, CommandError> {
        let standing = self.store.standing(project)?;
        if !standing.must_ask() {
            return Ok(!standing.is_trusted());
        }
        if self.refused.send(project.to_owned()).is_err() {
            tracing::debug!("a start was refused while the app ends");
        }
        let message = match standing {
            Standing::Changed { .. } => "The folder's settings changed since you trusted it.",
            _ => "Nobody has said yet whether this folder is trusted.",
        };
        Err(CommandError {
            code: ErrorCode::NotTrusted,
            message: message.to_owned(),
            detail: Some("No agent starts here before you have decided. What you sent is kept.".to_owned()),
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

    /// Says that the user has the agent keep rules in the folder's local settings: these are no reason to ask again.
    pub fn expect(&self, project: &Path, rules: &[String]) -> Result<(), CommandError> {
        for rule in rules {
            self.store.expect_rule(project, rule)?;
        }
        Ok(())
    }
}

/// Without a window nobody can be asked: a folder that is not trusted as it is now is worked in restricted.
pub fn is_restricted(store: &TrustStore, project: &Path) -> Result<bool, CommandError> {
    Ok(!store.standing(project)?.is_trusted())
}
