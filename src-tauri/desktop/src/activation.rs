//! Focus for a window after the user acts in another program, such as clicking a notification: by that action's token
//! on Wayland, by the present time on X11.

use gtk::glib::object::{Cast, ObjectExt};
use gtk::glib::translate::ToGlibPtr;
use gtk::prelude::{GtkWindowExt, WidgetExt};
use std::ffi::CString;
use tauri::{AppHandle, WebviewWindow};

/// Brings a window to the front, also a minimised one, and gives it the keyboard.
pub fn bring_up(window: &WebviewWindow) -> tauri::Result<()> {
    let own = window.clone();
    window.run_on_main_thread(move || match own.gtk_window() {
        Ok(window) => present(&window),
        Err(error) => tracing::debug!(%error, "a window was closed before it was brought up"),
    })
}

/// GTK (3.24) would send the time of the user's last action in one of our windows. With a time before the user's last
/// action anywhere, a window manager that prevents focus stealing, such as mutter (43), raises the window without
/// giving it the keyboard.
fn present(window: &gtk::ApplicationWindow) {
    window.deiconify();
    if !window.is_visible() {
        window.show_all();
    }
    let on_x11 = window.window().and_then(|window| window.downcast::<gdkx11::X11Window>().ok());
    let now = on_x11.map_or(gtk::gdk::ffi::GDK_CURRENT_TIME as u32, |window| {
        gdkx11::functions::x11_get_server_time(&window)
    });
    window.present_with_time(now);
}

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
