//! Opening a folder as a project, from wherever the user named it: an argument, the chooser, the list of projects, a
//! drop, or a second start.

use crate::start::StartPage;
use crate::windows::Windows;
use crate::{board, emit, lifecycle, start};
use deskbell_engine::api::{
    BadFolder, CommandError, ErrorCode, ProjectRef, RemoteMachine, RemoteProject, WindowEvent,
};
use deskbell_engine::disk;
use deskbell_engine::projects::{Change, ProjectStore};
use deskbell_sessions::folders;
use deskbell_sessions::opener::now_ms;
use deskbell_sessions::registry::SessionRegistry;
use std::path::{Path, PathBuf};
use tauri::{AppHandle, Manager, WebviewWindow};
use tokio::sync::mpsc;

/// Maximum number of folders that one drop opens.
const MOST_DROPPED: usize = 8;

/// Whether the user has confirmed that a folder is to be opened which contains the home folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmed {
    No,
    Yes,
}

/// Opens a folder as a project, or brings up its window. Returns the project and the label of its window, or
/// `None` if the start page asks about the folder first.
pub async fn open(
    app: &AppHandle,
    folder: &Path,
    demo: bool,
    confirmed: Confirmed,
) -> Result<Option<(ProjectRef, String)>, CommandError> {
    let named = folder.to_owned();
    let check = move || {
        let home = dirs::home_dir().and_then(|home| dunce::canonicalize(home).ok());
        let folder = ProjectStore::check_folder(&named)?;
        let is_broad = ProjectStore::contains_home(&folder, home.as_deref());
        Ok::<_, CommandError>((folder, is_broad, ProjectStore::is_in_sandbox()))
    };
    let (folder, is_broad, is_in_sandbox) = disk::run(folder, disk::DEADLINE, check).await??;
    app.state::<StartPage>().clear_problem();
    // Agents run outside of a sandbox, and so do their sessions and what is known of their folder. The demo agent reads and
    // changes nothing.
    let project = if is_in_sandbox && !demo { outside_sandbox(&folder)? } else { folder.clone().into() };
    let is_open = !app.state::<Windows>().labels_of(&project).is_empty();
    if is_broad && confirmed == Confirmed::No && !demo && !is_open {
        start::ask(app, folder).await.map_err(not_opened)?;
        return Ok(None);
    }
    let left = if is_open || is_in_sandbox { Vec::new() } else { follow_renamings(app, &folder).await };
    let label = lifecycle::open(app, &project, demo).map_err(not_opened)?;
    start::close(app);
    start::remember(app, &project).await;
    for window in left {
        if let Err(error) = window.close() {
            tracing::warn!(%error, "the window of a folder that was renamed could not be closed");
        }
    }
    Ok(Some((project, label)))
}

/// Takes along what Deskbell has of a folder under the names that it had before, and returns the windows that show nothing
/// since. A project with a running agent stays where it is. If something fails, the folder opens without it.
async fn follow_renamings(app: &AppHandle, folder: &Path) -> Vec<WebviewWindow> {
    let mut left = Vec::new();
    let followed = async {
        for from in app.state::<StartPage>().renamed_from(folder).await? {
            if !app.state::<SessionRegistry>().runs_agents_of(&from) {
                take_along(app, &from, folder).await?;
                let labels = app.state::<Windows>().labels_of(&from.as_path().into());
                left.extend(labels.iter().filter_map(|label| app.get_webview_window(label)));
            }
        }
        Ok::<_, CommandError>(())
    };
    if let Err(error) = followed.await {
        tracing::warn!(error = error.message, "the sessions of a renamed folder were not taken along");
    }
    left
}

/// Moves a project whose folder was moved in the list of projects, with its sessions. Its trust stays with the old path.
pub async fn take_along(app: &AppHandle, from: &Path, to: &Path) -> Result<(), CommandError> {
    // The list first: a start after a crash takes along what was not yet moved.
    let change = Change::Moved { from: from.to_owned(), to: to.to_owned(), at: now_ms() };
    app.state::<StartPage>().change(change).await?;
    let moved = app.state::<SessionRegistry>().move_project(from, to).await?;
    for label in app.state::<Windows>().labels_of(&to.into()) {
        for session in moved.clone() {
            emit::to_window(app, &label, WindowEvent::SessionListed { session: Box::new(session) });
        }
    }
    start::sessions_changed(app);
    board::refresh(app);
    Ok(())
}

/// The project of a folder outside of the sandbox that this process runs in.
fn outside_sandbox(folder: &Path) -> Result<ProjectRef, CommandError> {
    let there = folder.to_string_lossy().parse().map_err(|error: BadFolder| CommandError {
        code: ErrorCode::BadProject,
        message: "A folder with this name cannot be opened from a Flatpak.".to_owned(),
        detail: Some(error.to_string()),
    })?;
    Ok(RemoteProject { machine: RemoteMachine::outside_sandbox(), folder: there }.into())
}

/// Opens the window of a project on another machine, or brings it up. Nothing of its folder is read here.
pub async fn open_far(app: &AppHandle, project: &RemoteProject) -> Result<String, CommandError> {
    let project = ProjectRef::from(project.clone());
    let label = lifecycle::open(app, &project, false).map_err(not_opened)?;
    start::close(app);
    start::remember(app, &project).await;
    Ok(label)
}

/// The error of a window that could not be opened.
pub fn not_opened(error: anyhow::Error) -> CommandError {
    CommandError {
        code: ErrorCode::Internal,
        message: "The window could not be opened.".to_owned(),
        detail: Some(format!("{error:#}")),
    }
}

/// Opens the demo in a folder of its own, which is not listed among the projects.
pub async fn open_demo(app: &AppHandle) -> Result<(ProjectRef, String), CommandError> {
    let folder = folders::data().join("demo-project");
    let made = folder.clone();
    let make = move || {
        disk::own_folder(&made)?;
        dunce::canonicalize(&made)
    };
    let made = disk::run(&folder, disk::DEADLINE, make).await?;
    let project = ProjectRef::from(made.map_err(|error| not_opened(error.into()))?);
    let label = lifecycle::open(app, &project, true).map_err(not_opened)?;
    start::close(app);
    Ok((project, label))
}

/// Opens folders that were dropped on a window. The start page shows why one was not opened.
pub async fn open_dropped(app: AppHandle, mut dropped: mpsc::UnboundedReceiver<Vec<PathBuf>>) {
    while let Some(folders) = dropped.recv().await {
        for folder in folders.into_iter().take(MOST_DROPPED) {
            if let Err(problem) = open(&app, &folder, false, Confirmed::No).await
                && let Err(error) = start::show_problem(&app, problem).await
            {
                tracing::error!(error = format!("{error:#}"), "could not show why a folder was not opened");
            }
        }
    }
}
