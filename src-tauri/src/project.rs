//! What a window knows of its project, and telling it anew.

use crate::shell::Shell;
use crate::{agent, tell, windows};
use deskbell_engine::api::*;
use std::path::{Path, PathBuf};
use tauri::{AppHandle, Manager};

/// A project as its window shows it.
pub fn view(shell: &Shell, label: &str) -> Result<ProjectView, CommandError> {
    let (project, demo, asks_trust, open) = shell.windows.with(label, |window| {
        (window.project.clone(), window.demo, window.asks_trust, window.open_session.clone())
    })?;
    let sessions = shell.desk().sessions(&project);
    let open = open.or_else(|| sessions.first().map(|session| session.id.clone()));
    let problem = (!project.is_dir()).then(|| CommandError {
        code: ErrorCode::BadProject,
        message: format!("The folder {} is not there.", project.display()),
        detail: None,
    });
    let chosen = shell.kept.preferred.get().agent_program.map(PathBuf::from);
    // The demo agent runs nothing of the folder's, so nothing is asked for it.
    let trust = (problem.is_none() && (!demo || asks_trust)).then(|| shell.desk().gate().view(&project));
    Ok(ProjectView {
        path: project.display().to_string(),
        name: windows::name_of(&project),
        branch: branch(&project),
        sessions,
        open,
        agent: agent::view(demo, chosen),
        problem,
        trust: trust.transpose()?,
        survivors: shell.survivors.views(),
        app_version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// Tells every window its project anew.
pub fn tell_all(app: &AppHandle) {
    for label in app.state::<Shell>().windows.labels() {
        tell(app, &label);
    }
}

/// Tells a window its project anew.
pub fn tell(app: &AppHandle, label: &str) {
    match view(&app.state::<Shell>(), label) {
        Ok(project) => {
            tell::tell(app, label, WindowEvent::ProjectChanged { project: Box::new(project) });
        }
        Err(error) => tracing::warn!(%error, "a window could not be told of its project"),
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
