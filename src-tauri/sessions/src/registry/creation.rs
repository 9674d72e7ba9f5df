//! New sessions: an empty one, one that shows a conversation of the agent's store, and a fork of another session.

use super::{SessionRegistry, lock};
use crate::environment;
use crate::folders;
use crate::opener;
use crate::profiles;
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::*;
use deskbell_engine::disk::{self, ReadError};
use deskbell_engine::launch::Fork;
use deskbell_engine::options::CheckedOptions;
use deskbell_engine::projects::ProjectStore;
use deskbell_engine::recorder::Recorder;
use deskbell_engine::session::Timeouts;
use deskbell_engine::store::Record;
use deskbell_engine::store::SavedSession;
use deskbell_engine::stored::{Catalogue, Place, Store};
use deskbell_engine::title::Title;
use std::path::Path;

/// The beginning of a new session, as the profile, the project's preset and the settings say, in this order. The demo
/// agent has no choices. `folder`: that of a project on this machine. `mode`: the one of the environment, which counts
/// before the setting.
pub(super) fn beginning(
    agent: AgentKind,
    settings: Settings,
    folder: Option<&Path>,
    profile: Option<&Profile>,
    mode: Option<PermissionMode>,
) -> SavedSession {
    match agent {
        AgentKind::Demo => SavedSession::default(),
        AgentKind::Acp => profiles::begin_with(profile, SavedSession::default()),
        AgentKind::Claude => {
            let AgentSettings { model, mode: chosen, effort, presets, .. } = settings.agent;
            let preset =
                folder.map(|folder| SessionOptions::of_project(&presets, folder)).unwrap_or_default();
            let begun = profiles::begin_with(profile, SavedSession { mode, ..SavedSession::default() });
            SavedSession {
                model: begun.model.or(preset.model.clone()).or(model),
                mode: begun.mode.or(chosen),
                effort: begun.effort.or(preset.effort.clone()).or(effort),
                options: SessionOptions { model: None, effort: None, ..preset },
                ..begun
            }
        }
    }
}

/// The permission mode that the environment asks for. A value that is not used is logged.
pub(super) fn mode_of_environment() -> Option<PermissionMode> {
    let read = environment::mode(|name| std::env::var(name).ok());
    if let Some(problem) = read.problem {
        tracing::warn!("{problem}");
    }
    read.mode
}

impl SessionRegistry {
    /// Returns a session without a prompt: the project's empty one, or a new one. Its agent starts when the user begins
    /// to write. With `without_asking` it starts at once, because that mode is chosen for the process.
    pub async fn create(
        &self,
        project: &ProjectRef,
        agent: AgentKind,
        profile: Option<Profile>,
        without_asking: bool,
    ) -> Result<Session, CommandError> {
        let of_agent = profile.as_ref().filter(|profile| profiles::agent(profile).is_some());
        if let (Some(profile), Some(folder)) = (of_agent, project.here()) {
            if without_asking {
                return Err(not_without_asking(profile));
            }
            return self.create_with_profile(folder, &profile.name).await;
        }
        // A session that may not start yet is not created.
        self.check(project, agent, None).await?;
        let session = self.begin_with(project, agent, profile, without_asking).await?;
        if without_asking {
            self.session(project, &session.id)?.start_without_asking().await?;
        }
        Ok(session)
    }

    /// Returns the project's empty session, or a new one.
    pub async fn begin(&self, project: &ProjectRef, agent: AgentKind) -> Result<Session, CommandError> {
        let profile = self.profile_of(project, agent);
        let of_agent = profile.as_ref().filter(|profile| profiles::agent(profile).is_some());
        match (of_agent, project.here()) {
            (Some(profile), Some(folder)) => self.create_with_profile(folder, &profile.name).await,
            _ => self.begin_with(project, agent, profile, false).await,
        }
    }

