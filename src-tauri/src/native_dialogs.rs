//! Native dialogs that are not permission requests: the folder chooser, the question before a window closes, and the
//! error of a start without a terminal.
//!
//! On Linux all are GTK's own, on the main thread. tauri-plugin-dialog would use rfd there, which runs GTK's main loop
//! on a second thread from its first dialog on (rfd 0.17): the callbacks of windows and of permission dialogs would then
//! arrive on either thread.

use crate::closing::Question;
use std::path::PathBuf;
use tauri::WebviewWindow;
use tokio::sync::oneshot;

/// Title of the folder chooser.
const TITLE: &str = "Open folder";

/// Asks the user for a folder with the system's chooser, on the window, beginning in `place`. `None`: the user chose none, or the chooser of
/// this window is open already.
pub async fn choose_folder(
    window: &WebviewWindow,
    place: Option<PathBuf>,
) -> anyhow::Result<Option<PathBuf>> {
    let (answer, chosen) = oneshot::channel();
    let on_main = window.clone();
    window.run_on_main_thread(move || {
        if let Err(error) = system::choose(&on_main, place, answer) {
            tracing::warn!(error = format!("{error:#}"), "could not open the folder chooser");
        }
    })?;
    // Without an answer the chooser was closed with its window, or could not be opened.
    Ok(chosen.await.ok().flatten())
}

/// Asks the question on the window. `false`: the user cancelled, or the question is open on this window already and was
/// brought to the front. `true` also if it cannot be asked: the window must stay closable.
pub async fn confirm(window: &WebviewWindow, question: Question) -> anyhow::Result<bool> {
    let (answer, confirmed) = oneshot::channel();
    let on_main = window.clone();
    window.run_on_main_thread(move || {
        if let Err(error) = system::ask(&on_main, &question, answer) {
            tracing::warn!(error = format!("{error:#}"), "could not ask before closing a window");
        }
    })?;
    // Without an answer the dialog could not be opened, or is gone with its window.
    Ok(confirmed.await.unwrap_or(true))
}

/// Shows why the app did not start, and waits until the user closes the message. Call it on the main thread.
pub fn say_failure(problem: &str) {
    if let Err(error) = system::say("Deskbell could not start", problem) {
        tracing::debug!(%error, "could not show the failure in a window");
    }
}

#[cfg(target_os = "linux")]
mod system {
    use super::*;
    use anyhow::Context;
    use gtk::prelude::*;
    use gtk::{ButtonsType, DialogFlags, FileChooserAction, FileChooserNative, MessageDialog, MessageType};
    use gtk::{ResponseType, Window, glib};
    use std::cell::RefCell;
    use std::collections::HashMap;

    thread_local! {
        /// The open choosers by the label of their window, on the main thread.
        static OPEN: RefCell<HashMap<String, FileChooserNative>> = RefCell::default();
        /// The open questions, in the same way.
        static ASKED: RefCell<HashMap<String, MessageDialog>> = RefCell::default();
    }

    pub fn choose(
        window: &WebviewWindow,
        place: Option<PathBuf>,
        answer: oneshot::Sender<Option<PathBuf>>,
    ) -> anyhow::Result<()> {
        let label = window.label().to_owned();
        if let Some(open) = OPEN.with_borrow(|open| open.get(&label).cloned()) {
            open.show();
            return Ok(());
        }
        let parent = window.gtk_window()?;
        let action = FileChooserAction::SelectFolder;
        let chooser =
            FileChooserNative::new(Some(TITLE), Some(&parent), action, Some("_Open"), Some("_Cancel"));
        chooser.set_modal(true);
        if let Some(place) = place {
            // GTK begins elsewhere if there is no such folder.
            chooser.set_current_folder(place);
        }
        let (of, answer) = (label.clone(), RefCell::new(Some(answer)));
        chooser.connect_response(move |chooser, response| {
            let chosen = chooser.filename().filter(|_| response == ResponseType::Accept);
            if let Some(answer) = answer.take() {
                // The caller may be gone.
                drop(answer.send(chosen));
            }
            let of = of.clone();
            // Not inside its own signal.
            glib::idle_add_local_once(move || close(&of));
        });
        let of = label.clone();
        parent.connect_destroy(move |_| close(&of));
        chooser.show();
        OPEN.with_borrow_mut(|open| open.insert(label, chooser));
        Ok(())
    }

