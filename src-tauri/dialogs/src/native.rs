//! Native dialogs that are not permission requests: the choosers of folders and files, the question before a window
//! closes, and the error of a start without a terminal.
//!
//! On Linux all are GTK's own, on the main thread. tauri-plugin-dialog would use rfd there, which runs GTK's main loop
//! on a second thread from its first dialog on (rfd 0.17): the callbacks of windows and of permission dialogs would then
//! arrive on either thread.

use anyhow::Context;
use deskbell_engine::api::{CommandError, ErrorCode};
use std::path::PathBuf;
use tauri::WebviewWindow;
use tokio::sync::oneshot;

/// A question about work. Closing the dialog changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The title of the dialog.
    pub title: String,
    pub text: String,
    /// The words of the button that ends the work.
    pub accept: &'static str,
    /// The words of the button that lets the work continue without a window, and of the box that makes either answer
    /// the setting.
    pub background: Option<(&'static str, &'static str)>,
    /// Its button is disabled for a moment after the dialog appears, because a page chose the moment. Linux only: other
    /// systems' dialogs cannot do it.
    pub arms_late: bool,
}

/// The user's answer to a [`Question`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Cancel,
    Stop { remember: bool },
    Background { remember: bool },
}

/// A chooser of the system.
#[derive(Clone)]
pub enum Chooser {
    Folder,
    /// The folder that a project's is now.
    MovedFolder,
    /// The agent's program.
    Program,
    /// A file to write, with a suggested name. The chooser asks before an existing file is replaced.
    NewFile(String),
}

impl Chooser {
    fn title(&self) -> &'static str {
        match self {
            Self::Folder => "Open folder",
            Self::MovedFolder => "Where is the folder now?",
            Self::Program => "Choose the Claude Code program",
            Self::NewFile(_) => "Export session",
        }
    }

    fn failed(&self, error: impl Into<anyhow::Error>) -> CommandError {
        let message = match self {
            Self::Folder | Self::MovedFolder => "The folder chooser could not be opened.",
            Self::Program | Self::NewFile(_) => "The file chooser could not be opened.",
        };
        let detail = Some(format!("{:#}", error.into()));
        CommandError { code: ErrorCode::Internal, message: message.to_owned(), detail }
    }
}

/// Asks the user for a folder or file, on the window, beginning in `place`. `None`: the user cancelled, or a chooser of
/// this window is open already.
pub async fn choose(
    window: &WebviewWindow,
    chooser: Chooser,
    place: Option<PathBuf>,
) -> Result<Option<PathBuf>, CommandError> {
    let (answer, chosen) = oneshot::channel();
    let (on_main, shown) = (window.clone(), chooser.clone());
    let begun = window.run_on_main_thread(move || {
        if let Err(error) = system::choose(&on_main, &shown, place, answer) {
            tracing::warn!(error = format!("{error:#}"), "could not open the chooser");
        }
    });
    begun.map_err(|error| chooser.failed(error))?;
    // Without an answer the chooser was closed with its window, or could not be opened.
    Ok(chosen.await.ok().flatten())
}

/// Asks the question on the window. *Cancel* also if a question is open on this window already and was brought to the
/// front. Returns an error if the question could not be asked or its window closed.
pub async fn confirm(window: &WebviewWindow, question: Question) -> anyhow::Result<Answer> {
    let (answer, confirmed) = oneshot::channel();
    let on_main = window.clone();
    window.run_on_main_thread(move || {
        if let Err(error) = system::ask(&on_main, &question, answer) {
            tracing::warn!(error = format!("{error:#}"), "could not ask in a dialog");
        }
    })?;
    confirmed.await.context("the dialog ended without an answer")
}

/// Asks the question on the window. Returns the refusal unless the user accepts.
pub async fn accepted(window: &WebviewWindow, question: Question, refusal: &str) -> Result<(), CommandError> {
    let detail = match confirm(window, question).await {
        Ok(Answer::Stop { .. }) => return Ok(()),
        Ok(_) => None,
        Err(error) => Some(format!("{error:#}")),
    };
    Err(CommandError { code: ErrorCode::Refused, message: refusal.to_owned(), detail })
}

/// Shows what failed outside every window, and why, and waits until the user closes the message. Call it on the main
/// thread.
pub fn say_failure(what: &str, problem: &str) {
    if let Err(error) = system::say(what, problem) {
        tracing::debug!(%error, "could not show the failure in a window");
    }
}

