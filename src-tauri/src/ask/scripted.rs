//! A backend without a display, for tests: it keeps what it was asked to show, and presses what the test says.

use super::{Backend, React};
use deskbell_engine::permission::{Ask, DialogId, Reaction};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Its clones are the same one.
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
    ask: Ask,
    react: React,
}

impl Scripted {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is on the screen: the window and the subject of each dialog, in the order in which they came.
    pub fn screen(&self) -> Vec<(String, String)> {
        let subject = |shown: &Shown| shown.ask.subject.clone().unwrap_or_default();
        self.lock().shown.iter().map(|shown| (shown.window.clone(), subject(shown))).collect()
    }

    /// A person does something with a dialog, which is gone with that.
    pub fn press(&self, id: &DialogId, reaction: Reaction) {
        self.pressing(id)(reaction);
    }

    /// A dialog in the moment between the press and its arrival.
    pub fn pressing(&self, id: &DialogId) -> React {
        let mut state = self.lock();
        let at = state.shown.iter().position(|shown| shown.ask.id == *id).expect("the dialog is shown");
        state.shown.remove(at).react
    }

    /// The dialog of this request cannot be shown.
    pub fn refuse(&self, id: &DialogId) {
        self.lock().refused = Some(id.clone());
    }

    /// A person looks at this dialog.
    pub fn focus(&self, id: &DialogId) {
        self.lock().in_front = Some(id.clone());
    }
}

impl Backend for Scripted {
    fn show(&self, window: &str, ask: Ask, react: React) -> anyhow::Result<()> {
        let mut state = self.lock();
        anyhow::ensure!(state.refused.as_ref() != Some(&ask.id), "no dialog for this one");
        state.shown.push(Shown { window: window.to_owned(), ask, react });
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
