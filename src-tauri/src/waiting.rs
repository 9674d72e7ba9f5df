//! Sessions that wait for the user in other windows. Each window of a project lists them: while a window of the app has the
//! keyboard, a request of another one has no dialog.

use crate::emit;
use crate::windows::Windows;
use deskbell_engine::api::{ProjectRef, Session, SessionId, WindowEvent};
use deskbell_sessions::registry::SessionRegistry;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tauri::{AppHandle, Manager};

/// The last list of each window, by its label. An equal list is not sent again.
#[derive(Default)]
pub struct WaitingLists(Mutex<HashMap<String, Vec<String>>>);

/// Returns the list of a window whose page connects.
pub fn connect(app: &AppHandle, label: &str) -> Vec<String> {
    let lists = app.state::<WaitingLists>();
    // Locked before the sessions are read, so that an earlier list never replaces a later one.
    let mut lists = lists.0.lock().unwrap_or_else(PoisonError::into_inner);
    let list = list_of(app, label, &app.state::<SessionRegistry>().waiting());
    lists.insert(label.to_owned(), list.clone());
    list
}

/// The session of another window that has waited longest.
pub fn first(app: &AppHandle, label: &str) -> Option<SessionId> {
    let waiting = app.state::<SessionRegistry>().waiting();
    elsewhere(&app.state::<Windows>(), label, &waiting).next().map(|(_, session)| session.id.clone())
}

/// A session changed or was removed: sends the lists that are different now.
pub fn sessions_changed(app: &AppHandle) {
    let lists = app.state::<WaitingLists>();
    let mut lists = lists.0.lock().unwrap_or_else(PoisonError::into_inner);
    let waiting = app.state::<SessionRegistry>().waiting();
    let labels = app.state::<Windows>().labels();
    lists.retain(|label, _| labels.contains(label));
    for label in labels {
        // A window without a list gets it when its page connects.
        let Some(last) = lists.get_mut(&label) else { continue };
        let list = list_of(app, &label, &waiting);
        if *last != list {
            last.clone_from(&list);
            emit::to_window(app, &label, WindowEvent::WaitingChanged { waiting: list });
        }
    }
}

fn list_of(app: &AppHandle, label: &str, waiting: &[(ProjectRef, Session)]) -> Vec<String> {
    elsewhere(&app.state::<Windows>(), label, waiting).map(|(project, _)| project.name()).collect()
}

/// The sessions that this window does not show.
fn elsewhere<'a>(
    windows: &'a Windows,
    label: &'a str,
    waiting: &'a [(ProjectRef, Session)],
) -> impl Iterator<Item = &'a (ProjectRef, Session)> {
    let is_here = move |project: &ProjectRef, session: &Session| windows.shows(label, project, &session.id);
    waiting.iter().filter(move |(project, session)| !is_here(project, session))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::windows::{ProjectWindow, session};
    use deskbell_engine::api::Status;

    #[test]
    fn a_window_lists_what_waits_in_other_windows() {
        let needs = || Status::NeedsInput { what: "Wants to run a command".to_owned() };
        let [ledger, tide] = ["/home/i/ledger", "/home/i/tide"].map(ProjectRef::from);
        let waiting = [
            (ledger.clone(), session("a", needs())),
            (ledger.clone(), session("b", needs())),
            (tide.clone(), session("c", needs())),
        ];
        let windows = Windows::default();
        let ids = |label: &str| {
            let others = elsewhere(&windows, label, &waiting);
            others.map(|(_, session)| session.id.to_string()).collect::<Vec<_>>()
        };
        let of_ledger = windows.add(ProjectWindow::new(&ledger, false, None)).unwrap();
        assert_eq!(ids(&of_ledger), ["c"], "a project without a window counts too");
        let of_b = windows.add(ProjectWindow::of_session(&ledger, false, &SessionId::new("b"))).unwrap();
        assert_eq!(ids(&of_ledger), ["b", "c"]);
        assert_eq!(ids(&of_b), ["a", "c"]);
    }
}
