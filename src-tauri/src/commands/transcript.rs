//! Commands on a transcript: subscribe and show rows.

use super::{Answer, project_of};
use crate::forward::Forward;
use crate::lifecycle;
use crate::windows::Windows;
use deskbell_desktop::places::PlacesStore;
use deskbell_dialogs::permission::DialogController;
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
    lifecycle::own::check_place(&app, &label, &project, &session_id)?;
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
        // It may have got a window of its own meanwhile.
        if let Err(elsewhere) = lifecycle::own::check_place(&app, &label, &project, &session_id) {
            windows
                .with(&label, |window| window.first.clear_if(|first| *first.session_id() == session_id))?;
            return Err(elsewhere);
        }
        if windows.with(&label, |window| window.own_session.is_none())? {
            lifecycle::remember_session(&app, &project, &session_id);
            // A remembered second session stays: at the start, the page shows it after this one.
            if second.is_none() && app.state::<PlacesStore>().second_session(&project) == Some(session_id) {
                lifecycle::remember_second(&app, &project, None);
            }
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
    lifecycle::own::check_place(&app, &label, &project_of(&app, &window)?, &session_id)?;
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
