//! The last resort on Windows, where the common controls are older than version 6: a message box.
//!
//! Its buttons cannot be named, its first one is the default, none can be armed late, and it cannot be taken back: so it
//! offers no *Allow*, and an answer that comes after a withdrawal counts for nothing.

use super::face::{Button, Face};
use deskbell_engine::permission::Reaction;
use rfd::{MessageButtons, MessageDialog, MessageDialogResult};
use tauri::WebviewWindow;

/// Shows it until it is closed, on a thread that may wait.
pub fn ask(window: &WebviewWindow, face: &Face) -> Reaction {
    let text = format!(
        "{}\n{}\n{}\n\nReview it in the window? Yes brings it up, No denies the request, Cancel does neither.",
        face.question, face.place, face.session
    );
    let dialog = MessageDialog::new()
        .set_parent(window)
        .set_title(&face.title)
        .set_description(text)
        .set_buttons(MessageButtons::YesNoCancel);
    match dialog.show() {
        MessageDialogResult::Yes => Button::Review.reaction(""),
        MessageDialogResult::No => Button::Deny.reaction(""),
        _ => Reaction::Dismissed,
    }
}
