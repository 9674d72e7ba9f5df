//! The dialog on Linux, made with GTK: it belongs to its window, can be withdrawn, and leaves every window usable,
//! including its own.

mod subject;

use self::subject::SubjectView;
use super::wording::{ARMED_AFTER, Button, DialogText, REASON, Subject};
use super::{Backend, Respond};
use ::gtk::atk::prelude::AtkObjectExt;
use ::gtk::prelude::*;
use ::gtk::{Box as Column, Dialog, Entry, Label, Orientation, ResponseType, gdk, glib};
use anyhow::Context;
use deskbell_engine::permission::{DialogId, DialogRequest, DialogResponse};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};
use tauri::{AppHandle, Manager};

thread_local! {
    /// On the main thread, where GTK's objects live.
    static SHOWN: RefCell<HashMap<DialogId, Dialog>> = RefCell::default();
}

/// The dialog that has the focus, readable from other threads.
static IN_FRONT: Mutex<Option<DialogId>> = Mutex::new(None);

/// Shows GTK dialogs, on the main thread.
pub struct Gtk(AppHandle);

impl Gtk {
    pub fn new(app: AppHandle) -> Self {
        Self(app)
    }
}

impl Backend for Gtk {
    fn show(&self, window: &str, ask: DialogRequest, respond: Respond) -> anyhow::Result<()> {
        let window = self.0.get_webview_window(window).context("the window is gone")?;
        self.0.run_on_main_thread(move || match window.gtk_window() {
            Ok(parent) => build(&parent, &ask, respond),
            // A dialog that was to be shown on it is dropped too.
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

/// Maps a button to a positive response number; GTK's own numbers are negative.
fn response(button: Button) -> ResponseType {
    ResponseType::Other(match button {
        Button::AllowOnce => 1,
        Button::Deny => 2,
        Button::Review => 3,
        Button::AlwaysAllow => 4,
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

/// The minimum width of a dialog, and the space that a window manager may add around one.
const LEAST_WIDTH: i32 = 480;
const FRAME: (i32, i32) = (24, 64);
const BORDER: i32 = 16;

fn build(parent: &::gtk::ApplicationWindow, ask: &DialogRequest, respond: Respond) {
    let wording = DialogText::of(ask);
    let room = room(parent);
    // A dialog that does not fit on the screen is shown without its subject, which can then only be reviewed in the
    // card.
    let (dialog, wording, reason) = match built(parent, &wording, room) {
        Built { dialog, reason, height } if height <= room.height() => (dialog, wording, reason),
        Built { dialog, .. } => {
            // SAFETY: it was never shown, and nothing else holds it.
            unsafe { dialog.destroy() };
            let wording = wording.without_subject();
            let Built { dialog, reason, .. } = built(parent, &wording, room);
            (dialog, wording, reason)
        }
    };
    let id = ask.id.clone();
    let focus_id = id.clone();
    dialog.connect_is_active_notify(move |dialog| set_in_front(&focus_id, dialog.is_active()));
    let respond = Cell::new(Some(respond));
    let response_id = id.clone();
    let buttons: Vec<Button> = wording.buttons().collect();
    dialog.connect_response(move |_, responded| {
        // Destroying the dialog emits another response.
        if !SHOWN.with(|shown| shown.borrow().contains_key(&response_id)) {
            return;
        }
        let Some(respond) = respond.take() else { return };
        let pressed = buttons.iter().find(|button| response(**button) == responded);
        let reaction = pressed.map_or(DialogResponse::Dismissed, |button| button.reaction(&reason.text()));
        close(&response_id);
        respond(reaction);
    });
    dialog.show_all();
    SHOWN.with(|shown| shown.borrow_mut().insert(id, dialog));
}

/// A dialog that is not shown yet, and its future height.
struct Built {
    dialog: Dialog,
    reason: Entry,
    height: i32,
}

fn built(parent: &::gtk::ApplicationWindow, wording: &DialogText, room: gdk::Rectangle) -> Built {
    let dialog = Dialog::new();
    dialog.set_title(&wording.title);
    dialog.set_transient_for(Some(parent));
    dialog.set_destroy_with_parent(true);
    dialog.set_modal(false);
    // The dialog gets attention by appearing; it does not take the keyboard focus.
    dialog.set_focus_on_map(false);
    dialog.set_default_size(LEAST_WIDTH.min(room.width()), -1);

    let content = dialog.content_area();
    content.set_border_width(BORDER as u32);
    content.set_spacing(12);
    content.add(&heading(wording));
    let view = match &wording.subject {
        Subject::Whole(text) => {
            let view = SubjectView::new(text, room.width() - 4 * BORDER);
            content.add(view.widget());
            Some(view)
        }
        Subject::NotHere(lines) => {
            content.add(&not_here(lines));
            None
        }
    };
    let reason = Entry::new();
    reason.set_placeholder_text(Some(REASON));
    name(&reason, "Reason");
    content.add(&reason);

    // The answers have equal weight.
    for button in wording.buttons() {
        let widget = dialog.add_button(button.label(), response(button));
        if button.is_armed_late()
            && let Some(view) = view.clone()
        {
            arm_late(&dialog, widget, view);
        } else if button == Button::DEFAULT {
            // Enter anywhere, and the initial focus, lead to it.
            dialog.set_default_response(response(button));
            widget.grab_focus();
        }
    }
    // A widget has no size before it is visible; this does not show the dialog itself.
    content.show_all();
    let (least, _) = dialog.preferred_width();
    let (height, _) = dialog.preferred_height_for_width(least.max(LEAST_WIDTH.min(room.width())));
    Built { dialog, reason, height }
}

/// The part of the parent's screen that a dialog can fill.
fn room(parent: &::gtk::ApplicationWindow) -> gdk::Rectangle {
    let area = workarea(parent.upcast_ref());
    gdk::Rectangle::new(area.x(), area.y(), area.width() - FRAME.0, area.height() - FRAME.1)
}

/// The screen area of a window without the panels; of size zero if there is no screen.
fn workarea(window: &::gtk::Window) -> gdk::Rectangle {
    let display = WidgetExt::display(window);
    let monitor = match window.window() {
        Some(drawn) => display.monitor_at_window(&drawn),
        None => display.primary_monitor().or_else(|| display.monitor(0)),
    };
    monitor.map_or_else(|| gdk::Rectangle::new(0, 0, 0, 0), |monitor| monitor.workarea())
}

/// Enables the button some time after the dialog appears, and only while the whole subject is on the screen: a window
/// manager may give a window another size or position than it requested.
fn arm_late(dialog: &Dialog, button: ::gtk::Widget, view: SubjectView) {
    button.set_sensitive(false);
    // Even if it has the focus, Enter activates the button that decides nothing; the space bar still activates this
    // one.
    button.set_receives_default(false);
    let is_due = Rc::new(Cell::new(false));
    let arm = {
        let (is_due, dialog) = (is_due.clone(), dialog.downgrade());
        move || {
            let Some(dialog) = dialog.upgrade() else { return };
            let is_visible = view.is_visible_in(&dialog) && is_on_screen(&dialog);
            button.set_sensitive(is_due.get() && is_visible);
            let why = (!is_visible).then_some(
                "This dialog cannot show all of it. Choose Review to see it in \
                                               the window.",
            );
            button.set_tooltip_text(why);
        }
    };
    dialog.connect_configure_event({
        let arm = arm.clone();
        move |_, _| {
            arm();
            false
        }
    });
    dialog.connect_size_allocate({
        let arm = arm.clone();
        move |_, _| arm()
    });
    dialog.connect_map(move |_| {
        let (arm, is_due) = (arm.clone(), is_due.clone());
        // Runs after all pending input: late input was meant for something else.
        glib::timeout_add_local_full(ARMED_AFTER, glib::Priority::DEFAULT_IDLE, move || {
            is_due.set(true);
            arm();
            glib::ControlFlow::Break
        });
    });
}

/// Returns whether the whole dialog is inside its screen. Wayland does not report positions, so only the size counts
/// there.
fn is_on_screen(dialog: &Dialog) -> bool {
    let Some(window) = dialog.window() else { return false };
    let area = workarea(dialog.upcast_ref());
    let (_, x, y) = window.origin();
    let (x, y) = if is_on_wayland(dialog) { (area.x(), area.y()) } else { (x, y) };
    x >= area.x()
        && y >= area.y()
        && x + window.width() <= area.x() + area.width()
        && y + window.height() <= area.y() + area.height()
}

fn is_on_wayland(dialog: &Dialog) -> bool {
    ObjectExt::type_(&WidgetExt::display(dialog)).name().contains("Wayland")
}

fn heading(wording: &DialogText) -> Column {
    let column = Column::new(Orientation::Vertical, 4);
    let session = Label::new(None);
    session.set_markup(&format!("<big><b>{}</b></big>", glib::markup_escape_text(&wording.heading)));
    let question = Label::new(None);
    question.set_markup(&format!("<b>{}</b>", glib::markup_escape_text(&wording.question)));
    let others = wording.lines().skip(1).map(|line| Label::new(Some(line)));
    for label in [session, question].into_iter().chain(others) {
        label.set_line_wrap(true);
        label.set_line_wrap_mode(::gtk::pango::WrapMode::WordChar);
        label.set_max_width_chars(60);
        label.set_xalign(0.0);
        column.add(&label);
    }
    column
}

/// The reasons why the subject is shown only in the card.
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
