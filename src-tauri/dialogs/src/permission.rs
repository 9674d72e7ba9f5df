//! Native permission dialogs: how the app gets the user's attention. The card in the window shows the same request. The
//! first answer counts, from the card or from the dialog; the other one closes.
//!
//! A dialog decides nothing by itself: its default is *Review…*, and closing it answers nothing. A subject that a
//! dialog cannot show in full and as plain text cannot be allowed there. Each system has its own implementation of the
//! [`Backend`] trait. The texts and the meaning of the buttons are in `wording`, the same for all backends.

#[cfg(target_os = "macos")]
mod alert;
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
mod wording;

#[cfg(target_os = "linux")]
pub use wording::ARMED_AFTER;

use deskbell_engine::api::*;
use deskbell_engine::permission::{
    DialogEffect, DialogId, DialogRequest, DialogResponse, Dialogs, WindowView,
};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tauri::AppHandle;

/// Receives the user's response to a dialog.
pub type Respond = Box<dyn FnOnce(DialogResponse) + Send>;

/// Shows the dialogs of one system. The functions wait neither for the user nor for another thread, because they are
/// called while the dialog queues are locked.
pub trait Backend: Send + Sync {
    /// Shows a dialog on the window with that label. Calls `respond` once, but not before this function returns and not
    /// after the dialog was withdrawn. Responds with `Dismissed` if it turns out later that the dialog cannot be shown.
    fn show(&self, window: &str, ask: DialogRequest, respond: Respond) -> anyhow::Result<()>;

    /// Closes a dialog without an answer. Does nothing if the dialog is already closed.
    fn withdraw(&self, id: &DialogId) -> anyhow::Result<()>;

    /// Returns whether the dialog has the keyboard focus. Called without the lock.
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
pub struct DialogController(Arc<Inner>);

struct Inner {
    dialogs: Mutex<Dialogs>,
    backend: Box<dyn Backend>,
    carry_out: Box<dyn Fn(Outcome) + Send + Sync>,
}

/// The outcome of a dialog. A withdrawn dialog has none; every other dialog has at most one.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Decide { id: DialogId, shown: String, decision: Decision },
    BringUp { window: String, id: DialogId },
}

impl DialogController {
    pub fn new(backend: Box<dyn Backend>, carry_out: impl Fn(Outcome) + Send + Sync + 'static) -> Self {
        Self(Arc::new(Inner { dialogs: Mutex::default(), backend, carry_out: Box::new(carry_out) }))
    }

    /// Adds a request for a window.
    pub fn ask(&self, label: &str, ask: DialogRequest) {
        self.0.change(|dialogs| dialogs.asked(label, ask));
    }

    /// Removes a request that was answered or withdrawn.
    pub fn resolved(&self, session_id: &SessionId, request_id: &RequestId) {
        let id = DialogId { session_id: session_id.clone(), request_id: request_id.clone() };
        self.0.change(|dialogs| dialogs.resolved(&id));
    }

    /// Updates the view of a window. A request whose card is visible needs no dialog.
    pub fn view_changed(&self, label: &str, change: impl FnOnce(&mut WindowView)) {
        self.0.change(|dialogs| dialogs.view_changed(label, change));
    }

    /// The user opened the card of a request; closes its dialog.
    pub fn reviewed(&self, id: &DialogId) {
        self.0.change(|dialogs| dialogs.reviewed(id));
    }

    pub fn window_gone(&self, label: &str) {
        self.0.change(|dialogs| dialogs.window_gone(label));
    }

    /// Returns whether a dialog of this window has the keyboard focus.
    pub fn is_in_front(&self, label: &str) -> bool {
        let id = self.0.lock().shown(label).map(|ask| ask.id.clone());
        id.is_some_and(|id| self.0.backend.is_in_front(&id))
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, Dialogs> {
        self.dialogs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(self: &Arc<Self>, change: impl FnOnce(&mut Dialogs) -> Vec<DialogEffect>) {
        let mut dialogs = self.lock();
        let mut outcomes = Vec::new();
        let mut acts = VecDeque::from(change(&mut dialogs));
        // Still under the lock, so that a dialog is never withdrawn before it is shown.
        while let Some(act) = acts.pop_front() {
            match act {
                DialogEffect::Show { window, ask } => {
                    let (id, shown) = (ask.id.clone(), ask.shown.clone());
                    if let Err(error) = self.show(&window, ask) {
                        // The card is still available, and the next dialogs in the queue must not wait for this one.
                        tracing::error!(%error, "could not show a permission dialog");
                        acts.extend(dialogs.reacted(&id, &shown, DialogResponse::Dismissed));
                    }
                }
                DialogEffect::Withdraw { id } => {
                    if let Err(error) = self.backend.withdraw(&id) {
                        tracing::error!(%error, "could not withdraw a dialog");
                    }
                }
                DialogEffect::Decide { id, shown, decision } => {
                    outcomes.push(Outcome::Decide { id, shown, decision });
                }
                DialogEffect::BringUp { window, id } => outcomes.push(Outcome::BringUp { window, id }),
                DialogEffect::Wait { window, number } => self.wait(window, number),
            }
        }
        drop(dialogs);
        outcomes.into_iter().for_each(|outcome| (self.carry_out)(outcome));
    }

    fn wait(self: &Arc<Self>, window: String, number: u64) {
        let inner = self.clone();
        tauri::async_runtime::spawn(async move {
            tokio::time::sleep(Dialogs::CARD_TIME).await;
            inner.change(|dialogs| dialogs.waited(&window, number));
        });
    }

    fn show(self: &Arc<Self>, window: &str, ask: DialogRequest) -> anyhow::Result<()> {
        let (inner, id, shown) = (self.clone(), ask.id.clone(), ask.shown.clone());
        let respond = move |reaction| inner.change(|dialogs| dialogs.reacted(&id, &shown, reaction));
        self.backend.show(window, ask, Box::new(respond))
    }
}
