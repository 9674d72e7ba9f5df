//! Commands on a transcript: subscribe, show rows, search, and get texts of items.

use super::{Answer, project_of};
use crate::shell::Shell;
use crate::windows;
use deskbell_engine::api::*;
use deskbell_engine::session::{Feed, SessionHandle, Subscriber};
use std::sync::Arc;
use tauri::{AppHandle, State, WebviewWindow};

fn session_of(shell: &Shell, window: &WebviewWindow, id: &SessionId) -> Answer<SessionHandle> {
    shell.registry().session(&project_of(shell, window)?, id)
}

/// Returns a session with the requested part of its transcript. From then on its events are sent to this window.
#[tauri::command]
pub async fn subscribe(
    app: AppHandle,
    shell: State<'_, Shell>,
    window: WebviewWindow,
    session_id: SessionId,
    show: Viewport,
) -> Answer<Snapshot> {
    let session = session_of(&shell, &window, &session_id)?;
    let feed = Arc::new(Feed::new(session_id.clone(), show));
    let snapshot = session.subscribe(Subscriber::Merged(feed.clone())).await?;
    let label = window.label().to_owned();
    windows::remember_session(&app, &project_of(&shell, &window)?, &session_id);
    shell.windows.with(window.label(), |window| {
        window.open_session = Some(session_id);
        window.forward = Some(crate::forward::Forward::begin(app.clone(), label, feed));
    })?;
    windows::learn_focus(&app, window.label())?;
    Ok(snapshot)
}

/// Shows another part of the transcript; changes to that part are sent as events.
#[tauri::command]
pub async fn show_rows(
    shell: State<'_, Shell>,
    window: WebviewWindow,
    session_id: SessionId,
    show: Viewport,
) -> Answer<()> {
    let session = session_of(&shell, &window, &session_id)?;
    match feed_of(&shell, &window, &session_id)? {
        Some(feed) => session.show(feed, show).await,
        // The window has switched to another session in the meantime.
        None => Ok(()),
    }
}

/// Loads more of a subagent's items, before those that are shown; they arrive as events.
#[tauri::command]
pub async fn show_earlier(
    shell: State<'_, Shell>,
    window: WebviewWindow,
    session_id: SessionId,
    item_id: ItemId,
    before: u32,
    until: Option<ItemId>,
) -> Answer<()> {
    let session = session_of(&shell, &window, &session_id)?;
    match feed_of(&shell, &window, &session_id)? {
        Some(feed) => session.earlier(feed, item_id, before, until).await,
        // The window has switched to another session in the meantime.
        None => Ok(()),
    }
}

/// The feed of this window, if it shows that session.
fn feed_of(shell: &Shell, window: &WebviewWindow, id: &SessionId) -> Answer<Option<Arc<Feed>>> {
    shell.windows.with(window.label(), |window| {
        let forward = window.forward.as_ref().filter(|forward| forward.session_id() == id);
        forward.map(|forward| forward.feed())
    })
}

/// `None` if a newer search replaced this one.
#[tauri::command]
pub async fn find_words(
    shell: State<'_, Shell>,
    window: WebviewWindow,
    session_id: SessionId,
    query: String,
    index: Option<i64>,
) -> Answer<Option<Found>> {
    session_of(&shell, &window, &session_id)?.find(query, index).await
}

#[tauri::command]
pub async fn copy_text(
    shell: State<'_, Shell>,
    window: WebviewWindow,
    session_id: SessionId,
    copy: CopyOf,
) -> Answer<String> {
    let text = session_of(&shell, &window, &session_id)?.copy(copy).await?;
    text.ok_or_else(no_such_text)
}

/// Returns some lines of a tool's output.
#[tauri::command]
pub async fn output_lines(
    shell: State<'_, Shell>,
    window: WebviewWindow,
    session_id: SessionId,
    item_id: ItemId,
    first: u32,
    count: u32,
) -> Answer<Output> {
    let output = session_of(&shell, &window, &session_id)?.output(item_id, first, count).await?;
    output.ok_or_else(no_such_text)
}

/// Returns a part of an item that is not sent with the item.
#[tauri::command]
pub async fn item_part(
    shell: State<'_, Shell>,
    window: WebviewWindow,
    session_id: SessionId,
    item_id: ItemId,
    part: u32,
) -> Answer<Body> {
    let body = session_of(&shell, &window, &session_id)?.part(item_id, part).await?;
    body.ok_or_else(no_such_text)
}

fn no_such_text() -> CommandError {
    CommandError {
        code: ErrorCode::BadCommand,
        message: "The text no longer exists.".to_owned(),
        detail: None,
    }
}
