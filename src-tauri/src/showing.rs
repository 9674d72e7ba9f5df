//! Showing a session in its own window or that of its project, which is opened for that if need be.

use crate::opening::{self, Confirmed};
use crate::windows::{Windows, bring_up};
use crate::{board, emit};
use deskbell_engine::api::*;
use deskbell_engine::disk;
use deskbell_engine::stored::Located;
use deskbell_sessions::registry::SessionRegistry;
use std::path::{Path, PathBuf};
use tauri::{AppHandle, Manager};

/// Opens a session in its project's window, at an item if one is given, else at the request that waits. A folder that may not be opened without a
/// question is asked about on the start page instead.
pub async fn in_window(
    app: &AppHandle,
    project: &ProjectRef,
    session: Session,
    item_id: Option<ItemId>,
) -> Result<(), CommandError> {
    let windows = app.state::<Windows>();
    let label = match (windows.label_showing(project, &session.id), project) {
        (Some(label), _) => label,
        (None, ProjectRef::There(project)) => opening::open_far(app, project).await?,
        (None, ProjectRef::Here(folder)) => {
            let demo = session.agent == AgentKind::Demo;
            match opening::open(app, folder, demo, Confirmed::No).await? {
                Some((_, label)) => label,
                None => return Ok(()),
            }
        }
    };
    // A window that shows no session yet takes both from here.
    windows.with(&label, |window| {
        window.open_session = Some(session.id.clone());
        window.show_item = item_id.clone().filter(|_| window.first.shown().is_none());
    })?;
    bring_up(app, &label);
    let session_id = session.id.clone();
    let waits = session.requests.first().map(|request| request.id.clone());
    let request_id = waits.filter(|_| item_id.is_none());
    // A window that was already open may not know the session yet.
    emit::to_window(app, &label, WindowEvent::SessionListed { session: Box::new(session) });
    emit::to_window(app, &label, WindowEvent::Show { session_id, request_id, item_id });
    Ok(())
}

/// Opens a conversation of the agent's store in the window of its project, at an item if one is given.
pub async fn stored(
    app: &AppHandle,
    project: &ProjectRef,
    agent_session_id: &str,
    item_id: Option<ItemId>,
) -> Result<(), CommandError> {
    let project = match project {
        ProjectRef::Here(folder) => real(folder).await?.into(),
        ProjectRef::There(_) => project.clone(),
    };
    let session = app.state::<SessionRegistry>().open_stored(&project, agent_session_id).await?;
    in_window(app, &project, session, item_id).await
}

/// Opens a session in its project's window. A conversation that another program has open is shown as that program continues
/// it.
pub async fn by_id(app: &AppHandle, id: &SessionId) -> Result<(), CommandError> {
    if let Some(Located { project: Some(project), session, .. }) = board::elsewhere(app, id.as_str()) {
        return stored(app, &project.into(), &session.agent_session_id, None).await;
    }
    let known = app.state::<SessionRegistry>().known(id);
    if let Some((project, session)) = known {
        return in_window(app, &project, session, None).await;
    }
    // Its failure is on the board: its project can be shown, as it is without the session.
    if let Some(folder) = board::failed_in(app, id) {
        opening::open(app, &folder, false, Confirmed::No).await?;
    }
    Err(CommandError {
        code: ErrorCode::NoSuchSession,
        message: "The session no longer exists.".to_owned(),
        detail: None,
    })
}

/// The folder as windows are named for it.
async fn real(folder: &Path) -> Result<PathBuf, CommandError> {
    let named = folder.to_owned();
    let real = disk::run(folder, disk::DEADLINE, move || dunce::canonicalize(named)).await?;
    real.map_err(|error| CommandError {
        code: ErrorCode::BadProject,
        message: format!("The folder of this session, {}, no longer exists.", folder.display()),
        detail: Some(error.to_string()),
    })
}
