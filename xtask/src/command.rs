//! Running a program to its end, with its output on the terminal or captured.

use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::{Outcome, project};

/// A command that starts in the project's root.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(project::root());
    command
}

/// The cargo that runs xtask.
pub fn cargo() -> Command {
    let mut cargo = command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Set by cargo for xtask; build scripts of the workspace must not inherit them.
    for name in ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_PKG_NAME", "CARGO_PKG_VERSION"] {
        cargo.env_remove(name);
    }
    cargo
}

/// Shows the command, runs it on the user's terminal, and fails unless it succeeds.
pub fn run(command: &mut Command) -> Outcome {
    let line = shown(command);
    println!("$ {line}");
    let status = command.status().map_err(|error| format!("could not start `{line}`: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{line}` failed ({status})")) }
}

/// Returns the command's standard output, trimmed; fails unless it succeeds.
pub fn read(command: &mut Command) -> Outcome<String> {
    let line = shown(command);
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("could not start `{line}`: {error}"))?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`{line}` failed ({}): {}", output.status, reason.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The path of a program on PATH, if there is one.
pub fn find(program: &str) -> Option<PathBuf> {
    let name = format!("{program}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(&name)).find(|path| path.is_file())
}

/// The command as a user would type it.
pub fn shown(command: &Command) -> String {
    let root = format!("{}/", project::root().display());
    let program = command.get_program();
    let program = if env::var_os("CARGO").is_some_and(|cargo| cargo == program) {
        OsStr::new("cargo")
    } else {
        program
    };
    let words = std::iter::once(program).chain(command.get_args());
    let words = words.map(|word| {
        let word = word.to_string_lossy().replace(&root, "");
        let plain =
            !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || "\"'$;&|<>()".contains(c));
        if plain { word } else { format!("'{word}'") }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_it_would_be_typed() {
        let mut cargo = Command::new("cargo");
        cargo.args(["test", "two words", ""]);
        assert_eq!(shown(&cargo), "cargo test 'two words' ''");
    }

    #[test]
    fn paths_are_shown_from_the_root() {
        let mut app = Command::new(project::root().join("target/debug/deskbell"));
        app.arg("/elsewhere");
        assert_eq!(shown(&app), "target/debug/deskbell /elsewhere");
    }
}
