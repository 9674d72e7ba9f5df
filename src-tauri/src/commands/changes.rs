//! Commands of the changes page: the files of this window's project that differ from an earlier state.

use super::{Answer, project_of};
use crate::prompt_snapshots::PromptSnapshots;
use deskbell_engine::LocalHost;
use deskbell_engine::api::*;
use deskbell_engine::changes;
use tauri::{AppHandle, Manager, WebviewWindow};

/// Returns the files that differ from the last commit, or from the working tree at a prompt of the session.
#[tauri::command]
pub async fn changes(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    against: Against,
) -> Answer<Changes> {
    let project = project_of(&app, &window)?;
    let since = app.state::<PromptSnapshots>().get(&session_id, against);
    if against != Against::Commit && since.is_none() {
        return Ok(changes::without_prompt());
    }
    Ok(changes::changes(&LocalHost, &project, since.as_deref()).await)
}

/// Returns the change of one of these files.
#[tauri::command]
pub async fn file_diff(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    against: Against,
    path: String,
) -> Answer<FileDiff> {
    let project = project_of(&app, &window)?;
    let since = app.state::<PromptSnapshots>().get(&session_id, against);
    changes::file_diff(&LocalHost, &project, since.as_deref(), &path).await.map_err(|error| CommandError {
        code: ErrorCode::Internal,
        message: "The change of the file could not be read.".to_owned(),
        detail: Some(error.to_string()),
    })
}
