//! The desktop around the windows: the user's editor and terminal, the clipboard, the engine that draws the pages, the token
//! that raises a window, and a process of the app that runs already.
//!
//! The crate knows no session and no page. What it starts runs on by itself, without a shell that reads its command line.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make and read files of their own"))]

#[cfg(target_os = "linux")]
pub mod activation;
pub mod clipboard;
mod detached;
pub mod editor;
pub mod gpu;
#[cfg(all(unix, not(target_os = "macos")))]
pub mod second_start;
pub mod terminal;
mod user_command;
#[cfg(target_os = "linux")]
pub mod webkit;
