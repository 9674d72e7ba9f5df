//! Native permission dialogs: how the app gets your attention. The card in the window is the other face of the same
//! request; whoever answers first wins, and the other goes away.
//!
//! A dialog decides nothing by itself: its default is *Review…*, closing it answers nothing, and what it cannot show
//! whole and plain cannot be allowed there.

#[cfg(target_os = "linux")]
mod gtk;
#[cfg(not(target_os = "linux"))]
mod rfd;

#[cfg(target_os = "linux")]
use self::gtk as system;
#[cfg(not(target_os = "linux"))]
use self::rfd as system;

use crate::shell::Shell;
use crate::windows;
use deskbell_engine::api::*;
use deskbell_engine::permission::{Act, Ask, DialogId, Dialogs};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tauri::{AppHandle, Manager};

/// *Allow once* is armed this long after the dialog is shown: a click that was meant for something else decides
/// nothing.
const ARMED_AFTER: Duration = Duration::from_millis(700);

/// The dialogs of all windows, and the hands that show them.
#[derive(Default)]
pub struct Asking(Mutex<Dialogs>);

impl Asking {
    /// A request comes in for a window.
    pub fn ask(
        &self,
        app: &AppHandle,
        label: &str,
        project: &str,
        session: &Session,
        request: PermissionRequest,
    ) {
        if let Some(ask) = Ask::of(project, session, request) {
            self.change(app, |dialogs| dialogs.asked(label, ask));
        }
    }

    /// A request is over: it was answered, or is withdrawn.
    pub fn resolved(&self, app: &AppHandle, session_id: &SessionId, request_id: &RequestId) {
        let id = DialogId { session_id: session_id.clone(), request_id: request_id.clone() };
        self.change(app, |dialogs| dialogs.resolved(&id));
    }

    pub fn window_gone(&self, app: &AppHandle, label: &str) {
        self.change(app, |dialogs| dialogs.window_gone(label));
    }

    /// Is a dialog of this window what the user has before them?
    pub fn is_in_front(&self, label: &str) -> bool {
        let dialogs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        dialogs.shown(label).is_some_and(|ask| system::is_in_front(&ask.id))
    }

    fn change(&self, app: &AppHandle, change: impl FnOnce(&mut Dialogs) -> Vec<Act>) {
        let mut dialogs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut others = Vec::new();
        // Still under the lock, so that a dialog is never withdrawn before it is shown.
        for act in change(&mut dialogs) {
            match act {
                Act::Show { window, ask } => show(app, &window, ask),
                Act::Withdraw { id } => system::withdraw(app, &id),
                act => others.push(act),
            }
        }
        drop(dialogs);
        others.into_iter().for_each(|act| carry_out(app, act));
    }
}

fn show(app: &AppHandle, label: &str, ask: Ask) {
    let (app_then, id, shown) = (app.clone(), ask.id.clone(), ask.shown.clone());
    let react = move |reaction| {
        let shell = app_then.state::<Shell>();
        shell.asking.change(&app_then, |dialogs| dialogs.reacted(&id, &shown, reaction));
    };
    if let Err(error) = system::show(app, label, ask, react) {
        // The card is there all the same.
        tracing::error!(%error, "a permission dialog could not be shown");
    }
}

fn carry_out(app: &AppHandle, act: Act) {
    match act {
        Act::Show { .. } | Act::Withdraw { .. } => {}
        Act::BringUp { window, id: DialogId { session_id, request_id } } => {
            windows::bring_up(app, &window);
            let request_id = Some(request_id);
            windows::tell(app, &window, &WindowEvent::Show { session_id, request_id });
        }
        Act::Decide { id: DialogId { session_id, request_id }, shown, decision } => {
            let app = app.clone();
            let decide = Command::Decide { request_id, shown: Some(shown), decision };
            tauri::async_runtime::spawn(async move {
                let shell = app.state::<Shell>();
                let Some((project, _)) = shell.desk().known(&session_id) else { return };
                match shell.desk().command(&project, &session_id, decide).await {
                    // The card was quicker: one answer is all there is.
                    Err(CommandError { code: ErrorCode::NoSuchRequest, .. }) | Ok(()) => {}
                    Err(error) => tracing::error!(%error, "a decision could not be delivered"),
                }
            });
        }
    }
}
