//! Commands of the board of all projects.

use super::Answer;
use crate::opening::not_opened;
use crate::{board, far, questions, showing, waiting};
use deskbell_engine::api::*;
use deskbell_sessions::remote_projects;
use tauri::{AppHandle, WebviewWindow};

/// Opens the board of all projects, or brings it up.
#[tauri::command]
pub async fn open_board(app: AppHandle) -> Answer<()> {
    board::open(&app).map_err(not_opened)
}

/// The first call of a board.
#[tauri::command]
pub async fn connect_board(app: AppHandle) -> Answer<BoardConnection> {
    let connection = board::connect(&app).await;
    board::follow_live(&app);
    questions::show_again(&app, crate::windows::BOARD);
    Ok(connection)
}

/// Opens a session of the board in the window of its project.
#[tauri::command]
pub async fn open_board_session(app: AppHandle, session_id: SessionId) -> Answer<()> {
    showing::by_id(&app, &session_id).await
}

/// Brings up the window of the other project that has waited longest, at its request. The page names no session, because
/// those of other projects are none of its own.
#[tauri::command]
pub async fn show_waiting(app: AppHandle, window: WebviewWindow) -> Answer<()> {
    // A request that was answered in the meantime leaves nothing to show.
    let Some(session_id) = waiting::first(&app, window.label()) else { return Ok(()) };
    showing::by_id(&app, &session_id).await
}

/// Answers the request of a session that its row showed: `shown` is the one of the row.
#[tauri::command]
pub async fn answer_board_request(
    app: AppHandle,
    session_id: SessionId,
    request_id: RequestId,
    shown: String,
    answer: BoardAnswer,
) -> Answer<()> {
    board::answer(&app, &session_id, request_id, shown, answer).await
}

/// Removes the rows of these sessions from the board, where they are over. The sessions stay.
#[tauri::command]
pub async fn clear_board_rows(app: AppHandle, session_ids: Vec<SessionId>) -> Answer<()> {
    board::clear(&app, &session_ids);
    Ok(())
}

/// Shows cleared rows again.
#[tauri::command]
pub async fn restore_board_rows(app: AppHandle, session_ids: Vec<SessionId>) -> Answer<()> {
    board::restore(&app, &session_ids);
    Ok(())
}

/// Stops the agents of these sessions, whichever their projects are.
#[tauri::command]
pub async fn stop_board_sessions(app: AppHandle, session_ids: Vec<SessionId>) -> Answer<()> {
    board::stop_sessions(&app, session_ids).await
}

/// Asks a machine once which sessions run there. This window answers what ssh asks. Takes minutes with a machine that does
/// not answer, or where the program has to be copied over a slow connection.
#[tauri::command]
pub async fn machine_sessions(
    app: AppHandle,
    window: WebviewWindow,
    machine: String,
) -> Answer<MachineAnswer> {
    far::sessions(&app, window.label(), &remote_projects::machine(&machine)?).await
}

/// Opens a session that a machine listed, in the window of its project.
#[tauri::command]
pub async fn open_machine_session(
    app: AppHandle,
    machine: String,
    project: String,
    session_id: SessionId,
) -> Answer<()> {
    far::open_session(&app, &remote_projects::machine(&machine)?, &project, session_id).await
}

/// Stops the agents of all sessions on a machine.
#[tauri::command]
pub async fn stop_machine(app: AppHandle, window: WebviewWindow, machine: String) -> Answer<()> {
    far::client(&app, window.label(), &remote_projects::machine(&machine)?).stop_all().await
}
