//! Profiles of the settings in a window: the one of a project, a new session with one, and where its files are.

use super::{SessionRegistry, far};
use deskbell_cli::profiles;
use deskbell_engine::api::*;
use std::path::{Path, PathBuf};

impl SessionRegistry {
    /// A profile of the settings that are in effect.
    pub(super) fn profile(&self, name: &str) -> Result<Profile, CommandError> {
        profiles::find(&self.current.get().agent, name)
    }

    /// The profile that new sessions of this project begin with.
    pub fn profile_of(&self, project: &Path, agent: AgentKind) -> Option<Profile> {
        let is_here = agent == AgentKind::Claude && !far::is_far(project);
        is_here.then(|| profiles::of_project(&self.current.get().agent, project)).flatten()
    }

    /// Returns a session with this profile that has no prompt yet: the project's empty one, or a new one. Nothing is
    /// started.
    pub async fn create_with_profile(&self, project: &Path, name: &str) -> Result<Session, CommandError> {
        if far::is_far(project) {
            return Err(CommandError {
                code: ErrorCode::Refused,
                message: "Profiles are not available on another machine.".to_owned(),
                detail: Some("The programs and folders that they name are on this one.".to_owned()),
            });
        }
        let profile = self.profile(name)?;
        match profiles::agent(&profile) {
            Some(agent) => self.create_acp(project, agent, Some(profile)).await,
            None => {
                self.check(project, AgentKind::Claude, None).await?;
                self.begin_with(project, AgentKind::Claude, Some(profile), false).await
            }
        }
    }

    /// The program of Claude Code for a session with this profile, and its folder of configuration if the profile has one.
    pub async fn program_and_config(
        &self,
        profile: Option<&str>,
    ) -> Result<(PathBuf, Option<PathBuf>), CommandError> {
        let profile = profile.map(|name| self.profile(name)).transpose()?;
        let config = profile.as_ref().and_then(profiles::config_folder);
        match profile.and_then(|profile| profile.program) {
            Some(program) => Ok((program.into(), config)),
            None => Ok((self.agent_program().await?, config)),
        }
    }
}
