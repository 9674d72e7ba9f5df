//! Commands on a transcript: subscribe, show rows, search, and get texts of items.

use super::{Answer, project_of};
use crate::ask::DialogController;
use crate::forward::Forward;
use crate::lifecycle;
use crate::places::PlacesStore;
use crate::windows::Windows;
use deskbell_engine::api::*;
use deskbell_engine::session::{Feed, SessionHandle, Subscriber};
use deskbell_sessions::registry::SessionRegistry;
use std::sync::Arc;
use tauri::{AppHandle, Manager, WebviewWindow};

fn session_of(app: &AppHandle, window: &WebviewWindow, id: &SessionId) -> Answer<SessionHandle> {
    app.state::<SessionRegistry>().session(&project_of(app, window)?, id)
}

/// Subscribes to a session of this window's project.
async fn begin_feed(
    app: &AppHandle,
    window: &WebviewWindow,
    id: &SessionId,
    show: Viewport,
    unfolded: Vec<ItemId>,
) -> Answer<(Snapshot, Arc<Feed>)> {
    let session = session_of(app, window, id)?;
    let feed = Arc::new(Feed::new(id.clone(), show, unfolded));
    let snapshot = session.subscribe(Subscriber::Merged(feed.clone())).await?;
    Ok((snapshot, feed))
}

/// Returns a session with the requested part of its transcript. From then on its events are sent to this window.
/// `unfolded`: the items that the user unfolded; a long thought has a row for each of its slices then, and a call those of
/// its subagent's items.
#[tauri::command]
pub async fn subscribe(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    show: Viewport,
    unfolded: Vec<ItemId>,
) -> Answer<Snapshot> {
    let label = window.label().to_owned();
    let project = project_of(&app, &window)?;
    let windows = app.state::<Windows>();
    let asked = windows.with(&label, |window| window.first.ask())?;
    let (snapshot, feed) = begin_feed(&app, &window, &session_id, show, unfolded).await?;
    let second = windows.with(&label, |window| {
        if !window.first.is_last(asked) {
            return None;
        }
        // The second session is the open one now.
        window.second.clear_if(|second| *second.session_id() == session_id);
        window.open_session = Some(session_id.clone());
        window.first.show(Forward::begin(app.clone(), label.clone(), feed));
        Some(window.second_session())
    })?;
    if let Some(second) = second {
        lifecycle::remember_session(&app, &project, &session_id);
        // A remembered second session stays: at the start, the page shows it after this one.
        if second.is_none() && app.state::<PlacesStore>().second_session(&project) == Some(session_id) {
            lifecycle::remember_second(&app, &project, None);
        }
        lifecycle::learn_focus(&app, &label)?;
    }
    Ok(snapshot)
}

/// Returns a second session. From then on its events are sent to this window, too.
#[tauri::command]
pub async fn subscribe_second(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    show: Viewport,
    unfolded: Vec<ItemId>,
) -> Answer<Snapshot> {
    let label = window.label().to_owned();
    let windows = app.state::<Windows>();
    let asked = windows.with(&label, |window| window.second.ask())?;
    let (snapshot, feed) = begin_feed(&app, &window, &session_id, show, unfolded).await?;
    let is_shown = windows.with(&label, |window| {
        let is_last = window.second.is_last(asked);
        if is_last {
            window.second.show(Forward::begin(app.clone(), label.clone(), feed));
        }
        is_last
    })?;
    if is_shown {
        lifecycle::remember_second(&app, &project_of(&app, &window)?, Some(session_id));
        lifecycle::learn_focus(&app, &label)?;
    }
    Ok(snapshot)
}

/// Shows no second session any more.
#[tauri::command]
pub fn leave_second(app: AppHandle, window: WebviewWindow) -> Answer<()> {
    let shown = app.state::<Windows>().with(window.label(), |window| {
        window.second.clear();
        window.shown_sessions()
    })?;
    app.state::<DialogController>().view_changed(window.label(), |view| {
        view.cards.retain(|card| shown.contains(&card.session_id));
    });
    lifecycle::remember_second(&app, &project_of(&app, &window)?, None);
    lifecycle::learn_focus(&app, window.label())
}

/// Shows another part of the transcript; changes to that part are sent as events.
#[tauri::command]
pub async fn show_rows(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    show: Viewport,
) -> Answer<()> {
    let session = session_of(&app, &window, &session_id)?;
    match feed_of(&app, &window, &session_id)? {
        Some(feed) => session.show(feed, show).await,
        // The window has switched to another session in the meantime.
        None => Ok(()),
    }
}

/// The feed of this window, if it shows that session.
fn feed_of(app: &AppHandle, window: &WebviewWindow, id: &SessionId) -> Answer<Option<Arc<Feed>>> {
    app.state::<Windows>().with(window.label(), |window| window.forward_of(id).map(Forward::feed))
}

/// Returns for each path that a text of the session names the file of its folder; `null` if there is none.
#[tauri::command]
pub async fn named_files(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    paths: Vec<String>,
) -> Answer<Vec<Option<String>>> {
    session_of(&app, &window, &session_id)?.find_named(paths).await
}

/// Returns the lines of a file of the session's folder around a line, which is counted from 1.
#[tauri::command]
pub async fn file_text(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    path: String,
    line: Option<u32>,
) -> Answer<FileText> {
    session_of(&app, &window, &session_id)?.file_text(path, line).await
}

/// `None` if a newer search replaced this one.
#[tauri::command]
pub async fn find_words(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    query: String,
    index: Option<i64>,
) -> Answer<Option<Found>> {
    session_of(&app, &window, &session_id)?.find(query, index).await
}

#[tauri::command]
pub async fn copy_text(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    copy: CopyOf,
) -> Answer<String> {
    let text = session_of(&app, &window, &session_id)?.copy(copy).await?;
    text.ok_or_else(no_such_text)
}

/// Returns some lines of a tool's output.
#[tauri::command]
pub async fn output_lines(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    item_id: ItemId,
    first: u32,
    count: u32,
) -> Answer<Output> {
    let output = session_of(&app, &window, &session_id)?.output(item_id, first, count).await?;
    output.ok_or_else(no_such_text)
}

/// Returns the images that a tool returned.
#[tauri::command]
pub async fn tool_images(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    item_id: ItemId,
) -> Answer<Vec<Attachment>> {
    let images = session_of(&app, &window, &session_id)?.images(item_id).await?;
    images.ok_or_else(no_such_text)
}

/// Returns the end of the output of a task in the background.
#[tauri::command]
pub async fn task_output(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    task_id: String,
) -> Answer<Option<TaskOutput>> {
    session_of(&app, &window, &session_id)?.task_output(task_id).await
}

/// Returns the end of an MCP server's error output.
#[tauri::command]
pub async fn server_log(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    server: String,
) -> Answer<Option<TaskOutput>> {
    session_of(&app, &window, &session_id)?.server_log(server).await
}

/// Returns the last lines between Deskbell and the agent, after line `after`.
#[tauri::command]
pub async fn raw_lines(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    after: u64,
) -> Answer<RawLines> {
    session_of(&app, &window, &session_id)?.raw_lines(after).await
}

fn no_such_text() -> CommandError {
    CommandError {
        code: ErrorCode::BadCommand,
        message: "The text no longer exists.".to_owned(),
        detail: None,
    }
}
