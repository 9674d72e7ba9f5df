//! Programs that the user chose in the settings: how they are found, and what their arguments contain. No shell reads
//! the command line.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Puts values in place of their names in braces, such as `{file}`. What a value contains is not looked at again.
pub fn filled(argument: &str, values: &[(&str, &OsStr)]) -> OsString {
    let (mut filled, mut rest) = (OsString::new(), argument);
    while let Some(at) = rest.find('{') {
        filled.push(&rest[..at]);
        rest = &rest[at..];
        let value = values.iter().find_map(|(name, value)| Some((rest.strip_prefix(name)?, value)));
        if let Some((after, value)) = value {
            filled.push(value);
            rest = after;
        } else {
            filled.push("{");
            rest = &rest[1..];
        }
    }
    filled.push(rest);
    filled
}

/// Finds a program by its absolute path, or by its name in the absolute folders of `PATH`. A relative folder there would
/// be one of the project.
pub fn find(program: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    let named = Path::new(program);
    if named.is_absolute() {
        return Some(named.to_owned()).filter(|named| is_program(named));
    }
    if named.components().count() != 1 || program.contains(std::path::is_separator) {
        return None;
    }
    let endings = if cfg!(windows) { &["", ".exe", ".cmd"][..] } else { &[""] };
    std::env::split_paths(path?)
        .filter(|folder| folder.is_absolute())
        .flat_map(|folder| endings.iter().map(move |ending| folder.join(format!("{program}{ending}"))))
        .find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    let Ok(about) = file.metadata() else { return false };
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o111 == 0 {
        return false;
    }
    about.is_file()
}

/// A program's name in a message.
pub fn shown(program: &OsStr) -> String {
    format!("“{}”", program.to_string_lossy().escape_debug())
}
