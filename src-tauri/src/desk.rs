//! Every session of every project: opened once, kept on disk, listened to by the desk itself.

use crate::agent::{self, Run};
use crate::doctor;
use crate::preferences::Preferred;
use crate::trust::Gate;
use anyhow::Context;
use deskbell_engine::api::*;
use deskbell_engine::permission::kept_locally;
use deskbell_engine::recorder::Recorder;
use deskbell_engine::session::machine::{Limits, Memory};
use deskbell_engine::session::{Open, SessionHandle, Subscriber};
use deskbell_engine::store::{Record, Store};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc;

/// The app's own folder. `XDG_DATA_HOME`, Application Support or AppData, whichever the system has.
pub fn data_folder() -> PathBuf {
    dirs::data_dir().unwrap_or_else(|| PathBuf::from(".")).join("deskbell")
}

struct Entry {
    handle: SessionHandle,
    project: PathBuf,
    /// As it was told last.
    session: Session,
}

/// The sessions.
pub struct Desk {
    data: PathBuf,
    store: Store,
    run: Run,
    preferred: Arc<Preferred>,
    gate: Gate,
    sessions: Mutex<HashMap<SessionId, Entry>>,
    /// What every session tells, for the list, the dialogs and the bell.
    facts: mpsc::UnboundedSender<Envelope>,
}

impl Desk {
    /// Opens the sessions that were known before; none of them starts by itself. What they tell comes out of the
    /// receiver.
    pub async fn open(
        data: PathBuf,
        preferred: Arc<Preferred>,
        gate: Gate,
    ) -> anyhow::Result<(Self, mpsc::UnboundedReceiver<Envelope>)> {
        let store = Store::open(data.join("sessions")).context("opening the folder of sessions")?;
        let loaded = store.load().context("reading the sessions")?;
        for (path, problem) in &loaded.set_aside {
            tracing::error!(path = %path.display(), problem, "a session could not be read and was set aside");
        }
        let (facts, told) = mpsc::unbounded_channel();
        let sessions = Mutex::default();
        let run = Run::begin(&data);
        let desk = Self { data, store, run, preferred, gate, sessions, facts };
        for record in loaded.records {
            desk.add(record).await?;
        }
        Ok((desk, told))
    }

    async fn add(&self, record: Record) -> Result<Session, CommandError> {
        let (id, project) = (record.id.clone(), record.project.clone());
        let preferred = self.preferred.clone();
        let gate = self.gate.clone();
        let launcher = agent::launcher(
            record.agent,
            project.clone(),
            self.data.clone(),
            move || preferred.get().agent_program.map(PathBuf::from),
            move |project| gate.admit(project),
            self.run.clone(),
        );
        let agent_config = agent::config_folder(record.agent, &self.data);
        let store = Some(self.store.clone());
        let handle = SessionHandle::open(Open {
            record,
            launcher,
            store,
            agent_config,
            locks: Some(self.data.join("locks")),
            limits: Limits::default(),
            recorder: Recorder::default(),
        });
        let session = handle.subscribe(Subscriber::Facts(self.facts.clone())).await?.session;
        let entry = Entry { handle, project, session: session.clone() };
        self.lock().insert(id, entry);
        Ok(session)
    }

    /// Asked before every start of an agent.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Tries the agent that a new session would run.
    pub async fn check_agent(&self) -> Checkup {
        let chosen = self.preferred.get().agent_program.map(PathBuf::from);
        doctor::check(chosen, self.data.clone(), self.run.clone()).await
    }

    /// Begins a session, and its agent with it: in a mode that asks nothing if its user chose that.
    pub async fn create(
        &self,
        project: &Path,
        agent: AgentKind,
        without_asking: bool,
    ) -> Result<Session, CommandError> {
        // What may not start yet is not begun.
        self.admit(project, agent)?;
        let session = self.add_new(project, agent).await?;
        let handle = self.session(project, &session.id)?;
        if without_asking {
            handle.start_without_asking().await?;
        } else {
            handle.start().await?;
        }
        Ok(session)
    }

