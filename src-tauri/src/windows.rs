//! The project windows: one for each project folder, and the state that belongs to each window.

use crate::emit::{Waiting, to_window};
use crate::forward::Forward;
use crate::links;
use crate::preferences::WindowPlace;
use crate::shell::Shell;
#[cfg(target_os = "linux")]
use crate::webkit;
use anyhow::Context;
use deskbell_engine::api::{CommandError, Dropped, ErrorCode, Session, SessionId, Status, WindowEvent};
use deskbell_engine::attachment;
use deskbell_engine::disk;
use deskbell_engine::files::Files;
use deskbell_engine::session::title::one_line;
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tauri::webview::NewWindowResponse;
use tauri::{
    AppHandle, DragDropEvent, Manager, WebviewUrl, WebviewWindow, WebviewWindowBuilder,
    WindowEvent as TauriEvent,
};

const DEFAULT_SIZE: (f64, f64) = (1180.0, 800.0);
const LEAST_SIZE: (f64, f64) = (560.0, 480.0);

const ZOOM: RangeInclusive<u32> = 50..=200;

/// The state that belongs to one window.
pub struct ProjectWindow {
    pub project: PathBuf,
    /// New sessions use the demo agent.
    pub demo: bool,
    /// A start was refused here; the window asks until the user has decided whether the folder is trusted.
    pub asks_trust: bool,
    /// The user has not answered that refusal yet.
    pub start_refused: bool,
    /// The name of its events, random and sent only to it: a Tauri event can be received by any window that knows its
    /// name (2.12.5).
    pub event: String,
    pub open_session: Option<SessionId>,
    /// Whether it has the keyboard focus, according to its last event.
    pub focused: bool,
    /// Failures that the user has seen; the title does not show them any more.
    pub seen_failures: HashSet<SessionId>,
    pub forward: Option<Forward>,
    /// Events that are too large to send, until the page fetches them.
    pub waiting: Waiting,
    /// The files that can be named in a prompt.
    pub files: Files,
    /// The number of project views that were begun. Only the last one is sent.
    pub n_views: u64,
    closing: bool,
}

/// The windows, by their label.
#[derive(Default)]
pub struct Windows(Mutex<State>);

#[derive(Default)]
struct State {
    by_label: HashMap<String, ProjectWindow>,
    n_opened: u64,
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

    pub fn is_empty(&self) -> bool {
        self.lock().by_label.is_empty()
    }

    /// The window of a project.
    pub fn label_of(&self, project: &Path) -> Option<String> {
        let state = self.lock();
        state.by_label.iter().find(|(_, window)| window.project == project).map(|(label, _)| label.clone())
    }

    /// The folders of all windows.
    pub fn projects(&self) -> Vec<PathBuf> {
        self.lock().by_label.values().map(|window| window.project.clone()).collect()
    }

    pub fn labels(&self) -> Vec<String> {
        self.lock().by_label.keys().cloned().collect()
    }

    /// Gives a window a new name for its events. Events under the old name are no longer received.
    pub fn new_event(&self, label: &str) -> Result<String, CommandError> {
        self.with(label, |window| {
            window.event = format!("deskbell-{}", uuid::Uuid::new_v4());
            window.forward = None;
            window.waiting = Waiting::default();
            window.event.clone()
        })
    }
}

/// Opens a project's window, or brings it up if it is open.
pub fn open(app: &AppHandle, project: &Path, demo: bool) -> anyhow::Result<String> {
    let shell = app.state::<Shell>();
    if let Some(label) = shell.windows.label_of(project) {
        shell.windows.with(&label, |window| window.demo |= demo)?;
        bring_up(app, &label);
        return Ok(label);
    }
    let known = shell.kept.windows().into_iter().find(|known| known.project == project);
    let label = {
        let mut state = shell.windows.lock();
        state.n_opened += 1;
        let label = format!("project-{}", state.n_opened);
        let window = ProjectWindow {
            project: project.to_owned(),
            demo,
            asks_trust: false,
            start_refused: false,
            event: String::new(),
            open_session: known.as_ref().and_then(|known| known.open_session.clone()),
            focused: false,
            seen_failures: HashSet::new(),
            forward: None,
            waiting: Waiting::default(),
            files: Files::of(project),
            n_views: 0,
            closing: false,
        };
        state.by_label.insert(label.clone(), window);
        label
    };
    let built = build(app, &label, project, known.as_ref());
    if built.is_err() {
        shell.windows.lock().by_label.remove(&label);
    }
    let window = built.with_context(|| format!("opening the window of {}", project.display()))?;
    let place = WindowPlace {
        project: project.to_owned(),
        demo,
        closed: false,
        size: None,
        position: None,
        open_session: None,
    };
    shell.kept.remember(known.map_or(place, |known| WindowPlace { demo, closed: false, ..known }))?;
    let saving = app.clone();
    tauri::async_runtime::spawn(async move { save_places(&saving.state::<Shell>()).await });
    watch(app.clone(), window);
    Ok(label)
}

