//! The menu bar of macOS: it has the menu of the window in front, as that window's page sends it. Compiled on every system,
//! and used on macOS.

mod entries;
mod native;

pub use native::{MenuBar, chosen};

use deskbell_engine::api::MenuEntry;
use tauri::WebviewWindow;

/// The system has one menu bar for all windows. Elsewhere a page shows its menu itself.
const EXISTS: bool = cfg!(target_os = "macos");

/// Shows the menu of a window while the window is in front. Returns whether the system has a menu bar for it.
pub fn set(window: &WebviewWindow, menu: Vec<MenuEntry>) -> tauri::Result<bool> {
    if EXISTS {
        native::set(window, menu)?;
    }
    Ok(EXISTS)
}

/// Follows a new window: the bar is its own while it is in front.
pub fn watch(window: &WebviewWindow) {
    if EXISTS {
        native::watch(window);
    }
}
