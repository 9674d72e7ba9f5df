//! The menu of a window in the system's menu bar.

use super::Answer;
use deskbell_desktop::menu_bar;
use deskbell_engine::api::*;
use tauri::WebviewWindow;

/// Shows the menu of the window in the menu bar of the system while the window is in front, and sends what is chosen there
/// to the window. Returns whether the system has such a bar.
#[tauri::command]
pub fn set_menu(window: WebviewWindow, menu: Vec<MenuEntry>) -> Answer<bool> {
    menu_bar::set(&window, menu).map_err(|error| CommandError {
        code: ErrorCode::Internal,
        message: "The menu bar was not changed.".to_owned(),
        detail: Some(error.to_string()),
    })
}
