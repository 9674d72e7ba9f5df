//! The registry of all sessions of all projects. It opens each session once, stores it on disk, and subscribes to it.

use crate::agent::{self, Run};
use crate::doctor;
use crate::environment;
use crate::settings::CurrentSettings;
use crate::trust::TrustGate;
use anyhow::Context;
use deskbell_engine::LocalHost;
use deskbell_engine::api::*;
use deskbell_engine::disk;
use deskbell_engine::history;
use deskbell_engine::launch::Fork;
use deskbell_engine::options;
use deskbell_engine::permission::kept_locally;
use deskbell_engine::recorder::Recorder;
use deskbell_engine::session::{Open, SessionHandle, Subscriber};
use deskbell_engine::session::{SavedSession, Timeouts};
use deskbell_engine::store::{Record, Sessions, Store};
use deskbell_engine::stored::{self, Place};
use deskbell_engine::title::Title;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::{Notify, mpsc};

/// Time limit for reading a long conversation, to find the prompt that a fork begins with.
const FORK_READ: Duration = Duration::from_secs(20);

/// Timeout for a disk that does not respond when the app ends.
const LAST_WRITE: Duration = Duration::from_secs(2);

/// The app's own folder: in `XDG_DATA_HOME`, Application Support or AppData, depending on the system.
pub fn data_folder() -> PathBuf {
    dirs::data_dir().unwrap_or_else(|| PathBuf::from(".")).join("deskbell")
}

struct Entry {
    handle: SessionHandle,
    project: PathBuf,
    /// The session as last published.
    session: Session,
}

/// The idle time until hibernation, in milliseconds; 0 means never.
fn hibernate_ms(settings: &Settings) -> u64 {
    u64::from(settings.agent.hibernate_minutes) * 60_000
}

