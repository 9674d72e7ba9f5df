//! The windows of projects, and the state that belongs to each: one for each project, and one for each session that the
//! user gave a window of its own. A session is shown in one window at a time, because its draft has one place.

use crate::forward::Forward;
use crate::pane::Pane;
#[cfg(target_os = "linux")]
use deskbell_desktop::activation;
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::{
    BoardState, CommandError, ErrorCode, ItemId, NamedDraft, ProjectRef, Session, SessionId, Status,
};
use deskbell_engine::files::Files;
use deskbell_engine::search::Searching;
use deskbell_engine::stored::Follower;
use deskbell_sessions::wanted::AgentQuestion;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tauri::{AppHandle, Manager};

/// The label of the window with the board. It belongs to no project.
pub const BOARD: &str = "board";

/// The state that belongs to one window.
pub struct ProjectWindow {
    pub project: ProjectRef,
    /// The session whose own window this is. `None`: the window of the project, which shows the others.
    pub own_session: Option<SessionId>,
    /// New sessions use the demo agent.
    pub demo: bool,
    /// A start was refused here; the window asks until the user has decided whether the folder is trusted.
    pub asks_trust: bool,
    /// The other agent than Claude Code whose start was refused last, until the user has decided about it.
    pub trust_agent: Option<ChosenAgent>,
    /// The same in a project on another machine, with what the machine said.
    pub far_agent: Option<AgentQuestion>,
    /// How many starts of other agents were refused.
    pub agent_refusals: u32,
    /// The user has not answered that refusal yet.
    pub start_refused: bool,
    pub open_session: Option<SessionId>,
    /// Whether it has the keyboard focus, according to its last event.
    pub focused: bool,
    /// Failures that the user has seen; the title does not show them any more.
    pub seen_failures: HashSet<SessionId>,
    /// Where the open session is shown.
    pub first: Pane<Forward>,
    /// Where a second session is shown beside the open one.
    pub second: Pane<Forward>,
    /// Follows the sessions in the agent's store for this window's list.
    pub follower: Option<Follower>,
    /// The search in progress, or the last one, with its number.
    pub searching: Option<(u32, Search)>,
    /// Asks another machine for the conversations that it stored, again while one of them is open there.
    pub far_stored: Option<AbortOnDrop>,
    /// The projects of the sessions that it found, by the agent's id.
    pub found: HashMap<String, ProjectRef>,
    /// The item to show when the page connects.
    pub show_item: Option<ItemId>,
    /// The files of a folder of this machine that can be named in a prompt.
    pub files: Option<Files>,
    /// A prompt that a second start or another window named. The page takes it as a draft; it is not sent.
    pub draft: Option<NamedDraft>,
    /// The number of project views that were begun. Only the last one is sent.
    pub n_views: u64,
    /// It is closing already.
    pub closing: bool,
}

impl ProjectWindow {
    pub fn new(project: &ProjectRef, demo: bool, open_session: Option<SessionId>) -> Self {
        Self {
            project: project.clone(),
            own_session: None,
            demo,
            asks_trust: false,
            trust_agent: None,
            far_agent: None,
            agent_refusals: 0,
            start_refused: false,
            open_session,
            focused: false,
            seen_failures: HashSet::new(),
            first: Pane::default(),
            second: Pane::default(),
            follower: None,
            searching: None,
            far_stored: None,
            found: HashMap::new(),
            show_item: None,
            files: project.here().map(Files::of),
            draft: None,
            n_views: 0,
            closing: false,
        }
    }

    /// The window of one session.
    pub fn of_session(project: &ProjectRef, demo: bool, id: &SessionId) -> Self {
        Self { own_session: Some(id.clone()), ..Self::new(project, demo, Some(id.clone())) }
    }
}

impl ProjectWindow {
    /// The forward of a session that the window shows.
    pub fn forward_of(&self, id: &SessionId) -> Option<&Forward> {
        self.forwards().find(|forward| forward.session_id() == id)
    }

    /// The second session of the window.
    pub fn second_session(&self) -> Option<SessionId> {
        self.second.shown().map(|second| second.session_id().clone())
    }

    /// The sessions that are open in the window: one, or two side by side.
    pub fn open_sessions(&self) -> Vec<SessionId> {
        self.open_session.clone().into_iter().chain(self.second_session()).collect()
    }

