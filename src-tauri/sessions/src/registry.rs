//! The registry of all sessions of all projects. It opens each session once, stores it on disk, and subscribes to it.

mod creation;
pub mod far;
mod other_agents;
mod own_processes;
mod profiles;
mod removal;
mod rules;

use crate::agent::{self, Run};
use crate::doctor;
use crate::opener::{SessionOpener, StartPolicy};
use crate::profiles as of_settings;
use crate::queries::{self, QueriedSession, QuerySources};
use crate::settings::CurrentSettings;
use crate::trust::{Allowed, TrustGate};
use anyhow::Context;
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::server::{NewSession, SessionSummary};
use deskbell_engine::api::*;
use deskbell_engine::disk;
use deskbell_engine::permission::Dialogs;
use deskbell_engine::projects::ProjectStore;
use deskbell_engine::recorder::Recorder;
use deskbell_engine::remote::ServerLink;
use deskbell_engine::session::Timeouts;
use deskbell_engine::session::{SessionHandle, Subscriber};
use deskbell_engine::store::{Record, SavedSession, Sessions, Store};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc, watch};

/// Timeout for a new session of the server, which may have to be started first.
const KEPT_OPENS: Duration = Duration::from_secs(25);

/// Timeout of the app's start for the server's sessions. Later ones are added to the list when they are known.
const KEPT_AT_START: Duration = Duration::from_secs(3);

/// Timeout for a disk that does not respond when the app ends.
const LAST_WRITE: Duration = Duration::from_secs(2);

/// The way to the server with the sessions that keep running.
pub struct KeptServer {
    /// Makes the link. A server is started if none is running.
    pub link: fn(PathBuf) -> ServerLink,
    /// Whether a server runs or has saved sessions.
    pub is_there: fn(&Path) -> bool,
}

struct Entry {
    handle: SessionHandle,
    project: ProjectRef,
    /// Its agent, if that is another one than Claude Code.
    acp: Option<ChosenAgent>,
    /// The session as last published.
    session: Session,
    /// The last process of its agent, which may have ended.
    last_pid: Option<u32>,
}

/// The start policy of windows: the settings in effect, after the window has asked about the folder.
struct WindowPolicy {
    current: Arc<CurrentSettings>,
    gate: TrustGate,
}

impl StartPolicy for WindowPolicy {
    fn settings(&self, _: &SavedSession) -> AgentSettings {
        self.current.get().agent
    }

    fn admit(&self, project: &Path, agent: Option<&ChosenAgent>) -> Result<Allowed, CommandError> {
        self.gate.check(project, agent)
    }
}

/// The idle time until hibernation, in milliseconds; 0 means never.
fn hibernate_ms(settings: &Settings) -> u64 {
    u64::from(settings.agent.hibernate_minutes) * 60_000
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
        let mut sessions = store.load().context("reading the sessions")?;
        // A file in place of the list that cannot be read is reported where the list is opened.
        sessions.follow_moves(&ProjectStore::new(data).load());
        Ok(Self { store, sessions, run: Run::begin(data) })
    }
}

