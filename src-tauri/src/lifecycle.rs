//! The life of a project's window: how it opens, its events, its title, and how it closes.

pub mod own;

use crate::background::{Background, IDLE};
use crate::emit::{Channels, to_window};
use crate::marks;
use crate::notify::Bell;
use crate::windows::{
    BOARD, ProjectWindow, Windows, bring_up, is_focused, seen_failures, title, title_of_own,
};
use crate::worktree_uses;
use crate::zoom;
use anyhow::Context;
use deskbell_desktop::places::{PlacesStore, WindowPlace};
#[cfg(target_os = "linux")]
use deskbell_desktop::webkit;
use deskbell_desktop::{links, menu_bar, screens};
use deskbell_dialogs::Answer;
use deskbell_dialogs::closing;
use deskbell_dialogs::permission::DialogController;
use deskbell_engine::api::{
    Asking, Closing, CommandError, Dropped, ErrorCode, PagePoint, ProjectRef, SessionId, Theme, WindowEvent,
};
use deskbell_engine::disk;
use deskbell_engine::files::Files;
use deskbell_engine::title::Title;
use deskbell_sessions::open_questions::OpenQuestions;
use deskbell_sessions::registry::SessionRegistry;
use deskbell_sessions::registry::far::taking_files;
use deskbell_sessions::running_commits::RunningCommits;
use deskbell_sessions::settings::CurrentSettings;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tauri::webview::NewWindowResponse;
use tauri::{
    AppHandle, DragDropEvent, Manager, PhysicalPosition, WebviewUrl, WebviewWindow, WebviewWindowBuilder,
    WindowEvent as TauriEvent,
};
use tokio::sync::mpsc;

const DEFAULT_SIZE: (f64, f64) = (1180.0, 800.0);
/// Fits on a screen of 1280×720 pixels at 200 %, which has 640×360 logical ones.
const LEAST_SIZE: (f64, f64) = (560.0, 300.0);

/// The size that a window manager may add to a window.
const FRAME: tauri::LogicalSize<f64> = tauri::LogicalSize::new(8.0, 36.0);

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
pub fn open(app: &AppHandle, project: &ProjectRef, demo: bool) -> anyhow::Result<String> {
    let windows = app.state::<Windows>();
    if let Some(label) = windows.label_of(project) {
        windows.with(&label, |window| window.demo |= demo)?;
        bring_up(app, &label);
        return Ok(label);
    }
    let open_session = app.state::<PlacesStore>().open_session(project);
    open_as(app, ProjectWindow::new(project, demo, open_session))
}

/// Opens this window, or brings it up if it is open.
fn open_as(app: &AppHandle, window: ProjectWindow) -> anyhow::Result<String> {
    let ProjectWindow { project, own_session, demo, .. } = &window;
    let (project, own_session, demo) = (project.clone(), own_session.clone(), *demo);
    let (windows, kept) = (app.state::<Windows>(), app.state::<PlacesStore>());
    let is_known = |known: &WindowPlace| known.project == project && known.own_session == own_session;
    let known = kept.windows().into_iter().find(is_known);
    let label = match windows.add(window) {
        Ok(label) => label,
        Err(label) => {
            bring_up(app, &label);
            return Ok(label);
        }
    };
    let built = build(app, &label, &project, known.as_ref());
    if built.is_err() {
        windows.remove(&label);
    }
    let window = built.with_context(|| format!("opening a window of {project}"))?;
    let place = WindowPlace { own_session, ..WindowPlace::new(project.clone(), demo) };
    if app.state::<Background>().remove(&project) {
        app.state::<Bell>().quiet_background(&project);
    }
    kept.remember(known.map_or(place, |known| WindowPlace { demo, closed: false, ..known }));
    save_soon(app);
    watch(app.clone(), window);
    worktree_uses::changed(app);
    Ok(label)
}

