//! The sessions that the user pinned or archived: shown in every window, and changed by one.

use crate::emit;
use crate::windows::Windows;
use deskbell_engine::api::*;
use deskbell_engine::disk;
use deskbell_engine::stored::MarkStore;
use tauri::{AppHandle, Manager};

/// Sets or removes the mark of a session.
pub async fn set(app: &AppHandle, id: String, mark: Option<SessionMark>) -> Result<(), CommandError> {
    let store = app.state::<MarkStore>().inner().clone();
    let place = store.place().to_owned();
    let marked = disk::run(&place, disk::DEADLINE, move || store.mark(&id, mark)).await;
    let marked = marked.map_err(std::io::Error::from).and_then(|marked| marked);
    let marks = marked.map_err(|error| CommandError {
        code: ErrorCode::Internal,
        message: "The list of pinned and archived sessions could not be saved.".to_owned(),
        detail: Some(error.to_string()),
    })?;
    for label in app.state::<Windows>().labels() {
        emit::to_window(app, &label, WindowEvent::MarksChanged { marks: marks.clone() });
    }
    Ok(())
}

/// Sends the marks as they are on disk to a window. `deskbell sessions pin` may have changed them.
pub async fn send(app: &AppHandle, label: &str) {
    let store = app.state::<MarkStore>().inner().clone();
    let place = store.place().to_owned();
    match disk::run(&place, disk::DEADLINE, move || store.load()).await {
        Ok(marks) => emit::to_window(app, label, WindowEvent::MarksChanged { marks }),
        Err(error) => tracing::warn!(%error, "could not read which sessions are pinned"),
    }
}
