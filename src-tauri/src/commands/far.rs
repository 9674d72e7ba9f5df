//! Commands about projects on other machines.

use super::{Answer, project_of};
use crate::{far, questions};
use deskbell_engine::api::*;
use deskbell_engine::disk;
use deskbell_sessions::far::{Secret, hosts};
use deskbell_sessions::open_questions::OpenQuestions;
use deskbell_sessions::remote_projects;
use tauri::{AppHandle, Manager, WebviewWindow};

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
pub async fn far_folders(
    app: AppHandle,
    window: WebviewWindow,
    machine: String,
    folder: String,
) -> Answer<FolderListing> {
    far::list(&app, window.label(), &remote_projects::machine(&machine)?, &folder).await
}

/// Opens a folder of another machine as a project.
#[tauri::command]
pub async fn open_far(app: AppHandle, window: WebviewWindow, machine: String, folder: String) -> Answer<()> {
    far::open(&app, window.label(), &remote_projects::machine(&machine)?, &folder).await
}

/// Answers what the connection of this window asked; without an answer the connection ends. The answer goes to ssh, and
/// is kept nowhere.
#[tauri::command]
pub async fn answer_connection(
    app: AppHandle,
    window: WebviewWindow,
    id: String,
    answer: Option<String>,
) -> Answer<()> {
    let secret = answer.map(|answer| Secret::of(answer).ok_or_else(bad_answer)).transpose()?;
    app.state::<OpenQuestions>().answer(window.label(), &id, secret)
}

fn bad_answer() -> CommandError {
    CommandError {
        code: ErrorCode::BadCommand,
        message: "An answer is one line of at most 1,000 bytes.".to_owned(),
        detail: None,
    }
}

/// Asks the machine of this window's project, if that is not under way, and sends the window what is known. A page calls
/// it once it listens, so that no answer is missed.
#[tauri::command]
pub async fn retry_far(app: AppHandle, window: WebviewWindow) -> Answer<()> {
    let project = project_of(&app, &window)?;
    questions::show_again(&app, window.label());
    if let ProjectRef::There(there) = &project {
        far::connected(&app, there);
        crate::project::send_to_window(&app, window.label()).await;
    }
    Ok(())
}
