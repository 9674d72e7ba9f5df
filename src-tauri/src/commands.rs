//! What a window may ask. Every command acts for the window that called it, and only on its project's sessions.

use crate::shell::Shell;
use crate::{agent, windows};
use deskbell_engine::api::*;
use deskbell_engine::session::{Feed, Subscriber};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tauri::{AppHandle, State, WebviewWindow};

type Answer<T> = Result<T, CommandError>;

fn project_of(shell: &Shell, window: &WebviewWindow) -> Answer<PathBuf> {
    shell.windows.with(window.label(), |window| window.project.clone())
}

/// What a window learns first; its events come under a new name from now on.
#[tauri::command]
pub async fn hello(shell: State<'_, Shell>, window: WebviewWindow) -> Answer<Hello> {
    let event = shell.windows.new_event(window.label())?;
    let (project, demo, open) = shell
        .windows
        .with(window.label(), |window| (window.project.clone(), window.demo, window.open_session.clone()))?;
    let preferences = shell.kept.preferred.get();
    Ok(Hello { event, project: project_view(&shell, &project, demo, open), preferences })
}

fn project_view(shell: &Shell, project: &Path, demo: bool, open: Option<SessionId>) -> ProjectView {
    let sessions = shell.desk().sessions(project);
    let open = open.or_else(|| sessions.first().map(|session| session.id.clone()));
    let problem = (!project.is_dir()).then(|| CommandError {
        code: ErrorCode::BadProject,
        message: format!("The folder {} is not there.", project.display()),
        detail: None,
    });
    let chosen = shell.kept.preferred.get().agent_program.map(PathBuf::from);
    ProjectView {
        path: project.display().to_string(),
        name: windows::name_of(project),
        branch: branch(project),
        sessions,
        open,
        agent: agent::view(demo, chosen),
        problem,
        app_version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// The checked-out branch, as git's own file says it.
fn branch(project: &Path) -> Option<String> {
    let head = project.ancestors().find_map(|folder| {
        let git = folder.join(".git");
        let git = match std::fs::read_to_string(&git) {
            // A worktree: the file says where its folder is.
            Ok(text) => folder.join(text.strip_prefix("gitdir:")?.trim()),
            Err(_) => git,
        };
        std::fs::read_to_string(git.join("HEAD")).ok()
    })?;
    match head.trim().strip_prefix("ref: refs/heads/") {
        Some(branch) => Some(branch.to_owned()),
        None => Some(head.trim().chars().take(8).collect()),
    }
}

/// Begins a session with the agent that was chosen, or with the window's own.
#[tauri::command]
pub async fn create_session(
    shell: State<'_, Shell>,
    window: WebviewWindow,
    agent: Option<AgentKind>,
) -> Answer<Session> {
    let (project, demo) =
        shell.windows.with(window.label(), |window| (window.project.clone(), window.demo))?;
    let agent = agent.unwrap_or(if demo { AgentKind::Demo } else { AgentKind::Claude });
    shell.desk().create(&project, agent).await
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
    windows::tell(&app, window.label(), &WindowEvent::SessionRemoved { session_id });
    Ok(())
}

/// The whole of a session; from now on its events go to this window.
#[tauri::command]
pub async fn snapshot(
    app: AppHandle,
    shell: State<'_, Shell>,
    window: WebviewWindow,
    session_id: SessionId,
) -> Answer<Snapshot> {
    let project = project_of(&shell, &window)?;
    let session = shell.desk().session(&project, &session_id)?;
    let feed = Arc::new(Feed::new(session_id.clone()));
    let snapshot = session.subscribe(Subscriber::Merged(feed.clone())).await?;
    let label = window.label().to_owned();
    shell.windows.with(window.label(), |window| {
        window.open_session = Some(session_id);
        window.forward = Some(crate::forward::Forward::begin(app, label, feed));
    })?;
    Ok(snapshot)
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
    shell.desk().session(&project, &session_id)?.command(command).await
}

#[tauri::command]
pub fn set_preferences(app: AppHandle, shell: State<'_, Shell>, preferences: Preferences) -> Answer<()> {
    shell.kept.set_preferences(preferences).map_err(|error| CommandError {
        code: ErrorCode::Internal,
        message: "The preferences could not be kept.".to_owned(),
        detail: Some(format!("{error:#}")),
    })?;
    crate::shell::apply_theme(&app);
    Ok(())
}

/// Opens a link in the user's browser: https, http and mailto, nothing else.
#[tauri::command]
pub fn open_link(url: String) -> Answer<()> {
    let refused = |message: String| CommandError { code: ErrorCode::BadCommand, message, detail: None };
    let parsed = tauri::Url::parse(&url).map_err(|_| refused("The link cannot be read.".to_owned()))?;
    if !matches!(parsed.scheme(), "https" | "http" | "mailto") {
        return Err(refused(format!("Links of the kind “{}” are not opened.", parsed.scheme())));
    }
    tauri_plugin_opener::open_url(parsed.as_str(), None::<&str>).map_err(|error| CommandError {
        code: ErrorCode::Internal,
        message: "The link could not be opened.".to_owned(),
        detail: Some(error.to_string()),
    })
}