/// The beginning of a new session, as the project's preset and the settings say. The demo agent has no choices. `mode`:
/// the one of the environment, which counts before the setting.
fn beginning(
    agent: AgentKind,
    settings: Settings,
    project: &Path,
    mode: Option<PermissionMode>,
) -> SavedSession {
    match agent {
        AgentKind::Demo | AgentKind::Acp => SavedSession::default(),
        AgentKind::Claude => {
            let AgentSettings { model, mode: chosen, effort, presets, .. } = settings.agent;
            let preset = options::of_project(&presets, project);
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
fn mode_of_environment() -> Option<PermissionMode> {
    let read = environment::mode(|name| std::env::var(name).ok());
    if let Some(problem) = read.problem {
        tracing::warn!("{problem}");
    }
    read.mode
}

/// The files that the registry opens with, read from disk.
pub struct Files {
    store: Store,
    pub sessions: Sessions,
    run: Run,
}

impl Files {
    pub fn read(data: &Path) -> anyhow::Result<Self> {
        let store = Store::open(data.join("sessions")).context("opening the folder of sessions")?;
        let sessions = store.load().context("reading the sessions")?;
        Ok(Self { store, sessions, run: Run::begin(data) })
    }
}

/// The sessions.
pub struct SessionRegistry {
    data: PathBuf,
    store: Store,
    run: Run,
    current: Arc<CurrentSettings>,
    gate: TrustGate,
    sessions: Mutex<HashMap<SessionId, Entry>>,
    /// Sessions that the user removed and whose processes are still being ended.
    removed: Mutex<HashMap<SessionId, Entry>>,
    /// Notified when one of them has ended.
    ended: Notify,
    /// Locked while a session is created: two concurrent calls would both find no empty session, and create one each.
    beginning: tokio::sync::Mutex<()>,
    /// The events of all sessions, for the list, the dialogs and the notifications.
    facts: mpsc::UnboundedSender<Envelope>,
}

impl SessionRegistry {
    /// Opens the sessions that are stored; none of them starts by itself. The receiver gets their events.
    pub async fn open(
        data: PathBuf,
        files: Files,
        current: Arc<CurrentSettings>,
        gate: TrustGate,
    ) -> anyhow::Result<(Self, mpsc::UnboundedReceiver<Envelope>)> {
        let Files { store, sessions: known, run } = files;
        let (facts, told) = mpsc::unbounded_channel();
        let (sessions, removed) = (Mutex::default(), Mutex::default());
        let beginning = tokio::sync::Mutex::default();
        let ended = Notify::new();
        let registry = Self { data, store, run, current, gate, sessions, removed, ended, beginning, facts };
        for record in known.records {
            registry.add(record).await?;
        }
        registry.forget_removed().await;
        Ok((registry, told))
    }

    /// Deletes what was removed before this start.
    async fn forget_removed(&self) {
        let store = self.store.clone();
        let forgotten = disk::run(&self.data, disk::DEADLINE, move || store.forget_removed()).await;
        match forgotten {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "could not delete removed sessions"),
            Err(error) => tracing::warn!(%error, "could not delete removed sessions"),
        }
    }

    async fn add(&self, record: Record) -> Result<Session, CommandError> {
        let (id, project) = (record.id.clone(), record.project.clone());
        let current = self.current.clone();
        let gate = self.gate.clone();
        let launcher = agent::launcher(
            record.agent,
            record.memory.acp.clone(),
            project.clone(),
            self.data.clone(),
            move || current.get().agent.program.map(PathBuf::from),
            move |project| gate.check(project),
            self.run.clone(),
        );
        let agent_config = agent::config_folder(record.agent, &self.data);
        let store = Some(self.store.clone());
        let handle = SessionHandle::open(Open {
            record,
            launcher,
            host: Arc::new(LocalHost),
            store,
            agent_config,
            locks: Some(self.data.join("locks")),
            timeouts: Timeouts { hibernate_ms: hibernate_ms(&self.current.get()), ..Timeouts::default() },
            recorder: Recorder::default(),
        });
        let session = handle.subscribe(Subscriber::Summary(self.facts.clone())).await?.session;
        let entry = Entry { handle, project, session: session.clone() };
        self.lock().insert(id, entry);
        Ok(session)
    }

    /// The trust check before every start of an agent.
    pub fn gate(&self) -> &TrustGate {
        &self.gate
    }

    /// The program of the agent that a new session would run.
    pub async fn agent_program(&self) -> Result<PathBuf, CommandError> {
        let chosen = self.current.get().agent.program.map(PathBuf::from);
        disk::run(Path::new("PATH"), disk::DEADLINE, move || agent::program(chosen)).await?
    }

    /// Asks the user's login shell for its environment. Returns whether agents get anything new.
    pub async fn ask_login_shell(&self) -> bool {
        agent::ask_login_shell(&self.run).await
    }

    /// Whether the agent that a new session would run can work. An obstacle counts only once the login shell has
    /// answered, because the agent may need what the shell adds.
    pub async fn readiness(&self, demo: bool) -> Readiness {
        let check = || {
            let chosen = self.current.get().agent.program.map(PathBuf::from);
            doctor::readiness(demo, chosen, self.data.clone(), self.run.clone())
        };
        let is_final = agent::knows_login_shell();
        let readiness = check().await;
        if is_final || readiness.state == ReadinessState::Ready || !self.ask_login_shell().await {
            return readiness;
        }
        check().await
    }

    /// Tests the agent that a new session would run.
    pub async fn check_agent(&self) -> Checkup {
        let chosen = self.current.get().agent.program.map(PathBuf::from);
        doctor::check(chosen, self.data.clone(), self.run.clone()).await
    }

    /// Returns a session without a prompt: the project's empty one, or a new one. Its agent starts when the user begins
    /// to write. With `without_asking` it starts at once, because that mode is chosen for the process.
    pub async fn create(
        &self,
        project: &Path,
        agent: AgentKind,
        without_asking: bool,
    ) -> Result<Session, CommandError> {
        // A session that may not start yet is not created.
        self.check(project, agent).await?;
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
        let is_fit =
            |session: &Session| session.is_empty && session.agent == agent && !(at_rest && session.alive);
        match self.sessions(project).into_iter().find(is_fit) {
            Some(empty) => Ok(empty),
            None => {
                let begun = beginning(agent, self.current.get(), project, mode_of_environment());
                self.add_new(project, agent, begun).await
            }
        }
    }

    /// Returns the session that shows a conversation of the agent's store. Nothing is started, and nothing is saved
    /// before the session has something to save.
    pub async fn open_stored(&self, project: &Path, agent_session_id: &str) -> Result<Session, CommandError> {
        let _one_at_a_time = self.beginning.lock().await;
        let is_it = |session: &Session| session.agent_session_id.as_deref() == Some(agent_session_id);
        if let Some(open) = self.sessions(project).into_iter().find(is_it) {
            return Ok(open);
        }
        let config = agent::config_folder(AgentKind::Claude, &self.data);
        let (of, id) = (project.to_owned(), agent_session_id.to_owned());
        let find = move || stored::find(&Place::new(config, &of), &id);
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
        let handle = self.session(project, id)?;
        let refused = |message: &str| CommandError {
            code: ErrorCode::BadCommand,
            message: message.to_owned(),
            detail: None,
        };
        let (_, origin) = self.known(id).ok_or_else(|| refused("The session is closed."))?;
        let of = origin.agent_session_id.ok_or_else(|| {
            refused("The agent has nothing of this session yet. Send a prompt before you fork it.")
        })?;
        let (fork, draft) = match before {
            None => (Some(Fork { of, until: None }), None),
            Some(item_id) => {
                let prompt = handle.stored_prompt(item_id).await?;
                let (prompt, text) = prompt.ok_or_else(|| refused("The prompt no longer exists."))?;
                let (config, folder) = (agent::config_folder(origin.agent, &self.data), project.to_owned());
                let find = move || {
                    stored::fork_before(&history::transcript_path(&config, &folder, &of), &of, &prompt)
                };
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

    /// Starts the agent of a session in the mode without permission requests, for this start, as the user chose.
    pub async fn start_without_asking(&self, project: &Path, id: &SessionId) -> Result<(), CommandError> {
        let handle = self.session(project, id)?;
        if let Some((_, session)) = self.known(id) {
            self.check(project, session.agent).await?;
        }
        handle.start_without_asking().await
    }

    /// Returns an error if an agent may not start in the folder. A missing folder is reported elsewhere.
    async fn check(&self, project: &Path, agent: AgentKind) -> Result<(), CommandError> {
        if agent == AgentKind::Demo {
            return Ok(());
        }
        let (gate, folder) = (self.gate.clone(), project.to_owned());
        let check = move || if folder.is_dir() { gate.check(&folder).map(drop) } else { Ok(()) };
        disk::run(project, disk::DEADLINE, check).await?
    }

    async fn add_new(
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

    /// Takes a session of this project out of the list, at once. `remove` then ends its process, which may take long.
    pub fn take_out(&self, project: &Path, id: &SessionId) -> Result<Session, CommandError> {
        let mut sessions = self.lock();
        let entry = sessions.remove(id).ok_or_else(no_such_session)?;
        if entry.project != project {
            sessions.insert(id.clone(), entry);
            return Err(no_such_session());
        }
        let session = entry.session.clone();
        lock(&self.removed).insert(id.clone(), entry);
        Ok(session)
    }

    /// Ends a session that was taken out of the list and sets it aside in the store, for `restore`. The agent's own
    /// transcript stays where it is.
    pub async fn remove(&self, id: &SessionId) -> Result<(), CommandError> {
        let handle = lock(&self.removed).get(id).map(|entry| entry.handle.clone());
        if let Some(handle) = handle
            && let Err(error) = handle.close().await
        {
            tracing::debug!(%error, "the session was already closed");
        }
        // Not earlier: a session saves itself when it ends.
        let (store, of) = (self.store.clone(), id.clone());
        let removed = disk::run(&self.data, disk::DEADLINE, move || store.set_aside(&of)).await;
        lock(&self.removed).remove(id);
        self.ended.notify_waiters();
        removed?.map_err(|error| CommandError {
            code: ErrorCode::Internal,
            message:
                "The session's file could not be removed. The session is listed again when Deskbell starts."
                    .to_owned(),
            detail: Some(error.to_string()),
        })
    }

    /// Brings back a session that was removed since the app started, or opens its conversation if Deskbell had saved
    /// nothing of it. Waits until its agent has ended.
    pub async fn restore(
        &self,
        project: &Path,
        id: &SessionId,
        agent_session_id: Option<&str>,
    ) -> Result<Session, CommandError> {
        loop {
            // Registered before the check: it may end in between.
            let ended = self.ended.notified();
            if !lock(&self.removed).contains_key(id) {
                break;
            }
            ended.await;
        }
        if let Some(session) = self.known(id).filter(|(of, _)| of == project).map(|(_, session)| session) {
            return Ok(session);
        }
        let refused = |detail: Option<String>| CommandError {
            code: ErrorCode::NoSuchSession,
            message: "The session could not be brought back.".to_owned(),
            detail,
        };
        let (store, of, folder) = (self.store.clone(), id.clone(), project.to_owned());
        let restored = disk::run(&self.data, disk::DEADLINE, move || store.restore(&folder, &of)).await?;
        match (restored.map_err(|error| refused(Some(error.to_string())))?, agent_session_id) {
            (Some(record), _) => self.add(record).await,
            (None, Some(agent_session_id)) => self.open_stored(project, agent_session_id).await,
            (None, None) => Err(refused(None)),
        }
    }

    /// Returns a session of this project. A session of another project counts as missing.
    pub fn session(&self, project: &Path, id: &SessionId) -> Result<SessionHandle, CommandError> {
        let sessions = self.lock();
        let entry = sessions.get(id).filter(|entry| entry.project == project);
        entry.map(|entry| entry.handle.clone()).ok_or_else(no_such_session)
    }

    /// Carries out a command on a session of this project.
    pub async fn command(
        &self,
        project: &Path,
        id: &SessionId,
        command: Command,
    ) -> Result<(), CommandError> {
        let session = self.session(project, id)?;
        let rules = self.rules_to_keep(id, &command);
        if command == Command::Start
            && let Some((_, session)) = self.known(id)
        {
            self.check(project, session.agent).await?;
        }
        let is_prompt = matches!(command, Command::Prompt { .. });
        session.command(command).await?;
        if is_prompt && let Some(entry) = self.lock().get_mut(id) {
            // Its own event may arrive after the next session is requested.
            entry.session.is_empty = false;
        }
        // Only after the answer was accepted. If the rule cannot be recorded, the user is asked about the folder again.
        if !rules.is_empty() {
            let (gate, folder) = (self.gate.clone(), project.to_owned());
            let noted = disk::run(project, disk::DEADLINE, move || gate.expect(&folder, &rules)).await;
            if let Err(error) = noted.unwrap_or_else(|unfinished| Err(unfinished.into())) {
                tracing::warn!(%error, "could not record a saved rule");
            }
        }
        Ok(())
    }

    /// Applies the idle time until hibernation to every session.
    pub async fn apply_hibernation(&self) {
        let after_ms = hibernate_ms(&self.current.get());
        let handles: Vec<SessionHandle> = self.lock().values().map(|entry| entry.handle.clone()).collect();
        for handle in handles {
            if let Err(error) = handle.hibernate_after(after_ms).await {
                tracing::debug!(%error, "the session is closed already");
            }
        }
    }

    /// Restarts every agent of a project when it is idle, because the trust decision changed.
    pub async fn reload(&self, project: &Path) {
        for session in self.sessions(project).into_iter().filter(|session| session.agent != AgentKind::Demo) {
            let reloaded = match self.session(project, &session.id) {
                Ok(handle) => handle.command(Command::Reload).await,
                Err(error) => Err(error),
            };
            if let Err(error) = reloaded {
                tracing::warn!(%error, "could not reload an agent: it keeps its earlier settings");
            }
        }
    }

    /// The rules that an answer makes the agent save in the folder's local settings.
    fn rules_to_keep(&self, id: &SessionId, command: &Command) -> Vec<String> {
        let Command::Decide { request_id, decision: Decision::AllowAlways { suggestion }, .. } = command
        else {
            return Vec::new();
        };
        let Some((_, session)) = self.known(id) else { return Vec::new() };
        let request = session.requests.iter().find(|request| request.id == *request_id);
        request.map(|request| kept_locally(request, suggestion)).unwrap_or_default()
    }

    /// The project's sessions, the most recently changed first.
    pub fn sessions(&self, project: &Path) -> Vec<Session> {
        let sessions = self.lock();
        let mut sessions: Vec<Session> = sessions
            .values()
            .filter(|entry| entry.project == project)
            .map(|entry| entry.session.clone())
            .collect();
        sessions.sort_by_key(|session| std::cmp::Reverse(session.changed_at));
        sessions
    }

    /// The sessions of all projects, as last published.
    pub fn all(&self) -> Vec<Session> {
        self.lock().values().map(|entry| entry.session.clone()).collect()
    }

    /// The conversations whose agents run now, by the agent's id, with their projects.
    pub fn running(&self) -> Vec<(PathBuf, String)> {
        let sessions = self.lock();
        let running = sessions.values().filter(|entry| entry.session.alive);
        running
            .filter_map(|entry| Some((entry.project.clone(), entry.session.agent_session_id.clone()?)))
            .collect()
    }

    /// The project of a session, and the session as last published.
    pub fn known(&self, id: &SessionId) -> Option<(PathBuf, Session)> {
        self.lock().get(id).map(|entry| (entry.project.clone(), entry.session.clone()))
    }

    /// The sessions of all projects that wait for the user, the one that waits longest first.
    pub fn waiting(&self) -> Vec<(PathBuf, Session)> {
        let sessions = self.lock();
        let is_waiting = |entry: &&Entry| matches!(entry.session.status, Status::NeedsInput { .. });
        let mut waiting: Vec<_> = sessions
            .values()
            .filter(is_waiting)
            .map(|entry| (entry.project.clone(), entry.session.clone()))
            .collect();
        waiting.sort_by(|(_, a), (_, b)| (a.changed_at, a.id.as_str()).cmp(&(b.changed_at, b.id.as_str())));
        waiting
    }

    /// Remembers a session as published.
    pub fn learn(&self, session: &Session) {
        if let Some(entry) = self.lock().get_mut(&session.id) {
            entry.session = session.clone();
        }
    }

    /// Denies the open requests and ends the agents, of one project or of all.
    pub async fn close(&self, project: Option<&Path>) {
        let of_project = |entry: &&Entry| project.is_none_or(|project| entry.project == project);
        let mut handles: Vec<SessionHandle> =
            self.lock().values().filter(of_project).map(|entry| entry.handle.clone()).collect();
        // Their processes must not outlive the window either.
        handles.extend(lock(&self.removed).values().filter(of_project).map(|entry| entry.handle.clone()));
        let closing: Vec<_> = handles
            .into_iter()
            .map(|handle| {
                tokio::spawn(async move {
                    if let Err(error) = handle.close().await {
                        tracing::debug!(%error, "the session was already closed");
                    }
                })
            })
            .collect();
        for task in closing {
            if let Err(error) = task.await {
                tracing::error!(%error, "could not close a session");
            }
        }
    }

    /// The last step of the app: ends every session, and then the run.
    pub async fn end(&self) {
        self.close(None).await;
        let run = self.run.clone();
        if let Err(error) = disk::run(&self.data, LAST_WRITE, move || run.end()).await {
            tracing::warn!(%error, "could not remove the file of this run");
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Entry>> {
        lock(&self.sessions)
    }
}

fn lock(sessions: &Mutex<HashMap<SessionId, Entry>>) -> MutexGuard<'_, HashMap<SessionId, Entry>> {
    sessions.lock().unwrap_or_else(PoisonError::into_inner)
}

fn no_such_session() -> CommandError {
    CommandError {
        code: ErrorCode::NoSuchSession,
        message: "There is no such session in this project.".to_owned(),
        detail: None,
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
