//! Native permission dialogs: how the app gets your attention. The card in the window is the other face of the same
//! request; whoever answers first wins, and the other goes away.
//!
//! A dialog decides nothing by itself: its default is *Review…*, closing it answers nothing, and what it cannot show
//! whole and plain cannot be allowed there. Each system has a backend of its own behind one trait; what they say and what
//! their buttons mean is in `face`, the same for all.

#[cfg(target_os = "macos")]
mod alert;
mod face;
#[cfg(target_os = "linux")]
mod gtk;
#[cfg(windows)]
mod rfd;
#[cfg(test)]
mod scripted;
#[cfg(windows)]
mod task_dialog;
#[cfg(test)]
mod tests;

use crate::shell::Shell;
use crate::{tell, windows};
use deskbell_engine::api::*;
use deskbell_engine::permission::{Act, Ask, DialogId, Dialogs, Reaction};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tauri::{AppHandle, Manager};

/// Takes what a person did with a dialog.
pub type React = Box<dyn FnOnce(Reaction) + Send>;

/// Shows the dialogs of one system. None of its functions waits for a person, nor for another thread: they are called
/// with the lines of dialogs locked.
pub trait Backend: Send + Sync {
    /// Shows a dialog on the window of that label. `react` is called once, but not after a withdrawal, and not before
    /// this returns; with `Dismissed` also if it turns out later that the dialog cannot be shown.
    fn show(&self, window: &str, ask: Ask, react: React) -> anyhow::Result<()>;

    /// Takes a dialog away without an answer; of one that is gone already nothing is to be done.
    fn withdraw(&self, id: &DialogId) -> anyhow::Result<()>;

    /// Does the dialog have the keyboard? Called without the lock.
    fn is_in_front(&self, id: &DialogId) -> bool;
}

/// The backend of this system.
pub fn native(app: &AppHandle) -> Box<dyn Backend> {
    #[cfg(target_os = "linux")]
    let backend = gtk::Gtk::new(app.clone());
    #[cfg(target_os = "macos")]
    let backend = alert::Alert::new(app.clone());
    #[cfg(windows)]
    let backend = task_dialog::TaskDialog::new(app.clone());
    Box::new(backend)
}

/// The dialogs of all windows, and the backend that shows them.
pub struct Asking(Arc<Inner>);

struct Inner {
    dialogs: Mutex<Dialogs>,
    backend: Box<dyn Backend>,
    carry_out: Box<dyn Fn(Outcome) + Send + Sync>,
}

/// What comes of a dialog: never of one that was withdrawn, and never two of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Decide { id: DialogId, shown: String, decision: Decision },
    BringUp { window: String, id: DialogId },
}

impl Asking {
    pub fn new(backend: Box<dyn Backend>, carry_out: impl Fn(Outcome) + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner { dialogs: Mutex::default(), backend, carry_out: Box::new(carry_out) }))
    }

    /// A request comes in for a window.
    pub fn ask(&self, label: &str, ask: Ask) {
        self.0.change(|dialogs| dialogs.asked(label, ask));
    }

    /// A request is over: it was answered, or is withdrawn.
    pub fn resolved(&self, session_id: &SessionId, request_id: &RequestId) {
        let id = DialogId { session_id: session_id.clone(), request_id: request_id.clone() };
        self.0.change(|dialogs| dialogs.resolved(&id));
    }

    pub fn window_gone(&self, label: &str) {
        self.0.change(|dialogs| dialogs.window_gone(label));
    }

    /// Is a dialog of this window what the user has before them?
    pub fn is_in_front(&self, label: &str) -> bool {
        let id = self.0.lock().shown(label).map(|ask| ask.id.clone());
        id.is_some_and(|id| self.0.backend.is_in_front(&id))
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, Dialogs> {
        self.dialogs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(self: &Arc<Self>, change: impl FnOnce(&mut Dialogs) -> Vec<Act>) {
        let mut dialogs = self.lock();
        let mut outcomes = Vec::new();
        let mut acts = VecDeque::from(change(&mut dialogs));
        // Still under the lock, so that a dialog is never withdrawn before it is shown.
        while let Some(act) = acts.pop_front() {
            match act {
                Act::Show { window, ask } => {
                    let (id, shown) = (ask.id.clone(), ask.shown.clone());
                    if let Err(error) = self.show(&window, ask) {
                        // The card is there all the same, and those behind it in line are not to wait for it.
                        tracing::error!(%error, "a permission dialog could not be shown");
                        acts.extend(dialogs.reacted(&id, &shown, Reaction::Dismissed));
                    }
                }
                Act::Withdraw { id } => {
                    if let Err(error) = self.backend.withdraw(&id) {
                        tracing::error!(%error, "a dialog could not be withdrawn");
                    }
                }
                Act::Decide { id, shown, decision } => {
                    outcomes.push(Outcome::Decide { id, shown, decision });
                }
                Act::BringUp { window, id } => outcomes.push(Outcome::BringUp { window, id }),
            }
        }
        drop(dialogs);
        outcomes.into_iter().for_each(|outcome| (self.carry_out)(outcome));
    }

    fn show(self: &Arc<Self>, window: &str, ask: Ask) -> anyhow::Result<()> {
        let (inner, id, shown) = (self.clone(), ask.id.clone(), ask.shown.clone());
        let react = move |reaction| inner.change(|dialogs| dialogs.reacted(&id, &shown, reaction));
        self.backend.show(window, ask, Box::new(react))
    }
}

/// Does in the app what came of a dialog.
pub fn carry_out(app: &AppHandle, outcome: Outcome) {
    match outcome {
        Outcome::BringUp { window, id: DialogId { session_id, request_id } } => {
            windows::bring_up(app, &window);
            let request_id = Some(request_id);
            tell::tell(app, &window, WindowEvent::Show { session_id, request_id });
        }
        Outcome::Decide { id: DialogId { session_id, request_id }, shown, decision } => {
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
