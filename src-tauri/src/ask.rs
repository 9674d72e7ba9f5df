//! Which permission requests are asked in native dialogs, and what becomes of the answers.

use crate::emit;
use crate::windows::{self, Windows};
use deskbell_dialogs::permission::{DialogController, Outcome};
use deskbell_engine::api::*;
use deskbell_engine::permission::{DialogId, DialogRequest};
use deskbell_sessions::registry::SessionRegistry;
use deskbell_sessions::settings::CurrentSettings;
use std::sync::Arc;
use tauri::{AppHandle, Manager};

/// Asks in a dialog on the window that shows the session, unless the user wants cards alone. Without a window nothing asks:
/// a notification leads to the request.
pub fn ask(app: &AppHandle, project: &ProjectRef, session: &Session, request: PermissionRequest) {
    let label = app.state::<Windows>().label_showing(project, &session.id);
    if let Some(label) = label
        && app.state::<Arc<CurrentSettings>>().get().asking != Asking::Card
        && let Some(dialog) = DialogRequest::of(&project.name(), session, request)
    {
        app.state::<DialogController>().ask(&label, dialog);
    }
}

/// Applies the outcome of a dialog to the app.
pub fn carry_out(app: &AppHandle, outcome: Outcome) {
    match outcome {
        Outcome::BringUp { window, id: DialogId { session_id, request_id } } => {
            windows::bring_up(app, &window);
            let request_id = Some(request_id);
            emit::to_window(app, &window, WindowEvent::Show { session_id, request_id, item_id: None });
        }
        Outcome::Decide { id: DialogId { session_id, request_id }, shown, decision } => {
            let app = app.clone();
            let decide = Command::Decide { request_id, shown: Some(shown), decision };
            tauri::async_runtime::spawn(async move {
                let registry = app.state::<SessionRegistry>();
                let Some((project, _)) = registry.known(&session_id) else { return };
                match registry.command(&project, &session_id, decide).await {
                    // The card was answered first; one answer is enough.
                    Err(CommandError { code: ErrorCode::NoSuchRequest, .. }) | Ok(()) => {}
                    Err(error) => tracing::error!(%error, "could not deliver a decision"),
                }
            });
        }
    }
}
