//! Programs from PyPI, each at one version in a virtual environment of its own.

use std::path::PathBuf;

use crate::Outcome;
use crate::command::{command, find, run};
use crate::project;

/// The program of a package, which is installed on first need. Only a built package counts: nothing is compiled.
pub fn program(package: &str, version: &str, name: &str) -> Outcome<PathBuf> {
    let folder = project::tools().join(format!("{name}-{version}"));
    let programs = folder.join(if cfg!(windows) { "Scripts" } else { "bin" });
    let program = programs.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    if !program.is_file() {
        let python = ["python3", "python"].iter().find_map(|name| find(name)).ok_or("there is no Python")?;
        run(command(python).args(["-m", "venv"]).arg(&folder))?;
        run(command(programs.join("python"))
            .args(["-m", "pip", "install", "--quiet", "--only-binary=:all:"])
            .arg(format!("{package}=={version}")))?;
    }
    Ok(program)
}
