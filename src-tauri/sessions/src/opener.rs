//! The session opener: gives each session its launcher, trust check, folders and locks.

use crate::agent::{self, Run};
use crate::trust::Allowed;
use crate::{folders, profiles};
use deskbell_engine::LocalHost;
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::*;
use deskbell_engine::disk;
use deskbell_engine::launch::Fork;
use deskbell_engine::projects::ProjectStore;
use deskbell_engine::recorder::Recorder;
use deskbell_engine::session::{Launcher, Open, SessionHandle, Timeouts};
use deskbell_engine::store::{Record, SavedSession, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Timeout for reading a long conversation to find a fork's first prompt.
const FORK_READ: Duration = Duration::from_secs(20);

/// Decides how a session's agent starts. Called at each start, because settings and trust may have changed.
pub trait StartPolicy: Send + Sync + 'static {
    /// The settings for this session's agent, as they are now.
    fn settings(&self, memory: &SavedSession) -> AgentSettings;

    /// Returns how this agent may start in this folder, or an error if it may not. `None` is Claude Code.
    fn admit(&self, project: &Path, agent: Option<&ChosenAgent>) -> Result<Allowed, CommandError>;
}

/// Opens the sessions of a window, a relay or a server.
#[derive(Clone)]
pub struct SessionOpener {
    /// The folder of Deskbell's data.
    pub data: PathBuf,
    pub run: Run,
}

impl SessionOpener {
    /// Opens a session without starting its agent. `store` saves it; with `None` it is not saved.
    pub fn open(
        &self,
        record: Record,
        store: Option<Store>,
        policy: impl StartPolicy,
        timeouts: Timeouts,
        recorder: Recorder,
    ) -> SessionHandle {
        let launcher = self.launcher(record.agent, &record.project, record.memory.clone(), policy);
        let agent_config = profiles::config_folder_of(&record, &self.data);
        SessionHandle::open(Open {
            record,
            launcher,
            host: Arc::new(LocalHost),
            store,
            agent_config,
            locks: Some(self.data.join("locks")),
            agent_sessions: Some(self.data.join(folders::AGENT_SESSIONS)),
            timeouts,
            recorder,
        })
    }

    /// Returns a function that decides how the agent of such a session starts.
    pub fn launcher(
        &self,
        kind: AgentKind,
        project: &Path,
        memory: SavedSession,
        policy: impl StartPolicy,
    ) -> Launcher {
        let (policy, acp) = (Arc::new(policy), memory.acp.clone());
        let admits = policy.clone();
        let launcher = agent::launcher(
            kind,
            acp,
            project.to_owned(),
            self.data.clone(),
            move || profiles::chosen(&memory, &policy.settings(&memory)),
            move |project, agent| admits.admit(project, agent),
            self.run.clone(),
        );
        let (projects, folder) = (ProjectStore::new(&self.data), project.to_owned());
        Arc::new(move || {
            let launch = launcher()?;
            if let Err(error) = projects.see(&folder, now_ms()) {
                tracing::warn!(%error, "the project will not be found again if its folder is renamed");
            }
            Ok(launch)
        })
    }

    /// Finds the part of the conversation `of` that a fork copies: all of it, or the part before the prompt `before`,
    /// an id of the agent's transcript. Returns `None` for the first prompt. The conversation is only read.
    pub async fn fork(
        &self,
        kind: AgentKind,
        profile: Option<&Profile>,
        project: &Path,
        of: String,
        before: Option<String>,
    ) -> Result<Option<Fork>, CommandError> {
        let Some(before) = before else { return Ok(Some(Fork { of, until: None })) };
        let own = profile.and_then(profiles::config_folder);
        let config = own.unwrap_or_else(|| agent::config_folder(kind, &self.data));
        let folder = project.to_owned();
        let find = move || Fork::before(&config, &folder, &of, &before);
        disk::run(project, FORK_READ, find).await?
    }
}

/// The choices of a command line or a client for a new session. A profile's choices have the lowest priority.
#[derive(Clone, Debug, Default)]
pub struct SessionChoices {
    /// The agent if it is not Claude Code and no profile names it.
    pub acp: Option<ChosenAgent>,
    /// The agent's id of the conversation to continue.
    pub resume: Option<String>,
    pub fork: Option<Fork>,
    pub title: Option<String>,
    /// Overrides the model in the options.
    pub model: Option<String>,
    pub mode: Option<PermissionMode>,
    pub options: SessionOptions,
}

impl SessionChoices {
    /// The state of a new session with these choices.
    pub fn begin(self, profile: Option<&Profile>) -> SavedSession {
        let Self { acp, resume, fork, title, model, mode, options } = self;
        let memory = SavedSession {
            acp,
            resumable: resume.is_some(),
            agent_session_id: resume,
            renames: fork.is_some() && title.is_some(),
            fork,
            title,
            model: model.or(options.model.clone()),
            effort: options.effort.clone(),
            mode,
            options: SessionOptions { model: None, effort: None, ..options },
            ..SavedSession::default()
        };
        profiles::begin_with(profile, memory)
    }
}

/// The record of a new session, with a new id.
pub fn new_record(project: PathBuf, agent: AgentKind, memory: SavedSession) -> Record {
    let now = now_ms();
    let id = SessionId::new(uuid::Uuid::new_v4().to_string());
    Record { id, project, agent, created_at: now, changed_at: now, memory }
}

/// Milliseconds since the epoch.
pub fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
