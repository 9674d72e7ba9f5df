//! Projects on other machines: the state of each, the link to each machine's server, and its sessions. Nothing here reads
//! a file: whatever is asked about their folders is asked there.

use super::{Entry, SessionRegistry, creation, lock, no_such_session};
use crate::far::{AskWindow, Connections, Far};
use crate::wanted::{LONGEST_NAME, Wanted};
use deskbell_engine::api::server::{NewFork, NewSession, RevertRequest, SessionSummary};
use deskbell_engine::api::*;
use deskbell_engine::launch::Launch;
use deskbell_engine::remote::{Dial, ServerLink};
use deskbell_engine::session::MirroredSession;
use deskbell_engine::title::Title;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Projects there whose lists are kept. Searches find conversations of any.
const MOST_PROJECTS: usize = 1_000;

/// Sessions of one project that are shown. A machine can name as many as it likes.
const MOST_SESSIONS: usize = 200;

/// The longest command line of a login there that is run, in bytes.
const LONGEST_LOGIN: usize = 2_048;

/// What is known of a project on another machine.
#[derive(Clone, Debug)]
pub enum FarState {
    /// It is being asked.
    Connecting,
    /// Reached, with the trust decision that is kept there.
    Reached(Box<TrustView>),
    Failed(CommandError),
}

/// The projects on other machines, and the links to these.
#[derive(Default)]
pub(super) struct FarProjects {
    states: HashMap<RemoteProject, FarState>,
    /// What is checked out in their folders, or why it is not known.
    checkouts: HashMap<RemoteProject, Result<Checkout, UnreadFile>>,
    links: HashMap<RemoteMachine, FarLink>,
    /// The conversations that these machines listed or found, by project and the agent's id.
    stored: HashMap<RemoteProject, HashMap<String, StoredSession>>,
    /// Reverts there that can be undone: the id of the request, by the session and the time that the page has.
    reverts: HashMap<(SessionId, u64), String>,
    connections: Arc<Connections>,
}

struct FarLink {
    link: ServerLink,
    /// When the link was up last, in milliseconds since the epoch.
    seen_at: Option<u64>,
    attempts: Arc<Attempts>,
}

/// Which attempts to connect may ask the user something: the first one, and one that the user wants. ssh would ask at each
/// of the others, all night.
struct Attempts {
    next_may_ask: AtomicBool,
    this_may_ask: AtomicBool,
}

impl Attempts {
    fn new() -> Self {
        Self { next_may_ask: AtomicBool::new(true), this_may_ask: AtomicBool::new(false) }
    }

    /// The user wants one.
    fn wanted(&self) {
        self.next_may_ask.store(true, Ordering::Relaxed);
    }

    /// An attempt begins. Returns whether it may ask.
    fn begin(&self) -> bool {
        let may_ask = self.next_may_ask.swap(false, Ordering::Relaxed);
        self.this_may_ask.store(may_ask, Ordering::Relaxed);
        may_ask
    }

    /// The attempt that runs is made again, and may then do what it could.
    fn begin_again(&self) {
        if self.this_may_ask.load(Ordering::Relaxed) {
            self.wanted();
        }
    }
}

/// Where ssh asks something for a link.
pub struct AskPlace {
    /// The window that needs the link now.
    pub window: Box<dyn Fn() -> Option<AskWindow> + Send + Sync>,
    /// Whether a question about the machine is open.
    pub is_asked: Box<dyn Fn() -> bool + Send + Sync>,
}

/// The machine, with the program that comes with Deskbell.
pub fn far_of(machine: &RemoteMachine) -> Far {
    Far { machine: machine.clone(), program: None }
}

/// The folder of a project, for files of this machine that are dropped on it or pasted into it; else why they cannot be.
pub fn taking_files(project: ProjectRef) -> Result<PathBuf, Dropped> {
    let why = "Files of this machine cannot be attached to a prompt of another one. Paste an image or a text instead.";
    match project {
        ProjectRef::Here(folder) => Ok(folder),
        ProjectRef::There(_) => Err(Dropped::Refused { why: why.to_owned() }),
    }
}

/// The error of a command that needs the files of the folder.
pub fn not_here() -> CommandError {
    refused("This project is on another machine, and Deskbell cannot do this there yet.")
}

