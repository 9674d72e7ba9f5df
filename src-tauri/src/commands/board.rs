//! Commands of the board of all projects.

use super::Answer;
use crate::board;
use deskbell_engine::api::*;
use tauri::AppHandle;

/// Opens the board of all projects, or brings it up.
#[tauri::command]
pub async fn open_board(app: AppHandle) -> Answer<()> {
    board::open(&app).map_err(|error| CommandError {
        code: ErrorCode::Internal,
        message: "The window could not be opened.".to_owned(),
        detail: Some(format!("{error:#}")),
    })
}

/// The first call of a board.
#[tauri::command]
pub async fn connect_board(app: AppHandle) -> Answer<BoardConnection> {
    let connection = board::connect(&app);
    board::follow_live(&app);
    Ok(connection)
}

/// Opens a session of the board in the window of its project.
#[tauri::command]
pub async fn open_board_session(app: AppHandle, session_id: SessionId) -> Answer<()> {
    board::open_session(&app, &session_id).await
}

/// Stops the agents of these sessions, whichever their projects are.
#[tauri::command]
pub async fn stop_board_sessions(app: AppHandle, session_ids: Vec<SessionId>) -> Answer<()> {
    board::stop_sessions(&app, session_ids).await
}
