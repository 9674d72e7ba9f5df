//! The dialog where there is no backend of our own yet: three buttons, and no way to take it back.
//!
//! It cannot tell *Review…* from being closed, so both leave the card; a late answer finds its request answered.

use anyhow::Context;
use deskbell_engine::permission::{Ask, DialogId, Reaction};
use rfd::{AsyncMessageDialog, MessageButtons, MessageDialogResult};
use tauri::{AppHandle, Manager};

pub fn show(
    app: &AppHandle,
    label: &str,
    ask: Ask,
    react: impl Fn(Reaction) + Send + 'static,
) -> anyhow::Result<()> {
    const ALLOW: &str = "Allow once";
    const DENY: &str = "Deny";
    const REVIEW: &str = "Review…";
    let window = app.get_webview_window(label).context("the window is gone")?;
    let buttons = match &ask.subject {
        Some(_) => MessageButtons::YesNoCancelCustom(ALLOW.to_owned(), DENY.to_owned(), REVIEW.to_owned()),
        None => MessageButtons::OkCancelCustom(DENY.to_owned(), REVIEW.to_owned()),
    };
    let subject = ask.subject.as_deref().unwrap_or("Review it to see all of it.");
    let dialog = AsyncMessageDialog::new()
        .set_parent(&window)
        .set_title(&ask.question)
        .set_description(format!("{} · {} · {}\n\n{subject}", ask.project, ask.session_title, ask.tool))
        .set_buttons(buttons)
        .show();
    tauri::async_runtime::spawn(async move {
        react(match dialog.await {
            MessageDialogResult::Custom(label) if label == ALLOW => Reaction::AllowOnce,
            MessageDialogResult::Custom(label) if label == DENY => Reaction::Deny { reason: String::new() },
            MessageDialogResult::Custom(label) if label == REVIEW => Reaction::Review,
            _ => Reaction::Dismissed,
        });
    });
    Ok(())
}

/// A message dialog of the system cannot be taken back.
pub fn withdraw(_app: &AppHandle, _id: &DialogId) {}

pub fn is_in_front(_id: &DialogId) -> bool {
    false
}
