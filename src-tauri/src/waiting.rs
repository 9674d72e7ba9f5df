//! Sessions of other projects that wait for the user. Each project window lists them: while a window of the app has the
//! keyboard, a request of another project has no dialog.

use crate::emit;
use crate::windows::{Windows, name_of};
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

/// The session of another project than the window's that has waited longest.
pub fn first(app: &AppHandle, label: &str) -> Option<SessionId> {
    let own = app.state::<Windows>().with(label, |window| window.project.clone()).ok()?;
    let waiting = app.state::<SessionRegistry>().waiting();
    of_others(&own, &waiting).next().map(|(_, session)| session.id.clone())
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
    let own = app.state::<Windows>().with(label, |window| window.project.clone());
    own.map_or_else(
        |_| Vec::new(),
        |own| of_others(&own, waiting).map(|(project, _)| name_of(project)).collect(),
    )
}

fn of_others<'a>(
    own: &'a ProjectRef,
    waiting: &'a [(ProjectRef, Session)],
) -> impl Iterator<Item = &'a (ProjectRef, Session)> {
    waiting.iter().filter(move |(project, _)| project != own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::windows::session;
    use deskbell_engine::api::Status;

    #[test]
    fn a_window_lists_what_waits_in_other_projects() {
        let needs = || Status::NeedsInput { what: "Wants to run a command".to_owned() };
        let waiting = [
            (ProjectRef::from("/home/i/ledger"), session("a", needs())),
            (ProjectRef::from("/home/i/tide"), session("b", needs())),
        ];
        let names = |own: &str| {
            let own = ProjectRef::from(own);
            let others = of_others(&own, &waiting);
            others.map(|(project, _)| name_of(project)).collect::<Vec<_>>()
        };
        assert_eq!(names("/home/i/ledger"), ["tide"]);
        assert_eq!(names("/home/i/mill"), ["ledger", "tide"]);
    }
}