    /// Closes the chooser of a window. A caller that still waits gets no folder.
    fn close(label: &str) {
        if let Some(chooser) = OPEN.with_borrow_mut(|open| open.remove(label)) {
            chooser.destroy();
        }
    }

    pub fn ask(
        window: &WebviewWindow,
        question: &Question,
        answer: oneshot::Sender<bool>,
    ) -> anyhow::Result<()> {
        let label = window.label().to_owned();
        if let Some(open) = ASKED.with_borrow(|asked| asked.get(&label).cloned()) {
            open.present();
            // The caller may be gone.
            let _ = answer.send(false);
            return Ok(());
        }
        let parent = window.gtk_window()?;
        // Not modal: GTK would block every window of the app.
        let flags = DialogFlags::DESTROY_WITH_PARENT;
        let (kind, buttons) = (MessageType::Question, ButtonsType::None);
        let dialog = MessageDialog::new(Some(&parent), flags, kind, buttons, &question.title);
        dialog.set_title(&question.title);
        dialog.set_secondary_text(Some(&question.text));
        dialog.add_button("_Cancel", ResponseType::Cancel);
        dialog.add_button(&format!("_{}", question.accept), ResponseType::Accept);
        dialog.set_default_response(ResponseType::Cancel);
        let answer = RefCell::new(Some(answer));
        dialog.connect_response(move |dialog, response| {
            if let Some(answer) = answer.take() {
                // The caller may be gone.
                let _ = answer.send(response == ResponseType::Accept);
            }
            let dialog = dialog.clone();
            // Not inside its own signal.
            glib::idle_add_local_once(move || dialog.close());
        });
        let of = label.clone();
        dialog.connect_destroy(move |_| drop(ASKED.with_borrow_mut(|asked| asked.remove(&of))));
        ASKED.with_borrow_mut(|asked| asked.insert(label, dialog.clone()));
        dialog.present();
        Ok(())
    }

    pub fn say(title: &str, problem: &str) -> anyhow::Result<()> {
        // Also before the app has begun, or after it failed to.
        gtk::init().context("starting GTK")?;
        let no_parent = None::<&Window>;
        let dialog =
            MessageDialog::new(no_parent, DialogFlags::MODAL, MessageType::Error, ButtonsType::Close, title);
        dialog.set_title(title);
        dialog.set_secondary_text(Some(problem));
        dialog.run();
        dialog.close();
        Ok(())
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::*;

    pub fn choose(
        window: &WebviewWindow,
        place: Option<PathBuf>,
        answer: oneshot::Sender<Option<PathBuf>>,
    ) -> anyhow::Result<()> {
        let mut chooser = rfd::AsyncFileDialog::new().set_title(TITLE).set_parent(window);
        if let Some(place) = place {
            chooser = chooser.set_directory(place);
        }
        let chosen = chooser.pick_folder();
        tauri::async_runtime::spawn(async move {
            let chosen = chosen.await.map(|folder| folder.path().to_owned());
            // The caller may be gone.
            drop(answer.send(chosen));
        });
        Ok(())
    }

    pub fn ask(
        window: &WebviewWindow,
        question: &Question,
        answer: oneshot::Sender<bool>,
    ) -> anyhow::Result<()> {
        const CANCEL: &str = "Cancel";
        let buttons = rfd::MessageButtons::OkCancelCustom(question.accept.to_owned(), CANCEL.to_owned());
        let dialog = rfd::AsyncMessageDialog::new()
            .set_level(rfd::MessageLevel::Warning)
            .set_title(&question.title)
            .set_description(&question.text)
            .set_buttons(buttons)
            .set_parent(window)
            .show();
        let accept = question.accept;
        tauri::async_runtime::spawn(async move {
            // The answer is the button, or its words, as the system has it.
            let accepted = match dialog.await {
                rfd::MessageDialogResult::Ok => true,
                rfd::MessageDialogResult::Custom(words) => words == accept,
                _ => false,
            };
            // The caller may be gone.
            let _ = answer.send(accepted);
        });
        Ok(())
    }

    pub fn say(title: &str, problem: &str) -> anyhow::Result<()> {
        let dialog = rfd::MessageDialog::new().set_level(rfd::MessageLevel::Error).set_title(title);
        dialog.set_description(problem).show();
        Ok(())
    }
}