fn build(
    app: &AppHandle,
    label: &str,
    project: &Path,
    known: Option<&WindowPlace>,
) -> tauri::Result<WebviewWindow> {
    let title = format!("{} — Deskbell", name_of(project));
    let window = WebviewWindowBuilder::new(app, label, WebviewUrl::App("index.html".into()))
        .title(title)
        .inner_size(DEFAULT_SIZE.0, DEFAULT_SIZE.1)
        .min_inner_size(LEAST_SIZE.0, LEAST_SIZE.1)
        .on_navigation(links::may_navigate)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .build()?;
    #[cfg(target_os = "linux")]
    webkit::settle(&window)?;
    window.set_zoom(zoom_factor(app.state::<Shell>().kept.current.get().zoom))?;
    if let Some((width, height)) = known.and_then(|known| known.size) {
        window.set_size(tauri::PhysicalSize::new(width, height))?;
    }
    if let Some((x, y)) = known.and_then(|known| known.position) {
        window.set_position(tauri::PhysicalPosition::new(x, y))?;
    }
    Ok(window)
}

/// Applies the zoom preference to all windows.
pub fn apply_zoom(app: &AppHandle) {
    let shell = app.state::<Shell>();
    let factor = zoom_factor(shell.kept.current.get().zoom);
    for window in shell.windows.labels().iter().filter_map(|label| app.get_webview_window(label)) {
        if let Err(error) = window.set_zoom(factor) {
            tracing::warn!(%error, "could not zoom a window");
        }
    }
}

/// Clamps the stored zoom. Beyond the limits the window would be unreadable, or the setting unreachable.
fn zoom_factor(percent: u32) -> f64 {
    f64::from(percent.clamp(*ZOOM.start(), *ZOOM.end())) / 100.0
}

