//! Commands on the sessions in the agent's own store: follow the list, and open one; forking and exporting a session.

use super::{Answer, project_of};
use crate::far::history;
use crate::start::StartPage;
use crate::windows::Windows;
use crate::{emit, marks};
use deskbell_cli::sessions;
use deskbell_desktop::terminal;
use deskbell_dialogs::Chooser;
use deskbell_engine::api::*;
use deskbell_engine::disk;
use deskbell_engine::export::Conversation;
use deskbell_engine::stored::Follower;
use deskbell_sessions::folders;
use deskbell_sessions::hidden::HiddenSessions;
use deskbell_sessions::registry::SessionRegistry;
use deskbell_sessions::registry::far::{FarState, no_profile_in_terminal};
use deskbell_sessions::settings::CurrentSettings;
use std::sync::Arc;
use std::time::Duration;
use tauri::{AppHandle, Manager, WebviewWindow};

/// Sends this window all stored sessions of its project, and then each change.
#[tauri::command]
pub async fn follow_stored(app: AppHandle, window: WebviewWindow) -> Answer<()> {
    let folder = match project_of(&app, &window)? {
        ProjectRef::Here(folder) => folder,
        ProjectRef::There(there) => {
            marks::send(&app, window.label()).await;
            // It is sent once the machine has answered; a page that is reloaded gets it now.
            if matches!(app.state::<SessionRegistry>().far_state(&there), Some(FarState::Reached(_))) {
                history::send_later(&app, &there);
            }
            return Ok(());
        }
    };
    let stores = app.state::<Arc<CurrentSettings>>().stores();
    let agents = folders::data().join(folders::AGENT_SESSIONS);
    let known = app.state::<StartPage>().folders(&folder).await;
    let (follower, mut changes) = Follower::of_stores(stores, known, sessions::caches(), Some(agents));
    // An earlier page's list ends here.
    app.state::<Windows>().with(window.label(), |window| window.follower = Some(follower))?;
    let label = window.label().to_owned();
    marks::send(&app, &label).await;
    tauri::async_runtime::spawn(async move {
        while let Some(mut change) = changes.recv().await {
            app.state::<SessionRegistry>().hide_own_processes(&mut change.changed);
            follow_open(&app, &label, &change).await;
            app.state::<HiddenSessions>().remove_from(&mut change);
            emit::to_window(&app, &label, WindowEvent::StoredChanged { change });
        }
    });
    Ok(())
}

/// Shows what another program has added to the conversation that is open in this window.
async fn follow_open(app: &AppHandle, label: &str, change: &StoredChange) {
    let registry = app.state::<SessionRegistry>();
    let open =
        app.state::<Windows>().with(label, |window| (window.project.clone(), window.open_session.clone()));
    let Ok((project, Some(id))) = open else { return };
    let Some((_, session)) = registry.known(&id).filter(|(_, session)| !session.alive) else { return };
    let is_it = |stored: &&StoredSession| Some(&stored.agent_session_id) == session.agent_session_id.as_ref();
    if let Some(stored) = change.changed.iter().find(is_it)
        && let Ok(handle) = registry.session(&project, &id)
        && let Err(error) = handle.refresh(stored.live.is_some()).await
    {
        tracing::debug!(%error, "the session was closed while it was followed");
    }
}

/// Returns the session that shows a stored conversation. Nothing is started and nothing is saved before its first
/// prompt. The page starts an agent that alone has the messages.
#[tauri::command]
pub async fn open_stored(app: AppHandle, window: WebviewWindow, agent_session_id: String) -> Answer<Session> {
    let project = project_of(&app, &window)?;
    app.state::<SessionRegistry>().open_stored(&project, &agent_session_id).await
}

/// Returns a new session that begins as a copy of another one, up to its end or before one of its prompts.
#[tauri::command]
pub async fn fork_session(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    before: Option<ItemId>,
) -> Answer<ForkedSession> {
    let project = project_of(&app, &window)?;
    app.state::<SessionRegistry>().fork(&project, &session_id, before).await
}

/// Pins or archives a session in the lists of all windows, or removes its mark. `id`: the agent's id of the
/// conversation, or the session's own.
#[tauri::command]
pub async fn mark_session(app: AppHandle, id: String, mark: Option<SessionMark>) -> Answer<()> {
    marks::set(&app, id, mark).await
}

/// Opens the user's terminal with the agent in a session's conversation.
#[tauri::command]
pub async fn open_terminal(app: AppHandle, window: WebviewWindow, session_id: SessionId) -> Answer<()> {
    let project = project_of(&app, &window)?;
    let registry = app.state::<SessionRegistry>();
    registry.session(&project, &session_id)?;
    let known = registry.known(&session_id).filter(|(_, session)| session.agent != AgentKind::Acp);
    let profile = known.as_ref().and_then(|(_, session)| session.profile.clone());
    if project.there().is_some() {
        known.as_ref().map_or(Ok(()), |(_, session)| no_profile_in_terminal(session))?;
    }
    let id = known.and_then(|(_, session)| session.agent_session_id).ok_or_else(|| CommandError {
        code: ErrorCode::BadCommand,
        message: "Claude Code has nothing of this session.".to_owned(),
        detail: None,
    })?;
    let chosen = app.state::<Arc<CurrentSettings>>().get().terminal;
    match project {
        ProjectRef::Here(folder) => {
            let (program, config) = registry.program_and_config(profile.as_deref()).await?;
            terminal::resume(chosen, &folder, &program, config.as_deref(), &id).await
        }
        ProjectRef::There(there) => terminal::resume_there(chosen, &there, &id).await,
    }
}

/// Time limit for writing an export to disk.
const WRITE: Duration = Duration::from_secs(60);

/// Exports a session to a file that the user chooses. Returns its path; `null` if the user chose none.
#[tauri::command]
pub async fn export_session(
    app: AppHandle,
    window: WebviewWindow,
    session_id: SessionId,
    format: ExportFormat,
) -> Answer<Option<String>> {
    let project = project_of(&app, &window)?;
    let registry = app.state::<SessionRegistry>();
    let session = registry.session(&project, &session_id)?;
    let title = registry.known(&session_id).map(|(_, session)| session.title).unwrap_or_default();
    let name = Conversation::file_name(&title, format);
    let failed = |message: &str, detail: String| CommandError {
        code: ErrorCode::Internal,
        message: message.to_owned(),
        detail: Some(detail),
    };
    let folder = dirs::document_dir().or_else(dirs::home_dir);
    let Some(path) = deskbell_dialogs::choose(&window, Chooser::NewFile(name), folder).await? else {
        return Ok(None);
    };
    let text = session.query(ExportQuery { format }).await?;
    let to = path.clone();
    // The chooser asked before an existing file is replaced.
    let saved = disk::run(&path, WRITE, move || Conversation::save(&to, text.as_bytes(), true)).await;
    let saved = saved.map_err(std::io::Error::from).and_then(|saved| saved);
    saved.map_err(|error| failed("The file could not be written.", error.to_string()))?;
    Ok(Some(path.display().to_string()))
}
