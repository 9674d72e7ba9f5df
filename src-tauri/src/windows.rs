//! A window for each project folder, and what each window may see.

use crate::forward::Forward;
use crate::links;
use crate::preferences::WindowPlace;
use crate::shell::Shell;
use crate::tell::{Waiting, tell};
#[cfg(target_os = "linux")]
use crate::webkit;
use anyhow::Context;
use deskbell_engine::api::{CommandError, ErrorCode, Session, SessionId, Status, WindowEvent};
use deskbell_engine::attachment;
use deskbell_engine::files::Files;
use std::collections::HashMap;
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

/// What belongs to one window.
pub struct ProjectWindow {
    pub project: PathBuf,
    /// New sessions use the demo agent.
    pub demo: bool,
    /// A start was refused here until its user has said whether the folder is trusted.
    pub asks_trust: bool,
    /// The name of its events, random and told to it alone: a Tauri event can be heard by any window that knows its
    /// name (2.12.5).
    pub event: String,
    pub open_session: Option<SessionId>,
    pub forward: Option<Forward>,
    /// Events too large to be told, until the page fetches them.
    pub waiting: Waiting,
    /// What can be named in a prompt.
    pub files: Files,
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

    /// Looks at, or changes, what belongs to a window.
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

    pub fn labels(&self) -> Vec<String> {
        self.lock().by_label.keys().cloned().collect()
    }

    /// Gives a window a new name for its events: what was on its way under the old one is nobody's any more.
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
    let label = {
        let mut state = shell.windows.lock();
        state.n_opened += 1;
        let label = format!("project-{}", state.n_opened);
        let window = ProjectWindow {
            project: project.to_owned(),
            demo,
            asks_trust: false,
            event: String::new(),
            open_session: None,
            forward: None,
            waiting: Waiting::default(),
            files: Files::of(project),
            closing: false,
        };
        state.by_label.insert(label.clone(), window);
        label
    };
    let known = shell.kept.windows().into_iter().find(|known| known.project == project);
    let built = build(app, &label, project, known.as_ref());
    if built.is_err() {
        shell.windows.lock().by_label.remove(&label);
    }
    let window = built.with_context(|| format!("opening the window of {}", project.display()))?;
    let place = WindowPlace { project: project.to_owned(), demo, closed: false, size: None, position: None };
    shell.kept.remember(known.map_or(place, |known| WindowPlace { demo, closed: false, ..known }))?;
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
    window.set_zoom(zoom_factor(app.state::<Shell>().kept.preferred.get().zoom))?;
    if let Some((width, height)) = known.and_then(|known| known.size) {
        window.set_size(tauri::PhysicalSize::new(width, height))?;
    }
    if let Some((x, y)) = known.and_then(|known| known.position) {
        window.set_position(tauri::PhysicalPosition::new(x, y))?;
    }
    Ok(window)
}

/// All windows are drawn as large as the preference says.
pub fn apply_zoom(app: &AppHandle) {
    let shell = app.state::<Shell>();
    let factor = zoom_factor(shell.kept.preferred.get().zoom);
    for window in shell.windows.labels().iter().filter_map(|label| app.get_webview_window(label)) {
        if let Err(error) = window.set_zoom(factor) {
            tracing::warn!(%error, "a window could not be zoomed");
        }
    }
}

/// What was kept may be anything: beyond the limits nothing could be read, or reached to change it back.
fn zoom_factor(percent: u32) -> f64 {
    f64::from(percent.clamp(*ZOOM.start(), *ZOOM.end())) / 100.0
}

/// The project's name: its folder's.
pub fn name_of(project: &Path) -> String {
    project
        .file_name()
        .map_or_else(|| project.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// Closing a window denies what is open and ends its agents first; then it goes.
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
                tell(&app, &label, WindowEvent::Dragging { over: true });
            }
            TauriEvent::DragDrop(DragDropEvent::Leave) => {
                tell(&app, &label, WindowEvent::Dragging { over: false });
            }
            TauriEvent::DragDrop(DragDropEvent::Drop { paths, .. }) => {
                tell(&app, &label, WindowEvent::Dragging { over: false });
                let Ok(project) = shell.windows.with(&label, |window| window.project.clone()) else { return };
                let (app, label, paths) = (app.clone(), label.clone(), paths.clone());
                // A file may lie on a slow disk.
                tauri::async_runtime::spawn_blocking(move || {
                    let dropped = attachment::dropped(&project, &paths);
                    tell(&app, &label, WindowEvent::Dropped { dropped });
                });
            }
            TauriEvent::Destroyed => {
                shell.windows.lock().by_label.remove(&label);
                shell.asking.window_gone(&label);
            }
            _ => {}
        }
    });
}

async fn close(app: &AppHandle, window: &WebviewWindow) {
    let shell = app.state::<Shell>();
    let found = shell.windows.with(window.label(), |window| (window.project.clone(), window.demo));
    let Ok((project, demo)) = found else { return };
    // With the last window the app ends: it is there again at the next start.
    let is_last = shell.windows.lock().by_label.len() == 1;
    remember(
        &shell,
        window,
        WindowPlace { project: project.clone(), demo, closed: !is_last, size: None, position: None },
    );
    shell.desk().close(Some(&project)).await;
    if let Err(error) = window.destroy() {
        tracing::error!(%error, "a window could not be closed");
    }
    // What the page asked for in its last moment must not go on behind a window that is gone.
    shell.desk().close(Some(&project)).await;
}

fn remember(shell: &Shell, window: &WebviewWindow, place: WindowPlace) {
    let size = window.inner_size().ok().map(|size| (size.width, size.height));
    let position = window.outer_position().ok().map(|position| (position.x, position.y));
    if let Err(error) = shell.kept.remember(WindowPlace { size, position, ..place }) {
        tracing::warn!(%error, "the window's place could not be kept");
    }
}

/// Keeps the places of all open windows, for the next start.
pub fn remember_all(app: &AppHandle) {
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
                WindowPlace { project, demo, closed: false, size: None, position: None },
            );
        }
    }
}

/// Puts a window in front.
pub fn bring_up(app: &AppHandle, label: &str) {
    let Some(window) = app.get_webview_window(label) else { return };
    let raised = window.unminimize().and_then(|()| window.show()).and_then(|()| window.set_focus());
    if let Err(error) = raised {
        tracing::warn!(%error, "a window could not be brought up");
    }
}

/// The title says whose turn it is, by the session that needs it most.
pub fn retitle(app: &AppHandle, label: &str, project: &Path, sessions: &[Session]) {
    let Some(window) = app.get_webview_window(label) else { return };
    let urgency = |session: &&Session| match session.status {
        Status::NeedsInput { .. } => 3,
        Status::Failed { .. } => 2,
        Status::Working { .. } | Status::Interrupting | Status::Restarting { .. } => 1,
        _ => 0,
    };
    let name = name_of(project);
    let title = match sessions.iter().max_by_key(urgency) {
        Some(session) => match &session.status {
            Status::NeedsInput { what } => format!("{what} — {name}"),
            Status::Failed { .. } => format!("Failed: {} — {name}", session.title),
            Status::Working { .. } | Status::Interrupting | Status::Restarting { .. } => {
                format!("Working: {} — {name}", session.title)
            }
            _ => format!("{name} — Deskbell"),
        },
        None => format!("{name} — Deskbell"),
    };
    if let Err(error) = window.set_title(&title) {
        tracing::warn!(%error, "a window's title could not be changed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_never_too_small_or_too_large_to_be_used() {
        assert_eq!([100, 67, 0, 4_000_000].map(zoom_factor), [1.0, 0.67, 0.5, 2.0]);
    }
}
