//! The sessions of the server: opened once, saved in the server's own folder, their events given to the hub.

use super::{Server, lock};
use anyhow::Context;
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::server::{NewFork, NewSession, RevertRequest, SessionSummary};
use deskbell_engine::api::*;
use deskbell_engine::disk::write_atomically;
use deskbell_engine::disk::{self, Loaded};
use deskbell_engine::launch::{Fork, Launch};
use deskbell_engine::options::CheckedOptions;
use deskbell_engine::permission::leave_out_repeats;
use deskbell_engine::recorder::Recorder;
use deskbell_engine::remote::ServerLink;
use deskbell_engine::session::Timeouts;
use deskbell_engine::session::{SessionHandle, Subscriber};
use deskbell_engine::store::{Record, SavedSession, Store};
use deskbell_engine::title::Title;
use deskbell_engine::trust::TrustStore;
use deskbell_server::hub::{Input, MAX_ANSWER_BYTES, line};
use deskbell_server::{Line, summary};
use deskbell_sessions::agent;
use deskbell_sessions::opener::{self, SessionChoices, StartPolicy};
use deskbell_sessions::queries::QueriedSession;
use deskbell_sessions::trust::{self, Allowed};
use deskbell_sessions::{folders, profiles};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, watch};

/// Events that may wait for their way into the hub, which takes them at once.
const BACKLOG: usize = 64;

/// The largest snapshot, in bytes. Above it, the oldest items are left out; `rows` says so.
const MAX_SNAPSHOT: usize = 32 << 20;

/// Maximum length of an answer, with room for the line around it.
const MOST_OF_ANSWER: usize = MAX_ANSWER_BYTES - 1024;

/// Longest title of a new session, in user-perceived characters.
const LONGEST_TITLE: usize = 200;

/// The size of the file that says how a session was opened.
const MOST_OF_OPENED: u64 = 64 << 10;

/// Something to do for a session, in order. The hub limits how many wait.
pub enum Job {
    Command { id: String, command: Command },
    Remove { id: String },
}

struct Entry {
    /// One that takes the place of another session with the same id has another number.
    nr: u64,
    handle: SessionHandle,
    /// Its folder. Questions about files are about this one only.
    project: PathBuf,
    jobs: mpsc::UnboundedSender<Job>,
    /// Dropping it ends commands that wait for a server that has left.
    _end: watch::Sender<()>,
}

/// What a session was opened with, and its record does not contain.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Opened {
    agent: Option<String>,
}

/// The start policy of the server: the current settings file. It cannot ask the user.
struct ServerPolicy {
    decisions: TrustStore,
    /// The program given when a session without a profile was opened.
    program: Option<String>,
    /// Whether the session was opened with trust in its folder.
    is_trusted: bool,
}

impl StartPolicy for ServerPolicy {
    fn settings(&self, memory: &SavedSession) -> AgentSettings {
        let settings = profiles::settings();
        match &memory.profile {
            Some(_) => settings,
            None => AgentSettings { program: self.program.clone(), ..settings },
        }
    }

    fn admit(&self, project: &Path, agent: Option<&ChosenAgent>) -> Result<Allowed, CommandError> {
        trust::admit_unasked(&self.decisions, project, agent, self.is_trusted)
    }
}

/// The sessions, and the folder that they are saved in.
pub struct Sessions {
    store: Store,
    opened: PathBuf,
    entries: Mutex<HashMap<SessionId, Entry>>,
    n_entries: AtomicU64,
    /// Read from disk, to be restored.
    saved: Mutex<Vec<(Record, Opened)>>,
}

impl Sessions {
    pub fn read(folder: &Path) -> anyhow::Result<Self> {
        let (store, opened) = open_folders(folder)?;
        let saved = Mutex::new(saved_in(&store, &opened)?);
        Ok(Self { store, opened, entries: Mutex::default(), n_entries: AtomicU64::new(0), saved })
    }

    /// Whether a session of this id runs here.
    fn runs(&self, id: &SessionId) -> bool {
        lock(&self.entries).get(id).is_some_and(|entry| entry.handle.mirrored().is_none())
    }

    fn is_current(&self, id: &SessionId, nr: u64) -> bool {
        lock(&self.entries).get(id).is_some_and(|entry| entry.nr == nr)
    }