fn build(
    app: &AppHandle,
    label: &str,
    project: &ProjectRef,
    known: Option<&WindowPlace>,
) -> tauri::Result<WebviewWindow> {
    let title = format!("{} — Deskbell", project.name());
    let size = match known.and_then(|known| Some((known.size?, known.position))) {
        Some((size, position)) => screens::first_size(app, size, position)?,
        None => DEFAULT_SIZE,
    };
    let window = new_window(app, label, &title, size)?;
    if let Some(zoom) = app.state::<PlacesStore>().zoom(project) {
        window.set_zoom(zoom::factor(zoom))?;
    }
    if let Some(WindowPlace { size, position, .. }) = known {
        screens::place(&window, *size, *position)?;
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
        .prevent_overflow_with_margin(FRAME)
        .on_navigation(links::may_navigate)
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .build()?;
    #[cfg(target_os = "linux")]
    webkit::settle(&window)?;
    menu_bar::watch(&window);
    window.set_zoom(zoom::factor(app.state::<Arc<CurrentSettings>>().get().zoom))?;
    Ok(window)
}

/// Brings windows back that are on no screen any more. Some window managers leave them a few pixels of the screen.
#[cfg(target_os = "linux")]
pub fn bring_back_on_screen(app: &AppHandle) {
    for window in app.webview_windows().values() {
        if let Err(error) = screens::bring_back(window) {
            tracing::warn!(%error, "a window that is on no screen could not be moved");
        }
    }
}

/// Applies to all windows whether dialogs are shown while they are in front.
pub fn apply_asking(app: &AppHandle) {
    for label in app.state::<Windows>().labels() {
        view_changed(app, &label);
    }
}

/// Applies the theme to all windows.
pub fn apply_theme(app: &AppHandle) {
    let theme = match app.state::<Arc<CurrentSettings>>().get().theme {
        Theme::System => None,
        Theme::Light => Some(tauri::Theme::Light),
        Theme::Dark => Some(tauri::Theme::Dark),
    };
    app.set_theme(theme);
}

/// Where files are being dragged; `None` once they are dropped or have left.
pub fn drag_point(window: &WebviewWindow, event: &DragDropEvent) -> Option<PagePoint> {
    match event {
        DragDropEvent::Enter { position, .. } | DragDropEvent::Over { position } => {
            Some(page_point(window, *position))
        }
        _ => None,
    }
}

/// wry (0.57) reports the place of a drag in logical pixels on Linux and macOS, and in physical ones on Windows, in the same
/// type.
fn page_point(window: &WebviewWindow, position: PhysicalPosition<f64>) -> PagePoint {
    let scale = if cfg!(windows) { 1.0 } else { window.scale_factor().unwrap_or(1.0) };
    let share = |place: f64, length: u32| (place * scale / f64::from(length.max(1))).clamp(0.0, 1.0);
    // Without a size the point is in the open session, which every window has.
    let size = window.inner_size().unwrap_or_default();
    PagePoint { x: share(position.x, size.width), y: share(position.y, size.height) }
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
            TauriEvent::DragDrop(event) => {
                to_window(&app, &label, WindowEvent::Dragging { at: drag_point(&window, event) });
                let DragDropEvent::Drop { paths, position } = event else { return };
                let at = page_point(&window, *position);
                let Ok(project) = windows.with(&label, |window| window.project.clone()) else { return };
                let folder = match taking_files(project) {
                    Ok(folder) => folder,
                    Err(refused) => {
                        let dropped = vec![refused];
                        return to_window(&app, &label, WindowEvent::Dropped { dropped, at });
                    }
                };
                let (app, label, paths) = (app.clone(), label.clone(), paths.clone());
                // The file may be on a slow disk.
                tauri::async_runtime::spawn(async move {
                    let of = folder.clone();
                    let look = move || {
                        let (folders, rest) = Files::other_projects(&of, paths);
                        (folders, Files::dropped(&of, &rest))
                    };
                    let refused =
                        |unfinished: disk::Unfinished| Dropped::Refused { why: unfinished.to_string() };
                    let (folders, dropped) = disk::run(&folder, disk::DEADLINE, look)
                        .await
                        .unwrap_or_else(|unfinished| (Vec::new(), vec![refused(unfinished)]));
                    if !folders.is_empty() {
                        app.state::<FoldersToOpen>().request(folders);
                    }
                    if !dropped.is_empty() {
                        to_window(&app, &label, WindowEvent::Dropped { dropped, at });
                    }
                });
            }
            TauriEvent::Focused(focused) => {
                let focused = *focused;
                let known = windows.with(&label, |window| window.focused = focused);
                if known.is_ok() {
                    let (app, label) = (app.clone(), label.clone());
                    tauri::async_runtime::spawn(async move {
                        view_changed(&app, &label);
                        if focused {
                            // A terminal may have changed them.
                            marks::send(&app, &label).await;
                        }
                    });
                }
            }
            TauriEvent::Destroyed => {
                let gone = windows.remove(&label);
                worktree_uses::changed(&app);
                app.state::<Channels>().close(&label);
                app.state::<OpenQuestions>().window_gone(&label);
                app.state::<DialogController>().window_gone(&label);
                app.state::<RunningCommits>().stop(&label);
                // In the background a click on a notification opens the window again, and another window of the project
                // shows its sessions.
                let goes_on = |project: &ProjectRef| {
                    app.state::<Background>().has(project) || !windows.labels_of(project).is_empty()
                };
                let project = gone.map(|window| window.project).filter(|project| !goes_on(project));
                let registry = app.state::<SessionRegistry>();
                let sessions = project.map(|project| registry.sessions(&project)).unwrap_or_default();
                sessions.iter().for_each(|session| app.state::<Bell>().quiet(&session.id));
            }
            _ => {}
        }
    });
}

