//! Profiles of the settings in a window: the one of a project, a new session with one, and where its files are.

use super::SessionRegistry;
use crate::{agent, profiles};
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::*;
use deskbell_engine::disk;
use deskbell_engine::launch::Launch;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

impl SessionRegistry {
    /// A profile of the settings that are in effect.
    pub(super) fn profile(&self, name: &str) -> Result<Profile, CommandError> {
        profiles::find(&self.current.get().agent, name)
    }

    /// The profile that new sessions of this project begin with.
    pub fn profile_of(&self, project: &ProjectRef, agent: AgentKind) -> Option<Profile> {
        let folder = project.here().filter(|_| agent == AgentKind::Claude)?;
        profiles::of_project(&self.current.get().agent, folder)
    }

    /// Returns a session with this profile that has no prompt yet: the project's empty one, or a new one. Nothing is
    /// started.
    pub async fn create_with_profile(&self, project: &Path, name: &str) -> Result<Session, CommandError> {
        let profile = self.profile(name)?;
        match profiles::agent(&profile) {
            Some(agent) => self.create_acp(project, agent, Some(profile)).await,
            None => {
                let project = ProjectRef::from(project);
                self.check(&project, AgentKind::Claude, None).await?;
                self.begin_with(&project, AgentKind::Claude, Some(profile), false).await
            }
        }
    }

    /// The command line that logs in to the agent of a session, or to Claude Code. It sets the variables of its profile that name a place;
    /// others may be keys, and a command line is no secret.
    pub async fn login_line(&self, id: Option<&SessionId>) -> Result<Vec<OsString>, CommandError> {
        let none = || CommandError {
            code: ErrorCode::BadCommand,
            message: "Deskbell knows no command that logs in to this agent.".to_owned(),
            detail: None,
        };
        let session = id.map(|id| self.known(id).ok_or_else(none)).transpose()?.map(|(_, session)| session);
        let name = session.as_ref().and_then(|session| session.profile.clone());
        let profile = name.as_ref().map(|name| self.profile(name)).transpose()?;
        let environment = profile.as_ref().map(|profile| profile.environment.clone()).unwrap_or_default();
        let other = session.filter(|session| session.agent != AgentKind::Claude);
        let mut line = if let Some(session) = other {
            let of_row = session.agent_id.as_deref().and_then(ChosenAgent::row_of);
            let agent = of_row.or_else(|| profile.as_ref().and_then(profiles::agent)).ok_or_else(none)?;
            let words = session.login.ok_or_else(none)?.words;
            let program = profile.and_then(|profile| profile.program).map(PathBuf::from);
            let find = move || agent::login_line(&agent, words, program);
            disk::run(Path::new("PATH"), disk::DEADLINE, find).await??
        } else {
            let (program, _) = self.program_and_config(name.as_deref()).await?;
            [program.into()].into_iter().chain(Launch::LOGIN_ARGS.iter().map(OsString::from)).collect()
        };
        let is_place = |one: &EnvironmentVariable| Path::new(&one.value).is_absolute();
        let mut places: Vec<OsString> = environment
            .into_iter()
            .filter(is_place)
            .map(|one| format!("{}={}", one.name, one.value).into())
            .collect();
        if !places.is_empty() {
            places.insert(0, "env".into());
            line.splice(0..0, places);
        }
        Ok(line)
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
