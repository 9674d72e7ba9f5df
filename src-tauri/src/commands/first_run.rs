//! Commands of the first run: whether the agent can work, and the steps of the user that remove an obstacle.

use super::{Answer, project_of};
use crate::apply_settings;
use crate::windows::Windows;
use deskbell_desktop::terminal;
use deskbell_dialogs::Chooser;
use deskbell_engine::api::*;
use deskbell_sessions::registry::SessionRegistry;
use deskbell_sessions::settings::CurrentSettings;
use std::sync::Arc;
use tauri::{AppHandle, Manager, WebviewWindow};

/// Checks whether the agent of new sessions can work. Takes up to 20 s with an agent that does not answer.
#[tauri::command]
pub async fn check_readiness(app: AppHandle, window: WebviewWindow) -> Answer<Readiness> {
    let demo = app.state::<Windows>().with(window.label(), |window| window.demo)?;
    Ok(app.state::<SessionRegistry>().readiness(demo).await)
}

/// Opens the user's terminal with the login of Claude Code, or with that of a session's agent, on the machine of the
/// window's project.
#[tauri::command]
pub async fn open_login(app: AppHandle, window: WebviewWindow, session_id: Option<SessionId>) -> Answer<()> {
    let chosen = app.state::<Arc<CurrentSettings>>().get().terminal;
    let registry = app.state::<SessionRegistry>();
    let project = project_of(&app, &window);
    if let Ok(ProjectRef::There(there)) = &project {
        let words = registry.login_words(there, session_id.as_ref())?;
        return terminal::log_in_there(chosen, &there.machine, &words).await;
    }
    if let Some(id) = &session_id {
        registry.session(&project?, id)?;
    }
    terminal::open_login(chosen, &registry.login_line(session_id.as_ref()).await?).await
}

/// Opens the system's file chooser for the agent's program, and stores the choice in the settings. Returns whether one
/// was chosen.
#[tauri::command]
pub async fn choose_agent(app: AppHandle, window: WebviewWindow) -> Answer<bool> {
    let chosen = deskbell_dialogs::choose(&window, Chooser::Program, dirs::home_dir()).await?;
    let Some(program) = chosen else { return Ok(false) };
    let program = program.to_str().ok_or_else(|| CommandError {
        code: ErrorCode::BadCommand,
        message: "The settings cannot store this path, because it is not valid UTF-8.".to_owned(),
        detail: Some(program.display().to_string()),
    })?;
    apply_settings::set(&app, "agent.program", program.into()).await?;
    Ok(true)
}
