//! Running a program to its end, with its output on the terminal or captured.

use std::collections::VecDeque;
use std::env;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, PipeReader, Write};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::{Outcome, project};

/// Lines of a failed command that the summary of an unattended run repeats.
const LAST_LINES: usize = 120;

/// After a command's exit, the most that its last lines are waited for: a process that it left may hold the pipe open.
const LAST_LINES_WITHIN: Duration = Duration::from_secs(2);

/// The last lines of each command that failed in an unattended run.
static FAILURES: Mutex<Vec<(String, Vec<String>)>> = Mutex::new(Vec::new());

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
    let result =
        if env::var_os("CI").is_some() { run_and_keep_last_lines(command, &line) } else { command.status() };
    let status = result.map_err(|error| format!("could not start `{line}`: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{line}` failed ({status})")) }
}

/// Takes the last lines of the commands that failed, each with its command. Empty unless the run is unattended.
pub fn take_failures() -> Vec<(String, Vec<String>)> {
    std::mem::take(&mut *FAILURES.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Runs the command, passes its output on, and keeps the last lines if it fails.
fn run_and_keep_last_lines(command: &mut Command, line: &str) -> io::Result<ExitStatus> {
    let (reader, writer) = io::pipe()?;
    let mut child = command.stdout(writer.try_clone()?).stderr(writer).spawn()?;
    // The command holds the writing ends; the pipe ends only when they are closed.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let last = Arc::new(Mutex::new(VecDeque::new()));
    let passing_on = thread::spawn({
        let last = Arc::clone(&last);
        move || pass_on(reader, &last)
    });
    let status = child.wait()?;
    let exited_at = Instant::now();
    while !passing_on.is_finished() && exited_at.elapsed() < LAST_LINES_WITHIN {
        thread::sleep(Duration::from_millis(5));
    }
    if !status.success() {
        let lines = last.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect();
        FAILURES.lock().unwrap_or_else(PoisonError::into_inner).push((line.to_owned(), lines));
    }
    Ok(status)
}

/// Writes each line to standard output, and keeps the last ones.
fn pass_on(reader: PipeReader, last: &Mutex<VecDeque<String>>) {
    for line in BufReader::new(reader).split(b'\n') {
        let Ok(line) = line else { return };
        let mut stdout = io::stdout().lock();
        // A closed terminal must not end the checks.
        let _ = stdout.write_all(&line).and_then(|()| stdout.write_all(b"\n"));
        drop(stdout);
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() == LAST_LINES {
            last.pop_front();
        }
        last.push_back(String::from_utf8_lossy(&line).into_owned());
    }
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
    fn the_last_lines_of_a_failed_command_are_kept() {
        let script = format!("seq {}; echo wrong >&2; exit 3", LAST_LINES + 50);
        let status = run_and_keep_last_lines(Command::new("sh").args(["-c", &script]), "a script").unwrap();
        assert_eq!(status.code(), Some(3));
        let failures = take_failures();
        let (_, lines) = failures.iter().find(|(command, _)| command == "a script").unwrap();
        assert_eq!(lines.len(), LAST_LINES);
        assert_eq!(lines.last().unwrap(), "wrong");
    }

    #[test]
    fn a_process_that_is_left_does_not_hold_up_the_run() {
        let started_at = Instant::now();
        let status =
            run_and_keep_last_lines(Command::new("sh").args(["-c", "sleep 60 & exit 0"]), "a script");
        assert!(status.unwrap().success());
        assert!(started_at.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn paths_are_shown_from_the_root() {
        let mut app = Command::new(project::root().join("target/debug/deskbell"));
        app.arg("/elsewhere");
        assert_eq!(shown(&app), "target/debug/deskbell /elsewhere");
    }
}