fn refused(message: &str) -> CommandError {
    CommandError { code: ErrorCode::Refused, message: message.to_owned(), detail: None }
}

impl SessionRegistry {
    pub fn far_state(&self, project: &RemoteProject) -> Option<FarState> {
        lock(&self.far).states.get(project).cloned()
    }

    /// Marks a project as being asked. False: it is being asked already.
    pub fn begin_far(&self, project: &RemoteProject) -> bool {
        let before = lock(&self.far).states.insert(project.clone(), FarState::Connecting);
        !matches!(before, Some(FarState::Connecting))
    }

    pub fn set_far_state(&self, project: &RemoteProject, state: FarState) {
        lock(&self.far).states.insert(project.clone(), state);
    }

    /// What is checked out in the folder of a project; `None` until its machine has said it.
    pub fn far_checkout(&self, project: &RemoteProject) -> Option<Result<Checkout, UnreadFile>> {
        lock(&self.far).checkouts.get(project).cloned()
    }

    /// Returns whether it differs from what was known.
    pub fn set_far_checkout(&self, project: &RemoteProject, checkout: Result<Checkout, UnreadFile>) -> bool {
        let before = lock(&self.far).checkouts.insert(project.clone(), checkout.clone());
        before != Some(checkout)
    }

    /// The link to the server of a machine. It is made only after the machine was asked something, so that its program
    /// is there: a copy can take longer than an attempt of the link. The second value is true if it is new.
    pub fn far_link(&self, far: &Far, place: impl FnOnce() -> AskPlace) -> (ServerLink, bool) {
        let mut known = lock(&self.far);
        let is_new = !known.links.contains_key(&far.machine);
        let connections = known.connections.clone();
        let link = known
            .links
            .entry(far.machine.clone())
            .or_insert_with(|| open_link(far.clone(), connections, place()));
        (link.link.clone(), is_new)
    }

    pub fn connections(&self) -> Arc<Connections> {
        lock(&self.far).connections.clone()
    }

    /// Tries the link to the machine of this project now, and lets ssh ask something for it.
    pub fn retry_far_link(&self, project: &RemoteProject) {
        if let Some(far) = lock(&self.far).links.get(&project.machine) {
            far.attempts.wanted();
            far.link.retry();
        }
    }

    /// The machines that links were made to, and those that are known by their projects, for the board.
    pub fn far_machines(&self, used: &BTreeMap<RemoteMachine, u64>) -> Vec<BoardMachine> {
        let far = lock(&self.far);
        let machines: BTreeSet<&RemoteMachine> = far.links.keys().chain(used.keys()).collect();
        let machine = |name: &RemoteMachine| {
            let link = far.links.get(name);
            BoardMachine {
                name: name.to_string(),
                link: link.map(|far| far.link.state()),
                seen_at: link.and_then(|far| far.seen_at),
                used_at: used.get(name).copied(),
            }
        };
        machines.into_iter().map(machine).collect()
    }

    /// Tries the link to a machine now, if there is one. The connection was made, so ssh need not ask.
    pub fn retry_far_machine(&self, machine: &RemoteMachine) {
        if let Some(far) = lock(&self.far).links.get(machine) {
            far.link.retry();
        }
    }

    /// The other machine that a session runs on.
    pub fn machine_of(&self, id: &SessionId) -> Option<String> {
        self.lock().get(id)?.project.machine().map(RemoteMachine::to_string)
    }

    /// The sessions of a machine as they are known, the last changed first.
    pub fn sessions_on(&self, machine: &RemoteMachine) -> Vec<(ProjectRef, Session)> {
        let sessions = self.lock();
        let there = sessions.values().filter(|entry| entry.project.machine() == Some(machine));
        let mut there: Vec<_> = there.map(|entry| (entry.project.clone(), entry.session.clone())).collect();
        there.sort_by(|(_, a), (_, b)| (b.changed_at, a.id.as_str()).cmp(&(a.changed_at, b.id.as_str())));
        there
    }

    /// Asks the servers there for their sessions, where the link is up.
    pub fn list_far(&self) {
        lock(&self.far).links.values().for_each(|far| far.link.list());
    }

    /// The link to a machine is up, or was until now.
    pub fn seen_far(&self, machine: &RemoteMachine, now: u64) {
        if let Some(far) = lock(&self.far).links.get_mut(machine) {
            far.seen_at = Some(now);
        }
    }

