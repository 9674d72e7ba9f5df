//! The dialog on Linux, by GTK itself: it belongs to its window, can be withdrawn, and leaves every other window
//! usable, its own among them.

use super::ARMED_AFTER;
use ::gtk::atk::prelude::AtkObjectExt;
use ::gtk::prelude::*;
use ::gtk::{
    Box as Column, Dialog, Entry, Label, Orientation, PolicyType, ResponseType, ScrolledWindow, glib,
};
use anyhow::Context;
use deskbell_engine::permission::{Ask, DialogId, Reaction};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};
use tauri::{AppHandle, Manager};

thread_local! {
    /// On the main thread, where GTK's objects live.
    static SHOWN: RefCell<HashMap<DialogId, Dialog>> = RefCell::default();
}

/// The dialog that has the focus, for whoever asks from another thread.
static IN_FRONT: Mutex<Option<DialogId>> = Mutex::new(None);

const ALLOW: ResponseType = ResponseType::Other(1);
const DENY: ResponseType = ResponseType::Other(2);
const REVIEW: ResponseType = ResponseType::Other(3);

/// Shows a dialog. The reaction comes once, on the main thread; none comes after a withdrawal.
pub fn show(
    app: &AppHandle,
    label: &str,
    ask: Ask,
    react: impl Fn(Reaction) + Send + 'static,
) -> anyhow::Result<()> {
    let window = app.get_webview_window(label).context("the window is gone")?;
    app.run_on_main_thread(move || match window.gtk_window() {
        Ok(parent) => build(&parent, ask, react),
        Err(error) => tracing::error!(%error, "the window is gone"),
    })?;
    Ok(())
}

pub fn withdraw(app: &AppHandle, id: &DialogId) {
    let id = id.clone();
    let closed = app.run_on_main_thread(move || close(&id));
    if let Err(error) = closed {
        tracing::error!(%error, "a dialog could not be withdrawn");
    }
}

pub fn is_in_front(id: &DialogId) -> bool {
    IN_FRONT.lock().unwrap_or_else(PoisonError::into_inner).as_ref() == Some(id)
}

fn set_in_front(id: &DialogId, is: bool) {
    let mut in_front = IN_FRONT.lock().unwrap_or_else(PoisonError::into_inner);
    if is {
        *in_front = Some(id.clone());
    } else if in_front.as_ref() == Some(id) {
        *in_front = None;
    }
}

fn close(id: &DialogId) {
    set_in_front(id, false);
    let dialog = SHOWN.with(|shown| shown.borrow_mut().remove(id));
    if let Some(dialog) = dialog {
        // SAFETY: the dialog was taken out of the only place that holds it; nothing uses it afterwards.
        unsafe { dialog.destroy() };
    }
}

fn build(parent: &::gtk::ApplicationWindow, ask: Ask, react: impl Fn(Reaction) + 'static) {
    let dialog = Dialog::new();
    dialog.set_title(&format!("{} — {}", ask.question, ask.project));
    dialog.set_transient_for(Some(parent));
    dialog.set_destroy_with_parent(true);
    dialog.set_modal(false);
    // It asks for attention by being there; it takes the keyboard from nobody.
    dialog.set_focus_on_map(false);
    dialog.set_default_size(480, -1);

    let content = dialog.content_area();
    content.set_border_width(16);
    content.set_spacing(12);
    content.add(&heading(&ask));
    content.add(&subject(&ask));
    let reason = Entry::new();
    reason.set_placeholder_text(Some("Reason for a denial, which the agent reads"));
    name(&reason, "Reason");
    content.add(&reason);

    // *Deny* and *Allow once* weigh the same; *Allow once* is there only if the subject is.
    dialog.add_button("Deny", DENY);
    let allow = ask.subject.is_some().then(|| dialog.add_button("Allow once", ALLOW));
    // Enter anywhere, and the focus it starts with, lead to the button that decides nothing.
    let review = dialog.add_button("Review…", REVIEW);
    dialog.set_default_response(REVIEW);
    review.grab_focus();

    if let Some(allow) = allow {
        allow.set_sensitive(false);
        // Even with the focus on it, Enter goes to the button that decides nothing; the space bar does not.
        allow.set_receives_default(false);
        dialog.connect_map(move |_| {
            let allow = allow.clone();
            glib::timeout_add_local_once(ARMED_AFTER, move || allow.set_sensitive(true));
        });
    }
    let id = ask.id.clone();
    let focus_id = id.clone();
    dialog.connect_is_active_notify(move |dialog| set_in_front(&focus_id, dialog.is_active()));
    let answered = Rc::new(Cell::new(false));
    let response_id = id.clone();
    dialog.connect_response(move |_, response| {
        // Destroying the dialog responds once more.
        if answered.replace(true) || !SHOWN.with(|shown| shown.borrow().contains_key(&response_id)) {
            return;
        }
        let reaction = match response {
            ALLOW => Reaction::AllowOnce,
            DENY => Reaction::Deny { reason: reason.text().to_string() },
            REVIEW => Reaction::Review,
            _ => Reaction::Dismissed,
        };
        close(&response_id);
        react(reaction);
    });
    dialog.show_all();
    SHOWN.with(|shown| shown.borrow_mut().insert(id, dialog));
}

