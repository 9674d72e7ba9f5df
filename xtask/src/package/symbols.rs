//! Debug symbols, kept apart from the programs that are packaged.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::target::Target;
use crate::Outcome;
use crate::command::run;

/// Writes the program without symbols, and the symbols, to the folder under this name, and returns the path of the
/// program. It names the file of its symbols, so that a debugger finds it next to it.
pub fn split(built: &Path, name: &str, target: &Target, into: &Path) -> Outcome<PathBuf> {
    let tool = target.tool("objcopy");
    fs::create_dir_all(into).map_err(|error| format!("could not make {}: {error}", into.display()))?;
    let binary = into.join(name);
    let symbols = into.join(format!("{name}.debug"));
    let objcopy = |options: &[&str], to: &Path| run(Command::new(&tool).args(options).arg(built).arg(to));
    objcopy(&["--only-keep-debug", "--compress-debug-sections"], &symbols)?;
    objcopy(&["--strip-all", "--remove-section=.comment"], &binary)?;
    run(Command::new(&tool).arg(format!("--add-gnu-debuglink={name}.debug")).arg(name).current_dir(into))?;
    Ok(binary)
}