#[cfg(target_os = "linux")]
mod system {
    use super::*;
    use crate::permission::ARMED_AFTER;
    use gtk::prelude::*;
    use gtk::{
        ButtonsType, CheckButton, Container, DialogFlags, FileChooserAction, FileChooserNative, Label,
        MessageDialog, MessageType,
    };
    use gtk::{ResponseType, Window, glib, pango};
    use std::cell::{Cell, RefCell};
    use std::collections::HashMap;
    use std::rc::Rc;

    /// An open question.
    #[derive(Clone)]
    struct QuestionDialog {
        dialog: MessageDialog,
        /// How often its button was temporarily disabled; `None` for a question that arms at once.
        n_disabled: Option<Rc<Cell<u64>>>,
    }

    thread_local! {
        /// The open choosers by the label of their window, on the main thread.
        static OPEN: RefCell<HashMap<String, FileChooserNative>> = RefCell::default();
        /// The open questions, in the same way.
        static ASKED: RefCell<HashMap<String, QuestionDialog>> = RefCell::default();
    }

    /// Shows a chooser, or the one that is open on the window already.
    pub fn choose(
        window: &WebviewWindow,
        chooser: &Chooser,
        place: Option<PathBuf>,
        answer: oneshot::Sender<Option<PathBuf>>,
    ) -> anyhow::Result<()> {
        let label = window.label().to_owned();
        if let Some(open) = OPEN.with_borrow(|open| open.get(&label).cloned()) {
            open.show();
            return Ok(());
        }
        let parent = window.gtk_window()?;
        let (action, accept) = match chooser {
            Chooser::Folder | Chooser::MovedFolder => (FileChooserAction::SelectFolder, "_Open"),
            Chooser::Program => (FileChooserAction::Open, "_Choose"),
            Chooser::NewFile(_) => (FileChooserAction::Save, "_Save"),
        };
        let title = Some(chooser.title());
        let name = match chooser {
            Chooser::NewFile(name) => Some(name),
            Chooser::Folder | Chooser::MovedFolder | Chooser::Program => None,
        };
        let chooser = FileChooserNative::new(title, Some(&parent), action, Some(accept), Some("_Cancel"));
        if let Some(name) = name {
            chooser.set_do_overwrite_confirmation(true);
            chooser.set_current_name(name);
        }
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
        answer: oneshot::Sender<Answer>,
    ) -> anyhow::Result<()> {
        let label = window.label().to_owned();
        if let Some(open) = ASKED.with_borrow(|asked| asked.get(&label).cloned()) {
            if let Some(n_disabled) = &open.n_disabled {
                arm_late(&open.dialog, n_disabled);
            }
            open.dialog.present();
            // The caller may be gone.
            let _ = answer.send(Answer::Cancel);
            return Ok(());
        }
        let parent = window.gtk_window()?;
        // Not modal: GTK would block every window of the app.
        let flags = DialogFlags::DESTROY_WITH_PARENT;
        let (kind, buttons) = (MessageType::Question, ButtonsType::None);
        let dialog = MessageDialog::new(Some(&parent), flags, kind, buttons, &question.title);
        dialog.set_title(&question.title);
        dialog.set_secondary_text(Some(&question.text));
        // A long path must not make the dialog wider than the screen.
        let area = dialog.message_area().downcast::<Container>().ok();
        for label in area.iter().flat_map(ContainerExt::children) {
            if let Ok(label) = label.downcast::<Label>() {
                label.set_line_wrap_mode(pango::WrapMode::WordChar);
            }
        }
        dialog.add_button("_Cancel", ResponseType::Cancel);
        dialog.add_button(&format!("_{}", question.accept), ResponseType::Accept);
        let remember = question.background.map(|(background, remember)| {
            dialog.add_button(&format!("_{background}"), ResponseType::Yes);
            let remember = CheckButton::with_mnemonic(&format!("_{remember}"));
            dialog.content_area().pack_end(&remember, false, false, 0);
            remember.show();
            remember
        });
        dialog.set_default_response(ResponseType::Cancel);
        let n_disabled = question.arms_late.then(Rc::<Cell<u64>>::default);
        if let Some(n_disabled) = n_disabled.clone() {
            dialog.set_response_sensitive(ResponseType::Accept, false);
            dialog.connect_map(move |dialog| arm_late(dialog, &n_disabled));
        }
        let answer = RefCell::new(Some(answer));
        dialog.connect_response(move |dialog, response| {
            if let Some(answer) = answer.take() {
                let remember = remember.as_ref().is_some_and(|remember| remember.is_active());
                let chosen = match response {
                    ResponseType::Accept => Answer::Stop { remember },
                    ResponseType::Yes => Answer::Background { remember },
                    _ => Answer::Cancel,
                };
                // The caller may be gone.
                let _ = answer.send(chosen);
            }
            let dialog = dialog.clone();
            // Not inside its own signal.
            glib::idle_add_local_once(move || dialog.close());
        });
        let of = label.clone();
        dialog.connect_destroy(move |_| drop(ASKED.with_borrow_mut(|asked| asked.remove(&of))));
        ASKED.with_borrow_mut(|asked| {
            asked.insert(label, QuestionDialog { dialog: dialog.clone(), n_disabled })
        });
        dialog.present();
        Ok(())
    }