/// The sessions.
pub struct SessionRegistry {
    opener: SessionOpener,
    store: Store,
    current: Arc<CurrentSettings>,
    gate: TrustGate,
    sessions: Mutex<HashMap<SessionId, Entry>>,
    /// Sessions that the user removed and whose processes are still being ended.
    removed: Mutex<HashMap<SessionId, Entry>>,
    /// Notified when one of them has ended.
    ended: Notify,
    kept: KeptServer,
    /// The link to the server that has the sessions that keep running; `None` until it is needed.
    server: watch::Sender<Option<ServerLink>>,
    /// Projects on other machines.
    far: Mutex<far::FarProjects>,
    /// Rules that were removed, the last one at the end.
    removals: Mutex<rules::Removals>,
    /// The rules of the last answer of each session that the agent saves in the folder.
    saving: Mutex<HashMap<SessionId, (RequestId, Vec<String>)>>,
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
        kept: KeptServer,
    ) -> anyhow::Result<(Self, mpsc::UnboundedReceiver<Envelope>)> {
        let Files { store, sessions: known, run } = files;
        let (facts, told) = mpsc::unbounded_channel();
        let (sessions, removed) = (Mutex::default(), Mutex::default());
        let beginning = tokio::sync::Mutex::default();
        let ended = Notify::new();
        let server = watch::Sender::new(None);
        let far = Mutex::default();
        let opener = SessionOpener { data, run };
        let registry = Self {
            opener,
            store,
            current,
            gate,
            sessions,
            removed,
            ended,
            kept,
            server,
            far,
            removals: Mutex::default(),
            saving: Mutex::default(),
            beginning,
            facts,
        };
        for record in known.records {
            registry.add(record).await?;
        }
        registry.forget_removed().await;
        registry.find_kept().await;
        Ok((registry, told))
    }

    /// Opens the sessions that kept running, if there are any. The app's start does not wait long for them.
    async fn find_kept(&self) {
        let data = self.opener.data.clone();
        let is_there = self.kept.is_there;
        let looking = disk::run(&self.opener.data, disk::DEADLINE, move || is_there(&data)).await;
        match looking {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => return tracing::warn!(%error, "could not look for sessions that kept running"),
        }
        let mut listed = self.server().listed();
        let finding = async {
            let known = listed.wait_for(Option::is_some).await.map(|known| known.clone().unwrap_or_default());
            self.add_kept(known.unwrap_or_default()).await
        };
        if tokio::time::timeout(KEPT_AT_START, finding).await.is_err() {
            tracing::warn!("the server does not answer: its sessions are listed later");
        }
    }

    /// Whether new sessions of this project run in the server, if that was chosen for the project itself.
    pub async fn keep_running_of(&self, project: &Path) -> Result<Option<bool>, CommandError> {
        let (projects, project) = (ProjectStore::new(&self.opener.data), project.to_owned());
        Ok(disk::run(&self.opener.data, disk::DEADLINE, move || projects.keep_running(&project)).await?)
    }

    /// Whether a new session of this project runs in the server. The list is read each time: `deskbell projects` changes
    /// it, too.
    async fn is_kept(&self, project: &Path) -> Result<bool, CommandError> {
        let own = self.keep_running_of(project).await?;
        Ok(own.unwrap_or(self.current.get().keep_running))
    }

    /// The link to the server, which is started if it is not running.
    fn server(&self) -> ServerLink {
        self.server.send_if_modified(|server| {
            let is_new = server.is_none();
            server.get_or_insert_with(|| (self.kept.link)(self.opener.data.clone()));
            is_new
        });
        let server = self.server.borrow().clone();
        server.unwrap_or_else(|| (self.kept.link)(self.opener.data.clone()))
    }

    /// Reports the link as soon as there is one.
    pub fn server_opened(&self) -> watch::Receiver<Option<ServerLink>> {
        self.server.subscribe()
    }

    /// Adds sessions of the server that are not known yet, and returns them.
    pub async fn add_kept(&self, listed: Vec<SessionSummary>) -> Vec<Session> {
        let _one_at_a_time = self.beginning.lock().await;
        let mut added = Vec::new();
        for summary in listed {
            let is_known = self.has(&summary.id) || lock(&self.removed).contains_key(&summary.id);
            if is_known {
                continue;
            }
            match self.mirror(summary.id, ProjectRef::from(summary.project.as_str())).await {
                Ok(session) => added.push(session),
                Err(error) => tracing::warn!(%error, "a session that kept running could not be shown"),
            }
        }
        added
    }

    /// Tries to connect to the server of this session now, instead of at the next attempt.
    pub fn retry_link(&self, project: &ProjectRef, id: &SessionId) -> Result<(), CommandError> {
        let is_kept = self.session(project, id)?.mirrored().is_some();
        let server = self.lock().get(id).and_then(|entry| self.link_of(entry)).filter(|_| is_kept);
        let server = server.ok_or_else(|| CommandError {
            code: ErrorCode::BadCommand,
            message: "This session runs in the window and has no connection to a server.".to_owned(),
            detail: None,
        })?;
        server.retry();
        Ok(())
    }

    /// Adds a session of the server.
    async fn mirror(&self, id: SessionId, project: ProjectRef) -> Result<Session, CommandError> {
        self.mirror_of(&self.server(), id, project).await
    }

    /// Adds a session of the server of this link.
    async fn mirror_of(
        &self,
        link: &ServerLink,
        id: SessionId,
        project: ProjectRef,
    ) -> Result<Session, CommandError> {
        // Paths in the conversation are those of the machine that it is on.
        let folder = match &project {
            ProjectRef::Here(folder) => folder.clone(),
            ProjectRef::There(there) => there.folder.as_str().into(),
        };
        let handle = SessionHandle::mirror(link, id.clone(), folder);
        let session = handle.snapshot().await?.session;
        // Also an agent that only the server knows: what is decided about it must not count for Claude Code.
        // The profiles of this machine are those of its own sessions.
        let name = session.profile.as_ref().filter(|_| project.here().is_some());
        let of_profile = name.and_then(|name| self.profile(name).ok());
        let acp = session.agent_id.clone().map(|id| ChosenAgent::Row { id });
        let acp = acp.or_else(|| of_profile.as_ref().and_then(of_settings::agent));
        let last_pid = session.pid;
        let entry = Entry { handle: handle.clone(), project, acp, session: in_lists(&session), last_pid };
        self.lock().insert(id, entry);
        // Only now: its open requests follow, and are for a session that is known.
        handle.subscribe(Subscriber::Summary(self.facts.clone())).await?;
        Ok(session)
    }

    /// Opens a new session of Claude Code or of the demo agent in the server.
    async fn begin_kept(
        &self,
        project: &Path,
        agent: AgentKind,
        profile: Option<&Profile>,
    ) -> Result<Session, CommandError> {
        let settings = self.current.get();
        let program = match agent {
            AgentKind::Demo => Some("demo".to_owned()),
            // The server finds the program of a profile itself.
            AgentKind::Claude | AgentKind::Acp => {
                settings.agent.program.clone().filter(|_| profile.is_none())
            }
        };
        let begun =
            creation::beginning(agent, settings, Some(project), profile, creation::mode_of_environment());
        let session = NewSession {
            project: project.display().to_string(),
            agent: program,
            profile: begun.profile,
            model: begun.model,
            mode: begun.mode,
            options: Box::new(SessionOptions { effort: begun.effort, ..begun.options }),
            ..NewSession::default()
        };
        self.open_kept(project, session).await
    }

    /// Opens a new session in the server, and adds it.
    async fn open_kept(&self, project: &Path, session: NewSession) -> Result<Session, CommandError> {
        self.open_as_asked(&self.server(), &project.into(), session).await
    }

    /// Opens a new session in a server, and adds it. One of an earlier version knows no profiles, or no other agents, and
    /// would begin a session with another account.
    async fn open_as_asked(
        &self,
        link: &ServerLink,
        project: &ProjectRef,
        session: NewSession,
    ) -> Result<Session, CommandError> {
        let (profile, agent) = (session.profile.clone(), session.agent.clone());
        let opened = self.open_in(link, project, session).await?;
        let row = agent.filter(|id| ChosenAgent::row_of(id).is_some());
        if opened.profile == profile && (row.is_none() || opened.agent_id == row) {
            return Ok(opened);
        }
        // Nothing was started there.
        let id = opened.id;
        self.take_out(project, &id)?;
        self.remove(&id).await?;
        Err(CommandError {
            code: ErrorCode::Refused,
            message: "The server of an earlier version of Deskbell cannot begin this session.".to_owned(),
            detail: Some("It leaves when its sessions have ended. Then try again.".to_owned()),
        })
    }

    async fn open_in(
        &self,
        link: &ServerLink,
        project: &ProjectRef,
        session: NewSession,
    ) -> Result<Session, CommandError> {
        let opening = async {
            let id = link.new_session(session).await?;
            self.mirror_of(link, id, project.clone()).await
        };
        let opened = tokio::time::timeout(KEPT_OPENS, opening).await;
        opened.unwrap_or_else(|_| {
            let (message, detail) = match project {
                ProjectRef::There(_) => (
                    "Deskbell on the other machine does not answer.",
                    "The connection may be lost. The log has the reason.",
                ),
                ProjectRef::Here(_) => (
                    "The server for sessions that keep running does not answer.",
                    "The log has the reason. Without the setting, sessions run in the window.",
                ),
            };
            Err(CommandError {
                code: ErrorCode::SpawnFailed,
                message: message.to_owned(),
                detail: Some(detail.to_owned()),
            })
        })
    }

    async fn add(&self, record: Record) -> Result<Session, CommandError> {
        let (id, project) = (record.id.clone(), record.project.clone());
        let acp = record.memory.acp.clone();
        let timeouts = Timeouts { hibernate_ms: hibernate_ms(&self.current.get()), ..Timeouts::default() };
        let (store, recorder) = (Some(self.store.clone()), Recorder::default());
        let handle = self.opener.open(record, store, self.policy(), timeouts, recorder);
        let session = handle.subscribe(Subscriber::Summary(self.facts.clone())).await?.session;
        let last_pid = session.pid;
        let entry = Entry { handle, project: project.into(), acp, session: in_lists(&session), last_pid };
        self.lock().insert(id, entry);
        Ok(session)
    }

    fn policy(&self) -> WindowPolicy {
        WindowPolicy { current: self.current.clone(), gate: self.gate.clone() }
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
        !agent::ask_login_shell(&self.opener.run).await.is_empty()
    }

    /// Whether the agent that a new session would run can work. An obstacle counts only once the login shell has
    /// answered, because the agent may need what the shell adds.
    pub async fn readiness(&self, demo: bool) -> Readiness {
        let check = || {
            let chosen = self.current.get().agent.program.map(PathBuf::from);
            doctor::readiness(demo, chosen, self.opener.data.clone(), self.opener.run.clone())
        };
        let is_final = agent::knows_login_shell();
        let readiness = check().await;
        if is_final || readiness.state == ReadinessState::Ready || !self.ask_login_shell().await {
            return readiness;
        }
        check().await
    }

    /// Tests the agent that a new session would run. `gpu`: whether windows are drawn with one; `None` if the system
    /// decides.
    pub async fn check_agent(&self, gpu: Option<bool>) -> Checkup {
        let chosen = self.current.get().agent.program.map(PathBuf::from);
        doctor::check(chosen, self.opener.data.clone(), self.opener.run.clone(), gpu).await
    }

    /// Starts the agent of a session in the mode without permission requests, for this start, as the user chose.
    pub async fn start_without_asking(
        &self,
        project: &ProjectRef,
        id: &SessionId,
    ) -> Result<(), CommandError> {
        let handle = self.session(project, id)?;
        if let Some((_, session)) = self.known(id) {
            self.check(project, session.agent, self.acp_of(id)).await?;
        }
        handle.start_without_asking().await
    }

    /// Returns a session of this project. A session of another project counts as missing.
    pub fn session(&self, project: &ProjectRef, id: &SessionId) -> Result<SessionHandle, CommandError> {
        let sessions = self.lock();
        let entry = sessions.get(id).filter(|entry| entry.project == *project);
        entry.map(|entry| entry.handle.clone()).ok_or_else(no_such_session)
    }

    /// Answers a query about a session of this project, on the machine of the project, as JSON.
    pub async fn answer(
        &self,
        project: &ProjectRef,
        id: &SessionId,
        query: SessionQuery,
        sources: &QuerySources,
    ) -> Result<String, CommandError> {
        let session = self.session(project, id)?;
        let ProjectRef::Here(folder) = project else { return queries::answer_there(&session, query).await };
        let pid = self.lock().get(id).and_then(|entry| entry.session.pid);
        let queried = QueriedSession { session: &session, folder, sources, pid, most_bytes: None };
        queried.answer(query).await
    }

    /// Carries out a command on a session of this project.
    pub async fn command(
        &self,
        project: &ProjectRef,
        id: &SessionId,
        command: Command,
    ) -> Result<(), CommandError> {
        let session = self.session(project, id)?;
        let rules = self.rules_to_keep(id, &command);
        if command == Command::Start
            && let Some((_, session)) = self.known(id)
        {
            self.check(project, session.agent, self.acp_of(id)).await?;
        }
        let is_prompt = matches!(command, Command::Prompt { .. });
        let answered = match &command {
            Command::Decide { request_id, .. } if !rules.is_empty() => Some(request_id.clone()),
            _ => None,
        };
        session.command(command).await?;
        if is_prompt && let Some(entry) = self.lock().get_mut(id) {
            // Its own event may arrive after the next session is requested.
            entry.session.is_empty = false;
        }
        if let Some(request_id) = answered {
            lock(&self.saving).insert(id.clone(), (request_id, rules.clone()));
        }
        // Only after the answer was accepted. If the rule cannot be recorded, the user is asked about the folder again.
        // A rule that is saved on another machine is in the files there.
        if let Some(folder) = project.here().filter(|_| !rules.is_empty()) {
            let (gate, of) = (self.gate.clone(), folder.to_owned());
            let noted = disk::run(folder, disk::DEADLINE, move || gate.expect(&of, &rules)).await;
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

    /// Restarts every session of this agent in a project when it is idle, because the trust decision changed. `None` is
    /// Claude Code.
    pub async fn reload(&self, project: &ProjectRef, agent: Option<&ChosenAgent>) {
        // The agent of a profile on another machine is known there only.
        let is_other = |session: &Session| agent.is_none() && session.agent == AgentKind::Acp;
        let is_of_agent =
            |session: &Session| self.acp_of(&session.id).as_ref() == agent && !is_other(session);
        self.reload_some(project, is_of_agent).await;
    }

    /// Restarts these sessions of a project when they are idle.
    pub async fn reload_some(&self, project: &ProjectRef, is_one: impl Fn(&Session) -> bool) {
        let all = self.sessions(project).into_iter();
        for session in all.filter(|session| session.agent != AgentKind::Demo && is_one(session)) {
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
        request.map(|request| Dialogs::kept_locally(request, suggestion)).unwrap_or_default()
    }

    /// The project's sessions, the most recently changed first.
    pub fn sessions(&self, project: &ProjectRef) -> Vec<Session> {
        let sessions = self.lock();
        let mut sessions: Vec<Session> = sessions
            .values()
            .filter(|entry| entry.project == *project)
            .map(|entry| entry.session.clone())
            .collect();
        sessions.sort_by_key(|session| std::cmp::Reverse(session.changed_at));
        sessions
    }

    /// The sessions of all projects, as last published.
    pub fn all(&self) -> Vec<Session> {
        let session = |entry: &Entry| {
            let mut session = entry.session.clone();
            if let ProjectRef::There(project) = &entry.project {
                // A folder of the same name on this machine is another project.
                session.project = project.to_string();
            }
            session
        };
        self.lock().values().map(session).collect()
    }

    /// The conversations of this machine whose agents run now, by the agent's id, with their projects.
    pub fn running(&self) -> Vec<(PathBuf, String)> {
        let sessions = self.lock();
        let running = sessions.values().filter(|entry| entry.session.alive);
        let here =
            |entry: &Entry| Some((entry.project.here()?.to_owned(), entry.session.agent_session_id.clone()?));
        running.filter_map(here).collect()
    }

    /// The projects of all sessions whose agents run, also of those that were removed and have not ended yet.
    pub fn projects_at_work(&self) -> Vec<ProjectRef> {
        let (sessions, removed) = (self.lock(), lock(&self.removed));
        let all = sessions.values().chain(removed.values());
        all.filter(|entry| entry.session.alive).map(|entry| entry.project.clone()).collect()
    }

    /// The sessions of this computer in which a turn runs that does not wait for the user. Of one whose server is not reached
    /// nobody knows.
    pub fn n_working_here(&self) -> usize {
        let works = |entry: &&Entry| {
            matches!(entry.session.status, Status::Working { .. } | Status::Interrupting)
                && matches!(entry.session.link, SessionLink::Here | SessionLink::Connected)
                && entry.project.is_on_this_computer()
        };
        self.lock().values().filter(works).count()
    }

    /// The project of a session, and the session as last published.
    pub fn known(&self, id: &SessionId) -> Option<(ProjectRef, Session)> {
        self.lock().get(id).map(|entry| (entry.project.clone(), entry.session.clone()))
    }

    /// Whether there is such a session, in any project.
    pub fn has(&self, id: &SessionId) -> bool {
        self.lock().contains_key(id)
    }

    /// A session of this project, as last published. A session of another project counts as missing.
    pub fn known_in(&self, project: &ProjectRef, id: &SessionId) -> Option<Session> {
        let sessions = self.lock();
        sessions.get(id).filter(|entry| entry.project == *project).map(|entry| entry.session.clone())
    }

    /// The sessions of all projects that wait for the user, the one that waits longest first.
    pub fn waiting(&self) -> Vec<(ProjectRef, Session)> {
        let sessions = self.lock();
        let is_waiting = |entry: &&Entry| entry.session.status.state() == Some(BoardState::NeedsInput);
        let mut waiting: Vec<_> = sessions
            .values()
            .filter(is_waiting)
            .map(|entry| (entry.project.clone(), entry.session.clone()))
            .collect();
        waiting.sort_by(|(_, a), (_, b)| (a.changed_at, a.id.as_str()).cmp(&(b.changed_at, b.id.as_str())));
        waiting
    }

    /// Remembers a session as published, but for what lists do not have.
    pub fn learn(&self, id: &SessionId, event: &Event) {
        if let Some(entry) = self.lock().get_mut(id) {
            entry.session.apply(event);
            entry.session.side_questions.clear();
            entry.last_pid = entry.session.pid.or(entry.last_pid);
        }
    }

    /// Denies the open requests and ends the agents, of one project or of all. Sessions of the server go on.
    pub async fn close(&self, project: Option<&ProjectRef>) {
        let of_project = |entry: &&Entry| {
            project.is_none_or(|project| entry.project == *project) && entry.handle.mirrored().is_none()
        };
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
        let run = self.opener.run.clone();
        if let Err(error) = disk::run(&self.opener.data, LAST_WRITE, move || run.end()).await {
            tracing::warn!(%error, "could not remove the file of this run");
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Entry>> {
        lock(&self.sessions)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A session as lists have it: without the answers to side questions, which are large and only its page shows.
fn in_lists(session: &Session) -> Session {
    Session { side_questions: Vec::new(), ..session.clone() }
}

fn no_such_session() -> CommandError {
    CommandError {
        code: ErrorCode::NoSuchSession,
        message: "There is no such session in this project.".to_owned(),
        detail: None,
    }
}