/// The project's name: its folder's.
pub fn name_of(project: &Path) -> String {
    project
        .file_name()
        .map_or_else(|| project.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// Closing a window first denies its open requests and ends its agents; then the window closes.
fn watch(app: AppHandle, window: WebviewWindow) {
    let label = window.label().to_owned();
    window.clone().on_window_event(move |event| {
        let shell = app.state::<Shell>();
        match event {
            TauriEvent::CloseRequested { api, .. } => {
                api.prevent_close();
                let begun = shell.windows.with(&label, |window| std::mem::replace(&mut window.closing, true));
                if begun == Ok(false) {
                    let (app, window) = (app.clone(), window.clone());
                    tauri::async_runtime::spawn(async move { close(&app, &window).await });
                }
            }
            TauriEvent::DragDrop(DragDropEvent::Enter { .. }) => {
                to_window(&app, &label, WindowEvent::Dragging { over: true });
            }
            TauriEvent::DragDrop(DragDropEvent::Leave) => {
                to_window(&app, &label, WindowEvent::Dragging { over: false });
            }
            TauriEvent::DragDrop(DragDropEvent::Drop { paths, .. }) => {
                to_window(&app, &label, WindowEvent::Dragging { over: false });
                let Ok(project) = shell.windows.with(&label, |window| window.project.clone()) else { return };
                let (app, label, paths) = (app.clone(), label.clone(), paths.clone());
                // The file may be on a slow disk.
                tauri::async_runtime::spawn(async move {
                    let of = project.clone();
                    let look = move || attachment::dropped(&of, &paths);
                    let dropped = disk::run(&project, disk::DEADLINE, look)
                        .await
                        .unwrap_or_else(|unfinished| vec![Dropped::Refused { why: unfinished.to_string() }]);
                    to_window(&app, &label, WindowEvent::Dropped { dropped });
                });
            }
            TauriEvent::Focused(focused) => {
                let focused = *focused;
                let known = shell.windows.with(&label, |window| window.focused = focused);
                if known.is_ok() {
                    let (app, label) = (app.clone(), label.clone());
                    tauri::async_runtime::spawn(async move { view_changed(&app, &label) });
                }
            }
            TauriEvent::Destroyed => {
                let gone = shell.windows.lock().by_label.remove(&label);
                shell.asking.window_gone(&label);
                // A click on a notification would have no window to open.
                let project = gone.map(|window| window.project);
                let sessions = project.map(|project| shell.registry().sessions(&project)).unwrap_or_default();
                sessions.iter().for_each(|session| shell.bell.quiet(&session.id));
            }
            _ => {}
        }
    });
}

async fn close(app: &AppHandle, window: &WebviewWindow) {
    let shell = app.state::<Shell>();
    let found = shell.windows.with(window.label(), |window| (window.project.clone(), window.demo));
    let Ok((project, demo)) = found else { return };
    // The app ends with its last window, which opens again at the next start.
    let is_last = shell.windows.lock().by_label.len() == 1;
    remember(
        &shell,
        window,
        WindowPlace {
            project: project.clone(),
            demo,
            closed: !is_last,
            size: None,
            position: None,
            open_session: None,
        },
    );
    save_places(&shell).await;
    shell.registry().close(Some(&project)).await;
    if let Err(error) = window.destroy() {
        tracing::error!(%error, "could not close a window");
    }
    // A session that the page requested just before must not continue after the window is closed.
    shell.registry().close(Some(&project)).await;
}

fn remember(shell: &Shell, window: &WebviewWindow, place: WindowPlace) {
    let size = window.inner_size().ok().map(|size| (size.width, size.height));
    let position = window.outer_position().ok().map(|position| (position.x, position.y));
    let open_session =
        shell.windows.with(window.label(), |window| window.open_session.clone()).ok().flatten();
    if let Err(error) = shell.kept.remember(WindowPlace { size, position, open_session, ..place }) {
        tracing::warn!(%error, "could not save the window's place");
    }
}

/// Remembers which session is open in a project's window, for the next start.
pub fn remember_session(app: &AppHandle, project: &Path, id: &SessionId) {
    match app.state::<Shell>().kept.remember_session(project, id) {
        Ok(true) => {
            let saving = app.clone();
            tauri::async_runtime::spawn(async move { save_places(&saving.state::<Shell>()).await });
        }
        Ok(false) => {}
        Err(error) => tracing::warn!(%error, "could not save the open session for the next start"),
    }
}

async fn save_places(shell: &Shell) {
    if let Err(error) = shell.kept.save().await {
        tracing::warn!(%error, "could not save the places of windows");
    }
}

/// Saves the places of all open windows, for the next start.
pub async fn remember_all(app: &AppHandle) {
    let shell = app.state::<Shell>();
    let open: Vec<(String, PathBuf, bool)> = {
        let state = shell.windows.lock();
        state
            .by_label
            .iter()
            .map(|(label, window)| (label.clone(), window.project.clone(), window.demo))
            .collect()
    };
    for (label, project, demo) in open {
        if let Some(window) = app.get_webview_window(&label) {
            remember(
                &shell,
                &window,
                WindowPlace { project, demo, closed: false, size: None, position: None, open_session: None },
            );
        }
    }
    save_places(&shell).await;
}

/// Brings a window to the front.
pub fn bring_up(app: &AppHandle, label: &str) {
    let Some(window) = app.get_webview_window(label) else { return };
    let raised = window.unminimize().and_then(|()| window.show()).and_then(|()| window.set_focus());
    if let Err(error) = raised {
        tracing::warn!(%error, "could not bring up a window");
    }
}

/// Returns whether the window has the keyboard focus.
pub fn is_focused(app: &AppHandle, label: &str) -> bool {
    app.get_webview_window(label).is_some_and(|window| window.is_focused().unwrap_or(false))
}

/// Reads whether the window has the focus, which it may have got before its events were received. It is read on the main
/// thread, like the events: an answer that is on its way between threads could overwrite a newer event.
pub fn learn_focus(app: &AppHandle, label: &str) -> Result<(), CommandError> {
    let (on_main, label) = (app.clone(), label.to_owned());
    let learn = move || {
        let focused = is_focused(&on_main, &label);
        let known = on_main.state::<Shell>().windows.with(&label, |window| window.focused = focused);
        if known.is_ok() {
            tauri::async_runtime::spawn(async move { view_changed(&on_main, &label) });
        }
    };
    app.run_on_main_thread(learn).map_err(|error| CommandError {
        code: ErrorCode::Internal,
        message: "The window could not be asked for its focus.".to_owned(),
        detail: Some(error.to_string()),
    })
}

/// The window got or lost the focus, or shows another session: updates the notifications, the dialogs and the title.
pub fn view_changed(app: &AppHandle, label: &str) {
    let shell = app.state::<Shell>();
    let seen = || shell.windows.with(label, |window| (window.focused, window.open_session.clone()));
    let Ok((focused, open)) = seen() else { return };
    if focused && let Some(open) = &open {
        shell.bell.quiet(open);
    }
    shell.asking.view_changed(label, |view| {
        // Reads the state again under the lock, so that two changes cannot overtake each other.
        if let Ok((focused, open)) = seen() {
            (view.focused, view.open) = (focused, open);
        }
    });
    if let Ok(project) = shell.windows.with(label, |window| window.project.clone()) {
        retitle(app, label, &project);
    }
}

/// Maximum length of a window's title, in characters.
const TITLE: usize = 200;

/// Sets the title to the state of the session that needs the user most.
pub fn retitle(app: &AppHandle, label: &str, project: &Path) {
    let Some(window) = app.get_webview_window(label) else { return };
    let shell = app.state::<Shell>();
    let sessions = shell.registry().sessions(project);
    let seen = shell.windows.with(label, |window| {
        let before_user = window.open_session.as_ref().filter(|_| window.focused);
        window.seen_failures = seen_failures(&window.seen_failures, before_user, &sessions);
        window.seen_failures.clone()
    });
    let Ok(seen) = seen else { return };
    // A folder may have a misleading name too.
    if let Err(error) = window.set_title(&one_line(&title(&name_of(project), &sessions, &seen), TITLE)) {
        tracing::warn!(%error, "could not change a window's title");
    }
}

/// The sessions whose failure the user has seen: the open session, and those seen earlier that have not worked since.
fn seen_failures(
    seen: &HashSet<SessionId>,
    before_user: Option<&SessionId>,
    sessions: &[Session],
) -> HashSet<SessionId> {
    let has_failed = |session: &&Session| matches!(session.status, Status::Failed { .. });
    let failed = sessions.iter().filter(has_failed).map(|session| &session.id);
    failed.filter(|id| before_user == Some(*id) || seen.contains(id)).cloned().collect()
}

fn title(name: &str, sessions: &[Session], seen_failures: &HashSet<SessionId>) -> String {
    let urgency = |session: &&Session| match session.status {
        Status::NeedsInput { .. } => 3,
        Status::Failed { .. } if !seen_failures.contains(&session.id) => 2,
        Status::Working { .. } | Status::Interrupting | Status::Restarting { .. } => 1,
        _ => 0,
    };
    let most_urgent = sessions.iter().filter(|session| urgency(session) > 0).max_by_key(urgency);
    match most_urgent.map(|session| (&session.status, &session.title)) {
        Some((Status::NeedsInput { what }, _)) => format!("{what} — {name}"),
        Some((Status::Failed { .. }, title)) => format!("Failed: {title} — {name}"),
        Some((_, title)) => format!("Working: {title} — {name}"),
        None => format!("{name} — Deskbell"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_never_too_small_or_too_large_to_be_used() {
        assert_eq!([100, 67, 0, 4_000_000].map(zoom_factor), [1.0, 0.67, 0.5, 2.0]);
    }

    fn session(id: &str, status: Status) -> Session {
        Session {
            id: SessionId::new(id),
            title: format!("Session {id}"),
            project: "/lighthouse".to_owned(),
            agent: deskbell_engine::api::AgentKind::Demo,
            agent_session_id: None,
            status,
            alive: false,
            pid: None,
            agent_version: None,
            model: None,
            mode: "default".to_owned(),
            effort: None,
            thinking: false,
            rules: None,
            missed_prompt: None,
            models: Vec::new(),
            commands: Vec::new(),
            queue: Vec::new(),
            takes_into_turn: false,
            requests: Vec::new(),
            is_empty: false,
            n_background: 0,
            usage: Default::default(),
            created_at: 0,
            changed_at: 0,
            turn_started_at: None,
            restricted: false,
        }
    }

    #[test]
    fn a_failure_is_in_the_title_until_its_session_was_seen() {
        let failed = || Status::Failed { message: "The API answered 529".to_owned() };
        let [a, b] = ["a", "b"].map(SessionId::new);
        let mut sessions = [session("a", failed()), session("b", Status::Idle)];
        let mut seen = HashSet::new();
        let mut look = |before_user: Option<&SessionId>, sessions: &[Session]| {
            seen = seen_failures(&seen, before_user, sessions);
            title("lighthouse", sessions, &seen)
        };
        assert_eq!(look(None, &sessions), "Failed: Session a — lighthouse");
        assert_eq!(look(Some(&b), &sessions), "Failed: Session a — lighthouse", "another session was seen");
        assert_eq!(look(Some(&a), &sessions), "lighthouse — Deskbell");
        assert_eq!(look(None, &sessions), "lighthouse — Deskbell", "it stays seen");
        sessions[0].status = Status::Working { activity: String::new() };
        assert_eq!(look(None, &sessions), "Working: Session a — lighthouse");
        sessions[0].status = failed();
        assert_eq!(look(None, &sessions), "Failed: Session a — lighthouse", "that is another failure");
        sessions[1].status = Status::NeedsInput { what: "Wants to run a command".to_owned() };
        assert_eq!(look(None, &sessions), "Wants to run a command — lighthouse");
    }
}
