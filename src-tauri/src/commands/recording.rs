//! Commands on the recording of a session, for a bug report. The files are in Deskbell's data.

use super::{Answer, project_of};
use crate::registry::SessionRegistry;
use deskbell_cli::folders;
use deskbell_engine::api::*;
use deskbell_engine::disk;
use deskbell_engine::session::SessionHandle;
use std::path::{Path, PathBuf};
use tauri::{AppHandle, Manager, WebviewWindow};

fn session_of(app: &AppHandle, window: &WebviewWindow, id: &SessionId) -> Answer<SessionHandle> {
    app.state::<SessionRegistry>().session(&project_of(app, window)?, id)
}

fn recordings() -> PathBuf {
    folders::data().join("recordings")
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Records a session from now on. Returns the path of the file.
#[tauri::command]
pub async fn record_session(app: AppHandle, window: WebviewWindow, session_id: SessionId) -> Answer<String> {
    Ok(shown(&session_of(&app, &window, &session_id)?.record(recordings()).await?))
}

/// Stops the recording of a session. Returns its path, if there was one.
#[tauri::command]
pub async fn stop_recording(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
) -> Answer<Option<String>> {
    let path = session_of(&app, &window, &session_id)?.stop_recording().await?;
    Ok(path.as_deref().map(shown))
}

/// The file that a session is being recorded in.
#[tauri::command]
pub async fn recording_of(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
) -> Answer<Option<String>> {
    Ok(session_of(&app, &window, &session_id)?.recording().as_deref().map(shown))
}

/// Shows a recording of a session of this window's project in the file manager, by the name of its file.
#[tauri::command]
pub async fn reveal_recording(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    path: String,
) -> Answer<()> {
    session_of(&app, &window, &session_id)?;
    let folder = recordings();
    let name = Path::new(&path).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if !name.ends_with(&format!("-{session_id}.ndjson")) {
        return Err(CommandError {
            code: ErrorCode::BadCommand,
            message: "This file is no recording of this session.".to_owned(),
            detail: None,
        });
    }
    let file = folder.join(name);
    let show = move || {
        tauri_plugin_opener::reveal_item_in_dir(file).map_err(|error| CommandError {
            code: ErrorCode::Internal,
            message: "The recording could not be shown.".to_owned(),
            detail: Some(error.to_string()),
        })
    };
    disk::run(&folder, disk::DEADLINE, show).await?
}