    /// Disables the accept button for [`ARMED_AFTER`]. A page chooses the moment in which the dialog appears or comes
    /// to the front.
    fn arm_late(dialog: &MessageDialog, n_disabled: &Rc<Cell<u64>>) {
        dialog.set_response_sensitive(ResponseType::Accept, false);
        let nr = n_disabled.get() + 1;
        n_disabled.set(nr);
        let (dialog, n_disabled) = (dialog.downgrade(), n_disabled.clone());
        // Runs after all pending input: late input was meant for something else.
        glib::timeout_add_local_full(ARMED_AFTER, glib::Priority::DEFAULT_IDLE, move || {
            if let Some(dialog) = dialog.upgrade().filter(|_| n_disabled.get() == nr) {
                dialog.set_response_sensitive(ResponseType::Accept, true);
            }
            glib::ControlFlow::Break
        });
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
    use rfd::{AsyncFileDialog, FileHandle};

    pub fn choose(
        window: &WebviewWindow,
        chooser: &Chooser,
        place: Option<PathBuf>,
        answer: oneshot::Sender<Option<PathBuf>>,
    ) -> anyhow::Result<()> {
        let dialog = AsyncFileDialog::new().set_title(chooser.title()).set_parent(window);
        let dialog = match place {
            Some(place) => dialog.set_directory(place),
            None => dialog,
        };
        match chooser {
            Chooser::Folder | Chooser::MovedFolder => answer_with(dialog.pick_folder(), answer),
            Chooser::Program => answer_with(dialog.pick_file(), answer),
            Chooser::NewFile(name) => answer_with(dialog.set_file_name(name).save_file(), answer),
        }
        Ok(())
    }

    fn answer_with(
        chosen: impl Future<Output = Option<FileHandle>> + Send + 'static,
        answer: oneshot::Sender<Option<PathBuf>>,
    ) {
        tauri::async_runtime::spawn(async move {
            let chosen = chosen.await.map(|file| file.path().to_owned());
            // The caller may be gone.
            drop(answer.send(chosen));
        });
    }

    pub fn ask(
        window: &WebviewWindow,
        question: &Question,
        answer: oneshot::Sender<Answer>,
    ) -> anyhow::Result<()> {
        let (accept, cancel) = (question.accept.to_owned(), "Cancel".to_owned());
        // These dialogs have no place for a box, so a choice is remembered on the settings page only.
        let buttons = match question.background {
            Some((background, _)) => {
                rfd::MessageButtons::YesNoCancelCustom(background.to_owned(), accept.clone(), cancel)
            }
            None => rfd::MessageButtons::OkCancelCustom(accept.clone(), cancel),
        };
        let dialog = rfd::AsyncMessageDialog::new()
            .set_level(rfd::MessageLevel::Warning)
            .set_title(&question.title)
            .set_description(&question.text)
            .set_buttons(buttons)
            .set_parent(window)
            .show();
        let background = question.background.map(|(background, _)| background.to_owned());
        tauri::async_runtime::spawn(async move {
            // The answer is the button, or its words, as the system has it.
            let chosen = match dialog.await {
                rfd::MessageDialogResult::Ok | rfd::MessageDialogResult::No => {
                    Answer::Stop { remember: false }
                }
                rfd::MessageDialogResult::Yes => Answer::Background { remember: false },
                rfd::MessageDialogResult::Custom(words) if words == accept => {
                    Answer::Stop { remember: false }
                }
                rfd::MessageDialogResult::Custom(words) if Some(&words) == background.as_ref() => {
                    Answer::Background { remember: false }
                }
                _ => Answer::Cancel,
            };
            // The caller may be gone.
            let _ = answer.send(chosen);
        });
        Ok(())
    }

    pub fn say(title: &str, problem: &str) -> anyhow::Result<()> {
        let dialog = rfd::MessageDialog::new().set_level(rfd::MessageLevel::Error).set_title(title);
        dialog.set_description(problem).show();
        Ok(())
    }
}
