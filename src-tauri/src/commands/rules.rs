//! Commands of the dialog of permission rules: the settings files with rules, and the removal of a rule from one of them.

use super::{Answer, project_here};
use deskbell_engine::api::*;
use deskbell_sessions::registry::SessionRegistry;
use tauri::{AppHandle, Manager, WebviewWindow};

/// The settings files of a session with their rules.
#[tauri::command]
pub async fn rule_files(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
) -> Answer<RuleFileList> {
    let project = project_here(&app, &window)?;
    app.state::<SessionRegistry>().rule_files(&project, &session_id).await
}

/// The places of the rules that the agent saved with an answer; empty if it saves none in the folder.
#[tauri::command]
pub async fn saved_rules(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    request_id: RequestId,
) -> Answer<Vec<RulePlace>> {
    let project = project_here(&app, &window)?;
    app.state::<SessionRegistry>().saved_rules(&project, &session_id, &request_id).await
}

/// Removes a rule from its file. Returns the number for its undo.
#[tauri::command]
pub async fn remove_rule(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    place: RulePlace,
) -> Answer<u64> {
    let project = project_here(&app, &window)?;
    app.state::<SessionRegistry>().remove_rule(&project, &session_id, place).await
}

/// Puts a removed rule back.
#[tauri::command]
pub async fn restore_rule(app: AppHandle, window: WebviewWindow, removal: u64) -> Answer<()> {
    let project = project_here(&app, &window)?;
    app.state::<SessionRegistry>().restore_rule(&project, removal).await
}
