//! Projects on other machines: the state of each, the link to each machine's server, and its sessions. Nothing here reads
//! a file: whatever is asked about their folders is asked there.

use super::{Entry, SessionRegistry, creation, lock};
use deskbell_cli::far::{AskWindow, Connections, Far, Machine};
use deskbell_engine::api::server::{NewSession, SessionSummary};
use deskbell_engine::api::*;
use deskbell_engine::projects::KnownProject;
use deskbell_engine::remote::{Dial, ServerLink};
use deskbell_engine::session::SessionHandle;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Sessions of one project that are shown. A machine can name as many as it likes.
const MOST_SESSIONS: usize = 200;

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
    states: HashMap<PathBuf, FarState>,
    links: HashMap<String, FarLink>,
    connections: Arc<Connections>,
}

struct FarLink {
    link: ServerLink,
    /// The next attempt may ask the user something: the first one, and one that the user wants. ssh would ask at each
    /// of the others, all night.
    may_ask: Arc<AtomicBool>,
}

/// The longest path of a folder there, in bytes.
pub const MAX_PATH: usize = 4 << 10;

/// Whether this can be the path of a folder there.
pub fn is_path(path: &str) -> bool {
    path.starts_with('/') && path.len() <= MAX_PATH && !path.contains(char::is_control)
}

/// The machine of a project, and its folder there; `None` if it is on this machine, or if one of them cannot be used.
pub fn place_of(project: &Path) -> Option<(Far, String)> {
    let (machine, folder) = KnownProject::on_machine(project).filter(|(_, folder)| is_path(folder))?;
    let machine: Machine = machine.parse().ok()?;
    Some((Far { machine, program: None }, folder.to_owned()))
}

/// Whether a project is on another machine, also on one whose name cannot be used.
pub fn is_far(project: &Path) -> bool {
    KnownProject::on_machine(project).is_some()
}

/// The error of a command that needs the files of the folder.
pub fn not_here() -> CommandError {
    refused("This project is on another machine, and Deskbell cannot do this there yet.")
}

fn refused(message: &str) -> CommandError {
    CommandError { code: ErrorCode::Refused, message: message.to_owned(), detail: None }
}

impl SessionRegistry {
    pub fn far_state(&self, project: &Path) -> Option<FarState> {
        lock(&self.far).states.get(project).cloned()
    }

    /// Marks a project as being asked. False: it is being asked already.
    pub fn begin_far(&self, project: &Path) -> bool {
        let before = lock(&self.far).states.insert(project.to_owned(), FarState::Connecting);
        !matches!(before, Some(FarState::Connecting))
    }

    pub fn set_far_state(&self, project: &Path, state: FarState) {
        lock(&self.far).states.insert(project.to_owned(), state);
    }

    /// The link to the server of a machine. It is made only after the machine was asked something, so that its program
    /// is there: a copy can take longer than an attempt of the link. The second value is true if it is new.
    /// `window`: where ssh may ask something.
    pub fn far_link(
        &self,
        far: &Far,
        window: impl Fn() -> Option<AskWindow> + Send + Sync + 'static,
    ) -> (ServerLink, bool) {
        let mut known = lock(&self.far);
        let name = far.machine.to_string();
        let is_new = !known.links.contains_key(&name);
        let connections = known.connections.clone();
        let link = known.links.entry(name).or_insert_with(|| open_link(far.clone(), connections, window));
        (link.link.clone(), is_new)
    }

    pub fn connections(&self) -> Arc<Connections> {
        lock(&self.far).connections.clone()
    }

    /// Tries the link to the machine of this project now, and lets ssh ask something for it.
    pub fn retry_far_link(&self, project: &Path) {
        let Some((machine, _)) = KnownProject::on_machine(project) else { return };
        if let Some(far) = lock(&self.far).links.get(machine) {
            far.may_ask.store(true, Ordering::Relaxed);
            far.link.retry();
        }
    }

    fn far_link_of(&self, project: &Path) -> Option<ServerLink> {
        let (machine, _) = KnownProject::on_machine(project)?;
        lock(&self.far).links.get(machine).map(|far| far.link.clone())
    }

