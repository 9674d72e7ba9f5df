//! Commands of the search in all sessions.

use super::{Answer, project_of};
use crate::far::history;
use crate::start::StartPage;
use crate::windows::{Search, Windows};
use crate::{emit, showing};
use deskbell_cli::serve::place::session_folders_in_time;
use deskbell_engine::api::*;
use deskbell_engine::search::{Absent, Query, Searching, Today};
use deskbell_sessions::folders;
use deskbell_sessions::hidden::HiddenSessions;
use deskbell_sessions::opener::now_ms;
use deskbell_sessions::registry::SessionRegistry;
use deskbell_sessions::remote_projects::project_on;
use deskbell_sessions::settings::CurrentSettings;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use tauri::{AppHandle, Manager, WebviewWindow};

/// Searches the sessions of this window's project, or of all, and sends the results under `nr`: the newest ones, or all if
/// `to_the_end`. Ends the window's last search. Returns why there is nothing to search for, if so; the next search is prepared then.
#[tauri::command]
pub async fn search_sessions(
    app: AppHandle,
    window: WebviewWindow,
    nr: u32,
    query: String,
    all: bool,
    to_the_end: bool,
    utc_offset_minutes: i32,
) -> Answer<Option<String>> {
    let project = project_of(&app, &window)?;
    let only = match project.here().filter(|_| !all) {
        Some(folder) => Some(app.state::<StartPage>().folders(folder).await),
        None => None,
    };
    // Before the search is noted, so that none overtakes another.
    let sessions = session_folders_in_time(folders::data()).await;
    let windows = app.state::<Windows>();
    windows.with(window.label(), |window| window.searching = None)?;
    let now = now_ms();
    let stores = app.state::<Arc<CurrentSettings>>().stores().borrow().clone();
    let parsed = match Query::parse(&query, Today { now, utc_offset_minutes }) {
        Ok(query) => query,
        Err(problem) if project.there().is_some() => return Ok(Some(problem.to_string())),
        Err(problem) => {
            // The user is about to type a word.
            let known = app.state::<Arc<Absent>>().inner().clone();
            let preparing = Search::Here { _searching: Searching::prepare(stores, only, known) };
            windows.with(window.label(), |window| window.searching = Some((nr, preparing)))?;
            return Ok(Some(problem.to_string()));
        }
    };
    if let ProjectRef::There(there) = &project {
        let searching = history::search(&app, window.label(), there, nr, &query, all);
        windows.with(window.label(), |window| {
            window.searching = Some((nr, Search::There { _searching: searching }));
            window.found.clear();
        })?;
        return Ok(None);
    }
    let start = if to_the_end { Searching::start } else { Searching::newest };
    let known = app.state::<Arc<Absent>>().inner().clone();
    let (searching, mut changes) = start(stores, sessions, only, parsed, known);
    windows.with(window.label(), |window| {
        window.searching = Some((nr, Search::Here { _searching: searching }));
        // The results so far stay in the window while more are added.
        if !to_the_end {
            window.found.clear();
        }
    })?;
    let label = window.label().to_owned();
    tauri::async_runtime::spawn(async move {
        while let Some(mut change) = changes.recv().await {
            let hidden = app.state::<HiddenSessions>();
            change.found.retain(|found| !hidden.hides(&found.agent_session_id, found.changed_at));
            let live = elsewhere(&app, &label);
            for found in &mut change.found {
                found.in_other_window = live.contains(&found.agent_session_id);
            }
            let is_current = app.state::<Windows>().with(&label, |window| {
                let is_current = window.searching.as_ref().is_some_and(|(current, _)| *current == nr);
                let found = change.found.iter().filter(|_| is_current);
                window.found.extend(
                    found.map(|found| (found.agent_session_id.clone(), found.project.as_str().into())),
                );
                is_current
            });
            if is_current != Ok(true) {
                return;
            }
            emit::to_window(&app, &label, WindowEvent::Searched { nr, change });
        }
    });
    Ok(None)
}

/// The conversations whose agents run in other windows than this one.
fn elsewhere(app: &AppHandle, label: &str) -> HashSet<String> {
    let windows = app.state::<Windows>();
    let is_elsewhere = |folder: &Path| windows.label_of(&folder.into()).is_some_and(|other| other != label);
    let running = app.state::<SessionRegistry>().running();
    running.into_iter().filter(|(folder, _)| is_elsewhere(folder)).map(|(_, id)| id).collect()
}

/// Ends the window's search.
#[tauri::command]
pub fn stop_search(app: AppHandle, window: WebviewWindow) -> Answer<()> {
    app.state::<Windows>().with(window.label(), |window| window.searching = None)
}

/// Opens a session that this window's search found, in the window of its project, at an item if one is given. A page
/// names no folder: only sessions that were found can be opened.
#[tauri::command]
pub async fn open_found(
    app: AppHandle,
    window: WebviewWindow,
    agent_session_id: String,
    item_id: Option<ItemId>,
) -> Answer<()> {
    let found =
        app.state::<Windows>().with(window.label(), |window| window.found.get(&agent_session_id).cloned())?;
    let project = found.ok_or_else(|| CommandError {
        code: ErrorCode::NoSuchSession,
        message: "The search no longer has this session.".to_owned(),
        detail: None,
    })?;
    showing::stored(&app, &project, &agent_session_id, item_id).await
}

/// The row of an item; `null` if the part of the transcript that was read so far does not have it.
#[tauri::command]
pub async fn locate_item(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    item_id: ItemId,
) -> Answer<Option<u32>> {
    let project = project_of(&app, &window)?;
    app.state::<SessionRegistry>().session(&project, &session_id)?.locate(item_id).await
}

/// Opens the session that sent a message of a session of this project, in the window of its project. A page names no
/// folder: it is that of the process which sent the message.
#[tauri::command]
pub async fn open_sender(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    item_id: ItemId,
) -> Answer<()> {
    let project = project_of(&app, &window)?;
    let session = app.state::<SessionRegistry>().session(&project, &session_id)?;
    let sender = session.sender(item_id).await?.unwrap_or_default();
    let (Some(agent_session_id), Some(folder)) = (sender.agent_session_id, sender.folder) else {
        return Err(CommandError {
            code: ErrorCode::NoSuchSession,
            message: "The agent does not report which session sent this message.".to_owned(),
            detail: None,
        });
    };
    let of_sender = match project {
        ProjectRef::Here(_) => ProjectRef::from(folder.as_str()),
        ProjectRef::There(project) => project_on(&project.machine, &folder)?.into(),
    };
    showing::stored(&app, &of_sender, &agent_session_id, None).await
}