    /// The session that `create` would return, without creating it: its models, and the choices that it would begin with.
    /// `None` for a project on another machine without an empty session.
    pub async fn planned(
        &self,
        project: &ProjectRef,
        agent: AgentKind,
    ) -> Result<Option<Session>, CommandError> {
        let profile = self.profile_of(project, agent);
        let acp = profile.as_ref().and_then(profiles::agent);
        let agent = if acp.is_some() { AgentKind::Acp } else { agent };
        let keeps = self.keeps_new(project).await?;
        let name = profile.as_ref().map(|profile| &profile.name);
        if let Some(empty) = self.empty_session(project, (agent, acp.as_ref(), name), keeps) {
            return Ok(Some(empty));
        }
        let Some(folder) = project.here() else { return Ok(None) };
        let begun =
            beginning(agent, self.current.get(), Some(folder), profile.as_ref(), mode_of_environment());
        let record = opener::new_record(folder.to_owned(), agent, SavedSession { acp, ..begun });
        // Nothing is saved before a command, and the session ends with its handle.
        let (store, recorder) = (Some(self.store.clone()), Recorder::default());
        let handle = self.opener.open(record, store, self.policy(), Timeouts::default(), recorder);
        Ok(Some(handle.snapshot().await?.session))
    }

    /// Whether new sessions of a project run in a server.
    async fn keeps_new(&self, project: &ProjectRef) -> Result<bool, CommandError> {
        match project {
            ProjectRef::There(_) => Ok(true),
            ProjectRef::Here(folder) => self.is_kept(folder).await,
        }
    }

    /// The project's session without a prompt, with this agent and this profile, in the window or in a server.
    pub(super) fn empty_session(
        &self,
        project: &ProjectRef,
        (agent, acp, profile): (AgentKind, Option<&ChosenAgent>, Option<&String>),
        is_kept: bool,
    ) -> Option<Session> {
        let row = acp.and_then(ChosenAgent::row_id);
        self.sessions(project).into_iter().find(|session| {
            let is_same =
                session.agent == agent && session.agent_id == row && session.profile.as_ref() == profile;
            session.is_empty && is_same && (session.link != SessionLink::Here) == is_kept
        })
    }

    /// `at_rest`: a session whose agent runs does not qualify.
    pub(super) async fn begin_with(
        &self,
        project: &ProjectRef,
        agent: AgentKind,
        profile: Option<Profile>,
        at_rest: bool,
    ) -> Result<Session, CommandError> {
        let _one_at_a_time = self.beginning.lock().await;
        if project.there().is_some() && at_rest {
            return Err(CommandError {
                code: ErrorCode::Refused,
                message: "“Skip all permissions” is not available on another machine.".to_owned(),
                detail: None,
            });
        }
        // Running without asking is chosen for a process of this app.
        let keeps = !at_rest && self.keeps_new(project).await?;
        let name = profile.as_ref().map(|profile| &profile.name);
        let empty = self.empty_session(project, (agent, None, name), keeps);
        if let Some(empty) = empty.filter(|session| !(at_rest && session.alive)) {
            return Ok(empty);
        }
        match project {
            ProjectRef::There(there) => self.begin_far_session(there, agent).await,
            ProjectRef::Here(folder) if keeps => self.begin_kept(folder, agent, profile.as_ref()).await,
            ProjectRef::Here(folder) => {
                let (settings, mode) = (self.current.get(), mode_of_environment());
                let begun = beginning(agent, settings, Some(folder), profile.as_ref(), mode);
                self.add_new(folder, agent, begun).await
            }
        }
    }

