//! Debug symbols, kept apart from the app that is packaged.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;
use crate::command::run;
use crate::project::APP;

/// Writes the app without symbols, and the symbols, to the folder, and returns the path of the app. It names the file of its symbols, so that a debugger finds it next to it.
pub fn split(built: &Path, into: &Path) -> Outcome<PathBuf> {
    fs::create_dir_all(into).map_err(|error| format!("could not make {}: {error}", into.display()))?;
    let binary = into.join(APP);
    let symbols = into.join(format!("{APP}.debug"));
    let objcopy = |options: &[&str], to: &Path| run(Command::new("objcopy").args(options).arg(built).arg(to));
    objcopy(&["--only-keep-debug", "--compress-debug-sections"], &symbols)?;
    objcopy(&["--strip-all", "--remove-section=.comment"], &binary)?;
    run(Command::new("objcopy").arg(format!("--add-gnu-debuglink={APP}.debug")).arg(APP).current_dir(into))?;
    Ok(binary)
}
