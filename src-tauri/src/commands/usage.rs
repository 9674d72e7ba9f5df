//! Commands of the usage page: cost and tokens of this window's project or of all, and their export.

use super::{Answer, project_here};
use deskbell_dialogs::Chooser;
use deskbell_engine::api::*;
use deskbell_engine::disk;
use deskbell_engine::store::{SavedRecords, Store};
use deskbell_engine::usage::By;
use deskbell_sessions::folders;
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use tauri::{AppHandle, WebviewWindow};

/// Time limit for reading the sessions, and for writing an export.
const DEADLINE: Duration = Duration::from_secs(60);

const FILE_NAME: &str = "deskbell-usage.csv";

fn failed(message: &str, detail: String) -> CommandError {
    CommandError { code: ErrorCode::Internal, message: message.to_owned(), detail: Some(detail) }
}

async fn saved() -> Answer<SavedRecords> {
    let folder = folders::data().join("sessions");
    let place = folder.clone();
    let read = disk::run(&place, DEADLINE, move || Store::read_only(&folder)).await;
    let could_not = |detail| failed("The sessions could not be read.", detail);
    read.map_err(|error| could_not(error.to_string()))?.map_err(|error| could_not(error.to_string()))
}

/// The project of this window; `None` for all projects.
fn chosen(app: &AppHandle, window: &WebviewWindow, all: bool) -> Answer<Option<PathBuf>> {
    if all { Ok(None) } else { project_here(app, window).map(Some) }
}

/// Returns the usage page of the project, or of all projects.
#[tauri::command]
pub async fn usage(app: AppHandle, window: WebviewWindow, all: bool) -> Answer<UsageView> {
    let project = chosen(&app, &window, all)?;
    Ok(saved().await?.usage_page(project.as_deref()))
}

/// Exports cost and tokens by session, day and model as CSV to a file that the user chooses. Returns its path; `null` if
/// the user chose none.
#[tauri::command]
pub async fn export_usage(app: AppHandle, window: WebviewWindow, all: bool) -> Answer<Option<String>> {
    let project = chosen(&app, &window, all)?;
    let folder = dirs::document_dir().or_else(dirs::home_dir);
    let chooser = Chooser::NewFile(FILE_NAME.to_owned());
    let Some(path) = deskbell_dialogs::choose(&window, chooser, folder).await? else { return Ok(None) };
    let text = By::csv(&saved().await?.usage_table(project.as_deref(), By::All));
    let to = path.clone();
    // The chooser asked before an existing file is replaced.
    let written = disk::run(&path, DEADLINE, move || disk::write_atomically(&to, text.as_bytes())).await;
    let written = written.map_err(io::Error::from).and_then(|written| written);
    written.map_err(|error| failed("The file could not be written.", error.to_string()))?;
    Ok(Some(path.display().to_string()))
}