fn heading(ask: &Ask) -> Column {
    let column = Column::new(Orientation::Vertical, 4);
    let question = Label::new(None);
    question.set_markup(&format!("<big><b>{}</b></big>", glib::markup_escape_text(&ask.question)));
    // The tool and the project are never cut; a title may be.
    let place = Label::new(Some(&format!("{} in {}", ask.tool, ask.project)));
    place.set_line_wrap(true);
    place.set_line_wrap_mode(::gtk::pango::WrapMode::WordChar);
    place.set_max_width_chars(60);
    let title = Label::new(Some(&format!("Session: “{}”", ask.session_title)));
    title.set_ellipsize(::gtk::pango::EllipsizeMode::End);
    for label in [&question, &place, &title] {
        label.set_xalign(0.0);
        column.add(label);
    }
    column
}

fn subject(ask: &Ask) -> ::gtk::Widget {
    let Some(text) = &ask.subject else { return not_here(ask).upcast() };
    let label = Label::new(None);
    // A new line is not to be taken for a line that was broken because it is long.
    let mark = "<span alpha=\"55%\">↵</span>\n";
    label.set_markup(&format!("<tt>{}</tt>", glib::markup_escape_text(text).replace('\n', mark)));
    label.set_xalign(0.0);
    label.set_selectable(true);
    label.set_can_focus(false);
    label.set_line_wrap(true);
    label.set_line_wrap_mode(::gtk::pango::WrapMode::Char);
    let scrolled = ScrolledWindow::new(None::<&::gtk::Adjustment>, None::<&::gtk::Adjustment>);
    scrolled.set_policy(PolicyType::Never, PolicyType::Automatic);
    scrolled.set_propagate_natural_height(true);
    scrolled.set_max_content_height(360);
    scrolled.add(&label);
    scrolled.upcast()
}

/// Why it is for the card.
fn not_here(ask: &Ask) -> Column {
    let column = Column::new(Orientation::Vertical, 8);
    let why = if ask.notices.is_empty() {
        "This is more than a dialog can show plainly."
    } else {
        "This may not be what it seems:"
    };
    let lines = ask.notices.iter().map(|notice| format!("•  {notice}"));
    let last = "Review it to see all of it.".to_owned();
    for line in std::iter::once(why.to_owned()).chain(lines).chain([last]) {
        let label = Label::new(Some(&line));
        label.set_xalign(0.0);
        label.set_line_wrap(true);
        label.set_line_wrap_mode(::gtk::pango::WrapMode::WordChar);
        label.set_max_width_chars(60);
        column.add(&label);
    }
    column
}

fn name(widget: &impl IsA<::gtk::Widget>, name: &str) {
    if let Some(accessible) = widget.accessible() {
        AtkObjectExt::set_name(&accessible, name);
    }
}