    /// Returns the session that shows a conversation of an agent's store, with the profile of that store. Nothing is
    /// started, and nothing is saved before the session has something to save.
    pub async fn open_stored(
        &self,
        project: &ProjectRef,
        agent_session_id: &str,
    ) -> Result<Session, CommandError> {
        let folder = match project {
            ProjectRef::Here(folder) => folder,
            ProjectRef::There(there) => return self.open_far_stored(there, agent_session_id).await,
        };
        let _one_at_a_time = self.beginning.lock().await;
        let is_it = |session: &Session| session.agent_session_id.as_deref() == Some(agent_session_id);
        if let Some(open) = self.sessions(project).into_iter().find(is_it) {
            return Ok(open);
        }
        let stores = self.current.stores().borrow().clone();
        let (of, id) = (folder.clone(), agent_session_id.to_owned());
        let lists = self.opener.data.join(folders::AGENT_SESSIONS);
        let projects = ProjectStore::new(&self.opener.data);
        let find = move || {
            let known = projects.folders(&of);
            for Store { config, profile } in stores {
                if let Some(found) = Place::new(config, known.clone()).find(&id)? {
                    return Ok::<_, ReadError>(Some((None, StoredSession { profile, ..found })));
                }
            }
            let found = Catalogue::find_of_agents(lists, &of, &id);
            Ok(found.map(|(agent, found)| (Some(agent), found)))
        };
        let found = disk::run(folder, disk::DEADLINE, find).await?;
        let refused = |detail: Option<String>| CommandError {
            code: ErrorCode::NoSuchSession,
            message: "The session is no longer in the list of this project’s stored sessions.".to_owned(),
            detail,
        };
        let (acp, found) =
            found.map_err(|error| refused(Some(error.to_string())))?.ok_or_else(|| refused(None))?;
        // The id of Claude Code is as good as a new one, and is the same after a restart of the app. That of another
        // agent may be any text.
        let id = SessionId::new(agent_session_id);
        // A removed session deletes its file when its process has ended.
        let is_free = acp.is_none() && !self.has(&id) && !lock(&self.removed).contains_key(&id);
        let id = if is_free { id } else { SessionId::new(uuid::Uuid::new_v4().to_string()) };
        let profile = found.profile.as_ref().map(|name| self.profile(name)).transpose()?;
        let memory = SavedSession {
            agent_session_id: Some(found.agent_session_id),
            resumable: true,
            title: Some(found.title),
            ..SavedSession::default()
        };
        let agent = if acp.is_some() { AgentKind::Acp } else { AgentKind::Claude };
        // The agent that listed it continues it, whatever its profile has now.
        let memory = SavedSession { acp, ..profiles::begin_with(profile.as_ref(), memory) };
        let changed_at = found.changed_at;
        self.add(Record { id, project: folder.clone(), agent, created_at: changed_at, changed_at, memory })
            .await
    }

    /// Returns a new session that begins as a copy of another one: of all of it, or of the part before a prompt. Nothing
    /// is started. The original stays as it is, also if another program has it open.
    pub async fn fork(
        &self,
        project: &ProjectRef,
        id: &SessionId,
        before: Option<ItemId>,
    ) -> Result<ForkedSession, CommandError> {
        let handle = self.session(project, id)?;
        let refused = |message: &str| CommandError {
            code: ErrorCode::BadCommand,
            message: message.to_owned(),
            detail: None,
        };
        let (_, origin) = self.known(id).ok_or_else(|| refused("The session is closed."))?;
        if origin.agent == AgentKind::Acp {
            return Err(refused("The agent of this session cannot fork a conversation."));
        }
        let folder = match project {
            ProjectRef::Here(folder) => folder,
            ProjectRef::There(there) => {
                // The prompts of a conversation there are read there.
                let before = match before {
                    Some(item_id) => {
                        let prompt = handle.query(StoredPromptQuery { item_id }).await?;
                        Some(prompt.ok_or_else(|| refused("The prompt no longer exists."))?)
                    }
                    None => None,
                };
                return self.fork_far(there, origin, before).await;
            }
        };
        let profile = origin.profile.as_ref().map(|name| self.profile(name)).transpose()?;
        let of = origin.agent_session_id.ok_or_else(|| {
            refused("The agent has nothing of this session yet. Send a prompt before you fork it.")
        })?;
        let (fork, draft) = match before {
            None => (Some(Fork { of, until: None }), None),
            Some(item_id) => {
                let prompt = handle.query(StoredPromptQuery { item_id }).await?;
                let (prompt, text) = prompt.ok_or_else(|| refused("The prompt no longer exists."))?;
                let found = self.opener.fork(origin.agent, profile.as_ref(), folder, of, Some(prompt));
                (found.await?, Some(text))
            }
        };
        let title = Title::of_fork(&origin.title).as_str().to_owned();
        let memory = SavedSession {
            fork,
            title: Some(title),
            renames: true,
            mode: origin.mode.parse().ok(),
            options: SessionOptions { model: None, effort: None, ..origin.options },
            ..SavedSession::default()
        };
        let memory = profiles::begin_with(profile.as_ref(), memory);
        Ok(ForkedSession { session: self.add_new(folder, origin.agent, memory).await?, draft })
    }