    /// Starts the agent of a session that has none in a mode that asks nothing: this once, as its user chose.
    pub async fn start_without_asking(&self, project: &Path, id: &SessionId) -> Result<(), CommandError> {
        let handle = self.session(project, id)?;
        if let Some((_, session)) = self.known(id) {
            self.admit(project, session.agent)?;
        }
        handle.start_without_asking().await
    }

    /// May an agent start there? A folder that is gone is told of elsewhere.
    fn admit(&self, project: &Path, agent: AgentKind) -> Result<(), CommandError> {
        if agent != AgentKind::Demo && project.is_dir() {
            self.gate.admit(project)?;
        }
        Ok(())
    }

    /// Begins a session without its agent.
    pub async fn add_new(&self, project: &Path, agent: AgentKind) -> Result<Session, CommandError> {
        if !project.is_dir() {
            return Err(CommandError {
                code: ErrorCode::BadProject,
                message: format!("The folder {} is not there.", project.display()),
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
            memory: Memory::default(),
        };
        self.store.save(&record).map_err(|error| CommandError {
            code: ErrorCode::Internal,
            message: "The session could not be kept on disk.".to_owned(),
            detail: Some(error.to_string()),
        })?;
        self.add(record).await
    }

    /// Ends a session and forgets it. The agent's own transcript stays where it is.
    pub async fn remove(&self, id: &SessionId) -> Result<(), CommandError> {
        let entry = self.lock().remove(id);
        if let Some(entry) = entry {
            entry.handle.close().await?;
        }
        self.store.remove(id).map_err(|error| CommandError {
            code: ErrorCode::Internal,
            message: "The session's file could not be removed.".to_owned(),
            detail: Some(error.to_string()),
        })
    }

    /// A session of this project; another project's does not exist here.
    pub fn session(&self, project: &Path, id: &SessionId) -> Result<SessionHandle, CommandError> {
        let sessions = self.lock();
        let entry = sessions.get(id).filter(|entry| entry.project == project);
        entry.map(|entry| entry.handle.clone()).ok_or_else(|| CommandError {
            code: ErrorCode::NoSuchSession,
            message: "There is no such session in this project.".to_owned(),
            detail: None,
        })
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
        session.command(command).await?;
        // Only what was taken for an answer; and if it cannot be noted, the folder is asked about once more.
        if let Err(error) = self.gate.expect(project, &rules) {
            tracing::warn!(%error, "a kept rule could not be noted");
        }
        Ok(())
    }

    /// The rules that an answer has the agent keep in the folder's local settings.
    fn rules_to_keep(&self, id: &SessionId, command: &Command) -> Vec<String> {
        let Command::Decide { request_id, decision: Decision::AllowAlways { suggestion }, .. } = command
        else {
            return Vec::new();
        };
        let Some((_, session)) = self.known(id) else { return Vec::new() };
        let request = session.requests.iter().find(|request| request.id == *request_id);
        request.map(|request| kept_locally(request, suggestion)).unwrap_or_default()
    }

    /// The project's sessions, the one that changed last first.
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

    /// Where a session belongs, and how it was told last.
    pub fn known(&self, id: &SessionId) -> Option<(PathBuf, Session)> {
        self.lock().get(id).map(|entry| (entry.project.clone(), entry.session.clone()))
    }

    /// Remembers what was told.
    pub fn learn(&self, session: &Session) {
        if let Some(entry) = self.lock().get_mut(&session.id) {
            entry.session = session.clone();
        }
    }

    /// Denies what is open and ends the agents: of one project, or of all.
    pub async fn close(&self, project: Option<&Path>) {
        let of_project = |entry: &&Entry| project.is_none_or(|project| entry.project == project);
        let handles: Vec<SessionHandle> =
            self.lock().values().filter(of_project).map(|entry| entry.handle.clone()).collect();
        let closing: Vec<_> = handles
            .into_iter()
            .map(|handle| {
                tokio::spawn(async move {
                    if let Err(error) = handle.close().await {
                        tracing::debug!(%error, "a session was closed already");
                    }
                })
            })
            .collect();
        for task in closing {
            if let Err(error) = task.await {
                tracing::error!(%error, "a session could not be closed");
            }
        }
    }

    /// The last that is done: ends everything, and with it the run.
    pub async fn end(&self) {
        self.close(None).await;
        self.run.end();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Entry>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
