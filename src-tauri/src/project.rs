//! The view of a project that its window shows, and its updates.

use crate::shell::Shell;
use crate::trust::TrustGate;
use crate::windows::ProjectWindow;
use crate::{agent, emit, windows};
use deskbell_engine::api::*;
use deskbell_engine::{disk, git};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tauri::{AppHandle, Manager};

/// Timeout of a window for a folder that does not respond.
const DEADLINE: Duration = Duration::from_secs(3);

/// Returns the view of a project for its window. From then on its folder is watched.
pub async fn view(shell: &Shell, label: &str) -> Result<ProjectView, CommandError> {
    let (project, demo, asks_trust, start_refused, open) = shell.windows.with(label, |window| {
        let ProjectWindow { project, demo, asks_trust, start_refused, open_session, .. } = window;
        (project.clone(), *demo, *asks_trust, *start_refused, open_session.clone())
    })?;
    if !demo || asks_trust {
        let (watches, watched, open) = (shell.watches.clone(), project.clone(), shell.windows.projects());
        let watch = disk::run(&project, DEADLINE, move || watches.watch(&watched, &open)).await;
        if let Err(unfinished) = watch {
            tracing::warn!(%unfinished, "could not watch a folder: changes show with the next prompt");
        }
    }
    let sessions = shell.registry().sessions(&project);
    let open = open.filter(|open| sessions.iter().any(|session| session.id == *open));
    let open = open.or_else(|| sessions.first().map(|session| session.id.clone()));
    // The demo agent runs nothing of the folder's, so it needs no trust decision.
    let gate = (!demo || asks_trust).then(|| shell.registry().gate().clone());
    let looked_at = project.clone();
    let folder = disk::run(&project, DEADLINE, move || look(&looked_at, gate)).await;
    let folder = match folder {
        Ok(folder) => folder?,
        Err(unfinished) => Folder {
            problem: Some(CommandError {
                code: ErrorCode::BadProject,
                message: format!("The folder {} does not respond.", project.display()),
                detail: Some(unfinished.to_string()),
            }),
            ..Folder::default()
        },
    };
    let chosen = shell.kept.current.get().agent_program.map(PathBuf::from);
    let mut unread_files = shell.unread_files.clone();
    unread_files.extend(folder.unread_branch);
    Ok(ProjectView {
        path: project.display().to_string(),
        name: windows::name_of(&project),
        branch: folder.branch,
        sessions,
        open,
        agent: agent::view(demo, chosen, DEADLINE).await,
        problem: folder.problem,
        trust: folder.trust,
        start_refused,
        orphans: shell.orphans.views(),
        unread_files,
        app_version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// The data that is read from the folder itself.
#[derive(Default)]
struct Folder {
    problem: Option<CommandError>,
    branch: Option<String>,
    unread_branch: Option<UnreadFile>,
    trust: Option<TrustView>,
}

fn look(project: &Path, gate: Option<TrustGate>) -> Result<Folder, CommandError> {
    let mut folder = Folder::default();
    if !project.is_dir() {
        folder.problem = Some(CommandError {
            code: ErrorCode::BadProject,
            message: format!("The folder {} does not exist.", project.display()),
            detail: None,
        });
    } else if let Some(gate) = gate {
        folder.trust = Some(gate.view(project)?);
    }
    match git::branch(project) {
        Ok(branch) => folder.branch = branch,
        Err(error) => {
            folder.unread_branch = Some(UnreadFile {
                kind: UnreadKind::Branch,
                path: error.path.display().to_string(),
                problem: error.source.to_string(),
                moved_to: None,
            });
        }
    }
    Ok(folder)
}

/// Sends every window the current view of its project.
pub async fn send_to_all_windows(app: &AppHandle) {
    for label in app.state::<Shell>().windows.labels() {
        send_to_window(app, &label).await;
    }
}

/// Sends a window the current view of its project. If another call begins in the meantime, only the later view is sent.
pub async fn send_to_window(app: &AppHandle, label: &str) {
    let shell = app.state::<Shell>();
    let begun = shell.windows.with(label, |window| {
        window.n_views += 1;
        window.n_views
    });
    let is_last = || begun == shell.windows.with(label, |window| window.n_views);
    match view(&shell, label).await {
        Ok(project) if is_last() => {
            emit::to_window(app, label, WindowEvent::ProjectChanged { project: Box::new(project) });
        }
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "could not send a project view to the window"),
    }
}
