//! The desktop around the windows: the user's editor, terminal and browser, the clipboard, the start at login, the tray, the
//! jump list, the menu bar, the screens and the places of windows on them, the engine that draws the pages, the token that
//! raises a window, and a process of the app that runs already.
//!
//! No function here takes a session or sends something to a page. No shell reads the command line of a program that is
//! started here, and the program continues without Deskbell.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make and read files of their own"))]

#[cfg(target_os = "linux")]
pub mod activation;
pub mod autostart;
pub mod clipboard;
mod detached;
pub mod editor;
pub mod gpu;
pub mod jump_list;
pub mod links;
pub mod menu_bar;
pub mod places;
pub mod screens;
#[cfg(all(unix, not(target_os = "macos")))]
pub mod second_start;
pub mod terminal;
pub mod tray;
mod user_command;
#[cfg(target_os = "linux")]
pub mod webkit;
