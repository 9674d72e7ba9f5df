//! The life of a project's window: how it opens, its events, its title, and how it closes.

use crate::ask::DialogController;
use crate::closing;
use crate::emit::{Channels, to_window};
use crate::links;
use crate::native_dialogs;
use crate::notify::Bell;
use crate::preferences::{PreferencesStore, WindowPlace};
use crate::registry::SessionRegistry;
#[cfg(target_os = "linux")]
use crate::webkit;
use crate::windows::{ProjectWindow, Windows, bring_up, is_focused, name_of, seen_failures, title};
use anyhow::Context;
use deskbell_engine::api::{CommandError, Dropped, ErrorCode, SessionId, Theme, WindowEvent};
use deskbell_engine::attachment;
use deskbell_engine::disk;
use deskbell_engine::title::one_line;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use tauri::webview::NewWindowResponse;
use tauri::{
    AppHandle, DragDropEvent, Manager, WebviewUrl, WebviewWindow, WebviewWindowBuilder,
    WindowEvent as TauriEvent, Wry,
};
use tokio::sync::mpsc;

/// The preferences of the app.
type Kept = PreferencesStore<Wry>;

const DEFAULT_SIZE: (f64, f64) = (1180.0, 800.0);
const LEAST_SIZE: (f64, f64) = (560.0, 480.0);

/// The part of a window that has to be on a screen, in physical pixels: enough of the title bar to drag it.
const LEAST_VISIBLE: (i32, i32) = (120, 24);

const ZOOM: RangeInclusive<u32> = 50..=200;

/// Folders that were dropped on a window and are to be opened as projects.
pub struct FoldersToOpen(mpsc::UnboundedSender<Vec<PathBuf>>);

impl FoldersToOpen {
    /// The receiver gets the folders of each drop.
    pub fn new() -> (Self, mpsc::UnboundedReceiver<Vec<PathBuf>>) {
        let (request, requested) = mpsc::unbounded_channel();
        (Self(request), requested)
    }

    pub fn request(&self, folders: Vec<PathBuf>) {
        if self.0.send(folders).is_err() {
            tracing::debug!("folders were dropped while the app was ending");
        }
    }
}