    /// Returns whether the session was still this one.
    fn end(&self, id: &SessionId, nr: u64) -> bool {
        let mut entries = lock(&self.entries);
        let is_replaced = entries.get(id).is_some_and(|entry| entry.nr != nr);
        if !is_replaced {
            entries.remove(id);
        }
        !is_replaced
    }

    /// Closes all sessions and waits for the exit of their processes.
    async fn close(&self) {
        let entries: Vec<Entry> = lock(&self.entries).drain().map(|(_, entry)| entry).collect();
        let closing: Vec<_> = entries
            .into_iter()
            .map(|entry| tokio::spawn(async move { entry.handle.close().await }))
            .collect();
        for task in closing {
            match task.await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::debug!(%error, "the session was already closed"),
                Err(error) => tracing::error!(%error, "could not close a session"),
            }
        }
    }
}

fn open_folders(folder: &Path) -> anyhow::Result<(Store, PathBuf)> {
    let store = Store::open(folder.join("sessions")).context("opening the folder of sessions")?;
    let opened = folder.join("opened");
    disk::own_folder(&opened).context("opening the folder of sessions")?;
    Ok((store, opened))
}

fn saved_in(store: &Store, opened: &Path) -> anyhow::Result<Vec<(Record, Opened)>> {
    let loaded = store.load().context("reading the sessions")?;
    for aside in loaded.set_aside {
        tracing::error!(path = %aside.path.display(), problem = aside.problem, "a session could not be read");
    }
    let saved = loaded.records.into_iter().map(|record| {
        let how = match disk::load_json(&path_of(opened, &record.id), MOST_OF_OPENED) {
            Loaded::Read(opened) => opened,
            Loaded::Missing | Loaded::Unreadable(_) => Opened::default(),
        };
        (record, how)
    });
    Ok(saved.collect())
}

fn path_of(folder: &Path, id: &SessionId) -> PathBuf {
    folder.join(format!("{id}.json"))
}

fn bad(code: ErrorCode, message: impl Into<String>) -> CommandError {
    CommandError { code, message: message.into(), detail: None }
}

/// The older server has left before it answered. Its sessions show what it carried out.
fn moved() -> CommandError {
    let message = "The session moved to this version of Deskbell at that moment. Look whether it did what you asked, and \
                   ask again if not.";
    bad(ErrorCode::Refused, message)
}

fn gone() -> CommandError {
    bad(ErrorCode::NoSuchSession, "The session is closed.")
}

impl Server {
    /// Opens the saved sessions. None of them starts by itself, and their prompts are held.
    pub(super) async fn restore(self: &Arc<Self>) {
        let saved = std::mem::take(&mut *lock(&self.sessions.saved));
        self.add_all(saved).await;
    }

    /// Opens the sessions that were moved here since the start. They take the place of their mirrors.
    pub(super) async fn add_moved(self: &Arc<Self>) -> anyhow::Result<()> {
        let (store, opened) = (self.sessions.store.clone(), self.sessions.opened.clone());
        let read = disk::run(&self.opener.data, disk::DEADLINE, move || saved_in(&store, &opened));
        let mut moved = read.await??;
        moved.retain(|(record, _)| !self.sessions.runs(&record.id));
        self.add_all(moved).await;
        Ok(())
    }

    async fn add_all(self: &Arc<Self>, saved: Vec<(Record, Opened)>) {
        let mut restoring = tokio::task::JoinSet::new();
        for (record, opened) in saved {
            let server = self.clone();
            restoring.spawn(async move {
                let id = record.id.clone();
                if let Err(error) = server.add(record, opened, false).await {
                    tracing::error!(%error, session = %id, "could not open a saved session");
                }
            });
        }
        while let Some(restored) = restoring.join_next().await {
            if let Err(error) = restored {
                tracing::error!(%error, "could not open a saved session");
            }
        }
    }

    pub(super) async fn close(&self) {
        self.sessions.close().await;
    }

    /// Gives a job to a session. The hub knows the session, so it can be missing only while it ends.
    pub(super) fn give(self: &Arc<Self>, id: String, session_id: SessionId, job: impl FnOnce(String) -> Job) {
        let jobs = lock(&self.sessions.entries).get(&session_id).map(|entry| entry.jobs.clone());
        let is_given = jobs.is_some_and(|jobs| jobs.send(job(id.clone())).is_ok());
        if !is_given {
            let server = self.clone();
            // In a task, because the caller carries out the effects of a step.
            tokio::spawn(async move { server.step(Input::Executed { id, result: Err(gone()) }) });
        }
    }

