//! The token of a user's click in another program. A Wayland compositor gives a window the focus only with such a token.

use gtk::glib::object::ObjectExt;
use gtk::glib::translate::ToGlibPtr;
use std::ffi::CString;
use tauri::AppHandle;

/// Lets the next window that is brought up take the focus. X11 has no such token.
pub fn expect(app: &AppHandle, token: String) {
    if let Err(error) = app.run_on_main_thread(move || set(token)) {
        tracing::warn!(%error, "the token of a click was not passed on");
    }
}

fn set(token: String) {
    let Some(display) = gtk::gdk::Display::default() else { return };
    let Ok(token) = CString::new(token) else { return };
    if display.type_().name() != "GdkWaylandDisplay" {
        return;
    }
    let display: *mut gtk::gdk::ffi::GdkDisplay = display.to_glib_none().0;
    // SAFETY: the display lives as long as the program and is a Wayland display, as its type says. GDK (3.24) copies the
    // text. This is the main thread. No crate with this function in safe words uses the version of Wayland that is in the tree.
    unsafe {
        gdk_wayland_sys::gdk_wayland_display_set_startup_notification_id(display.cast(), token.as_ptr())
    };
}
