//! A backend without a display, for tests: it records the dialogs that it has to show, and presses the buttons that the
//! test chooses.

use super::{Backend, Respond};
use deskbell_engine::permission::{DialogId, DialogRequest, DialogResponse};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Clones share the same state.
#[derive(Clone, Default)]
pub struct Scripted(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    shown: Vec<Shown>,
    refused: Option<DialogId>,
    in_front: Option<DialogId>,
}

struct Shown {
    window: String,
    ask: DialogRequest,
    respond: Respond,
}

impl Scripted {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The dialogs on the screen: the window and the subject of each, in order of arrival.
    pub fn screen(&self) -> Vec<(String, String)> {
        let subject = |shown: &Shown| shown.ask.subject.clone().unwrap_or_default();
        self.lock().shown.iter().map(|shown| (shown.window.clone(), subject(shown))).collect()
    }

    /// Sends the user's response to a dialog, which closes it.
    pub fn press(&self, id: &DialogId, reaction: DialogResponse) {
        self.pressing(id)(reaction);
    }

    /// Removes a dialog whose button was pressed, and returns its callback: the press has not arrived yet.
    pub fn pressing(&self, id: &DialogId) -> Respond {
        let mut state = self.lock();
        let at = state.shown.iter().position(|shown| shown.ask.id == *id).expect("the dialog is shown");
        state.shown.remove(at).respond
    }

    /// Makes the dialog of this request fail to show.
    pub fn refuse(&self, id: &DialogId) {
        self.lock().refused = Some(id.clone());
    }

    /// Gives this dialog the keyboard focus.
    pub fn focus(&self, id: &DialogId) {
        self.lock().in_front = Some(id.clone());
    }
}

impl Backend for Scripted {
    fn show(&self, window: &str, ask: DialogRequest, respond: Respond) -> anyhow::Result<()> {
        let mut state = self.lock();
        anyhow::ensure!(state.refused.as_ref() != Some(&ask.id), "no dialog for this one");
        state.shown.push(Shown { window: window.to_owned(), ask, respond });
        Ok(())
    }

    fn withdraw(&self, id: &DialogId) -> anyhow::Result<()> {
        self.lock().shown.retain(|shown| shown.ask.id != *id);
        Ok(())
    }

    fn is_in_front(&self, id: &DialogId) -> bool {
        self.lock().in_front.as_ref() == Some(id)
    }
}
