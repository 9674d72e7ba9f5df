//! The mouse wheel of a page that is drawn into memory. WebKitGTK (2.50.6, X11) sends no wheel events to such a page,
//! so it would not scroll. This module receives the wheel events from GTK and runs a script in the page that scrolls.

use gtk::gdk::{EventScroll, ModifierType, ScrollDirection};
use gtk::glib::Propagation;
use gtk::prelude::*;
use tauri::WebviewWindow;
use webkit2gtk::{WebView, WebViewExt};

/// A function of a position and a distance, both in pixels of the page.
const SCRIPT: &str = include_str!("wheel.js");

/// Carries out every wheel event of `page` in `window`, which shows it.
pub fn carry_out(page: &WebView, window: WebviewWindow) {
    page.connect_scroll_event(move |page, event| {
        let (x, y) = event.position();
        let (right, down) = notches(event);
        // The same distance as in WebKit.
        let notch = f64::from(page.allocated_height()).powf(2.0 / 3.0);
        let pixels = |length: f64| length / page.zoom_level();
        let call = format!(
            "{}({}, {}, {}, {})",
            SCRIPT.trim_end(),
            pixels(x),
            pixels(y),
            pixels(right * notch),
            pixels(down * notch)
        );
        if let Err(error) = window.eval(call) {
            tracing::warn!(%error, "could not send a wheel event to the page");
        }
        Propagation::Stop
    });
}

/// The number of notches, to the right and down. With Shift, a wheel scrolls sideways.
fn notches(event: &EventScroll) -> (f64, f64) {
    let turned = match event.direction() {
        ScrollDirection::Up => (0.0, -1.0),
        ScrollDirection::Down => (0.0, 1.0),
        ScrollDirection::Left => (-1.0, 0.0),
        ScrollDirection::Right => (1.0, 0.0),
        // Smooth scrolling. A direction that a later version adds has no delta.
        _ => event.delta(),
    };
    if event.state().contains(ModifierType::SHIFT_MASK) { (turned.1, turned.0) } else { turned }
}