    /// Opens a new session and saves it.
    pub(super) async fn open(self: &Arc<Self>, new: NewSession) -> Result<SessionId, CommandError> {
        let NewSession { project, agent, profile, resume, fork, title, model, mode, options, trust } = new;
        let options = *options;
        if let Some(problem) = model.as_deref().and_then(Launch::bad_model) {
            return Err(bad(ErrorCode::BadCommand, format!("The model is not valid: {problem}.")));
        }
        let profile = match profile {
            Some(_) if agent.is_some() => {
                return Err(bad(ErrorCode::BadCommand, "A profile names the agent: leave “agent” out."));
            }
            Some(name) => Some(self.profile(name).await?),
            None => None,
        };
        let acp = match &profile {
            Some(profile) => profiles::agent(profile),
            None => agent.as_deref().and_then(ChosenAgent::row_of),
        };
        let is_acp = acp.is_some();
        let is_uuid = |id: &String| id.len() == 36 && uuid::Uuid::try_parse(id).is_ok();
        if resume
            .as_ref()
            .is_some_and(|id| if is_acp { !Launch::is_conversation_id(id) } else { !is_uuid(id) })
        {
            return Err(bad(ErrorCode::BadCommand, "The conversation's id is not valid."));
        }
        let folder = PathBuf::from(&project);
        if !folder.is_absolute() {
            return Err(bad(ErrorCode::BadProject, "The project must be an absolute path."));
        }
        let place = folder.clone();
        let found = disk::run(&place, disk::DEADLINE, move || {
            dunce::canonicalize(folder).ok().filter(|folder| folder.is_dir())
        });
        let Some(project) = found.await? else {
            return Err(bad(ErrorCode::BadProject, format!("The folder {project} is not there.")));
        };
        let (place, checked) = (project.clone(), options.clone());
        let check = move || checked.check_in(&place);
        disk::run(&project, disk::DEADLINE, check).await??;
        let kind = match agent.as_deref() {
            Some("demo") => AgentKind::Demo,
            _ if is_acp => AgentKind::Acp,
            _ => AgentKind::Claude,
        };
        if is_acp && (mode.is_some() || options != SessionOptions::default()) {
            let message = "A mode and options are for Claude Code, and this agent does not have them.";
            return Err(bad(ErrorCode::BadCommand, message));
        }
        if resume.is_some() && fork.is_some() {
            return Err(bad(
                ErrorCode::BadCommand,
                "A session either continues a conversation or copies one.",
            ));
        }
        let fork = match fork {
            Some(_) if is_acp => {
                return Err(bad(ErrorCode::BadCommand, "This agent cannot fork a conversation."));
            }
            Some(fork) => self.fork(fork, kind, profile.as_ref(), &project).await?,
            None => None,
        };
        let title =
            title.map(|title| Title::one_line(&title, LONGEST_TITLE)).filter(|title| !title.is_empty());
        let choices = SessionChoices { acp, resume, fork, title, model, mode, options };
        let record = opener::new_record(project, kind, choices.begin(profile.as_ref()));
        let opened = Opened { agent: agent.filter(|_| kind == AgentKind::Claude) };
        self.save(&record, &opened).await?;
        self.add(record, opened, trust).await
    }

    /// What a new session copies; `None` if the copy ends before the first prompt.
    async fn fork(
        &self,
        NewFork { of, before }: NewFork,
        kind: AgentKind,
        profile: Option<&Profile>,
        project: &Path,
    ) -> Result<Option<Fork>, CommandError> {
        if !Launch::is_conversation_id(&of) {
            return Err(bad(ErrorCode::BadCommand, "The conversation's id is not valid."));
        }
        self.opener.fork(kind, profile, project, of, before).await
    }

    /// A profile of the user's settings, as they are now.
    async fn profile(&self, name: String) -> Result<Profile, CommandError> {
        let find = move || profiles::find(&profiles::settings(), &name);
        disk::run(&folders::config(), disk::DEADLINE, find).await?
    }