/// Opens a project's window, or brings it up if it is open.
pub fn open(app: &AppHandle, project: &Path, demo: bool) -> anyhow::Result<String> {
    let windows = app.state::<Windows>();
    if let Some(label) = windows.label_of(project) {
        windows.with(&label, |window| window.demo |= demo)?;
        bring_up(app, &label);
        return Ok(label);
    }
    let kept = app.state::<Kept>();
    let known = kept.windows().into_iter().find(|known| known.project == project);
    let open_session = known.as_ref().and_then(|known| known.open_session.clone());
    let label = match windows.add(ProjectWindow::new(project, demo, open_session)) {
        Ok(label) => label,
        // Another call opened it in the meantime.
        Err(label) => {
            bring_up(app, &label);
            return Ok(label);
        }
    };
    let built = build(app, &label, project, known.as_ref());
    if built.is_err() {
        windows.remove(&label);
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
    kept.remember(known.map_or(place, |known| WindowPlace { demo, closed: false, ..known }))?;
    let saving = app.clone();
    tauri::async_runtime::spawn(async move { save_places(&saving.state::<Kept>()).await });
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
    let window = new_window(app, label, &title, DEFAULT_SIZE)?;
    let size = known.and_then(|known| known.size);
    if let Some((width, height)) = size {
        window.set_size(tauri::PhysicalSize::new(width, height))?;
    }
    if let Some((x, y)) = known.and_then(|known| known.position) {
        let width = size.map_or(LEAST_VISIBLE.0, |(width, _)| i32::try_from(width).unwrap_or(i32::MAX));
        // The screen that it was on may be gone; then the system chooses the place.
        if is_reachable((x, y), width, &screens(&window)?) {
            window.set_position(tauri::PhysicalPosition::new(x, y))?;
        }
    }
    Ok(window)
}

/// Opens a window for a page of the app, which can go nowhere else.
pub fn new_window(
    app: &AppHandle,
    label: &str,
    title: &str,
    size: (f64, f64),
) -> tauri::Result<WebviewWindow> {
    let window = WebviewWindowBuilder::new(app, label, WebviewUrl::App("index.html".into()))
        .title(title)
        .inner_size(size.0, size.1)
        .min_inner_size(LEAST_SIZE.0, LEAST_SIZE.1)
        .on_navigation(links::may_navigate)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .build()?;
    #[cfg(target_os = "linux")]
    webkit::settle(&window)?;
    window.set_zoom(zoom_factor(app.state::<Kept>().current.get().zoom))?;
    Ok(window)
}

/// A rectangle on the desktop: its left, top, right and bottom edge, in physical pixels.
type Edges = (i32, i32, i32, i32);

fn screens(window: &WebviewWindow) -> tauri::Result<Vec<Edges>> {
    let length = |length: u32| i32::try_from(length).unwrap_or(i32::MAX);
    let edges = |screen: &tauri::Monitor| {
        let (at, size) = (screen.position(), screen.size());
        (at.x, at.y, at.x.saturating_add(length(size.width)), at.y.saturating_add(length(size.height)))
    };
    Ok(window.available_monitors()?.iter().map(edges).collect())
}

/// Whether enough of the window's top edge is on a screen. Without a list of screens it is assumed to be.
fn is_reachable((x, y): (i32, i32), width: i32, screens: &[Edges]) -> bool {
    let on = |(left, top, right, bottom): &Edges| {
        let visible = x.saturating_add(width).min(*right).saturating_sub(x.max(*left));
        visible >= LEAST_VISIBLE.0.min(width) && y >= *top && y.saturating_add(LEAST_VISIBLE.1) <= *bottom
    };
    screens.is_empty() || screens.iter().any(on)
}

/// Applies the zoom preference to all windows.
pub fn apply_zoom(app: &AppHandle) {
    let factor = zoom_factor(app.state::<Kept>().current.get().zoom);
    for window in app.webview_windows().into_values() {
        if let Err(error) = window.set_zoom(factor) {
            tracing::warn!(%error, "could not zoom a window");
        }
    }
}

/// Applies the theme preference to all windows.
pub fn apply_theme(app: &AppHandle) {
    let theme = match app.state::<Kept>().current.get().theme {
        Theme::System => None,
        Theme::Light => Some(tauri::Theme::Light),
        Theme::Dark => Some(tauri::Theme::Dark),
    };
    app.set_theme(theme);
}

/// Clamps the stored zoom. Beyond the limits the window would be unreadable, or the setting unreachable.
fn zoom_factor(percent: u32) -> f64 {
    f64::from(percent.clamp(*ZOOM.start(), *ZOOM.end())) / 100.0
}

/// Closing a window first denies its open requests and ends its agents; then the window closes.
fn watch(app: AppHandle, window: WebviewWindow) {
    let label = window.label().to_owned();
    window.clone().on_window_event(move |event| {
        let windows = app.state::<Windows>();
        match event {
            TauriEvent::CloseRequested { api, .. } => {
                api.prevent_close();
                let (app, window) = (app.clone(), window.clone());
                tauri::async_runtime::spawn(async move { close_unless_cancelled(&app, &window).await });
            }
            TauriEvent::DragDrop(DragDropEvent::Enter { .. }) => {
                to_window(&app, &label, WindowEvent::Dragging { over: true });
            }
            TauriEvent::DragDrop(DragDropEvent::Leave) => {
                to_window(&app, &label, WindowEvent::Dragging { over: false });
            }
            TauriEvent::DragDrop(DragDropEvent::Drop { paths, .. }) => {
                to_window(&app, &label, WindowEvent::Dragging { over: false });
                let Ok(project) = windows.with(&label, |window| window.project.clone()) else { return };
                let (app, label, paths) = (app.clone(), label.clone(), paths.clone());
                // The file may be on a slow disk.
                tauri::async_runtime::spawn(async move {
                    let of = project.clone();
                    let look = move || {
                        let (folders, rest) = attachment::other_projects(&of, paths);
                        (folders, attachment::dropped(&of, &rest))
                    };
                    let refused =
                        |unfinished: disk::Unfinished| Dropped::Refused { why: unfinished.to_string() };
                    let (folders, dropped) = disk::run(&project, disk::DEADLINE, look)
                        .await
                        .unwrap_or_else(|unfinished| (Vec::new(), vec![refused(unfinished)]));
                    if !folders.is_empty() {
                        app.state::<FoldersToOpen>().request(folders);
                    }
                    if !dropped.is_empty() {
                        to_window(&app, &label, WindowEvent::Dropped { dropped });
                    }
                });
            }
            TauriEvent::Focused(focused) => {
                let focused = *focused;
                let known = windows.with(&label, |window| window.focused = focused);
                if known.is_ok() {
                    let (app, label) = (app.clone(), label.clone());
                    tauri::async_runtime::spawn(async move { view_changed(&app, &label) });
                }
            }
            TauriEvent::Destroyed => {
                let gone = windows.remove(&label);
                app.state::<Channels>().close(&label);
                app.state::<DialogController>().window_gone(&label);
                // A click on a notification would have no window to open.
                let project = gone.map(|window| window.project);
                let registry = app.state::<SessionRegistry>();
                let sessions = project.map(|project| registry.sessions(&project)).unwrap_or_default();
                sessions.iter().for_each(|session| app.state::<Bell>().quiet(&session.id));
            }
            _ => {}
        }
    });
}

/// Closes a window. If that would stop work, the user is asked first.
async fn close_unless_cancelled(app: &AppHandle, window: &WebviewWindow) {
    let windows = app.state::<Windows>();
    let Ok(project) = windows.with(window.label(), |window| window.project.clone()) else { return };
    let sessions = app.state::<SessionRegistry>().sessions(&project);
    if let Some(question) = closing::question(&name_of(&project), &sessions) {
        match native_dialogs::confirm(window, question).await {
            Ok(true) => {}
            Ok(false) => return,
            // The app is ending.
            Err(error) => {
                tracing::warn!(error = format!("{error:#}"), "could not ask before closing a window")
            }
        }
    }
    let begun = windows.with(window.label(), |window| std::mem::replace(&mut window.closing, true));
    if begun == Ok(false) {
        close(app, window).await;
    }
}

async fn close(app: &AppHandle, window: &WebviewWindow) {
    let (windows, kept) = (app.state::<Windows>(), app.state::<Kept>());
    let registry = app.state::<SessionRegistry>();
    let found = windows.with(window.label(), |window| (window.project.clone(), window.demo));
    let Ok((project, demo)) = found else { return };
    // The app ends with its last window, which opens again at the next start.
    let is_last = app.webview_windows().len() == 1;
    remember(
        app,
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
    save_places(&kept).await;
    registry.close(Some(&project)).await;
    if let Err(error) = window.destroy() {
        tracing::error!(%error, "could not close a window");
    }
    // A session that the page requested just before must not continue after the window is closed.
    registry.close(Some(&project)).await;
}

fn remember(app: &AppHandle, window: &WebviewWindow, place: WindowPlace) {
    let size = window.inner_size().ok().map(|size| (size.width, size.height));
    let position = window.outer_position().ok().map(|position| (position.x, position.y));
    let open_session =
        app.state::<Windows>().with(window.label(), |window| window.open_session.clone()).ok().flatten();
    if let Err(error) = app.state::<Kept>().remember(WindowPlace { size, position, open_session, ..place }) {
        tracing::warn!(%error, "could not save the window's place");
    }
}

/// Remembers which session is open in a project's window, for the next start.
pub fn remember_session(app: &AppHandle, project: &Path, id: &SessionId) {
    match app.state::<Kept>().remember_session(project, id) {
        Ok(true) => {
            let saving = app.clone();
            tauri::async_runtime::spawn(async move { save_places(&saving.state::<Kept>()).await });
        }
        Ok(false) => {}
        Err(error) => tracing::warn!(%error, "could not save the open session for the next start"),
    }
}

async fn save_places(kept: &Kept) {
    if let Err(error) = kept.save().await {
        tracing::warn!(%error, "could not save the places of windows");
    }
}

/// Saves the places of all open windows, for the next start.
pub async fn remember_all(app: &AppHandle) {
    let windows = app.state::<Windows>();
    let open = windows.labels().into_iter().filter_map(|label| {
        let (project, demo) = windows.with(&label, |window| (window.project.clone(), window.demo)).ok()?;
        Some((label, project, demo))
    });
    for (label, project, demo) in open {
        if let Some(window) = app.get_webview_window(&label) {
            remember(
                app,
                &window,
                WindowPlace { project, demo, closed: false, size: None, position: None, open_session: None },
            );
        }
    }
    save_places(&app.state::<Kept>()).await;
}

/// Reads whether the window has the focus, which it may have got before its events were received. It is read on the main
/// thread, like the events: an answer that is on its way between threads could overwrite a newer event.
pub fn learn_focus(app: &AppHandle, label: &str) -> Result<(), CommandError> {
    let (on_main, label) = (app.clone(), label.to_owned());
    let learn = move || {
        let focused = is_focused(&on_main, &label);
        let known = on_main.state::<Windows>().with(&label, |window| window.focused = focused);
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
    let windows = app.state::<Windows>();
    let seen = || windows.with(label, |window| (window.focused, window.open_session.clone()));
    let Ok((focused, open)) = seen() else { return };
    if focused && let Some(open) = &open {
        app.state::<Bell>().quiet(open);
    }
    app.state::<DialogController>().view_changed(label, |view| {
        // Reads the state again under the lock, so that two changes cannot overtake each other.
        if let Ok((focused, open)) = seen() {
            (view.focused, view.open) = (focused, open);
        }
    });
    if let Ok(project) = windows.with(label, |window| window.project.clone()) {
        retitle(app, label, &project);
    }
}

/// Maximum length of a window's title, in characters.
const TITLE: usize = 200;

/// Sets the title to the state of the session that needs the user most.
pub fn retitle(app: &AppHandle, label: &str, project: &Path) {
    let Some(window) = app.get_webview_window(label) else { return };
    let sessions = app.state::<SessionRegistry>().sessions(project);
    let seen = app.state::<Windows>().with(label, |window| {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_never_too_small_or_too_large_to_be_used() {
        assert_eq!([100, 67, 0, 4_000_000].map(zoom_factor), [1.0, 0.67, 0.5, 2.0]);
    }
    #[test]
    fn a_window_is_not_put_where_no_screen_is() {
        let one = [(0, 0, 1920, 1080)];
        let two = [(0, 0, 1920, 1080), (1920, -200, 4480, 1240)];
        assert!(is_reachable((100, 50), 1180, &one));
        assert!(is_reachable((1920, -200), 1180, &two), "on the second screen");
        assert!(!is_reachable((1920, 0), 1180, &one), "that screen is gone");
        assert!(is_reachable((-1000, 0), 1180, &one), "half of it is on the screen");
        assert!(!is_reachable((-1100, 0), 1180, &one), "a strip is left");
        assert!(!is_reachable((100, -30), 1180, &one), "its title bar is above the screen");
        assert!(!is_reachable((100, 1070), 1180, &one), "its title bar is below the screen");
        assert!(!is_reachable((i32::MAX, i32::MAX), i32::MAX, &two));
        assert!(is_reachable((5_000, 5_000), 1180, &[]), "the screens are not known");
    }
}
