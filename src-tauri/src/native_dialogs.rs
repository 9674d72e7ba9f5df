//! Native dialogs that are not permission requests: the folder chooser, and the error of a start without a terminal.
//!
//! On Linux both are GTK's own, on the main thread. tauri-plugin-dialog would use rfd there, which runs GTK's main loop
//! on a second thread from its first dialog on (rfd 0.17): the callbacks of windows and of permission dialogs would then
//! arrive on either thread.

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

    pub fn say(title: &str, problem: &str) -> anyhow::Result<()> {
        let dialog = rfd::MessageDialog::new().set_level(rfd::MessageLevel::Error).set_title(title);
        dialog.set_description(problem).show();
        Ok(())
    }
}
