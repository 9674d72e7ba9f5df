//! `cargo xtask run`: from a fresh checkout to the app on the screen.

use std::env;
use std::path::{Path, PathBuf};

use crate::command::{cargo, command, run as run_command};
use crate::node::Node;
use crate::packages::Need;
use crate::{Outcome, demo, project, system, ui};

/// Builds the app and opens the folder; plays the demonstration if there is no display.
pub fn run(folder: Option<PathBuf>) -> Outcome {
    let folder = opened(folder)?;
    let has_display = system::has_display();
    system::ensure(if has_display { &[Need::Build] } else { &[Need::Build, Need::Display] })?;
    build(&Node::ensure()?)?;
    if has_display { open(&folder) } else { play(&folder) }
}

/// Builds the user interface, then the app with it.
pub fn build(node: &Node) -> Outcome {
    ui::build(node)?;
    run_command(cargo().arg("build"))
}

fn opened(folder: Option<PathBuf>) -> Outcome<PathBuf> {
    let folder = match folder {
        Some(folder) => folder,
        None => env::current_dir().map_err(|error| format!("could not find the current folder: {error}"))?,
    };
    let error = |error| format!("could not open {}: {error}", folder.display());
    let full = folder.canonicalize().map_err(error)?;
    if full.is_dir() { Ok(full) } else { Err(format!("{} is not a folder", folder.display())) }
}

/// Replaces this process with the app if the system can, so that signals and the exit status are the app's.
#[cfg(unix)]
fn open(folder: &Path) -> Outcome {
    use std::os::unix::process::CommandExt;

    println!("Opening {}", folder.display());
    let error = command(project::debug_app()).arg(folder).exec();
    Err(format!("could not start {}: {error}", project::debug_app().display()))
}

#[cfg(not(unix))]
fn open(folder: &Path) -> Outcome {
    println!("Opening {}", folder.display());
    run_command(command(project::debug_app()).arg(folder))
}

fn play(folder: &Path) -> Outcome {
    println!("There is no display here: playing the demonstration on a virtual one, in {}", folder.display());
    let screenshot = project::target().join("deskbell-demo.png");
    let mut app = command(project::debug_app());
    let played = demo::play(app.args(demo::arguments(folder)), screenshot)?;
    println!("The app opened a window and played the conversation. In {:.1} s:", played.took.as_secs_f32());
    for report in &played.reports {
        println!("  {report}");
    }
    println!("Then it was asked to exit. It did, and left no process running.");
    println!("A picture of it lies at {}", played.screenshot.display());
    Ok(())
}
