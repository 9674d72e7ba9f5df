//! The view of a project that its window shows, and its updates.

mod far;

use crate::emit;
use crate::windows::{ProjectWindow, Windows};
use deskbell_engine::acp::ChosenAgent;
use deskbell_engine::api::*;
use deskbell_engine::changes::WorkingTree;
use deskbell_engine::disk;
use deskbell_sessions::agent;
use deskbell_sessions::folder_watches::FolderWatches;
use deskbell_sessions::orphans::OrphanProcesses;
use deskbell_sessions::registry::SessionRegistry;
use deskbell_sessions::settings::CurrentSettings;
use deskbell_sessions::trust::{Refused, TrustGate};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tauri::{AppHandle, Manager};
use tokio::sync::mpsc;

/// Timeout of a window for a folder that does not respond.
const DEADLINE: Duration = Duration::from_secs(3);

/// Delay between the first change and reading the settings once. A checkout changes many files together.
const TOGETHER: Duration = Duration::from_millis(200);

/// Deskbell's own files that could not be read when the app started.
pub struct UnreadFiles(pub Vec<UnreadFile>);

/// Returns the view of a project for its window. From then on its folder is watched.
pub async fn view(app: &AppHandle, label: &str) -> Result<ProjectView, CommandError> {
    let (windows, registry) = (app.state::<Windows>(), app.state::<SessionRegistry>());
    let reference = windows.with(label, |window| window.project.clone())?;
    let project = match &reference {
        ProjectRef::Here(folder) => folder.clone(),
        ProjectRef::There(project) => return far::view(app, label, project),
    };
    let (demo, asks_trust, start_refused, open, has_draft, refused) = windows.with(label, |window| {
        let ProjectWindow { demo, asks_trust, start_refused, open_session, draft, .. } = window;
        let refused = (window.trust_agent.clone(), window.agent_refusals);
        (*demo, *asks_trust, *start_refused, open_session.clone(), draft.is_some(), refused)
    })?;
    if !demo || asks_trust {
        let watches = app.state::<Arc<FolderWatches>>().inner().clone();
        let (watched, open) = (project.clone(), windows.projects());
        let watch = disk::run(&project, DEADLINE, move || watches.watch(&watched, &open)).await;
        if let Err(unfinished) = watch {
            tracing::warn!(%unfinished, "could not watch a folder: changes show with the next prompt");
        }
    }
    let sessions = registry.sessions(&reference);
    let open = shown_first(&windows, label, &reference, &sessions, open);
    // The demo agent runs nothing of the folder's, so it needs no trust decision.
    let gate = (!demo || asks_trust).then(|| registry.gate().clone());
    let (trust_agent, agent_refusals) = refused;
    let of_agent = trust_agent.map(|agent| (agent, registry.gate().clone()));
    let looked_at = project.clone();
    let folder = disk::run(&project, DEADLINE, move || look(&looked_at, gate, of_agent)).await;
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
    let keep_running = registry.keep_running_of(&project).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "could not read whether the sessions of a project keep running");
        None
    });
    let chosen = app.state::<Arc<CurrentSettings>>().get().agent.program.map(PathBuf::from);
    let mut unread_files = app.state::<UnreadFiles>().0.clone();
    unread_files.extend(folder.unread_branch);
    Ok(ProjectView {
        path: project.display().to_string(),
        name: reference.name(),
        machine: None,
        checkout: folder.checkout,
        keep_running,
        sessions,
        open,
        agent: agent::view(demo, chosen, DEADLINE).await,
        problem: folder.problem,
        trust: folder.trust,
        agent_trust: folder.agent_trust,
        agent_refusals,
        start_refused,
        has_draft,
        orphans: app.state::<OrphanProcesses>().views(),
        unread_files,
        app_version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// The session that a window shows first: the one that was open last, or else the newest, of those whose place it is.
fn shown_first(
    windows: &Windows,
    label: &str,
    project: &ProjectRef,
    sessions: &[Session],
    last: Option<SessionId>,
) -> Option<SessionId> {
    let is_here = |session: &&Session| windows.shows(label, project, &session.id);
    let mut here = sessions.iter().filter(is_here).map(|session| &session.id);
    let last = here.clone().find(|id| last.as_ref() == Some(id));
    last.or_else(|| here.next()).cloned()
}

/// The data that is read from the folder itself.
#[derive(Default)]
struct Folder {
    problem: Option<CommandError>,
    checkout: Checkout,
    unread_branch: Option<UnreadFile>,
    trust: Option<TrustView>,
    agent_trust: Option<TrustView>,
}

fn look(
    project: &Path,
    gate: Option<TrustGate>,
    of_agent: Option<(ChosenAgent, TrustGate)>,
) -> Result<Folder, CommandError> {
    let mut folder = Folder::default();
    if !project.is_dir() {
        folder.problem = Some(CommandError {
            code: ErrorCode::BadProject,
            message: format!("The folder {} does not exist.", project.display()),
            detail: None,
        });
    } else {
        folder.trust = gate.map(|gate| gate.view(project, None)).transpose()?;
        folder.agent_trust = of_agent.map(|(agent, gate)| gate.view(project, Some(&agent))).transpose()?;
    }
    match WorkingTree::checkout(project) {
        Ok(checkout) => folder.checkout = checkout,
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
    for label in app.state::<Windows>().labels() {
        send_to_window(app, &label).await;
    }
}

/// Sends a window the current view of its project. If another call begins in the meantime, only the later view is sent.
pub async fn send_to_window(app: &AppHandle, label: &str) {
    let windows = app.state::<Windows>();
    let begun = windows.with(label, |window| {
        window.n_views += 1;
        window.n_views
    });
    let is_last = || begun == windows.with(label, |window| window.n_views);
    match view(app, label).await {
        Ok(project) if is_last() => {
            emit::to_window(app, label, WindowEvent::ProjectChanged { project: Box::new(project) });
        }
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "could not send a project view to the window"),
    }
}

/// Sends windows the current state of their folders, if it differs from the last one sent.
pub async fn follow(app: AppHandle, mut changes: mpsc::UnboundedReceiver<PathBuf>) {
    let mut known = HashMap::new();
    while let Some(first) = changes.recv().await {
        tokio::time::sleep(TOGETHER).await;
        let mut folders = vec![first];
        while let Ok(folder) = changes.try_recv() {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        for folder in folders {
            let labels = app.state::<Windows>().labels_of(&folder.clone().into());
            if labels.is_empty() {
                continue;
            }
            let gate = app.state::<SessionRegistry>().gate().clone();
            let watch = app.state::<Arc<FolderWatches>>().get(&folder);
            let of = folder.clone();
            let read = move || {
                watch.iter().for_each(|watch| watch.renew());
                // A branch that cannot be read is in the view that is sent.
                gate.view(&of, None).map(|view| (view, WorkingTree::checkout(&of).ok()))
            };
            match disk::run(&folder, disk::DEADLINE, read).await {
                Ok(Ok(view)) => {
                    // An unchanged view is not sent again.
                    if known.insert(folder, view.clone()) != Some(view) {
                        for label in labels {
                            send_to_window(&app, &label).await;
                        }
                    }
                }
                Ok(Err(error)) => tracing::warn!(%error, "could not read a folder's settings"),
                Err(unfinished) => tracing::warn!(%unfinished, "could not read a folder's settings"),
            }
        }
    }
}

/// Asks the user's login shell for its environment, and shows the agent that it leads to in all windows.
pub async fn ask_login_shell(app: AppHandle) {
    if app.state::<SessionRegistry>().ask_login_shell().await {
        send_to_all_windows(&app).await;
    }
}

/// Searches for orphan processes of earlier runs, and shows them in all windows.
pub async fn look_for_orphans(app: AppHandle) {
    if app.state::<OrphanProcesses>().look().await {
        send_to_all_windows(&app).await;
    }
}

/// After a refused start, makes the window ask whether the folder is trusted.
pub async fn ask_trust(app: AppHandle, mut refused: mpsc::UnboundedReceiver<Refused>) {
    while let Some(Refused { folder, agent }) = refused.recv().await {
        let windows = app.state::<Windows>();
        for label in windows.labels_of(&folder.into()) {
            let noted = windows.with(&label, |window| {
                // A window of the demo agent shows Claude Code's decision only after a session needed it.
                window.asks_trust |= agent.is_none();
                window.start_refused |= agent.is_none();
                if agent.is_some() {
                    window.trust_agent = agent.clone();
                    window.agent_refusals += 1;
                }
            });
            if noted.is_ok() {
                send_to_window(&app, &label).await;
            }
        }
    }
}
