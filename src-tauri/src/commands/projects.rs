//! Commands about other projects than the window's own: the start page, the folder chooser and the list of projects.

use super::{Answer, here, project_here};
use crate::opening::{self, Confirmed, not_opened};
use crate::project;
use crate::start::{self, StartPage};
use crate::windows::Windows;
use deskbell_dialogs::Chooser;
use deskbell_engine::api::*;
use deskbell_engine::disk;
use deskbell_engine::projects::{Change, ProjectStore};
use deskbell_sessions::opener::now_ms;
use deskbell_sessions::registry::SessionRegistry;
use std::path::Path;
use tauri::{AppHandle, Manager, WebviewWindow};

/// The first call of a start page.
#[tauri::command]
pub async fn connect_start(app: AppHandle) -> Answer<StartConnection> {
    start::connect(&app).await
}

/// The projects that were opened earlier.
#[tauri::command]
pub async fn recent_projects(app: AppHandle) -> Answer<Vec<RecentProject>> {
    start::recent(&app).await
}

/// Asks for a folder with the system's chooser, and opens it. The page never names the folder.
#[tauri::command]
pub async fn choose_folder(app: AppHandle, window: WebviewWindow) -> Answer<()> {
    // Projects often lie next to each other.
    let next_to = app.state::<Windows>().with(window.label(), |window| window.project.clone()).ok();
    let beside = next_to.as_ref().and_then(ProjectRef::here).and_then(Path::parent);
    let place = beside.map(Path::to_owned).or_else(dirs::home_dir);
    match deskbell_dialogs::choose(&window, Chooser::Folder, place).await? {
        Some(folder) => opening::open(&app, &folder, false, Confirmed::No).await.map(drop),
        None => Ok(()),
    }
}

/// Opens a project that was opened earlier. A page can open no other one by its name.
#[tauri::command]
pub async fn open_recent(app: AppHandle, project: ProjectRef) -> Answer<()> {
    check_listed(&app, &project).await?;
    match project {
        ProjectRef::Here(folder) => opening::open(&app, &folder, false, Confirmed::No).await.map(drop),
        ProjectRef::There(there) => opening::open_far(&app, &there).await.map(drop),
    }
}

/// Asks with the system's chooser where the folder of a project is now that is missing, and opens it there.
#[tauri::command]
pub async fn move_project(app: AppHandle, window: WebviewWindow, project: ProjectRef) -> Answer<()> {
    check_listed(&app, &project).await?;
    let from = here(project)?;
    let above = from.clone();
    let nearest = move || above.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_owned);
    let place = disk::run(&from, disk::DEADLINE, nearest).await?;
    match deskbell_dialogs::choose(&window, Chooser::MovedFolder, place).await? {
        Some(folder) => open_moved(&app, &from, &folder).await,
        None => Ok(()),
    }
}

/// Opens a project whose folder was moved, in its new place, with its sessions. Its trust is asked about there as for any
/// other folder.
async fn open_moved(app: &AppHandle, from: &Path, folder: &Path) -> Answer<()> {
    let (old, new) = (from.to_owned(), folder.to_owned());
    let refused =
        |message: &str| CommandError { code: ErrorCode::Refused, message: message.to_owned(), detail: None };
    let check = move || (old.is_dir(), ProjectStore::check_folder(&new));
    let (is_there, to) = disk::run(folder, disk::DEADLINE, check).await?;
    let to = to?;
    if is_there {
        return Err(refused("The folder of this project is where it was."));
    }
    if !app.state::<Windows>().labels_of(&from.into()).is_empty() {
        return Err(refused("Close the windows of this project first."));
    }
    if app.state::<SessionRegistry>().runs_agents_of(from) {
        return Err(refused("Agents of this project still run. Stop them first."));
    }
    opening::take_along(app, from, &to).await?;
    opening::open(app, &to, false, Confirmed::No).await.map(drop)
}

/// A page names no folder that is not in the list.
async fn check_listed(app: &AppHandle, project: &ProjectRef) -> Answer<()> {
    if app.state::<StartPage>().knows(project).await? {
        return Ok(());
    }
    Err(CommandError {
        code: ErrorCode::BadProject,
        message: "This folder is not in the list of projects.".to_owned(),
        detail: None,
    })
}

/// Answers the start page's question about a folder.
#[tauri::command]
pub async fn answer_folder_question(app: AppHandle, open: bool) -> Answer<()> {
    let folder = app.state::<StartPage>().take_question();
    if open && let Some(folder) = folder {
        return opening::open(&app, &folder, false, Confirmed::Yes).await.map(drop);
    }
    start::send(&app).await;
    Ok(())
}

#[tauri::command]
pub async fn open_demo(app: AppHandle) -> Answer<()> {
    opening::open_demo(&app).await.map(drop)
}

#[tauri::command]
pub async fn open_start_page(app: AppHandle) -> Answer<()> {
    start::open(&app).map_err(not_opened)
}

#[tauri::command]
pub async fn pin_project(app: AppHandle, project: ProjectRef, pinned: bool) -> Answer<()> {
    change(&app, Change::Pin { project, pinned }).await
}

/// Removes a project from the list. The folder and its sessions stay.
#[tauri::command]
pub async fn forget_project(app: AppHandle, project: ProjectRef) -> Answer<()> {
    change(&app, Change::Remove { project }).await
}

/// Removes all projects from the list that are not pinned.
#[tauri::command]
pub async fn forget_all_projects(app: AppHandle) -> Answer<()> {
    change(&app, Change::Clear).await
}

/// Chooses whether new sessions of the window's project keep running when Deskbell closes. `None` follows the setting.
#[tauri::command]
pub async fn set_keep_running(app: AppHandle, window: WebviewWindow, keep: Option<bool>) -> Answer<()> {
    let folder = project_here(&app, &window)?;
    let at = now_ms();
    change(&app, Change::KeepRunning { folder, keep, at }).await?;
    project::send_to_window(&app, window.label()).await;
    Ok(())
}

async fn change(app: &AppHandle, change: Change) -> Answer<()> {
    app.state::<StartPage>().change(change).await?;
    start::send(app).await;
    Ok(())
}
