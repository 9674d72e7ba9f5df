//! The view of a project on another machine: what its machine said about it. Nothing of its folder is read here.

use super::{UnreadFiles, shown_first};
use crate::windows::Windows;
use deskbell_engine::api::*;
use deskbell_sessions::orphans::OrphanProcesses;
use deskbell_sessions::registry::SessionRegistry;
use deskbell_sessions::registry::far::FarState;
use tauri::{AppHandle, Manager};

/// The view of such a project for its window.
pub fn view(app: &AppHandle, label: &str, there: &RemoteProject) -> Result<ProjectView, CommandError> {
    let (windows, registry) = (app.state::<Windows>(), app.state::<SessionRegistry>());
    let (project, open, has_draft, start_refused) = windows.with(label, |window| {
        (window.project.clone(), window.open_session.clone(), window.draft.is_some(), window.start_refused)
    })?;
    let (asked, agent_refusals) =
        windows.with(label, |window| (window.far_agent.clone(), window.agent_refusals))?;
    let state = registry.far_state(there).unwrap_or(FarState::Connecting);
    let mut unread_files = app.state::<UnreadFiles>().0.clone();
    let checkout = registry.far_checkout(there).unwrap_or_else(|| Ok(Checkout::default()));
    let checkout = checkout.unwrap_or_else(|unread| {
        unread_files.push(unread);
        Checkout::default()
    });
    let sessions = registry.sessions(&project);
    let open = shown_first(&windows, label, &project, &sessions, open);
    let is_connecting = matches!(state, FarState::Connecting);
    let (trust, problem) = match state {
        FarState::Connecting => (None, None),
        FarState::Reached(trust) => (Some(*trust), None),
        FarState::Failed(error) => (None, Some(error)),
    };
    Ok(ProjectView {
        path: there.to_string(),
        name: project.name(),
        machine: Some(FarMachine { name: there.machine.to_string(), is_connecting }),
        checkout,
        keep_running: None,
        sessions,
        open,
        // The program is found there when a session starts.
        agent: AgentView::Found {
            kind: AgentKind::Claude,
            program: "claude".to_owned(),
            source: format!("on {}", there.machine),
        },
        problem,
        trust,
        agent_trust: asked.map(|asked| asked.view),
        agent_refusals,
        start_refused,
        has_draft,
        orphans: app.state::<OrphanProcesses>().views(),
        unread_files,
        app_version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}