    async fn save(&self, record: &Record, opened: &Opened) -> Result<(), CommandError> {
        let (store, path) = (self.sessions.store.clone(), path_of(&self.sessions.opened, &record.id));
        let (record, opened) = (record.clone(), opened.clone());
        let saved = disk::run(&self.opener.data, disk::DEADLINE, move || {
            write_atomically(&path, &serde_json::to_vec(&opened)?)?;
            anyhow::Ok(store.save(&record)?)
        });
        saved.await?.map_err(|error| CommandError {
            code: ErrorCode::Internal,
            message: "The session could not be saved on disk.".to_owned(),
            detail: Some(format!("{error:#}")),
        })
    }

    async fn add(
        self: &Arc<Self>,
        record: Record,
        opened: Opened,
        trusted: bool,
    ) -> Result<SessionId, CommandError> {
        let (id, project) = (record.id.clone(), record.project.clone());
        let policy =
            ServerPolicy { decisions: self.decisions.clone(), program: opened.agent, is_trusted: trusted };
        let store = Some(self.sessions.store.clone());
        let handle = self.opener.open(record, store, policy, Timeouts::default(), Recorder::default());
        self.insert(handle, project).await?;
        Ok(id)
    }

    /// Adds a session that runs in the server of an older version; false if it is there already.
    pub(super) async fn mirror(
        self: &Arc<Self>,
        link: &ServerLink,
        version: &str,
        of: SessionSummary,
    ) -> Result<bool, CommandError> {
        if lock(&self.sessions.entries).contains_key(&of.id) {
            return Ok(false);
        }
        let project = PathBuf::from(of.project);
        let handle = SessionHandle::mirror_older(link, of.id, project.clone(), version.to_owned());
        self.insert(handle, project).await?;
        Ok(true)
    }

    /// Ends the mirrors of these sessions.
    pub(super) fn forget_mirrors(&self, ids: &HashSet<SessionId>) {
        lock(&self.sessions.entries)
            .retain(|id, entry| entry.handle.mirrored().is_none() || !ids.contains(id));
    }

    async fn insert(self: &Arc<Self>, handle: SessionHandle, project: PathBuf) -> Result<(), CommandError> {
        let id = handle.id().clone();
        let (sender, events) = mpsc::channel(BACKLOG);
        let snapshot = handle.subscribe(Subscriber::Every(sender)).await?;
        let (jobs, inbox) = mpsc::unbounded_channel();
        let nr = self.sessions.n_entries.fetch_add(1, Ordering::Relaxed);
        let (end, ended) = watch::channel(());
        let entry = Entry { nr, handle: handle.clone(), project: project.clone(), jobs, _end: end };
        lock(&self.sessions.entries).insert(id.clone(), entry);
        let summary = summary(&snapshot.session, snapshot.seq);
        self.step(match &handle {
            SessionHandle::Mirror(_) => Input::SessionMirrored(summary),
            SessionHandle::Local(_) => Input::SessionOpened(summary),
        });
        tokio::spawn(pump(self.clone(), snapshot.session, nr, events));
        tokio::spawn(work(self.clone(), handle, project, inbox, ended));
        Ok(())
    }

    /// Ends a session and removes it from the disk.
    async fn remove(self: &Arc<Self>, handle: &SessionHandle) -> Result<(), CommandError> {
        if let Some(mirrored) = handle.mirrored() {
            // The server that runs it removes it. The mirror ends with it.
            return mirrored.discard().await;
        }
        handle.close().await?;
        let id = handle.id().clone();
        let (store, path, removed_id) =
            (self.sessions.store.clone(), path_of(&self.sessions.opened, &id), id.clone());
        let removed = disk::run(&self.opener.data, disk::DEADLINE, move || {
            store.remove(&removed_id)?;
            anyhow::Ok(std::fs::remove_file(path)?)
        });
        let removed = removed.await?.map_err(|error| CommandError {
            code: ErrorCode::Internal,
            message: "The session's file could not be removed.".to_owned(),
            detail: Some(format!("{error:#}")),
        });
        // Also without success: the session is closed, and its process has ended.
        self.sources.prompts.forget(&id);
        lock(&self.sessions.entries).remove(&id);
        removed
    }

