//! The dialog on macOS: an alert as a sheet of its window, on the main thread. Other windows stay usable; the dialog's
//! own window is blocked until the sheet closes, and *Review…* leads to the card in it. A sheet has no close button and
//! ignores Esc; only its buttons close it.

use super::wording::{Arming, Button, DialogText, REASON, Subject, wrapped};
use super::{Backend, Respond};
use anyhow::Context;
use block2::RcBlock;
use deskbell_engine::permission::{DialogId, DialogRequest, DialogResponse};
use objc2::rc::Retained;
use objc2::{MainThreadMarker, MainThreadOnly};
use objc2_app_kit::{
    NSAlert, NSAlertFirstButtonReturn, NSButton, NSFont, NSModalResponse, NSScrollView, NSTextField,
    NSTextView, NSView, NSWindow, NSWindowOcclusionState,
};
use objc2_foundation::{
    NSPoint, NSRect, NSRunLoop, NSRunLoopCommonModes, NSSize, NSString, NSTimer, ns_string,
};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use tauri::{AppHandle, Manager, WebviewWindow};

/// Interval, in seconds, at which a sheet's visibility and keyboard focus are checked.
const LOOK: f64 = 0.1;

const WIDTH: f64 = 440.0;
/// Metrics of the subject's text, in a fixed-pitch font of 12 points: a character is 7.2 points wide, a line at most 16
/// high.
const LINE_HEIGHT: f64 = 16.0;
const LINE: usize = 52;
/// More lines than this may not fit on a small screen; the subject is then shown only in the card.
const MOST_LINES: usize = 14;
const FIELD_HEIGHT: f64 = 24.0;
const GAP: f64 = 10.0;

thread_local! {
    /// On the main thread, where AppKit's objects live.
    static SHOWN: RefCell<HashMap<DialogId, Sheet>> = RefCell::default();
}

/// The dialog that has the keyboard focus, readable from other threads.
static IN_FRONT: Mutex<Option<DialogId>> = Mutex::new(None);

/// Shows alerts.
pub struct Alert(AppHandle);

impl Alert {
    pub fn new(app: AppHandle) -> Self {
        Self(app)
    }
}

impl Backend for Alert {
    fn show(&self, window: &str, ask: DialogRequest, respond: Respond) -> anyhow::Result<()> {
        let window = self.0.get_webview_window(window).context("the window is gone")?;
        self.0.run_on_main_thread(move || {
            let main = MainThreadMarker::new().expect("Tauri runs this on the main thread");
            match native(&window) {
                Ok(parent) => build(main, parent, &ask, respond),
                // A dialog that was to be shown on it is dropped too.
                Err(error) => tracing::warn!(%error, "the window is gone"),
            }
        })?;
        Ok(())
    }

    fn withdraw(&self, id: &DialogId) -> anyhow::Result<()> {
        let id = id.clone();
        Ok(self.0.run_on_main_thread(move || {
            if let Some(sheet) = take(&id) {
                // This calls the handler, which then finds nothing to answer.
                sheet.parent.endSheet(&sheet.alert.window());
            }
        })?)
    }

    fn is_in_front(&self, id: &DialogId) -> bool {
        IN_FRONT.lock().unwrap_or_else(PoisonError::into_inner).as_ref() == Some(id)
    }
}

fn native(window: &WebviewWindow) -> anyhow::Result<Retained<NSWindow>> {
    let window = window.ns_window()?;
    // SAFETY: Tauri gives the window's NSWindow, which lives at least until this function of the main thread returns.
    unsafe { Retained::retain(window.cast()) }.context("it has no native window")
}

/// A sheet that is shown.
struct Sheet {
    parent: Retained<NSWindow>,
    alert: Retained<NSAlert>,
    /// The buttons that are enabled after a delay.
    late: Vec<Retained<NSButton>>,
    timer: Retained<NSTimer>,
    arming: Arming,
    began: Instant,
}

/// Removes a sheet from the shown sheets and returns it to the caller for its last use.
fn take(id: &DialogId) -> Option<Sheet> {
    let sheet = SHOWN.with(|shown| shown.borrow_mut().remove(id))?;
    sheet.timer.invalidate();
    set_in_front(id, false);
    Some(sheet)
}

fn set_in_front(id: &DialogId, is: bool) {
    let mut in_front = IN_FRONT.lock().unwrap_or_else(PoisonError::into_inner);
    if is {
        *in_front = Some(id.clone());
    } else if in_front.as_ref() == Some(id) {
        *in_front = None;
    }
}