    fn far_link_of(&self, project: &RemoteProject) -> Option<ServerLink> {
        lock(&self.far).links.get(&project.machine).map(|far| far.link.clone())
    }

    fn connected_link_of(&self, project: &RemoteProject) -> Result<ServerLink, CommandError> {
        self.far_link_of(project).ok_or_else(|| refused("The machine of this project is not connected yet."))
    }

    fn far_sessions(&self, project: &RemoteProject) -> Vec<Session> {
        self.sessions(&project.clone().into())
    }

    /// Adds the sessions of this project that its machine lists and that are not known yet, and returns them.
    pub async fn add_far(&self, project: &RemoteProject, listed: Vec<SessionSummary>) -> Vec<Session> {
        let Some(link) = self.far_link_of(project) else { return Vec::new() };
        let _one_at_a_time = self.beginning.lock().await;
        let of_project = listed.into_iter().filter(|summary| summary.project == project.folder.as_str());
        let mut added = Vec::new();
        for summary in of_project.take(MOST_SESSIONS) {
            // Also one of this machine with the same id.
            if self.has(&summary.id) || lock(&self.removed).contains_key(&summary.id) {
                continue;
            }
            match self.mirror_of(&link, summary.id, project.clone().into()).await {
                Ok(session) => added.push(session),
                Err(error) => tracing::warn!(%error, "a session of another machine could not be shown"),
            }
        }
        added
    }

    /// A session of this project that a server runs.
    pub fn mirrored_session(
        &self,
        project: &RemoteProject,
        id: &SessionId,
    ) -> Result<MirroredSession, CommandError> {
        self.session(&project.clone().into(), id)?.mirrored().cloned().ok_or_else(no_such_session)
    }

    /// A session through which the machine of this project is asked about its folder: this one, or the last changed.
    pub fn session_there(
        &self,
        project: &RemoteProject,
        open: Option<SessionId>,
    ) -> Result<MirroredSession, CommandError> {
        let open = open.and_then(|id| self.mirrored_session(project, &id).ok());
        let last = || {
            self.far_sessions(project).first().and_then(|last| self.mirrored_session(project, &last.id).ok())
        };
        open.or_else(last).ok_or_else(|| {
            refused("The files there are listed after the first prompt, because a session there reads them.")
        })
    }

    /// Remembers conversations that the machine of this project listed or found, so that they can be opened.
    pub fn know_far_stored(
        &self,
        project: &RemoteProject,
        sessions: impl IntoIterator<Item = StoredSession>,
    ) {
        let mut far = lock(&self.far);
        if far.stored.len() >= MOST_PROJECTS && !far.stored.contains_key(project) {
            return;
        }
        let of_project = far.stored.entry(project.clone()).or_default();
        of_project.extend(sessions.into_iter().map(|one| (one.agent_session_id.clone(), one)));
    }

    /// Returns the session that shows a conversation of the agent there. The server there has it from then on; nothing is
    /// started before its first prompt.
    pub(super) async fn open_far_stored(
        &self,
        project: &RemoteProject,
        agent_session_id: &str,
    ) -> Result<Session, CommandError> {
        let link = self.connected_link_of(project)?;
        let _one_at_a_time = self.beginning.lock().await;
        let is_it = |session: &Session| session.agent_session_id.as_deref() == Some(agent_session_id);
        if let Some(open) = self.far_sessions(project).into_iter().find(is_it) {
            return Ok(open);
        }
        let stored =
            lock(&self.far).stored.get(project).and_then(|known| known.get(agent_session_id).cloned());
        let stored = stored.ok_or_else(|| CommandError {
            code: ErrorCode::NoSuchSession,
            message: "The session is no longer in Claude Code’s history of this project.".to_owned(),
            detail: None,
        })?;
        let session = NewSession {
            project: project.folder.to_string(),
            resume: Some(stored.agent_session_id),
            title: Some(stored.title),
            profile: stored.profile,
            ..NewSession::default()
        };
        self.open_as_asked(&link, &project.clone().into(), session).await
    }

