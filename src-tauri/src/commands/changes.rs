//! Commands of the changes page: what reverts changed files of this window's project. Another machine reverts its own.

use super::{Answer, project_of};
use deskbell_engine::LocalHost;
use deskbell_engine::api::server::RevertRequest;
use deskbell_engine::api::*;
use deskbell_engine::changes::Reverts;
use deskbell_sessions::folders;
use deskbell_sessions::opener::now_ms;
use deskbell_sessions::queries::QuerySources;
use deskbell_sessions::registry::SessionRegistry;
use tauri::{AppHandle, Manager, WebviewWindow};

/// A change to revert: of a file, or of one hunk of it, as its diff with this version showed it.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RevertedChange {
    path: String,
    /// The earlier name of a renamed file.
    old_path: Option<String>,
    version: String,
    hunk: Option<HunkPlace>,
}

/// Makes a file, or a hunk of it, what it was. Refuses if the file has changed since it was shown.
#[tauri::command]
pub async fn revert_change(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    against: Against,
    change: RevertedChange,
) -> Answer<Reverted> {
    let project = project_of(&app, &window)?;
    let registry = app.state::<SessionRegistry>();
    // Worktrees of one repository share their snapshots, so a session of another project has to be refused here.
    registry.session(&project, &session_id)?;
    let now = now_ms();
    let RevertedChange { path, old_path, version, hunk } = change;
    let folder = match &project {
        ProjectRef::Here(folder) => folder,
        ProjectRef::There(there) => {
            let files: Vec<String> = old_path.iter().chain([&path]).cloned().collect();
            let change = RevertRequest::Revert { against, path, old_path, version, hunk };
            registry.revert_far(there, &session_id, change, now).await?;
            return Ok(Reverted { at: now, files });
        }
    };
    let since = app.state::<QuerySources>().prompts.known(&session_id, against)?;
    let reverts = Reverts::new(&LocalHost, folder, &folders::data());
    reverts.revert(since.as_deref(), &path, old_path.as_deref(), Some(&version), hunk, now).await
}

/// Undoes a revert. Refuses if a file has changed since.
#[tauri::command]
pub async fn undo_revert(app: AppHandle, window: WebviewWindow, at: u64) -> Answer<()> {
    match project_of(&app, &window)? {
        ProjectRef::Here(folder) => Reverts::new(&LocalHost, &folder, &folders::data()).undo(Some(at)).await,
        ProjectRef::There(there) => app.state::<SessionRegistry>().undo_revert_far(&there, at).await,
    }
}
