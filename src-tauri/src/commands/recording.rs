//! Commands on the recording of a session, for a bug report. The files are in Deskbell's data.

use super::{Answer, project_of};
use crate::emit;
use deskbell_cli::recordings as kept;
use deskbell_engine::api::*;
use deskbell_engine::disk;
use deskbell_engine::session::SessionHandle;
use deskbell_sessions::folders;
use deskbell_sessions::registry::SessionRegistry;
use std::path::{Path, PathBuf};
use tauri::{AppHandle, Manager, WebviewWindow};

fn session_of(app: &AppHandle, window: &WebviewWindow, id: &SessionId) -> Answer<SessionHandle> {
    app.state::<SessionRegistry>().session(&project_of(app, window)?, id)
}

fn recordings() -> PathBuf {
    folders::data().join(folders::RECORDINGS)
}

/// Records a session from now on. If the recording cannot be written, the window is informed at once.
#[tauri::command]
pub async fn record_session(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
) -> Answer<RecordingState> {
    let session = session_of(&app, &window, &session_id)?;
    let recording = session.record(recordings()).await?;
    let label = window.label().to_owned();
    tauri::async_runtime::spawn(report_failure(app, label, session_id, session.recording_failed()));
    Ok(recording)
}

async fn report_failure(
    app: AppHandle,
    label: String,
    session_id: SessionId,
    failed: impl Future<Output = Option<RecordingState>>,
) {
    if let Some(recording) = failed.await {
        emit::to_window(&app, &label, WindowEvent::RecordingEnded { session_id, recording });
    }
}

/// Stops the recording of a session. Returns what became of it, if there was one.
#[tauri::command]
pub async fn stop_recording(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
) -> Answer<Option<RecordingState>> {
    session_of(&app, &window, &session_id)?.stop_recording().await
}

/// The recording of a session that runs, or that a problem ended.
#[tauri::command]
pub async fn recording_of(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
) -> Answer<Option<RecordingState>> {
    Ok(session_of(&app, &window, &session_id)?.recording())
}

/// The folder of recordings, and the name of this file in it, if it is a recording of the session.
fn own_recording(
    app: &AppHandle,
    window: &WebviewWindow,
    session_id: &SessionId,
    path: &str,
) -> Answer<(PathBuf, String)> {
    session_of(app, window, session_id)?;
    let name = Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if !kept::is_name(name) || !name.ends_with(&format!("-{session_id}.ndjson")) {
        return Err(CommandError {
            code: ErrorCode::BadCommand,
            message: "This file is no recording of this session.".to_owned(),
            detail: None,
        });
    }
    Ok((recordings(), name.to_owned()))
}

/// Removes a recording of a session of this window's project, by the name of its file.
#[tauri::command]
pub async fn remove_recording(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    path: String,
) -> Answer<()> {
    let (folder, name) = own_recording(&app, &window, &session_id, &path)?;
    let place = folder.clone();
    let removed = disk::run(&place, disk::DEADLINE, move || kept::remove(&folder, &name)).await?;
    removed.map_err(|error| CommandError {
        code: ErrorCode::Internal,
        message: "The recording could not be removed.".to_owned(),
        detail: Some(error.to_string()),
    })
}

/// Shows a recording of a session of this window's project in the file manager, by the name of its file.
#[tauri::command]
pub async fn reveal_recording(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    path: String,
) -> Answer<()> {
    let (folder, name) = own_recording(&app, &window, &session_id, &path)?;
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