    /// Opens a session there that begins as a copy of another one of that machine.
    pub(super) async fn fork_far(
        &self,
        project: &RemoteProject,
        origin: Session,
        before: Option<(String, String)>,
    ) -> Result<ForkedSession, CommandError> {
        let link = self.connected_link_of(project)?;
        let of = origin.agent_session_id.ok_or_else(|| {
            refused("The agent has nothing of this session yet. Send a prompt before you fork it.")
        })?;
        let (before, draft) = before.unzip();
        let session = NewSession {
            project: project.folder.to_string(),
            agent: (origin.agent == AgentKind::Demo).then(|| "demo".to_owned()),
            fork: Some(NewFork { of, before }),
            title: Some(Title::of_fork(&origin.title).as_str().to_owned()),
            profile: origin.profile,
            mode: origin.mode.parse().ok(),
            options: Box::new(SessionOptions { model: None, effort: None, ..origin.options }),
            ..NewSession::default()
        };
        Ok(ForkedSession {
            session: self.open_as_asked(&link, &project.clone().into(), session).await?,
            draft,
        })
    }

    /// Reverts a change there. `at` names the revert for an undo.
    pub async fn revert_far(
        &self,
        project: &RemoteProject,
        id: &SessionId,
        change: RevertRequest,
        at: u64,
    ) -> Result<(), CommandError> {
        self.mirrored_session(project, id)?;
        let link = self.far_link_of(project).ok_or_else(not_here)?;
        let request = link.revert(id.clone(), change).await?;
        lock(&self.far).reverts.insert((id.clone(), at), request);
        Ok(())
    }

    /// Undoes a revert there.
    pub async fn undo_revert_far(&self, project: &RemoteProject, at: u64) -> Result<(), CommandError> {
        let link = self.far_link_of(project).ok_or_else(not_here)?;
        let of_project: Vec<SessionId> =
            self.far_sessions(project).into_iter().map(|session| session.id).collect();
        let known = lock(&self.far).reverts.clone();
        let mut known = known.into_iter().filter(|((id, time), _)| *time == at && of_project.contains(id));
        let ((id, _), of) = known.next().ok_or_else(|| refused("This revert is no longer known."))?;
        link.revert(id.clone(), RevertRequest::Undo { of }).await?;
        lock(&self.far).reverts.remove(&(id, at));
        Ok(())
    }

    /// Opens a new session there: of Claude Code, as it is found there, or of the demo agent.
    pub(super) async fn begin_far_session(
        &self,
        project: &RemoteProject,
        agent: AgentKind,
    ) -> Result<Session, CommandError> {
        let link = self.connected_link_of(project)?;
        // A program of this machine's settings is not there, and presets name folders of this machine.
        let begun =
            creation::beginning(agent, self.current.get(), None, None, creation::mode_of_environment());
        let session = NewSession {
            project: project.folder.to_string(),
            agent: (agent == AgentKind::Demo).then(|| "demo".to_owned()),
            model: begun.model,
            mode: begun.mode,
            options: Box::new(SessionOptions { effort: begun.effort, ..SessionOptions::default() }),
            ..NewSession::default()
        };
        self.open_in(&link, &project.clone().into(), session).await
    }

    /// Returns the project's empty session with this agent or profile of the machine there, or a new one.
    pub async fn begin_far_with(
        &self,
        project: &RemoteProject,
        kind: AgentKind,
        wanted: Wanted,
    ) -> Result<Session, CommandError> {
        let link = self.connected_link_of(project)?;
        let (agent, profile) = match wanted {
            Wanted::Agent(agent) => (Some(agent.id.to_owned()), None),
            Wanted::Profile(name) => (None, Some(name)),
        };
        let _one_at_a_time = self.beginning.lock().await;
        let is_fit = |session: &Session| {
            let is_same = session.profile == profile && (profile.is_some() || session.agent_id == agent);
            session.is_empty && session.agent == kind && is_same
        };
        if let Some(empty) = self.far_sessions(project).into_iter().find(is_fit) {
            return Ok(empty);
        }
        let session =
            NewSession { project: project.folder.to_string(), agent, profile, ..NewSession::default() };
        self.open_as_asked(&link, &project.clone().into(), session).await
    }

