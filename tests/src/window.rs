//! Support for tests of the real window: a private desktop, the app on it, and a user's input and screen.
//!
//! Nothing here reaches the desktop on which the tests run: display, buses, home folder and window manager are private
//! to one [`Desktop`] and end with it.

mod accessible;
mod agent;
mod app;
mod awake;
mod bus;
mod child;
mod desktop;
mod dialog;
mod drag;
mod drawn;
mod dunst;
mod focus;
mod frames;
mod heard;
mod holdings;
mod input_method;
mod monitors;
mod notifications;
mod page;
mod pointer;
mod processes;
mod trap;
mod tray;
mod wayland;
mod wayland_drag;

pub use crate::wait::{LONG, SHORT, eventually, holds_for};
pub use accessible::{Accessibility, Accessible, Extents, Role};
pub use agent::AgentStub;
pub use app::{App, Launch, app_program};
pub use awake::{Inhibition, Inhibitor, PortalManners};
pub use bus::{Bus, service_program};
pub use child::Owned;
pub use desktop::{Desktop, OtherDisplay, WindowManager, artefacts};
pub use dialog::{Dialog, Dialogs};
pub use drag::drop_on;
pub use drawn::DrawnWatch;
pub use dunst::Dunst;
pub use focus::FocusWatch;
pub use frames::Frames;
pub use heard::Listener;
pub use holdings::Holdings;
pub use input_method::InputFramework;
pub use monitors::Monitors;
pub use notifications::{Manners, Notification, Notifications};
pub use page::Window;
pub use pointer::{Pointer, XWindow};
pub use processes::{Process, processes_with};
pub use trap::Trap;
pub use tray::{Tray, TrayIcon};
pub use wayland::{Compositor, WaylandWindow};
pub use wayland_drag::HeldFiles;

/// The programs that a real window needs, and the Debian package of each.
const PROGRAMS: [(&str, &str); 15] = [
    ("Xvfb", "xvfb"),
    ("openbox", "openbox"),
    ("dbus-daemon", "dbus"),
    ("WebKitWebDriver", "webkit2gtk-driver"),
    ("xdotool", "xdotool"),
    ("wmctrl", "wmctrl"),
    ("xprop", "x11-utils"),
    ("xwininfo", "x11-utils"),
    ("xmessage", "x11-utils"),
    ("import", "imagemagick"),
    ("setpriv", "util-linux"),
    ("sway", "sway"),
    ("grim", "grim"),
    ("wtype", "wtype"),
    ("wl-copy", "wl-clipboard"),
];

/// The reason why this machine cannot run tests of the real window; `None` if it can.
pub fn lacking() -> Option<String> {
    lacking_programs().or_else(|| {
        let app = app_program();
        let hint = "set DESKBELL_TEST_APP";
        (!app.is_file()).then(|| format!("the app is not built: {} ({hint})", app.display()))
    })
}

/// A description of the programs that this machine lacks for a desktop; `None` if one can start.
pub fn lacking_programs() -> Option<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = |program: &str| std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    let mut packages: Vec<&str> =
        PROGRAMS.iter().filter(|(program, _)| !found(program)).map(|(_, package)| *package).collect();
    packages.dedup();
    if bus::accessibility_launcher().is_none() {
        packages.push("at-spi2-core");
    }
    (!packages.is_empty()).then(|| format!("not installed: {}", packages.join(", ")))
}
