//! Commands about the link to the server of a session that keeps running.

use super::{Answer, project_of};
use crate::far;
use deskbell_engine::api::*;
use deskbell_sessions::registry::SessionRegistry;
use tauri::{AppHandle, Manager, WebviewWindow};

/// Tries to connect to the server of this session now, instead of at the next attempt.
#[tauri::command]
pub async fn retry_link(app: AppHandle, window: WebviewWindow, session_id: SessionId) -> Answer<()> {
    let project = project_of(&app, &window)?;
    app.state::<SessionRegistry>().retry_link(&project, &session_id)?;
    if let ProjectRef::There(there) = &project {
        far::retry_link(&app, there);
    }
    Ok(())
}
