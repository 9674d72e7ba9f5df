//! Commands about projects on other machines.

use super::{Answer, project_of};
use crate::far;
use crate::registry::far::is_far;
use deskbell_cli::far::hosts;
use deskbell_engine::api::*;
use deskbell_engine::disk;
use tauri::{AppHandle, WebviewWindow};

/// The hosts of the user's ssh configuration, to choose from.
#[tauri::command]
pub async fn ssh_hosts() -> Answer<Vec<String>> {
    let Some(home) = dirs::home_dir() else { return Ok(Vec::new()) };
    let of = home.clone();
    Ok(disk::run(&home, disk::DEADLINE, move || hosts::in_config(&of)).await?)
}

/// Lists the folders in a folder of another machine; an empty name is the home folder. Takes minutes with a machine that
/// does not answer, or where the program has to be copied over a slow connection.
#[tauri::command]
pub async fn far_folders(machine: String, folder: String) -> Answer<FolderListing> {
    far::list(&far::machine(&machine)?, &folder).await
}

/// Opens a folder of another machine as a project.
#[tauri::command]
pub async fn open_far(app: AppHandle, machine: String, folder: String) -> Answer<()> {
    far::open(&app, &far::machine(&machine)?, &folder).await
}

/// Asks the machine of this window's project, if that is not under way, and sends the window what is known. A page calls
/// it once it listens, so that no answer is missed.
#[tauri::command]
pub async fn retry_far(app: AppHandle, window: WebviewWindow) -> Answer<()> {
    let project = project_of(&app, &window)?;
    if is_far(&project) {
        far::connected(&app, &project);
        crate::project::send_to_window(&app, window.label()).await;
    }
    Ok(())
}
