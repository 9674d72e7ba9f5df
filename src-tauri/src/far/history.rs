//! The conversations that Claude Code stored on another machine: the list of a window, and a search in them.

use super::{client, label_of};
use crate::emit;
use crate::windows::{AbortOnDrop, Windows};
use deskbell_engine::api::*;
use deskbell_sessions::registry::SessionRegistry;
use deskbell_sessions::registry::far::FarState;
use deskbell_sessions::remote_projects::{conversations, project_on};
use std::time::Duration;
use tauri::{AppHandle, Manager};

/// Delay before the list of a machine is asked for again.
const CHECK_LIVE: Duration = Duration::from_secs(15);

/// Sends the window of this project what the agent there stored, if it has one. While a process there has one of the
/// conversations open, the list is asked for again: nothing reports the end of that process.
pub fn send_later(app: &AppHandle, project: &RemoteProject) {
    let Some(label) = label_of(app, project) else { return };
    let (of, to, project) = (app.clone(), label.clone(), project.clone());
    let sending = AbortOnDrop(tauri::async_runtime::spawn(async move {
        while send(&of, &to, &project).await {
            tokio::time::sleep(CHECK_LIVE).await;
        }
    }));
    // An earlier list ends here. Without the window nothing is sent.
    if app.state::<Windows>().with(&label, |window| window.far_stored = Some(sending)).is_err() {
        tracing::debug!("the window was closed before its list was asked for");
    }
}

/// Returns whether a process there has one of the conversations open.
async fn send(app: &AppHandle, label: &str, project: &RemoteProject) -> bool {
    let registry = app.state::<SessionRegistry>();
    let mut change = client(app, label, &project.machine).conversations(&project.folder).await;
    registry.hide_own_processes(&mut change.changed);
    registry.know_far_stored(project, change.changed.clone());
    let is_open = change.changed.iter().any(|one| one.live.is_some());
    let change = StoredChange { is_complete: true, ..change };
    emit::to_window(app, label, WindowEvent::StoredChanged { change });
    is_open
}

/// Searches the conversations of this project's machine, of the project or of all, and sends the window the results.
pub fn search(
    app: &AppHandle,
    label: &str,
    project: &RemoteProject,
    nr: u32,
    query: &str,
    all: bool,
) -> AbortOnDrop {
    let (app, label, project, query) = (app.clone(), label.to_owned(), project.clone(), query.to_owned());
    AbortOnDrop(tauri::async_runtime::spawn(async move {
        let registry = app.state::<SessionRegistry>();
        let change = match registry.far_state(&project) {
            Some(FarState::Reached(_)) => {
                client(&app, &label, &project.machine).search(&project.folder, &query, all).await
            }
            _ => SearchChange {
                problem: Some("The machine of this project is not connected yet.".to_owned()),
                ..SearchChange::default()
            },
        };
        let change = SearchChange { is_complete: true, ..change };
        let mut found: Vec<(String, ProjectRef)> = Vec::new();
        for one in &change.found {
            // Others were left out before.
            let Ok(place) = project_on(&project.machine, &one.project) else { continue };
            registry.know_far_stored(&place, [conversations::stored(one)]);
            found.push((one.agent_session_id.clone(), place.into()));
        }
        let is_current = app.state::<Windows>().with(&label, |window| {
            let is_current = window.searching.as_ref().is_some_and(|(current, _)| *current == nr);
            window.found.extend(found.into_iter().filter(|_| is_current));
            is_current
        });
        if is_current == Ok(true) {
            emit::to_window(&app, &label, WindowEvent::Searched { nr, change });
        }
    }))
}
