//! Commands on the sessions in the agent's own store: follow the list, and open one.

use super::{Answer, project_of};
use crate::hidden::HiddenSessions;
use crate::registry::{self, SessionRegistry};
use crate::windows::Windows;
use crate::{agent, emit, sessions};
use deskbell_engine::api::*;
use deskbell_engine::stored;
use tauri::{AppHandle, Manager, WebviewWindow};

/// Sends this window all stored sessions of its project, and then each change.
#[tauri::command]
pub async fn follow_stored(app: AppHandle, window: WebviewWindow) -> Answer<()> {
    let project = project_of(&app, &window)?;
    let config = agent::config_folder(AgentKind::Claude, &registry::data_folder());
    let (follower, mut changes) = stored::follow(config, &project, sessions::caches());
    // An earlier page's list ends here.
    app.state::<Windows>().with(window.label(), |window| window.follower = Some(follower))?;
    let label = window.label().to_owned();
    tauri::async_runtime::spawn(async move {
        while let Some(mut change) = changes.recv().await {
            app.state::<HiddenSessions>().remove_from(&mut change);
            emit::to_window(&app, &label, WindowEvent::StoredChanged { change });
        }
    });
    Ok(())
}

/// Returns the session that shows a stored conversation. Nothing is started and nothing is saved before its first
/// prompt.
#[tauri::command]
pub async fn open_stored(app: AppHandle, window: WebviewWindow, agent_session_id: String) -> Answer<Session> {
    let project = project_of(&app, &window)?;
    app.state::<SessionRegistry>().open_stored(&project, &agent_session_id).await
}
