//! New sessions: an empty one, one that shows a conversation of the agent's store, and a fork of another session.

use super::{SessionRegistry, far, is_kept, lock};
use deskbell_cli::agent;
use deskbell_cli::environment;
use deskbell_engine::api::*;
use deskbell_engine::disk;
use deskbell_engine::launch::Fork;
use deskbell_engine::options::CheckedOptions;
use deskbell_engine::store::Record;
use deskbell_engine::store::SavedSession;
use deskbell_engine::stored::Place;
use deskbell_engine::title::Title;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Time limit for reading a long conversation, to find the prompt that a fork begins with.
const FORK_READ: Duration = Duration::from_secs(20);

/// The beginning of a new session, as the project's preset and the settings say. The demo agent has no choices. `mode`:
/// the one of the environment, which counts before the setting.
pub(super) fn beginning(
    agent: AgentKind,
    settings: Settings,
    project: &Path,
    mode: Option<PermissionMode>,
) -> SavedSession {
    match agent {
        AgentKind::Demo | AgentKind::Acp => SavedSession::default(),
        AgentKind::Claude => {
            let AgentSettings { model, mode: chosen, effort, presets, .. } = settings.agent;
            let preset = SessionOptions::of_project(&presets, project);
            SavedSession {
                model: preset.model.clone().or(model),
                mode: mode.or(chosen),
                effort: preset.effort.clone().or(effort),
                options: SessionOptions { model: None, effort: None, ..preset },
                ..SavedSession::default()
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
        project: &Path,
        agent: AgentKind,
        without_asking: bool,
    ) -> Result<Session, CommandError> {
        // A session that may not start yet is not created.
        self.check(project, agent, None).await?;
        let session = self.begin(project, agent, without_asking).await?;
        if without_asking {
            self.session(project, &session.id)?.start_without_asking().await?;
        }
        Ok(session)
    }

    /// Returns the project's empty session, or a new one. `at_rest`: a session whose agent runs does not qualify.
    pub async fn begin(
        &self,
        project: &Path,
        agent: AgentKind,
        at_rest: bool,
    ) -> Result<Session, CommandError> {
        let _one_at_a_time = self.beginning.lock().await;
        let is_far = far::is_far(project);
        if is_far && at_rest {
            return Err(CommandError {
                code: ErrorCode::Refused,
                message: "“Skip all permissions” is not available on another machine.".to_owned(),
                detail: None,
            });
        }
        // Running without asking is chosen for a process of this app.
        let keeps = is_far || (!at_rest && is_kept(&self.current.get()));
        let is_fit = |session: &Session| {
            let is_kept = session.link != SessionLink::Here;
            session.is_empty && session.agent == agent && !(at_rest && session.alive) && is_kept == keeps
        };
        match self.sessions(project).into_iter().find(is_fit) {
            Some(empty) => Ok(empty),
            None if is_far => self.begin_far_session(project, agent).await,
            None if keeps => self.begin_kept(project, agent).await,
            None => {
                let begun = beginning(agent, self.current.get(), project, mode_of_environment());
                self.add_new(project, agent, begun).await
            }
        }
    }

    /// Returns the session that shows a conversation of the agent's store. Nothing is started, and nothing is saved
    /// before the session has something to save.
    pub async fn open_stored(&self, project: &Path, agent_session_id: &str) -> Result<Session, CommandError> {
        if far::is_far(project) {
            return Err(far::not_here());
        }
        let _one_at_a_time = self.beginning.lock().await;
        let is_it = |session: &Session| session.agent_session_id.as_deref() == Some(agent_session_id);
        if let Some(open) = self.sessions(project).into_iter().find(is_it) {
            return Ok(open);
        }
        let config = agent::config_folder(AgentKind::Claude, &self.data);
        let (of, id) = (project.to_owned(), agent_session_id.to_owned());
        let find = move || Place::new(config, &of).find(&id);
        let found = disk::run(project, disk::DEADLINE, find).await?;
        let refused = |detail: Option<String>| CommandError {
            code: ErrorCode::NoSuchSession,
            message: "The session is no longer in Claude Code’s history of this project.".to_owned(),
            detail,
        };
        let found = found.map_err(|error| refused(Some(error.to_string())))?.ok_or_else(|| refused(None))?;
        // The agent's id is as good as a new one, and is the same after a restart of the app.
        let id = SessionId::new(agent_session_id);
        // A removed session deletes its file when its process has ended.
        let is_free = self.known(&id).is_none() && !lock(&self.removed).contains_key(&id);
        let id = if is_free { id } else { SessionId::new(uuid::Uuid::new_v4().to_string()) };
        let memory = SavedSession {
            agent_session_id: Some(found.agent_session_id),
            resumable: true,
            title: Some(found.title),
            ..SavedSession::default()
        };
        let (agent, changed_at) = (AgentKind::Claude, found.changed_at);
        self.add(Record {
            id,
            project: project.to_owned(),
            agent,
            created_at: changed_at,
            changed_at,
            memory,
        })
        .await
    }

    /// Returns a new session that begins as a copy of another one: of all of it, or of the part before a prompt. Nothing
    /// is started. The original stays as it is, also if another program has it open.
    pub async fn fork(
        &self,
        project: &Path,
        id: &SessionId,
        before: Option<ItemId>,
    ) -> Result<ForkedSession, CommandError> {
        if far::is_far(project) {
            return Err(far::not_here());
        }
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
        let of = origin.agent_session_id.ok_or_else(|| {
            refused("The agent has nothing of this session yet. Send a prompt before you fork it.")
        })?;
        let (fork, draft) = match before {
            None => (Some(Fork { of, until: None }), None),
            Some(item_id) => {
                let prompt = handle.stored_prompt(item_id).await?;
                let (prompt, text) = prompt.ok_or_else(|| refused("The prompt no longer exists."))?;
                let (config, folder) = (agent::config_folder(origin.agent, &self.data), project.to_owned());
                let find = move || Fork::before(&config, &folder, &of, &prompt);
                (disk::run(project, FORK_READ, find).await??, Some(text))
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
        Ok(ForkedSession { session: self.add_new(project, origin.agent, memory).await?, draft })
    }

    pub(super) async fn add_new(
        &self,
        project: &Path,
        agent: AgentKind,
        memory: SavedSession,
    ) -> Result<Session, CommandError> {
        if far::is_far(project) {
            return Err(far::not_here());
        }
        let folder = project.to_owned();
        if !disk::run(project, disk::DEADLINE, move || folder.is_dir()).await? {
            return Err(CommandError {
                code: ErrorCode::BadProject,
                message: format!("The folder {} does not exist.", project.display()),
                detail: None,
            });
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        let record = Record {
            id: SessionId::new(uuid::Uuid::new_v4().to_string()),
            project: project.to_owned(),
            agent,
            created_at: now,
            changed_at: now,
            memory,
        };
        let (store, saved) = (self.store.clone(), record.clone());
        let save = disk::run(&self.data, disk::DEADLINE, move || store.save(&saved)).await;
        save?.map_err(|error| CommandError {
            code: ErrorCode::Internal,
            message: "The session could not be saved to disk.".to_owned(),
            detail: Some(error.to_string()),
        })?;
        self.add(record).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_session_begins_as_the_settings_say() {
        let here = Path::new("/p");
        let beginning = |agent, settings| beginning(agent, settings, here, None);
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
        let elsewhere = super::beginning(AgentKind::Claude, settings.clone(), Path::new("/q"), None);
        assert_eq!(elsewhere.options, SessionOptions::default());
        let asked =
            super::beginning(AgentKind::Claude, settings.clone(), here, Some(PermissionMode::AcceptEdits));
        assert_eq!(asked.mode, Some(PermissionMode::AcceptEdits));
        assert_eq!(beginning(AgentKind::Demo, settings), SavedSession::default());
    }
}
