//! The dialog on Linux, by GTK itself: it belongs to its window, can be withdrawn, and leaves every other window
//! usable, its own among them.

use super::face::{ARMED_AFTER, Button, Face, LINE_END, REASON, Subject};
use super::{Backend, React};
use ::gtk::atk::prelude::AtkObjectExt;
use ::gtk::prelude::*;
use ::gtk::{
    Box as Column, Dialog, Entry, Label, Orientation, PolicyType, ResponseType, ScrolledWindow, glib,
};
use anyhow::Context;
use deskbell_engine::permission::{Ask, DialogId, Reaction};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tauri::{AppHandle, Manager};

thread_local! {
    /// On the main thread, where GTK's objects live.
    static SHOWN: RefCell<HashMap<DialogId, Dialog>> = RefCell::default();
}

/// The dialog that has the focus, for whoever asks from another thread.
static IN_FRONT: Mutex<Option<DialogId>> = Mutex::new(None);

/// Shows dialogs by GTK, on the main thread.
pub struct Gtk(AppHandle);

impl Gtk {
    pub fn new(app: AppHandle) -> Self {
        Self(app)
    }
}

impl Backend for Gtk {
    fn show(&self, window: &str, ask: Ask, react: React) -> anyhow::Result<()> {
        let window = self.0.get_webview_window(window).context("the window is gone")?;
        self.0.run_on_main_thread(move || match window.gtk_window() {
            Ok(parent) => build(&parent, &ask, react),
            // Whatever was to be shown on it goes with it.
            Err(error) => tracing::warn!(%error, "the window is gone"),
        })?;
        Ok(())
    }

    fn withdraw(&self, id: &DialogId) -> anyhow::Result<()> {
        let id = id.clone();
        Ok(self.0.run_on_main_thread(move || close(&id))?)
    }

    fn is_in_front(&self, id: &DialogId) -> bool {
        IN_FRONT.lock().unwrap_or_else(PoisonError::into_inner).as_ref() == Some(id)
    }
}

/// GTK's own numbers for responses are negative.
fn response(button: Button) -> ResponseType {
    ResponseType::Other(match button {
        Button::AllowOnce => 1,
        Button::Deny => 2,
        Button::Review => 3,
    })
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

fn build(parent: &::gtk::ApplicationWindow, ask: &Ask, react: React) {
    let face = Face::of(ask);
    let dialog = Dialog::new();
    dialog.set_title(&face.title);
    dialog.set_transient_for(Some(parent));
    dialog.set_destroy_with_parent(true);
    dialog.set_modal(false);
    // It asks for attention by being there; it takes the keyboard from nobody.
    dialog.set_focus_on_map(false);
    dialog.set_default_size(480, -1);

    let content = dialog.content_area();
    content.set_border_width(16);
    content.set_spacing(12);
    content.add(&heading(&face));
    content.add(&subject(&face.subject));
    let reason = Entry::new();
    reason.set_placeholder_text(Some(REASON));
    name(&reason, "Reason");
    content.add(&reason);

    // *Deny* and *Allow once* weigh the same.
    for button in face.buttons() {
        let widget = dialog.add_button(button.label(), response(button));
        if button.is_armed_late() {
            arm_late(&dialog, widget);
        } else if button == Button::DEFAULT {
            // Enter anywhere, and the focus it starts with, lead to it.
            dialog.set_default_response(response(button));
            widget.grab_focus();
        }
    }
    let id = ask.id.clone();
    let focus_id = id.clone();
    dialog.connect_is_active_notify(move |dialog| set_in_front(&focus_id, dialog.is_active()));
    let react = Cell::new(Some(react));
    let response_id = id.clone();
    let buttons: Vec<Button> = face.buttons().collect();
    dialog.connect_response(move |_, responded| {
        // Destroying the dialog responds once more.
        if !SHOWN.with(|shown| shown.borrow().contains_key(&response_id)) {
            return;
        }
        let Some(react) = react.take() else { return };
        let pressed = buttons.iter().find(|button| response(**button) == responded);
        let reaction = pressed.map_or(Reaction::Dismissed, |button| button.reaction(&reason.text()));
        close(&response_id);
        react(reaction);
    });
    dialog.show_all();
    SHOWN.with(|shown| shown.borrow_mut().insert(id, dialog));
}

fn arm_late(dialog: &Dialog, button: ::gtk::Widget) {
    button.set_sensitive(false);
    // Even with the focus on it, Enter goes to the button that decides nothing; the space bar does not.
    button.set_receives_default(false);
    dialog.connect_map(move |_| {
        let button = button.clone();
        glib::timeout_add_local_once(ARMED_AFTER, move || button.set_sensitive(true));
    });
}

fn heading(face: &Face) -> Column {
    let column = Column::new(Orientation::Vertical, 4);
    let question = Label::new(None);
    question.set_markup(&format!("<big><b>{}</b></big>", glib::markup_escape_text(&face.question)));
    let place = Label::new(Some(&face.place));
    place.set_line_wrap(true);
    place.set_line_wrap_mode(::gtk::pango::WrapMode::WordChar);
    place.set_max_width_chars(60);
    // A title may be cut.
    let session = Label::new(Some(&face.session));
    session.set_ellipsize(::gtk::pango::EllipsizeMode::End);
    for label in [&question, &place, &session] {
        label.set_xalign(0.0);
        column.add(label);
    }
    column
}

fn subject(subject: &Subject) -> ::gtk::Widget {
    let text = match subject {
        Subject::Whole(text) => text,
        Subject::NotHere(lines) => return not_here(lines).upcast(),
    };
    let label = Label::new(None);
    let mark = format!("<span alpha=\"55%\">{LINE_END}</span>\n");
    label.set_markup(&format!("<tt>{}</tt>", glib::markup_escape_text(text).replace('\n', &mark)));
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
fn not_here(lines: &[String]) -> Column {
    let column = Column::new(Orientation::Vertical, 8);
    for line in lines {
        let label = Label::new(Some(line));
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