    /// The sessions that the window shows.
    pub fn shown_sessions(&self) -> Vec<SessionId> {
        self.forwards().map(|forward| forward.session_id().clone()).collect()
    }

    fn forwards(&self) -> impl Iterator<Item = &Forward> {
        [&self.first, &self.second].into_iter().filter_map(Pane::shown)
    }
}

/// A search, which ends when this is dropped.
pub enum Search {
    /// In the stores of this machine.
    Here { _searching: Searching },
    /// On another machine.
    There { _searching: AbortOnDrop },
}

/// The task of a search on another machine. Its connection ends with it.
pub struct AbortOnDrop(pub tauri::async_runtime::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The windows, by their label.
#[derive(Default)]
pub struct Windows(Mutex<State>);

#[derive(Default)]
struct State {
    by_label: HashMap<String, ProjectWindow>,
    n_opened: u64,
}

impl State {
    /// The label of the window of a project, or of the own window of its session.
    fn label(&self, project: &ProjectRef, own_session: Option<&SessionId>) -> Option<String> {
        let is_it =
            |window: &ProjectWindow| window.project == *project && window.own_session.as_ref() == own_session;
        self.by_label.iter().find(|(_, window)| is_it(window)).map(|(label, _)| label.clone())
    }
}

impl Windows {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `look` with the state of a window, to read or change it.
    pub fn with<T>(
        &self,
        label: &str,
        look: impl FnOnce(&mut ProjectWindow) -> T,
    ) -> Result<T, CommandError> {
        let mut state = self.lock();
        state.by_label.get_mut(label).map(look).ok_or_else(|| CommandError {
            code: ErrorCode::Internal,
            message: "This window belongs to no project.".to_owned(),
            detail: None,
        })
    }

    /// Adds a window and returns the label that it has from now on. An error is the label of the window that the
    /// project or the session has already.
    pub fn add(&self, window: ProjectWindow) -> Result<String, String> {
        let mut state = self.lock();
        if let Some(label) = state.label(&window.project, window.own_session.as_ref()) {
            return Err(label);
        }
        state.n_opened += 1;
        let label = format!("project-{}", state.n_opened);
        state.by_label.insert(label.clone(), window);
        Ok(label)
    }

    pub fn remove(&self, label: &str) -> Option<ProjectWindow> {
        self.lock().by_label.remove(label)
    }

    /// The window of a project.
    pub fn label_of(&self, project: &ProjectRef) -> Option<String> {
        self.lock().label(project, None)
    }

    /// The window in which a session of a project is shown: its own one, or else the window of the project.
    pub fn label_showing(&self, project: &ProjectRef, session: &SessionId) -> Option<String> {
        let state = self.lock();
        state.label(project, Some(session)).or_else(|| state.label(project, None))
    }

    /// Whether this window is the one in which a session of a project is shown.
    pub fn shows(&self, label: &str, project: &ProjectRef, session: &SessionId) -> bool {
        self.label_showing(project, session).as_deref() == Some(label)
    }

    /// The own window of a session, if it has one.
    pub fn own_label(&self, project: &ProjectRef, session: &SessionId) -> Option<String> {
        self.lock().label(project, Some(session))
    }

    /// Marks a window as closing if another window of its project stays open, and returns whether one does. Of two
    /// windows that close at the same time the second one is the last.
    pub fn leave_to_others(&self, label: &str) -> bool {
        let mut state = self.lock();
        let Some(project) = state.by_label.get(label).map(|window| window.project.clone()) else {
            return false;
        };
        let stays = |(other, window): (&String, &ProjectWindow)| {
            other != label && window.project == project && !window.closing
        };
        let has_other = state.by_label.iter().any(stays);
        if let Some(window) = state.by_label.get_mut(label).filter(|_| has_other) {
            window.closing = true;
        }
        has_other
    }

    /// All windows of a project, that of the project itself first.
    pub fn labels_of(&self, project: &ProjectRef) -> Vec<String> {
        let state = self.lock();
        let of_project = state.by_label.iter().filter(|(_, window)| window.project == *project);
        let mut labels: Vec<_> =
            of_project.map(|(label, window)| (window.own_session.is_some(), label.clone())).collect();
        labels.sort();
        labels.into_iter().map(|(_, label)| label).collect()
    }

    /// The sessions of a project that have windows of their own, in a stable order.
    pub fn own_sessions(&self, project: &ProjectRef) -> Vec<SessionId> {
        let state = self.lock();
        let of_project = state.by_label.values().filter(|window| window.project == *project);
        let mut sessions: Vec<_> = of_project.filter_map(|window| window.own_session.clone()).collect();
        sessions.sort();
        sessions
    }

    /// The projects of all windows, each once.
    pub fn projects(&self) -> Vec<ProjectRef> {
        let state = self.lock();
        let projects: HashSet<_> = state.by_label.values().map(|window| &window.project).collect();
        projects.into_iter().cloned().collect()
    }

    pub fn len(&self) -> usize {
        self.lock().by_label.len()
    }

    pub fn labels(&self) -> Vec<String> {
        self.lock().by_label.keys().cloned().collect()
    }
}

/// Brings a window to the front.
pub fn bring_up(app: &AppHandle, label: &str) {
    let Some(window) = app.get_webview_window(label) else { return };
    #[cfg(target_os = "linux")]
    let raised = activation::bring_up(&window);
    #[cfg(not(target_os = "linux"))]
    let raised = window.unminimize().and_then(|()| window.show()).and_then(|()| window.set_focus());
    if let Err(error) = raised {
        tracing::warn!(%error, "could not bring up a window");
    }
}

/// Returns whether the window has the keyboard focus.
pub fn is_focused(app: &AppHandle, label: &str) -> bool {
    app.get_webview_window(label).is_some_and(|window| window.is_focused().unwrap_or(false))
}

/// The sessions whose failure the user has seen: those before the user, and those seen earlier that have not worked since.
pub fn seen_failures(
    seen: &HashSet<SessionId>,
    before_user: &[SessionId],
    sessions: &[Session],
) -> HashSet<SessionId> {
    let has_failed = |session: &&Session| session.status.state() == Some(BoardState::Failed);
    let failed = sessions.iter().filter(has_failed).map(|session| &session.id);
    failed.filter(|id| before_user.contains(*id) || seen.contains(id)).cloned().collect()
}

/// The title of a window: the state of the session that needs the user most.
pub fn title(name: &str, sessions: &[Session], seen_failures: &HashSet<SessionId>) -> String {
    let urgency = |session: &&Session| match session.status.state() {
        Some(BoardState::NeedsInput) => 3,
        Some(BoardState::Failed) if !seen_failures.contains(&session.id) => 2,
        Some(BoardState::Working) => 1,
        Some(BoardState::Failed | BoardState::Finished) | None => 0,
    };
    let most_urgent = sessions.iter().filter(|session| urgency(session) > 0).max_by_key(urgency);
    let n_waiting = sessions.iter().filter(|session| urgency(session) == 3).count();
    match most_urgent.map(|session| (&session.status, &session.title)) {
        Some((Status::NeedsInput { what }, _)) if n_waiting > 1 => format!("({n_waiting}) {what} — {name}"),
        Some((Status::NeedsInput { what }, _)) => format!("{what} — {name}"),
        Some((Status::Failed { .. }, title)) => format!("Failed: {title} — {name}"),
        Some((_, title)) => format!("Working: {title} — {name}"),
        None => format!("{name} — Deskbell"),
    }
}

/// The title of the own window of a session.
pub fn title_of_own(name: &str, session: &Session, seen_failures: &HashSet<SessionId>) -> String {
    match session.status.state() {
        Some(BoardState::Finished) | None => format!("{} — {name}", session.title),
        Some(_) => title(name, std::slice::from_ref(session), seen_failures),
    }
}

/// A session for tests of this crate.
#[cfg(test)]
pub fn session(id: &str, status: Status) -> Session {
    let agent = deskbell_engine::api::AgentKind::Demo;
    Session {
        title: format!("Session {id}"),
        status,
        is_empty: false,
        ..Session::new(SessionId::new(id), "/lighthouse".to_owned(), agent, "Demo agent".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_shown_in_its_own_window_or_in_that_of_its_project() {
        let windows = Windows::default();
        let (project, [a, b]) = (ProjectRef::from("/lighthouse"), ["a", "b"].map(SessionId::new));
        let own = || ProjectWindow::of_session(&project, false, &a);
        assert_eq!(windows.label_showing(&project, &a), None);
        let of_a = windows.add(own()).unwrap();
        assert_eq!(windows.label_of(&project), None, "the window of a session is not that of its project");
        let main = windows.add(ProjectWindow::new(&project, false, None)).unwrap();
        assert_eq!(windows.add(own()), Err(of_a.clone()), "it has one already");
        assert_eq!(windows.label_showing(&project, &a).as_ref(), Some(&of_a));
        assert_eq!(windows.label_showing(&project, &b).as_ref(), Some(&main));
        assert!(windows.shows(&of_a, &project, &a) && !windows.shows(&main, &project, &a));
        assert_eq!(windows.own_label(&project, &a).as_ref(), Some(&of_a));
        assert_eq!(windows.own_label(&project, &b), None);
        assert_eq!(windows.labels_of(&project), [main.clone(), of_a.clone()]);
        assert_eq!(
            (windows.own_sessions(&project), windows.projects()),
            (vec![a.clone()], vec![project.clone()])
        );
        windows.remove(&of_a);
        assert_eq!(windows.label_showing(&project, &a), Some(main));
    }

    #[test]
    fn of_two_windows_of_a_project_that_close_the_second_is_the_last() {
        let windows = Windows::default();
        let (project, a) = (ProjectRef::from("/lighthouse"), SessionId::new("a"));
        let main = windows.add(ProjectWindow::new(&project, false, None)).unwrap();
        let own = windows.add(ProjectWindow::of_session(&project, false, &a)).unwrap();
        windows.add(ProjectWindow::new(&ProjectRef::from("/tide"), false, None)).unwrap();
        assert!(windows.leave_to_others(&main));
        assert!(!windows.leave_to_others(&own), "the other one is closing already");
        assert_eq!(windows.with(&own, |window| window.closing), Ok(false), "it may ask before it closes");
        assert!(!windows.leave_to_others("project-9"), "there is no such window");
    }

    #[test]
    fn the_title_of_an_own_window_names_its_session() {
        let seen = HashSet::new();
        assert_eq!(title_of_own("lighthouse", &session("a", Status::Idle), &seen), "Session a — lighthouse");
        let working = session("a", Status::Working { activity: String::new() });
        assert_eq!(title_of_own("lighthouse", &working, &seen), "Working: Session a — lighthouse");
    }

    #[test]
    fn a_failure_is_in_the_title_until_its_session_was_seen() {
        let failed = || Status::Failed { message: "The API answered 529".to_owned() };
        let [a, b] = ["a", "b"].map(SessionId::new);
        let mut sessions = [session("a", failed()), session("b", Status::Idle)];
        let mut seen = HashSet::new();
        let mut look = |before_user: &[SessionId], sessions: &[Session]| {
            seen = seen_failures(&seen, before_user, sessions);
            title("lighthouse", sessions, &seen)
        };
        assert_eq!(look(&[], &sessions), "Failed: Session a — lighthouse");
        assert_eq!(
            look(std::slice::from_ref(&b), &sessions),
            "Failed: Session a — lighthouse",
            "another session was seen"
        );
        assert_eq!(look(std::slice::from_ref(&a), &sessions), "lighthouse — Deskbell");
        assert_eq!(look(&[], &sessions), "lighthouse — Deskbell", "it stays seen");
        sessions[0].status = Status::Working { activity: String::new() };
        assert_eq!(look(&[], &sessions), "Working: Session a — lighthouse");
        sessions[0].status = failed();
        assert_eq!(look(&[], &sessions), "Failed: Session a — lighthouse", "that is another failure");
        let beside = [b.clone(), a.clone()];
        assert_eq!(look(&beside, &sessions), "lighthouse — Deskbell", "it is beside the other one");
        sessions[0].status = Status::Working { activity: String::new() };
        look(&[], &sessions);
        sessions[0].status = failed();
        sessions[1].status = Status::NeedsInput { what: "Wants to run a command".to_owned() };
        assert_eq!(look(&[], &sessions), "Wants to run a command — lighthouse");
        sessions[0].status = Status::NeedsInput { what: "Has a question".to_owned() };
        assert!(look(&[], &sessions).starts_with("(2) "), "how many wait is in the title");
    }
}