    /// Refuses to start Claude Code in a folder of another machine before the user has decided about it.
    pub fn check_far(&self, project: &RemoteProject) -> Result<(), CommandError> {
        match self.far_state(project) {
            Some(FarState::Reached(trust)) => match trust.state {
                TrustStatus::Trusted | TrustStatus::Restricted | TrustStatus::Kept => Ok(()),
                TrustStatus::Unknown | TrustStatus::Changed => Err(CommandError {
                    code: ErrorCode::NotTrusted,
                    message: "You have not decided yet whether to trust this folder as it is now.".to_owned(),
                    detail: Some("No agent starts here until you decide. Your prompt is kept.".to_owned()),
                }),
            },
            Some(FarState::Failed(error)) => Err(error),
            Some(FarState::Connecting) | None => {
                Err(refused("The machine of this project is not connected yet."))
            }
        }
    }

    /// What logs in to the agent of a session there, or to Claude Code, in a terminal there.
    pub fn login_words(
        &self,
        project: &RemoteProject,
        id: Option<&SessionId>,
    ) -> Result<Vec<String>, CommandError> {
        let of_claude = || ["claude"].iter().chain(Launch::LOGIN_ARGS).map(|&word| word.to_owned()).collect();
        let Some(id) = id else { return Ok(of_claude()) };
        let session = self.known_in(&project.clone().into(), id).ok_or_else(no_such_session)?;
        no_profile_in_terminal(&session)?;
        if session.agent == AgentKind::Claude {
            return Ok(of_claude());
        }
        let words = session.login.map(|login| login.words).filter(|words| are_shown(words));
        words.ok_or_else(|| refused("Deskbell knows no command that logs in to this agent."))
    }

    /// The link that a session's events come over.
    pub(super) fn link_of(&self, entry: &Entry) -> Option<ServerLink> {
        match &entry.project {
            ProjectRef::There(project) => self.far_link_of(project),
            ProjectRef::Here(_) => self.server.borrow().clone(),
        }
    }
}

/// Whether a window shows these words of another machine as they are.
fn are_shown(words: &[String]) -> bool {
    let is_shown = |word: &String| !word.is_empty() && Title::one_line(word, LONGEST_LOGIN) == *word;
    words.iter().map(String::len).sum::<usize>() <= LONGEST_LOGIN && words.iter().all(is_shown)
}

/// The variables of a profile stay on its machine, so a terminal there would use another account.
pub fn no_profile_in_terminal(session: &Session) -> Result<(), CommandError> {
    let Some(profile) = &session.profile else { return Ok(()) };
    Err(CommandError {
        code: ErrorCode::Refused,
        message: format!(
            "This session has the profile “{}” of that machine.",
            Title::one_line(profile, LONGEST_NAME)
        ),
        detail: Some("Its variables are known there only. Open a terminal there, and set them.".to_owned()),
    })
}

fn open_link(far: Far, connections: Arc<Connections>, AskPlace { window, is_asked }: AskPlace) -> FarLink {
    let attempts = Arc::new(Attempts::new());
    let (begun, again) = (attempts.clone(), attempts.clone());
    let dial: Dial = Arc::new(move || {
        let (far, connections) = (far.clone(), connections.clone());
        let window = begun.begin().then(&window).flatten();
        Box::pin(async move {
            let connected = far.attach(&connections, window).await;
            let (reader, writer) = connected.map_err(|error| std::io::Error::other(error.to_string()))?;
            Ok((Box::new(reader) as _, Box::new(writer) as _))
        })
    });
    let may_begin_again = move || {
        let may = !is_asked();
        if may {
            again.begin_again();
        }
        may
    };
    FarLink { link: ServerLink::open_asking(dial, Arc::new(may_begin_again)), seen_at: None, attempts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_asks_only_if_the_user_wants_it_also_when_it_is_made_again() {
        let attempts = Attempts::new();
        assert!(attempts.begin(), "the first one");
        attempts.begin_again();
        assert!(attempts.begin(), "the first one, again");
        assert!(!attempts.begin(), "the next one");
        attempts.begin_again();
        assert!(!attempts.begin());
        attempts.wanted();
        assert!(attempts.begin());
    }

    #[test]
    fn a_login_there_is_run_as_it_is_shown() {
        let are = |words: &[&str]| are_shown(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        assert!(are(&["codex", "login", "--device code"]));
        for words in [&["codex", ""][..], &["a\u{1b}[2J"], &["a\nb"], &["a\u{202e}b"], &["a\u{200b}b"]] {
            assert!(!are(words), "{words:?}");
        }
        assert!(!are(&["x".repeat(2_049).as_str()]));
    }
}