fn build(main: MainThreadMarker, parent: Retained<NSWindow>, ask: &DialogRequest, respond: Respond) {
    let wording = fitting(DialogText::of(ask));
    let alert = NSAlert::new(main);
    alert.setMessageText(&NSString::from_str(&wording.heading));
    alert.setInformativeText(&NSString::from_str(&informative(&wording)));
    let reason = NSTextField::initWithFrame(NSTextField::alloc(main), rect(0.0, WIDTH, FIELD_HEIGHT));
    reason.setPlaceholderString(Some(&NSString::from_str(REASON)));
    alert.setAccessoryView(Some(&accessory(main, &wording.subject, &reason)));

    // The first button is the default, at the right.
    let buttons = wording.buttons_default_first();
    let mut late = Vec::new();
    for button in &buttons {
        let native = alert.addButtonWithTitle(&NSString::from_str(button.label()));
        if button.is_armed_late() {
            native.setEnabled(false);
            late.push(native);
        } else if *button == Button::DEFAULT {
            native.setKeyEquivalent(ns_string!("\r"));
            alert.layout();
            alert.window().setInitialFirstResponder(Some(&native));
        }
    }

    let timer = watch(ask.id.clone());
    let sheet = Sheet {
        parent: parent.clone(),
        alert: alert.clone(),
        late,
        timer: timer.clone(),
        arming: Arming::default(),
        began: Instant::now(),
    };
    SHOWN.with(|shown| shown.borrow_mut().insert(ask.id.clone(), sheet));
    let respond = Cell::new(Some(respond));
    let id = ask.id.clone();
    let ended = RcBlock::new(move |response: NSModalResponse| {
        // Only while this same sheet is shown: a withdrawn sheet ends too, and its id may belong to another one by
        // then.
        let is_shown = SHOWN.with(|shown| shown.borrow().get(&id).is_some_and(|sheet| sheet.timer == timer));
        let (true, Some(respond)) = (is_shown, respond.take()) else { return };
        drop(take(&id));
        let pressed = usize::try_from(response - NSAlertFirstButtonReturn).ok();
        let pressed = pressed.and_then(|at| buttons.get(at));
        respond(
            pressed.map_or(DialogResponse::Dismissed, |button| {
                button.reaction(&reason.stringValue().to_string())
            }),
        );
    });
    alert.beginSheetModalForWindow_completionHandler(&parent, Some(&ended));
}

/// Breaks the subject into lines that are all visible; removes the subject if there are too many lines.
fn fitting(wording: DialogText) -> DialogText {
    match &wording.subject {
        Subject::Whole(text) => match wrapped(text, LINE, MOST_LINES) {
            Some(lines) => DialogText { subject: Subject::Whole(lines), ..wording },
            None => wording.without_subject(),
        },
        Subject::NotHere(_) => wording,
    }
}

/// The text below the session: the question, the place, and why the dialog does not show everything.
fn informative(wording: &DialogText) -> String {
    let mut text = wording.text();
    if let Subject::NotHere(lines) = &wording.subject {
        text = format!("{text}\n\n{}", lines.join("\n"));
    }
    text
}

/// The whole subject, and below it the field for the reason.
fn accessory(main: MainThreadMarker, subject: &Subject, reason: &NSTextField) -> Retained<NSView> {
    let Subject::Whole(text) = subject else {
        let view = NSView::initWithFrame(NSView::alloc(main), rect(0.0, WIDTH, FIELD_HEIGHT));
        view.addSubview(reason);
        return view;
    };
    let n_lines = text.split('\n').count() + 1;
    let height = n_lines as f64 * LINE_HEIGHT;
    let scroll = subject_view(main, text);
    scroll.setFrame(rect(FIELD_HEIGHT + GAP, WIDTH, height));
    let view = NSView::initWithFrame(NSView::alloc(main), rect(0.0, WIDTH, FIELD_HEIGHT + GAP + height));
    view.addSubview(&scroll);
    view.addSubview(reason);
    view
}

/// A text that can be selected and copied. Its lines are already broken.
fn subject_view(main: MainThreadMarker, text: &str) -> Retained<NSScrollView> {
    let scroll = NSTextView::scrollableTextView(main);
    let view = scroll.documentView().and_then(|view| view.downcast::<NSTextView>().ok());
    let view = view.expect("a scrollable text view has a text view");
    view.setEditable(false);
    view.setFont(NSFont::userFixedPitchFontOfSize(12.0).as_deref());
    view.setString(&NSString::from_str(text));
    scroll
}

fn rect(bottom: f64, width: f64, height: f64) -> NSRect {
    NSRect::new(NSPoint::new(0.0, bottom), NSSize::new(width, height))
}

/// Checks a sheet as long as it is shown, in every mode of the main loop.
fn watch(id: DialogId) -> Retained<NSTimer> {
    let look = RcBlock::new(move |_: NonNull<NSTimer>| look(&id));
    // SAFETY: the block is run by the main loop, on the thread on which it was made.
    unsafe {
        let timer = NSTimer::timerWithTimeInterval_repeats_block(LOOK, true, &look);
        NSRunLoop::mainRunLoop().addTimer_forMode(&timer, NSRunLoopCommonModes);
        timer
    }
}

fn look(id: &DialogId) {
    SHOWN.with(|shown| {
        let mut shown = shown.borrow_mut();
        let Some(sheet) = shown.get_mut(id) else { return };
        let window = sheet.alert.window();
        let is_in_sight =
            window.isVisible() && window.occlusionState().contains(NSWindowOcclusionState::Visible);
        let is_armed = sheet.arming.look(sheet.began.elapsed(), is_in_sight);
        for late in &sheet.late {
            late.setEnabled(is_armed);
        }
        set_in_front(id, window.isKeyWindow());
    });
}
