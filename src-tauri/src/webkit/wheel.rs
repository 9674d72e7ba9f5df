//! The wheel of a page that is drawn into memory: WebKitGTK (2.50.6, X11) tells such a page of no wheel at all, so it
//! would not scroll. Here the wheel is taken from GTK and carried out by the page itself.

use gtk::gdk::{EventScroll, ModifierType, ScrollDirection};
use gtk::glib::Propagation;
use gtk::prelude::*;
use tauri::WebviewWindow;
use webkit2gtk::{WebView, WebViewExt};

/// Takes a place and a way, both in pixels of the page.
const SCRIPT: &str = include_str!("wheel.js");

/// Carries every turn of the wheel over `page` out in `window`, which it is the page of.
pub fn carry_out(page: &WebView, window: WebviewWindow) {
    page.connect_scroll_event(move |page, event| {
        let (x, y) = event.position();
        let (right, down) = notches(event);
        // As far as WebKit goes.
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
            tracing::warn!(%error, "the wheel did not reach the page");
        }
        Propagation::Stop
    });
}

/// How far it was turned, to the right and down. Shift turns a wheel aside.
fn notches(event: &EventScroll) -> (f64, f64) {
    let turned = match event.direction() {
        ScrollDirection::Up => (0.0, -1.0),
        ScrollDirection::Down => (0.0, 1.0),
        ScrollDirection::Left => (-1.0, 0.0),
        ScrollDirection::Right => (1.0, 0.0),
        // Smooth; what else there may be one day has no way.
        _ => event.delta(),
    };
    if event.state().contains(ModifierType::SHIFT_MASK) { (turned.1, turned.0) } else { turned }
}
