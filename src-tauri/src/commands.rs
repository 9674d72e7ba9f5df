//! What a window may ask. Every command acts for the window that called it, and only on its project's sessions.

pub mod transcript;

use crate::shell::Shell;
use crate::{links, project, tell, windows};
use deskbell_engine::api::*;
use deskbell_engine::attachment;
use std::path::PathBuf;
use tauri::ipc::Response;
use tauri::{AppHandle, State, WebviewWindow};

type Answer<T> = Result<T, CommandError>;

fn project_of(shell: &Shell, window: &WebviewWindow) -> Answer<PathBuf> {
    shell.windows.with(window.label(), |window| window.project.clone())
}

/// What a window learns first; its events come under a new name from now on.
#[tauri::command]
pub async fn hello(shell: State<'_, Shell>, window: WebviewWindow) -> Answer<Hello> {
    let event = shell.windows.new_event(window.label())?;
    let project = project::view(&shell, window.label())?;
    Ok(Hello { event, project, preferences: shell.kept.preferred.get() })
}

/// Begins a session with the agent that was chosen, or with the window's own; without asking only if its user said so
/// for this very session.
#[tauri::command]
pub async fn create_session(
    shell: State<'_, Shell>,
    window: WebviewWindow,
    agent: Option<AgentKind>,
    without_asking: Option<bool>,
) -> Answer<Session> {
    let (project, demo) =
        shell.windows.with(window.label(), |window| (window.project.clone(), window.demo))?;
    let agent = agent.unwrap_or(if demo { AgentKind::Demo } else { AgentKind::Claude });
    shell.desk().create(&project, agent, without_asking.unwrap_or(false)).await
}

/// Starts the agent of a session that has none without asking, if its user said so for this very start.
#[tauri::command]
pub async fn start_without_asking(
    shell: State<'_, Shell>,
    window: WebviewWindow,
    session_id: SessionId,
) -> Answer<()> {
    let project = project_of(&shell, &window)?;
    shell.desk().start_without_asking(&project, &session_id).await
}

#[tauri::command]
pub async fn remove_session(
    app: AppHandle,
    shell: State<'_, Shell>,
    window: WebviewWindow,
    session_id: SessionId,
) -> Answer<()> {
    let project = project_of(&shell, &window)?;
    shell.desk().session(&project, &session_id)?;
    shell.desk().remove(&session_id).await?;
    tell::tell(&app, window.label(), WindowEvent::SessionRemoved { session_id });
    Ok(())
}

/// An event that this window was told to fetch.
#[tauri::command]
pub fn waiting_event(shell: State<'_, Shell>, window: WebviewWindow, nr: u32) -> Answer<Response> {
    let event = shell.windows.with(window.label(), |window| window.waiting.take(nr))?;
    event.map(Response::new).ok_or_else(|| CommandError {
        code: ErrorCode::Internal,
        message: "There is no such event.".to_owned(),
        detail: None,
    })
}

#[tauri::command]
pub fn acknowledge(
    shell: State<'_, Shell>,
    window: WebviewWindow,
    session_id: SessionId,
    seq: u64,
) -> Answer<()> {
    shell.windows.with(window.label(), |window| {
        if let Some(forward) = window.forward.as_ref().filter(|forward| *forward.session_id() == session_id) {
            forward.acknowledge(seq);
        }
    })
}

/// Carries out a command on a session of this window's project.
#[tauri::command]
pub async fn command(
    shell: State<'_, Shell>,
    window: WebviewWindow,
    session_id: SessionId,
    command: Command,
) -> Answer<()> {
    let project = project_of(&shell, &window)?;
    shell.desk().command(&project, &session_id, command).await
}

#[tauri::command]
pub async fn set_preferences(
    app: AppHandle,
    shell: State<'_, Shell>,
    preferences: Preferences,
) -> Answer<()> {
    shell.kept.set_preferences(preferences).map_err(|error| CommandError {
        code: ErrorCode::Internal,
        message: "The preferences could not be kept.".to_owned(),
        detail: Some(format!("{error:#}")),
    })?;
    crate::shell::apply_theme(&app);
    windows::apply_zoom(&app);
    // Another agent program may be found now.
    project::tell_all(&app);
    Ok(())
}

/// Tries the agent: which one it is, and whether it asks before it acts.
#[tauri::command]
pub async fn check_agent(shell: State<'_, Shell>) -> Answer<Checkup> {
    Ok(shell.desk().check_agent().await)
}

/// Keeps whether the folder is trusted. To trust needs the fingerprint of what was shown.
#[tauri::command]
pub async fn decide_trust(
    app: AppHandle,
    shell: State<'_, Shell>,
    window: WebviewWindow,
    decision: TrustDecision,
    fingerprint: Option<String>,
) -> Answer<()> {
    let folder = project_of(&shell, &window)?;
    let decided = shell.desk().gate().decide(&folder, decision, fingerprint.as_deref());
    // Also if it was refused: then its files are not what was shown, and the window shows what they are now.
    project::tell(&app, window.label());
    decided
}

/// Files of the project, for `@` in a prompt: the most that a list of them shows.
const MOST_FILES: usize = 30;

/// The files of this window's project that fit what was typed.
#[tauri::command]
pub async fn find_files(shell: State<'_, Shell>, window: WebviewWindow, query: String) -> Answer<FoundFiles> {
    let files = shell.windows.with(window.label(), |window| window.files.clone())?;
    let found = tauri::async_runtime::spawn_blocking(move || {
        files.find(&query, MOST_FILES, std::time::Instant::now())
    });
    found.await.map_err(|error| CommandError {
        code: ErrorCode::Internal,
        message: "The files of the project could not be searched.".to_owned(),
        detail: Some(error.to_string()),
    })
}

/// An image that was pasted or chosen, with the type that its bytes have; or why it cannot go with a prompt.
#[tauri::command]
pub async fn check_image(name: String, data: String) -> Answer<Image> {
    attachment::check_base64(&name, &data)
}

/// Ends processes of an earlier run: those of what is still there that were shown.
#[tauri::command]
pub async fn end_survivors(app: AppHandle, shell: State<'_, Shell>, pids: Vec<u32>) -> Answer<()> {
    let ended = shell.survivors.end(&pids).await;
    project::tell_all(&app);
    ended
}

/// Lets processes of an earlier run be, for good.
#[tauri::command]
pub async fn leave_survivors(app: AppHandle, shell: State<'_, Shell>) -> Answer<()> {
    shell.survivors.leave();
    project::tell_all(&app);
    Ok(())
}

/// Opens a link in the user's browser: https, http and mailto, nothing else.
#[tauri::command]
pub fn open_link(url: String) -> Answer<()> {
    let url = links::outward(&url)?;
    tauri_plugin_opener::open_url(url.as_str(), None::<&str>).map_err(|error| CommandError {
        code: ErrorCode::Internal,
        message: "The link could not be opened.".to_owned(),
        detail: Some(error.to_string()),
    })
}

/// Shows a file of this window's project in the file manager, nothing that lies outside. A disk or the file manager may
/// take its time.
#[tauri::command(async)]
pub fn reveal_path(shell: State<'_, Shell>, window: WebviewWindow, path: String) -> Answer<()> {
    let file = links::inside(&project_of(&shell, &window)?, &path)?;
    tauri_plugin_opener::reveal_item_in_dir(file).map_err(|error| CommandError {
        code: ErrorCode::Internal,
        message: "The file could not be shown.".to_owned(),
        detail: Some(error.to_string()),
    })
}
