//! The trust check before every start of an agent: whether the folder's own settings are loaded, or the user must be
//! asked first.

use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::{CommandError, ErrorCode, TrustDecision, TrustView};
use deskbell_engine::trust::{Admission, Snapshot, TrustError, TrustState, TrustStore};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tokio::sync::mpsc;

/// The store of trust decisions, in the app's folder.
pub fn open_store(data: &Path) -> Result<TrustStore, TrustError> {
    TrustStore::open(data.join("trust"))
}

/// How an agent may start in a folder.
pub enum Allowed {
    /// With the folder's settings: the copy of them, where the agent loads one.
    Trusted(Option<Snapshot>),
    /// Without the folder's settings.
    Restricted,
}

impl Allowed {
    fn of(admission: Admission) -> Result<Self, Box<TrustState>> {
        match admission {
            Admission::Trusted(snapshot) => Ok(Self::Trusted(Some(snapshot))),
            Admission::TrustedAsItIs => Ok(Self::Trusted(None)),
            Admission::Restricted => Ok(Self::Restricted),
            Admission::Ask(state) => Err(Box::new(state)),
        }
    }
}

/// A start that was refused: the window of the folder asks the user.
pub struct Refused {
    pub folder: PathBuf,
    /// The agent that did not start; `None` is Claude Code.
    pub agent: Option<ChosenAgent>,
}

/// The trust check before every start of an agent.
#[derive(Clone)]
pub struct TrustGate {
    store: TrustStore,
    refused: mpsc::UnboundedSender<Refused>,
}

impl TrustGate {
    /// The receiver gets the starts that were refused.
    pub fn new(store: TrustStore) -> (Self, mpsc::UnboundedReceiver<Refused>) {
        let (refused, told) = mpsc::unbounded_channel();
        (Self { store, refused }, told)
    }

    /// Returns how this agent may start in the folder, or an error if it may not; the window then asks the user. `None`
    /// is Claude Code.
    pub fn check(&self, project: &Path, agent: Option<&ChosenAgent>) -> Result<Allowed, CommandError> {
        let state = match Allowed::of(self.store.of_agent(agent).check(project)?) {
            Ok(allowed) => return Ok(allowed),
            Err(state) => state,
        };
        self.ask(project, agent);
        let message = match (*state, agent) {
            (TrustState::Changed { .. }, None) => {
                "The folder's settings changed since you trusted it.".to_owned()
            }
            (TrustState::Changed { .. }, Some(agent)) => {
                format!("The folder's files for {} changed since you trusted them.", agent.name())
            }
            (_, None) => "You have not decided yet whether to trust this folder.".to_owned(),
            (_, Some(agent)) => {
                format!("You have not decided yet whether to trust this folder with {}.", agent.name())
            }
        };
        Err(CommandError {
            code: ErrorCode::NotTrusted,
            message,
            detail: Some("No agent starts here until you decide. Your prompt is kept.".to_owned()),
        })
    }

    /// The decisions, for what changes a folder's files for the user.
    pub fn store(&self) -> TrustStore {
        self.store.clone()
    }

    /// Makes the window of the folder show the trust page for this agent.
    pub fn ask(&self, project: &Path, agent: Option<&ChosenAgent>) {
        let refused = Refused { folder: project.to_owned(), agent: agent.cloned() };
        if self.refused.send(refused).is_err() {
            tracing::debug!("a start was refused while the app was ending");
        }
    }

    /// Whether the user has trusted the folder as it is now.
    pub fn is_trusted(&self, project: &Path) -> Result<bool, CommandError> {
        Ok(self.store.state(project)?.is_trusted())
    }

    /// Whether decisions about this agent have this id.
    pub fn is_about(&self, agent: &ChosenAgent, id: &str) -> bool {
        self.store.of_agent(Some(agent)).agent_id().as_deref() == Some(id)
    }

    pub fn view(&self, project: &Path, agent: Option<&ChosenAgent>) -> Result<TrustView, CommandError> {
        Ok(self.store.of_agent(agent).view(project)?)
    }

    pub fn decide(
        &self,
        project: &Path,
        agent: Option<&ChosenAgent>,
        decision: TrustDecision,
        shown: Option<&str>,
        named: BTreeSet<String>,
    ) -> Result<(), CommandError> {
        Ok(self.store.of_agent(agent).decide_naming(project, decision, shown, named)?)
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
/// mode, without a snapshot of its settings. `trusted` trusts it for this start.
pub fn admit_unasked(
    store: &TrustStore,
    project: &Path,
    agent: Option<&ChosenAgent>,
    trusted: bool,
) -> Result<Allowed, CommandError> {
    let store = store.of_agent(agent);
    let admission = if trusted { store.trust_once(project)? } else { store.check(project)? };
    Ok(Allowed::of(admission).unwrap_or(Allowed::Restricted))
}