    /// The answer to a question about a session.
    pub(super) async fn answer(
        &self,
        session_id: &SessionId,
        question: SessionQuery,
    ) -> Result<Value, CommandError> {
        let entry = lock(&self.sessions.entries)
            .get(session_id)
            .map(|entry| (entry.handle.clone(), entry.project.clone()));
        let (handle, project) = entry.ok_or_else(gone)?;
        let pid = lock(&self.hub).pid_of(session_id);
        let (session, folder, sources) = (&handle, project.as_path(), &self.sources);
        let most_bytes = Some(MOST_OF_ANSWER);
        QueriedSession { session, folder, sources, pid, most_bytes }.answer(question).await
    }

    /// Reverts a change in the folder of a session, or undoes that.
    pub(super) async fn revert(
        &self,
        id: &str,
        session_id: &SessionId,
        change: RevertRequest,
    ) -> Result<(), CommandError> {
        let project = lock(&self.sessions.entries).get(session_id).map(|entry| entry.project.clone());
        self.reverts
            .carry_out(id, &project.ok_or_else(gone)?, change, &self.sources.prompts, session_id)
            .await
    }

    /// The line of a session's snapshot and the number of its last event; `None` if the session is gone.
    pub(super) async fn snapshot(&self, session_id: &SessionId) -> Option<(u64, Line)> {
        let handle = lock(&self.sessions.entries).get(session_id).map(|entry| entry.handle.clone())?;
        let snapshot = handle.snapshot().await.ok()?;
        let (seq, id) = (snapshot.seq, session_id.clone());
        let made = tokio::task::spawn_blocking(move || snapshot_line(&id, snapshot)).await.ok()?;
        Some((seq, made))
    }
}

/// Writes a snapshot, without its oldest items if it is very long.
fn snapshot_line(session_id: &SessionId, mut snapshot: Snapshot) -> Line {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Whole<'a> {
        r#type: &'static str,
        session_id: &'a SessionId,
        snapshot: &'a Snapshot,
    }
    let write = |snapshot: &Snapshot| line(&Whole { r#type: "snapshot", session_id, snapshot });
    let mut made = write(&snapshot);
    while made.len() > MAX_SNAPSHOT && !snapshot.items.is_empty() {
        // At the beginning of a row.
        let middle = snapshot.items.len().div_ceil(2);
        let first = snapshot.items.get(middle).map_or(snapshot.rows.end, |item| item.row);
        snapshot.items.drain(..middle);
        snapshot.items.retain(|item| item.row >= first);
        snapshot.rows.first = first;
        made = write(&snapshot);
    }
    made
}

/// Gives the events of a session to the hub, until the session has ended.
async fn pump(server: Arc<Server>, mut session: Session, nr: u64, mut events: mpsc::Receiver<Envelope>) {
    let session_id = session.id.clone();
    while let Some(mut envelope) = events.recv().await {
        if !server.sessions.is_current(&session_id, nr) {
            // The numbers are those of the session that was replaced.
            break;
        }
        let seq = envelope.seq;
        session.apply(&envelope.event);
        let summary = match &envelope.event {
            Event::SessionChanged { .. } => Some(summary(&session, seq)),
            _ => None,
        };
        leave_out_repeats(&mut envelope.event);
        let event = Input::Event { session_id: session_id.clone(), seq, line: line(&envelope), summary };
        server.step(event);
    }
    if server.sessions.end(&session_id, nr) {
        server.step(Input::SessionRemoved(session_id));
    }
}

/// Carries out the jobs of a session, in order.
async fn work(
    server: Arc<Server>,
    handle: SessionHandle,
    project: PathBuf,
    mut inbox: mpsc::UnboundedReceiver<Job>,
    mut ended: watch::Receiver<()>,
) {
    let session_id = handle.id().clone();
    while let Some(job) = inbox.recv().await {
        let (id, result) = match job {
            Job::Command { id, command } => {
                if let Command::Prompt { text, .. } = &command {
                    server.sources.prompts.take(&project, &session_id, text);
                }
                let carried_out = async {
                    // The command may start the agent.
                    agent::ask_login_shell(&server.opener.run).await;
                    handle.command(command).await
                };
                let result = tokio::select! {
                    result = carried_out => result,
                    // An error is the wanted end: the sender was dropped.
                    _ = ended.changed() => Err(moved()),
                };
                (id, result)
            }
            Job::Remove { id } => (id, server.remove(&handle).await),
        };
        let result = result.map(|()| session_id.clone());
        server.step(Input::Executed { id, result });
    }
}
