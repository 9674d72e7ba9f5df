//! The fallback dialog on Windows, a message box, for systems whose common controls are older than version 6.
//!
//! Its buttons cannot be renamed, its first button is the default, none can be enabled late, and it cannot be
//! withdrawn. So it offers no *Allow*, and an answer after a withdrawal is ignored.

use super::wording::{Button, DialogText};
use deskbell_engine::permission::DialogResponse;
use rfd::{MessageButtons, MessageDialog, MessageDialogResult};
use tauri::WebviewWindow;

/// Shows the message box until it is closed; call it on a thread that may block.
pub fn ask(window: &WebviewWindow, wording: &DialogText) -> DialogResponse {
    let text = format!(
        "{}\n{}\n\nReview the request in the window? Yes opens the window, No denies the request, Cancel \
         decides nothing.",
        wording.heading,
        wording.text()
    );
    let dialog = MessageDialog::new()
        .set_parent(window)
        .set_title(&wording.title)
        .set_description(text)
        .set_buttons(MessageButtons::YesNoCancel);
    match dialog.show() {
        MessageDialogResult::Yes => Button::Review.reaction(""),
        MessageDialogResult::No => Button::Deny.reaction(""),
        _ => DialogResponse::Dismissed,
    }
}
