//! The shell: opens a window for each project, asks for permission through native dialogs, and notifies the user when a
//! turn ends. Everything else is in the engine.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make and read files of their own"))]

mod apply_settings;
mod ask;
mod background;
mod board;
mod commands;
mod emit;
mod far;
mod forward;
mod keep_awake;
mod keep_running;
mod lifecycle;
mod marks;
mod notify;
mod opening;
mod pane;
mod project;
mod questions;
mod shell;
mod showing;
mod start;
mod starting;
mod tray;
mod waiting;
mod windows;
mod worktree_uses;
mod zoom;

use deskbell_cli::Desktop;
use deskbell_cli::args::Args;
#[cfg(all(unix, not(target_os = "macos")))]
use deskbell_desktop::second_start;
use deskbell_desktop::{editor, gpu};
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the action that the command line selects.
pub fn main(args: impl Iterator<Item = OsString>) -> ExitCode {
    let desktop =
        Desktop { window, edit: editor::main, say_failure: deskbell_dialogs::say_failure, gpu: gpu::draws };
    deskbell_cli::main(args, Some(&desktop))
}

fn window(args: Args) -> ExitCode {
    let says_failures = args.says_failures();
    let name = args.folder.as_ref().and_then(|folder| folder.file_name());
    let title = match name {
        Some(name) => format!("Deskbell could not open “{}”", name.to_string_lossy()),
        None => "Deskbell could not start".to_owned(),
    };
    match shell::run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("deskbell: {error:#}");
            if says_failures || is_about_this_display(&error) {
                deskbell_dialogs::say_failure(&title, &format!("{error:#}"));
            }
            ExitCode::FAILURE
        }
    }
}

/// The user waits for a window on this display and may not see the terminal, such as that of `ssh -X`.
fn is_about_this_display(error: &anyhow::Error) -> bool {
    #[cfg(all(unix, not(target_os = "macos")))]
    {
        matches!(error.downcast_ref(), Some(second_start::Refusal::OtherDisplay { .. }))
    }
    #[cfg(not(all(unix, not(target_os = "macos"))))]
    {
        let _ = error;
        false
    }
}