/// Closes a window. If that would stop work, the user is asked first, or has said before what to do.
async fn close_unless_cancelled(app: &AppHandle, window: &WebviewWindow) {
    let windows = app.state::<Windows>();
    let of_window =
        |window: &mut ProjectWindow| (window.project.clone(), window.own_session.clone(), window.closing);
    let Ok((project, own_session, false)) = windows.with(window.label(), of_window) else { return };
    if windows.leave_to_others(window.label()) {
        return match own_session {
            Some(id) => own::close_own(app, &project, &id),
            None => leave_project_to_own_windows(app, window, project).await,
        };
    }
    let sessions = app.state::<SessionRegistry>().sessions(&project);
    let chosen = app.state::<Arc<CurrentSettings>>().get().closing;
    let answer = match (closing::question(&project.name(), &sessions), chosen) {
        (None, _) | (_, Closing::Stop) => Answer::Stop { remember: false },
        (_, Closing::Background) => Answer::Background { remember: false },
        (Some(question), Closing::Ask) => match deskbell_dialogs::confirm(window, question).await {
            Ok(answer) => answer,
            // The app is ending, or there is no dialog: the window must stay closable.
            Err(error) => {
                tracing::warn!(error = format!("{error:#}"), "could not ask before closing a window");
                Answer::Stop { remember: false }
            }
        },
    };
    let (keeps_working, remember) = match answer {
        Answer::Cancel => return,
        Answer::Stop { remember } => (false, remember.then_some(Closing::Stop)),
        Answer::Background { remember } => (true, remember.then_some(Closing::Background)),
    };
    if let Some(closing) = remember {
        remember_closing(app, closing).await;
    }
    let begun = windows.with(window.label(), |window| std::mem::replace(&mut window.closing, true));
    if begun == Ok(false) {
        close(app, window, keeps_working).await;
    }
}

/// Closes the window of a project whose sessions go on, because some of them have windows of their own.
async fn leave_project_to_own_windows(app: &AppHandle, window: &WebviewWindow, project: ProjectRef) {
    let demo = app.state::<Windows>().with(window.label(), |window| window.demo) == Ok(true);
    remember(app, window, WindowPlace { closed: true, ..WindowPlace::new(project, demo) });
    save_places(app).await;
    if let Err(error) = window.destroy() {
        tracing::error!(%error, "could not close a window");
    }
}

/// Makes an answer the setting. The watch on the file puts it into effect.
async fn remember_closing(app: &AppHandle, closing: Closing) {
    let file = app.state::<Arc<CurrentSettings>>().file().clone();
    let folder = file.folder().to_owned();
    let write = move || {
        let value = serde_json::to_value(closing).map_err(|error| error.to_string())?;
        file.set("closing", &value).map_err(|error| error.to_string())
    };
    let written = disk::run(&folder, disk::DEADLINE, write).await;
    if let Err(error) = written.unwrap_or_else(|unfinished| Err(unfinished.to_string())) {
        tracing::warn!(error, "could not remember the answer in the settings");
    }
}

/// Ends the app: saves the places of windows, denies open requests and stops the agents. All windows open again at the
/// next start.
pub async fn end(app: &AppHandle) {
    remember_all(app).await;
    app.state::<SessionRegistry>().close(None).await;
    app.exit(0);
}

/// Asks once for all windows whether to stop their work, and ends the app.
pub async fn quit(app: &AppHandle, window: &WebviewWindow) -> anyhow::Result<()> {
    let sessions = app.state::<SessionRegistry>().all();
    if let Some(question) = closing::quit_question(&sessions) {
        match deskbell_dialogs::confirm(window, question).await {
            Ok(Answer::Cancel) => return Ok(()),
            Ok(_) => {}
            // There is no dialog: the app must stay closable.
            Err(error) => tracing::warn!(error = format!("{error:#}"), "could not ask before quitting"),
        }
    }
    end(app).await;
    Ok(())
}

/// Whether the app goes on without a window. Called when the last one is gone.
pub fn goes_on(app: &AppHandle) -> bool {
    app.webview_windows().is_empty() && !app.state::<Background>().all().is_empty()
}

/// Ends the app when it has had no window and no work for a while.
pub async fn end_when_idle(app: AppHandle) {
    const LOOK: Duration = Duration::from_secs(60);
    let mut idle = Duration::ZERO;
    while app.webview_windows().is_empty() {
        if idle >= IDLE {
            return end(&app).await;
        }
        tokio::time::sleep(LOOK).await;
        let works = app.state::<SessionRegistry>().all().iter().any(closing::has_work);
        idle = if works { Duration::ZERO } else { idle + LOOK };
    }
}