    /// Adds the sessions of this project that its machine lists and that are not known yet, and returns them.
    pub async fn add_far(&self, project: &Path, listed: Vec<SessionSummary>) -> Vec<Session> {
        let (Some((_, folder)), Some(link)) = (place_of(project), self.far_link_of(project)) else {
            return Vec::new();
        };
        let _one_at_a_time = self.beginning.lock().await;
        let of_project = listed.into_iter().filter(|summary| summary.project == folder);
        let mut added = Vec::new();
        for summary in of_project.take(MOST_SESSIONS) {
            // Also one of this machine with the same id.
            if self.known(&summary.id).is_some() || lock(&self.removed).contains_key(&summary.id) {
                continue;
            }
            match self.mirror_of(&link, summary.id, project.to_owned()).await {
                Ok(session) => added.push(session),
                Err(error) => tracing::warn!(%error, "a session of another machine could not be shown"),
            }
        }
        added
    }

    /// A session through which the machine of this project is asked about its folder: this one, or the last changed.
    pub fn session_there(
        &self,
        project: &Path,
        open: Option<SessionId>,
    ) -> Result<SessionHandle, CommandError> {
        let open = open.and_then(|id| self.session(project, &id).ok());
        let last = || self.sessions(project).first().and_then(|last| self.session(project, &last.id).ok());
        open.or_else(last).ok_or_else(|| {
            refused("The files there are listed after the first prompt, because a session there reads them.")
        })
    }

    /// Opens a new session there: of Claude Code, as it is found there, or of the demo agent.
    pub(super) async fn begin_far_session(
        &self,
        project: &Path,
        agent: AgentKind,
    ) -> Result<Session, CommandError> {
        let (Some((_, folder)), Some(link)) = (place_of(project), self.far_link_of(project)) else {
            return Err(refused("The machine of this project is not connected yet."));
        };
        // A program of this machine's settings is not there, and presets name folders of this machine.
        let begun =
            creation::beginning(agent, self.current.get(), project, None, creation::mode_of_environment());
        let session = NewSession {
            project: folder,
            agent: (agent == AgentKind::Demo).then(|| "demo".to_owned()),
            model: begun.model,
            mode: begun.mode,
            options: Box::new(SessionOptions { effort: begun.effort, ..SessionOptions::default() }),
            ..NewSession::default()
        };
        self.open_in(&link, project, session).await
    }

    /// Refuses to start an agent in a folder of another machine before the user has decided about it.
    pub(super) fn check_far(&self, project: &Path) -> Result<(), CommandError> {
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

    /// The link that a session's events come over.
    pub(super) fn link_of(&self, entry: &Entry) -> Option<ServerLink> {
        match is_far(&entry.project) {
            true => self.far_link_of(&entry.project),
            false => self.server.borrow().clone(),
        }
    }
}

fn open_link(
    far: Far,
    connections: Arc<Connections>,
    window: impl Fn() -> Option<AskWindow> + Send + Sync + 'static,
) -> FarLink {
    let may_ask = Arc::new(AtomicBool::new(true));
    let asks = may_ask.clone();
    let dial: Dial = Arc::new(move || {
        let (far, connections) = (far.clone(), connections.clone());
        let window = asks.swap(false, Ordering::Relaxed).then(&window).flatten();
        Box::pin(async move {
            let connected = far.attach(&connections, window).await;
            let (reader, writer) = connected.map_err(|error| std::io::Error::other(error.to_string()))?;
            Ok((Box::new(reader) as _, Box::new(writer) as _))
        })
    });
    FarLink { link: ServerLink::open(dial), may_ask }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_on_the_machine_that_its_path_names() {
        let (far, folder) = place_of(&KnownProject::path_on("docker:web", "/app")).unwrap();
        assert_eq!((far.machine.to_string().as_str(), folder.as_str()), ("docker:web", "/app"));
        assert!(place_of(Path::new("/app")).is_none() && !is_far(Path::new("/app")));
        // From a file that was changed by hand.
        let odd = KnownProject::path_on("-oProxyCommand=x", "/app");
        assert!(place_of(&odd).is_none() && is_far(&odd));
        for path in ["", "app", "~", "/a\0b", "/a\nb", "/\u{1b}[2J", "C:\\app", "--decide=trust"] {
            assert!(!is_path(path), "{path:?}");
            let odd = KnownProject::path_on("box", path);
            assert!(place_of(&odd).is_none() && is_far(&odd), "{path:?}");
        }
        assert!(is_path("/home/me/app") && is_path("/"));
        assert!(!is_path(&format!("/{}", "x".repeat(MAX_PATH))));
    }
}