    pub(super) async fn add_new(
        &self,
        project: &Path,
        agent: AgentKind,
        memory: SavedSession,
    ) -> Result<Session, CommandError> {
        let folder = project.to_owned();
        if !disk::run(project, disk::DEADLINE, move || folder.is_dir()).await? {
            return Err(CommandError {
                code: ErrorCode::BadProject,
                message: format!("The folder {} does not exist.", project.display()),
                detail: None,
            });
        }
        let record = opener::new_record(project.to_owned(), agent, memory);
        let (store, saved) = (self.store.clone(), record.clone());
        let save = disk::run(&self.opener.data, disk::DEADLINE, move || store.save(&saved)).await;
        save?.map_err(|error| CommandError {
            code: ErrorCode::Internal,
            message: "The session could not be saved to disk.".to_owned(),
            detail: Some(error.to_string()),
        })?;
        self.add(record).await
    }
}

fn not_without_asking(profile: &Profile) -> CommandError {
    CommandError {
        code: ErrorCode::Refused,
        message: "“Skip all permissions” is a mode of Claude Code.".to_owned(),
        detail: Some(format!("New sessions of this project begin with the profile “{}”.", profile.name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_session_begins_as_the_settings_say() {
        let here = Some(Path::new("/p"));
        let beginning = |agent, settings| beginning(agent, settings, here, None, None);
        let mut settings = Settings::default();
        assert_eq!(beginning(AgentKind::Claude, settings.clone()), SavedSession::default());
        settings.agent.model = Some("opus".to_owned());
        settings.agent.mode = Some(PermissionMode::Plan);
        settings.agent.effort = Some("high".to_owned());
        let begun = beginning(AgentKind::Claude, settings.clone());
        assert_eq!((begun.model.as_deref(), begun.mode), (Some("opus"), Some(PermissionMode::Plan)));
        assert_eq!(begun.effort.as_deref(), Some("high"));
        let options = SessionOptions {
            model: Some("haiku".to_owned()),
            max_turns: Some(3),
            ..SessionOptions::default()
        };
        let projects = vec!["/p".to_owned()];
        settings.agent.presets = vec![Preset { name: "here".to_owned(), options, projects }];
        let begun = beginning(AgentKind::Claude, settings.clone());
        assert_eq!((begun.model.as_deref(), begun.effort.as_deref()), (Some("haiku"), Some("high")));
        assert_eq!((begun.options.max_turns, begun.options.model), (Some(3), None));
        let elsewhere =
            super::beginning(AgentKind::Claude, settings.clone(), Some(Path::new("/q")), None, None);
        assert_eq!(elsewhere.options, SessionOptions::default());
        let asked = super::beginning(
            AgentKind::Claude,
            settings.clone(),
            here,
            None,
            Some(PermissionMode::AcceptEdits),
        );
        assert_eq!(asked.mode, Some(PermissionMode::AcceptEdits));
        let profile = Profile {
            name: "Work".to_owned(),
            model: Some("sonnet".to_owned()),
            mode: Some(PermissionMode::Default),
            ..Profile::default()
        };
        let begun =
            |place| super::beginning(AgentKind::Claude, settings.clone(), place, Some(&profile), None);
        let elsewhere = begun(Some(Path::new("/q")));
        assert_eq!(elsewhere.profile.as_deref(), Some("Work"));
        assert_eq!(
            (elsewhere.model.as_deref(), elsewhere.mode),
            (Some("sonnet"), Some(PermissionMode::Default))
        );
        assert_eq!(begun(here).model.as_deref(), Some("sonnet"), "the profile counts before the preset");
        assert_eq!(begun(here).options.max_turns, Some(3));
        assert_eq!(beginning(AgentKind::Demo, settings), SavedSession::default());
    }
}
