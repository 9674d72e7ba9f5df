//! Sessions with another agent than Claude Code: which ones this computer has, and a new session with one.

use super::{SessionRegistry, creation};
use crate::trust::Allowed;
use crate::{agent, other_agents};
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::server::NewSession;
use deskbell_engine::api::*;
use deskbell_engine::disk;
use deskbell_engine::launch::Launch;
use deskbell_engine::store::SavedSession;
use std::path::Path;

impl SessionRegistry {
    /// Returns what a new session on this machine can have.
    pub async fn machine_agents(&self) -> MachineAgents {
        other_agents::choices(self.current.get().agent.profiles, &self.opener.data, &self.opener.run).await
    }

    /// Returns a session with the agent of this row that has no prompt yet: the project's empty one, or a new one. An
    /// agent that could not start in the folder gets no session, and nothing is started.
    pub async fn create_with(&self, project: &Path, id: &str) -> Result<Session, CommandError> {
        let chosen = ChosenAgent::row_of(id).ok_or_else(|| CommandError {
            code: ErrorCode::BadCommand,
            message: format!("Deskbell does not know the agent “{id}”."),
            detail: None,
        })?;
        self.create_acp(project, chosen, None).await
    }

    /// The same with this agent, and with a profile that names it.
    pub(super) async fn create_acp(
        &self,
        project: &Path,
        chosen: ChosenAgent,
        profile: Option<Profile>,
    ) -> Result<Session, CommandError> {
        let begun =
            creation::beginning(AgentKind::Acp, self.current.get(), Some(project), profile.as_ref(), None);
        let begun = SavedSession { acp: Some(chosen.clone()), ..begun };
        let launcher = self.opener.launcher(AgentKind::Acp, project, begun.clone(), self.policy());
        let allowed =
            move || launcher().and_then(|launch| if is_open(&launch) { Ok(()) } else { launch.check() });
        let allowed = disk::run(project, disk::DEADLINE, allowed).await?;
        if allowed.as_ref().is_err_and(|error| error.code == ErrorCode::NotTrusted) {
            // Also where it was opened restricted before: then the page is how that decision is changed.
            self.gate.ask(project, Some(&chosen));
        }
        allowed?;
        let _one_at_a_time = self.beginning.lock().await;
        let keeps = self.is_kept(project).await?;
        let of = (AgentKind::Acp, Some(&chosen), begun.profile.as_ref());
        match self.empty_session(&project.into(), of, keeps) {
            Some(empty) => Ok(empty),
            None if keeps => {
                let session = NewSession {
                    project: project.display().to_string(),
                    agent: chosen.row_id().filter(|_| begun.profile.is_none()),
                    profile: begun.profile,
                    ..NewSession::default()
                };
                self.open_kept(project, session).await
            }
            None => self.add_new(project, AgentKind::Acp, begun).await,
        }
    }

    /// Makes the window show the trust page of the agent of this session.
    pub fn review_trust(&self, project: &Path, id: &SessionId) -> Result<(), CommandError> {
        self.session(&project.into(), id)?;
        let agent = self.acp_of(id).filter(|agent| !agent::is_demo(agent)).ok_or_else(|| CommandError {
            code: ErrorCode::BadCommand,
            message: "This session has no agent with a trust decision of its own.".to_owned(),
            detail: None,
        })?;
        self.gate.ask(project, Some(&agent));
        Ok(())
    }

    /// The agent of a session, if it is another one than Claude Code.
    pub(super) fn acp_of(&self, id: &SessionId) -> Option<ChosenAgent> {
        self.lock().get(id).and_then(|entry| entry.acp.clone())
    }

    /// Returns an error if an agent may not start in the folder. A missing folder is reported elsewhere.
    pub(super) async fn check(
        &self,
        project: &ProjectRef,
        agent: AgentKind,
        acp: Option<ChosenAgent>,
    ) -> Result<(), CommandError> {
        if agent == AgentKind::Demo || acp.as_ref().is_some_and(agent::is_demo) {
            return Ok(());
        }
        let of = match project {
            ProjectRef::Here(folder) => folder,
            // The server there checks what was decided about another agent, before each start.
            ProjectRef::There(_) if agent == AgentKind::Acp => return Ok(()),
            ProjectRef::There(there) => return self.check_far(there),
        };
        let (gate, folder) = (self.gate.clone(), of.clone());
        let check = move || {
            if !folder.is_dir() {
                return Ok(());
            }
            match (gate.check(&folder, acp.as_ref())?, &acp) {
                (Allowed::Restricted, Some(agent)) => {
                    let refused = Launch::check_restricted(agent);
                    if refused.is_err() {
                        // The page is how that decision is changed.
                        gate.ask(&folder, Some(agent));
                    }
                    refused
                }
                _ => Ok(()),
            }
        };
        disk::run(of, disk::DEADLINE, check).await?
    }
}

/// A folder that is gone has no settings to trust. Its session reports that itself.
fn is_open(launch: &Launch) -> bool {
    !launch.project.is_dir()
}