async fn close(app: &AppHandle, window: &WebviewWindow, keeps_working: bool) {
    let windows = app.state::<Windows>();
    let registry = app.state::<SessionRegistry>();
    let found = windows
        .with(window.label(), |window| (window.project.clone(), window.demo, window.own_session.clone()));
    let Ok((project, demo, own_session)) = found else { return };
    // The app ends with its last window, which opens again at the next start.
    let is_last = app.webview_windows().keys().filter(|label| *label != BOARD).count() == 1;
    let closed = !is_last && !keeps_working;
    match &own_session {
        Some(id) if closed => app.state::<PlacesStore>().forget_own(&project, id),
        _ => {
            let place = WindowPlace { own_session, closed, ..WindowPlace::new(project.clone(), demo) };
            remember(app, window, place);
        }
    }
    save_places(app).await;
    if keeps_working {
        app.state::<Background>().add(&project, demo);
        if let Err(error) = window.destroy() {
            tracing::error!(%error, "could not close a window");
        }
        return app.state::<Bell>().say_background(&project, &registry.sessions(&project));
    }
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
    app.state::<PlacesStore>().remember(WindowPlace { size, position, open_session, ..place });
}

/// Remembers which session is open in a project's window, for the next start.
pub fn remember_session(app: &AppHandle, project: &ProjectRef, id: &SessionId) {
    if app.state::<PlacesStore>().remember_session(project, id) {
        save_soon(app);
    }
}

/// Remembers the second session of a project's window for the next start.
pub fn remember_second(app: &AppHandle, project: &ProjectRef, id: Option<SessionId>) {
    if app.state::<PlacesStore>().remember_second(project, id) {
        save_soon(app);
    }
}

fn save_soon(app: &AppHandle) {
    let saving = app.clone();
    tauri::async_runtime::spawn(async move { save_places(&saving).await });
}

pub async fn save_places(app: &AppHandle) {
    if let Err(error) = app.state::<PlacesStore>().save(app).await {
        tracing::warn!(%error, "could not save the places of windows");
    }
}

/// Saves the places of all open windows, for the next start.
pub async fn remember_all(app: &AppHandle) {
    let windows = app.state::<Windows>();
    let open = windows.labels().into_iter().filter_map(|label| {
        let place = windows.with(&label, |window| WindowPlace {
            own_session: window.own_session.clone(),
            ..WindowPlace::new(window.project.clone(), window.demo)
        });
        Some((label, place.ok()?))
    });
    for (label, place) in open {
        if let Some(window) = app.get_webview_window(&label) {
            remember(app, &window, place);
        }
    }
    save_places(app).await;
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
    let seen = || windows.with(label, |window| (window.focused, window.open_sessions()));
    let Ok((focused, open)) = seen() else { return };
    if focused {
        open.iter().for_each(|open| app.state::<Bell>().quiet(open));
    }
    app.state::<DialogController>().view_changed(label, |view| {
        // Reads the state again under the lock, so that two changes cannot overtake each other.
        if let Ok((focused, open)) = seen() {
            (view.focused, view.open) = (focused, open);
            view.only_away = app.state::<Arc<CurrentSettings>>().get().asking == Asking::DialogWhenAway;
        }
    });
    if let Ok(project) = windows.with(label, |window| window.project.clone()) {
        retitle(app, label, &project);
    }
}

/// Maximum length of a window's title, in characters.
const TITLE: usize = 200;

/// Sets the title to the state of the session that needs the user most.
pub fn retitle(app: &AppHandle, label: &str, project: &ProjectRef) {
    let Some(window) = app.get_webview_window(label) else { return };
    let (windows, mut sessions) = (app.state::<Windows>(), app.state::<SessionRegistry>().sessions(project));
    sessions.retain(|session| windows.shows(label, project, &session.id));
    let seen = windows.with(label, |window| {
        let before_user = if window.focused { window.open_sessions() } else { Vec::new() };
        window.seen_failures = seen_failures(&window.seen_failures, &before_user, &sessions);
        (window.seen_failures.clone(), window.own_session.is_some())
    });
    let Ok((seen, is_own)) = seen else { return };
    let title = match sessions.first() {
        Some(session) if is_own => title_of_own(&project.name(), session, &seen),
        _ => title(&project.name(), &sessions, &seen),
    };
    // A folder may have a misleading name too.
    if let Err(error) = window.set_title(&Title::one_line(&title, TITLE)) {
        tracing::warn!(%error, "could not change a window's title");
    }
}
