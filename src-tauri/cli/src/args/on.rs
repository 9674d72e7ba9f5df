//! The command line of `deskbell on`.

use super::{Problem, split};
use crate::far::Machine;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A command for another machine.
#[derive(Debug, PartialEq, Eq)]
pub struct OnOptions {
    pub machine: Machine,
    /// The program to copy there, instead of the one for its system that came with Deskbell.
    pub program: Option<PathBuf>,
    /// The arguments of Deskbell there. They have no line feed and no NUL.
    pub command: Vec<String>,
}

/// The most arguments of a command, and their bytes.
const MAX_ARGUMENTS: usize = 100;
const MAX_BYTES: usize = 100 << 10;

/// Parses the arguments after `on`.
pub fn parse(args: &[OsString], cwd: &Path) -> Result<OnOptions, Problem> {
    let mut program = None;
    let mut rest = args;
    while let [first, after @ ..] = rest
        && first.to_string_lossy().starts_with('-')
    {
        let (name, value) = split(first);
        match name.as_str() {
            "--program" => {
                let value = value.filter(|value| !value.is_empty()).ok_or(Problem::NoValue(name))?;
                program = Some(cwd.join(value));
            }
            _ => return Err(Problem::UnknownOption(first.to_string_lossy().into_owned())),
        }
        rest = after;
    }
    let (machine, command) = rest.split_first().ok_or(Problem::NoMachine)?;
    let machine = machine.to_string_lossy().parse()?;
    if command.is_empty() {
        return Err(Problem::NoCommand);
    }
    let command: Option<Vec<String>> = command.iter().map(|arg| arg.to_str().map(str::to_owned)).collect();
    let command = command.ok_or(Problem::BadArgument)?;
    let n_bytes: usize = command.iter().map(String::len).sum();
    if command.len() > MAX_ARGUMENTS
        || n_bytes > MAX_BYTES
        || command.iter().any(|arg| arg.contains(['\n', '\r', '\0']))
    {
        return Err(Problem::BadArgument);
    }
    Ok(OnOptions { machine, program, command })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<OnOptions, Problem> {
        parse(&args.iter().map(OsString::from).collect::<Vec<_>>(), Path::new("/p"))
    }

    #[test]
    fn everything_after_the_machine_is_the_command() {
        let on = parsed(&["--program=relay", "docker:web", "sessions", "--program=x", "list"]).unwrap();
        assert_eq!(on.machine.to_string(), "docker:web");
        assert_eq!(on.program, Some(PathBuf::from("/p/relay")));
        assert_eq!(on.command, ["sessions", "--program=x", "list"]);
        assert_eq!(parsed(&["box", "doctor", ""]).unwrap().command, ["doctor", ""]);
    }

    #[test]
    fn what_is_missing_or_cannot_be_sent_is_named() {
        assert_eq!(parsed(&[]), Err(Problem::NoMachine));
        assert_eq!(parsed(&["box"]), Err(Problem::NoCommand));
        assert_eq!(parsed(&["--program=", "box", "doctor"]), Err(Problem::NoValue("--program".into())));
        assert_eq!(parsed(&["-x", "box", "doctor"]), Err(Problem::UnknownOption("-x".into())));
        assert!(matches!(parsed(&["a b", "doctor"]), Err(Problem::BadMachine(_))));
        for argument in ["a\nb", "a\rb", "a\0b", &"x".repeat(MAX_BYTES + 1)] {
            assert_eq!(parsed(&["box", argument]), Err(Problem::BadArgument));
        }
        assert_eq!(parsed(&[&["box"][..], &["x"; MAX_ARGUMENTS + 1]].concat()), Err(Problem::BadArgument));
    }
}
