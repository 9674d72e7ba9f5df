//! The own window of a session: the user takes the session out of its project's window, and puts it back.

use super::{bring_up, open, open_as, save_soon};
use crate::ask;
use crate::emit::to_window;
use crate::windows::{ProjectWindow, Windows};
use deskbell_desktop::places::PlacesStore;
use deskbell_dialogs::permission::DialogController;
use deskbell_engine::api::{AgentKind, CommandError, ErrorCode, ProjectRef, Session, SessionId, WindowEvent};
use deskbell_sessions::registry::SessionRegistry;
use tauri::{AppHandle, Manager};

/// Opens the own window of a session, or brings it up. The project's window does not show the session from then on.
pub fn open_own(app: &AppHandle, project: &ProjectRef, demo: bool, id: &SessionId) -> anyhow::Result<String> {
    let windows = app.state::<Windows>();
    if let Some(main) = windows.label_of(project) {
        windows.with(&main, |window| {
            window.first.clear_if(|first| first.session_id() == id);
            window.second.clear_if(|second| second.session_id() == id);
            window.open_session.take_if(|open| open == id);
        })?;
    }
    let label = open_as(app, ProjectWindow::of_session(project, demo, id))?;
    changed(app, project, id);
    Ok(label)
}

/// Shows a session in the window of its project again, which is opened if need be.
pub fn put_back(app: &AppHandle, project: &ProjectRef, session: &Session) -> anyhow::Result<()> {
    let label = open(app, project, session.agent == AgentKind::Demo)?;
    close_own(app, project, &session.id);
    app.state::<Windows>().with(&label, |window| window.open_session = Some(session.id.clone()))?;
    bring_up(app, &label);
    let session_id = session.id.clone();
    to_window(app, &label, WindowEvent::Show { session_id, request_id: None, item_id: None });
    Ok(())
}

/// Closes the own window of a session, if it has one. The session goes on.
pub fn close_own(app: &AppHandle, project: &ProjectRef, id: &SessionId) {
    let windows = app.state::<Windows>();
    let Some(label) = windows.own_label(project, id) else { return };
    windows.remove(&label);
    app.state::<PlacesStore>().forget_own(project, id);
    save_soon(app);
    app.state::<DialogController>().window_gone(&label);
    changed(app, project, id);
    if let Some(window) = app.get_webview_window(&label)
        && let Err(error) = window.destroy()
    {
        tracing::error!(%error, "could not close the window of a session");
    }
}

/// The session of a project has, or has no longer, a window of its own: its requests are asked there, and the other
/// windows know it.
fn changed(app: &AppHandle, project: &ProjectRef, id: &SessionId) {
    let windows = app.state::<Windows>();
    let sessions = windows.own_sessions(project);
    for label in windows.labels_of(project) {
        to_window(app, &label, WindowEvent::OwnWindowsChanged { sessions: sessions.clone() });
        super::retitle(app, &label, project);
    }
    let Some(session) = app.state::<SessionRegistry>().known_in(project, id) else { return };
    for request in session.requests.clone() {
        app.state::<DialogController>().resolved(id, &request.id);
        ask::ask(app, project, &session, request);
    }
}

/// Refuses to show a session in a window that is not its place.
pub fn check_place(
    app: &AppHandle,
    label: &str,
    project: &ProjectRef,
    id: &SessionId,
) -> Result<(), CommandError> {
    if app.state::<Windows>().shows(label, project, id) {
        return Ok(());
    }
    Err(CommandError {
        code: ErrorCode::Refused,
        message: "The session is shown in another window.".to_owned(),
        detail: None,
    })
}
