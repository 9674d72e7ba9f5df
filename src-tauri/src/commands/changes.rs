//! Commands of the changes page: the files of this window's project that differ from an earlier state. Another machine is
//! asked for its own, and reverts them itself.

use super::{Answer, project_of};
use deskbell_engine::LocalHost;
use deskbell_engine::api::server::RevertRequest;
use deskbell_engine::api::*;
use deskbell_engine::changes::{Reverts, Snapshot, WorkingTree};
use deskbell_engine::session::{MirroredSession, SessionHandle};
use deskbell_sessions::folders;
use deskbell_sessions::opener::now_ms;
use deskbell_sessions::prompt_snapshots::PromptSnapshots;
use deskbell_sessions::registry::SessionRegistry;
use std::sync::Arc;
use tauri::{AppHandle, Manager, WebviewWindow};

fn session_of(app: &AppHandle, project: &ProjectRef, id: &SessionId) -> Answer<SessionHandle> {
    app.state::<SessionRegistry>().session(project, id)
}

/// A session on the machine of this project.
fn mirrored_of(app: &AppHandle, project: &RemoteProject, id: &SessionId) -> Answer<MirroredSession> {
    app.state::<SessionRegistry>().mirrored_session(project, id)
}

/// Returns the files that differ from the last commit, or from the working tree at a prompt of the session.
#[tauri::command]
pub async fn changes(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    against: Against,
) -> Answer<Changes> {
    let project = project_of(&app, &window)?;
    let since = since(&app, &project, &session_id, against)?;
    let is_unknown = against != Against::Commit && since.is_none();
    let folder = match &project {
        ProjectRef::Here(folder) => folder,
        ProjectRef::There(there) => {
            return mirrored_of(&app, there, &session_id)?.changes(against).await;
        }
    };
    let tree = WorkingTree::new(&LocalHost, folder, since.as_deref());
    if !tree.has_git().await {
        match session_of(&app, &project, &session_id)?.edits(against == Against::Prompt).await {
            Ok(Some(edits)) => return Ok(edits),
            Ok(None) => {}
            // The server of the session may be an older one, or not be reached.
            Err(error) => {
                let problem = Some(error.message);
                return Ok(Changes { problem, ..Changes::empty(ChangesBase::NoRepository) });
            }
        }
    }
    if is_unknown {
        return Ok(Changes::empty(ChangesBase::NoPrompt));
    }
    Ok(tree.changes().await)
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
    let folder = match &project {
        ProjectRef::Here(folder) => folder,
        ProjectRef::There(there) => {
            return mirrored_of(&app, there, &session_id)?.file_diff(path, against).await;
        }
    };
    let since = since(&app, &project, &session_id, against)?;
    let tree = WorkingTree::new(&LocalHost, folder, since.as_deref());
    if !tree.has_git().await
        && let Some(diff) = session_of(&app, &project, &session_id)?
            .edit_diff(against == Against::Prompt, path.clone())
            .await?
    {
        return Ok(diff);
    }
    tree.file_diff(&path).await.map_err(|error| CommandError {
        code: ErrorCode::Internal,
        message: "The change of the file could not be read.".to_owned(),
        detail: Some(error.to_string()),
    })
}

/// Returns the changes of one of these files, or of all, as a patch for `git apply`.
#[tauri::command]
pub async fn changes_patch(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    against: Against,
    path: Option<String>,
) -> Answer<Patch> {
    let project = project_of(&app, &window)?;
    let since = since(&app, &project, &session_id, against)?;
    let folder = match &project {
        ProjectRef::Here(folder) => folder,
        ProjectRef::There(there) => {
            return mirrored_of(&app, there, &session_id)?.patch(path, against).await;
        }
    };
    let only: Vec<String> = path.into_iter().collect();
    let tree = WorkingTree::new(&LocalHost, folder, since.as_deref());
    tree.patch(&only).await.map_err(|why| CommandError {
        code: ErrorCode::Refused,
        message: why,
        detail: None,
    })
}

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
    let since = since(&app, &project, &session_id, against)?;
    let now = now_ms();
    let RevertedChange { path, old_path, version, hunk } = change;
    let folder = match &project {
        ProjectRef::Here(folder) => folder,
        ProjectRef::There(there) => {
            let files: Vec<String> = old_path.iter().chain([&path]).cloned().collect();
            let change = RevertRequest::Revert { against, path, old_path, version, hunk };
            app.state::<SessionRegistry>().revert_far(there, &session_id, change, now).await?;
            return Ok(Reverted { at: now, files });
        }
    };
    if against != Against::Commit && since.is_none() {
        return Err(CommandError {
            code: ErrorCode::Refused,
            message: "The files at that prompt are no longer known, so nothing was reverted.".to_owned(),
            detail: None,
        });
    }
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

/// Returns the prompts of a session with whose working tree the present one can be compared, the newest first.
#[tauri::command]
pub async fn prompt_moments(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
) -> Answer<Vec<PromptMoment>> {
    let project = project_of(&app, &window)?;
    session_of(&app, &project, &session_id)?;
    match &project {
        ProjectRef::Here(folder) => Ok(app.state::<PromptSnapshots>().moments(folder, &session_id)),
        ProjectRef::There(there) => mirrored_of(&app, there, &session_id)?.prompt_moments().await,
    }
}

/// The working tree that a session of this project is compared with; `None` for the last commit, and if it is not known.
fn since(
    app: &AppHandle,
    project: &ProjectRef,
    session_id: &SessionId,
    against: Against,
) -> Answer<Option<Arc<Snapshot>>> {
    // Worktrees of one repository share their snapshots, so a session of another project has to be refused here.
    session_of(app, project, session_id)?;
    Ok(app.state::<PromptSnapshots>().get(session_id, against))
}
