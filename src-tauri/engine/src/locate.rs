//! Search for the agent's program, with a list of every place that was tried.

mod contents;

use crate::api::Tried;
use crate::disk;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Maximum number of Node versions to search.
const MOST_VERSIONS: usize = 1_000;

/// The program that was found, and the place that named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    pub program: PathBuf,
    /// For display: “chosen by you”, “`CLAUDE_CODE_COMMAND`”, “PATH”.
    pub source: String,
}

/// No program was found; lists every place that was tried, with the problem there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no Claude Code CLI was found")]
pub struct NotFound {
    pub tried: Vec<Tried>,
}

/// Places to search. All are passed as values, so that a test can define its own machine.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// The user's choice: a setting or `--agent`.
    pub chosen: Option<PathBuf>,
    /// `CLAUDE_CODE_COMMAND`.
    pub command: Option<OsString>,
    pub path: Option<OsString>,
    pub home: Option<PathBuf>,
}

impl Places {
    /// The places defined by this process's environment.
    pub fn from_environment(chosen: Option<PathBuf>) -> Self {
        Self {
            chosen,
            command: std::env::var_os("CLAUDE_CODE_COMMAND").filter(|command| !command.is_empty()),
            path: std::env::var_os("PATH"),
            home: dirs::home_dir(),
        }
    }
}

/// Finds the agent. The user's choice is final: if it is unusable, no other program is run instead.
pub fn locate(places: &Places) -> Result<Located, NotFound> {
    let mut tried = Vec::new();
    if let Some(chosen) = &places.chosen {
        return check(chosen, "chosen by you", &mut tried).ok_or(NotFound { tried });
    }
    if let Some(command) = &places.command {
        let source = "CLAUDE_CODE_COMMAND";
        let found = if Path::new(command).components().count() > 1 {
            check(Path::new(command), source, &mut tried)
        } else {
            in_directories(command, source, path_directories(places), &mut tried)
        };
        return found.ok_or(NotFound { tried });
    }
    for name in PROGRAM_NAMES {
        let found =
            in_directories(OsStr::new(name), "PATH", path_directories(places), &mut tried).or_else(|| {
                let usual = usual_directories(places.home.as_deref());
                in_directories(OsStr::new(name), "a standard location", usual, &mut tried)
            });
        if let Some(found) = found {
            return Ok(found);
        }
    }
    Err(NotFound { tried })
}

// On Windows a `.cmd` shim runs through cmd.exe, which would parse arguments as code, so only an `.exe` is accepted.
const PROGRAM_NAMES: &[&str] = if cfg!(windows) { &["claude.exe"] } else { &["claude"] };

fn path_directories(places: &Places) -> Vec<PathBuf> {
    places.path.as_ref().map(|path| std::env::split_paths(path).collect()).unwrap_or_default()
}

/// Folders where installers put command line programs. The PATH of a desktop session often lacks them.
pub fn usual_directories(home: Option<&Path>) -> Vec<PathBuf> {
    let mut directories: Vec<PathBuf> = Vec::new();
    if let Some(home) = home {
        let of_home = [
            ".local/bin",
            ".claude/local",
            "bin",
            ".npm-global/bin",
            ".bun/bin",
            ".volta/bin",
            ".yarn/bin",
            ".local/share/pnpm",
            ".cargo/bin",
        ];
        directories.extend(of_home.iter().map(|directory| home.join(directory)));
        directories.extend(nvm_directories(home));
    }
    if cfg!(windows) {
        directories.extend(std::env::var_os("APPDATA").map(|data| PathBuf::from(data).join("npm")));
    } else {
        directories.extend(
            ["/usr/local/bin", "/opt/homebrew/bin", "/usr/bin", "/bin", "/snap/bin"].map(PathBuf::from),
        );
    }
    directories
}

/// nvm has one `bin` folder per Node version. Newest version first.
fn nvm_directories(home: &Path) -> Vec<PathBuf> {
    let Ok(versions) = disk::list(&home.join(".nvm/versions/node"), MOST_VERSIONS) else {
        return Vec::new();
    };
    let mut directories: Vec<PathBuf> =
        versions.paths.into_iter().map(|version| version.join("bin")).collect();
    directories.sort();
    directories.reverse();
    directories
}

fn in_directories(
    name: &OsStr,
    source: &str,
    directories: Vec<PathBuf>,
    tried: &mut Vec<Tried>,
) -> Option<Located> {
    if directories.is_empty() {
        tried.push(Tried { place: source.to_owned(), problem: "is empty".to_owned() });
    }
    directories.into_iter().filter(|directory| directory.is_absolute()).find_map(|directory| {
        let program = directory.join(name);
        if tried.iter().any(|tried| Path::new(&tried.place) == program) {
            return None;
        }
        check(&program, source, tried)
    })
}

fn check(program: &Path, source: &str, tried: &mut Vec<Tried>) -> Option<Located> {
    match problem(program) {
        None => Some(Located { program: program.to_owned(), source: source.to_owned() }),
        Some(problem) => {
            tried.push(Tried { place: program.display().to_string(), problem });
            None
        }
    }
}

/// The reason why this file cannot be run; `None` if it can.
fn problem(program: &Path) -> Option<String> {
    let metadata = match std::fs::metadata(program) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Some("does not exist".to_owned());
        }
        Err(error) => return Some(error.to_string()),
    };
    if !metadata.is_file() {
        return Some("is not a file".to_owned());
    }
    if metadata.len() == 0 {
        return Some("is empty".to_owned());
    }
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 == 0 {
        return Some("is not executable".to_owned());
    }
    let extension = program.extension().and_then(OsStr::to_str).unwrap_or("").to_ascii_lowercase();
    if cfg!(windows) && matches!(extension.as_str(), "cmd" | "bat") {
        return Some("is a batch file, which would read prompts as code; choose claude.exe".to_owned());
    }
    contents::problem(program)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn executable(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn a_usual_place_is_found_when_path_lacks_it() {
        let home = tempfile::tempdir().unwrap();
        let program = home.path().join(".local/bin/claude");
        executable(&program);
        let places =
            Places { path: Some("/nowhere".into()), home: Some(home.path().into()), ..Places::default() };
        assert_eq!(locate(&places).unwrap(), Located { program, source: "a standard location".into() });
    }

    #[test]
    fn a_wrong_choice_is_not_replaced_by_another_program() {
        let home = tempfile::tempdir().unwrap();
        executable(&home.path().join(".local/bin/claude"));
        let chosen = home.path().join("claude-next");
        std::fs::write(&chosen, "").unwrap();
        let places =
            Places { chosen: Some(chosen.clone()), home: Some(home.path().into()), ..Places::default() };
        let tried = locate(&places).unwrap_err().tried;
        assert_eq!(tried, [Tried { place: chosen.display().to_string(), problem: "is empty".into() }]);
    }

    #[test]
    fn nothing_anywhere_lists_every_place() {
        let home = tempfile::tempdir().unwrap();
        let not_executable = home.path().join(".local/bin/claude");
        std::fs::create_dir_all(not_executable.parent().unwrap()).unwrap();
        std::fs::write(&not_executable, "text").unwrap();
        let empty = home.path().join("empty");
        let places =
            Places { path: Some(empty.clone().into()), home: Some(home.path().into()), ..Places::default() };
        let tried = locate(&places).map(|found| assert!(!found.program.starts_with(home.path()))).err();
        if let Some(NotFound { tried }) = tried {
            assert_eq!(tried[0].place, empty.join("claude").display().to_string());
            assert_eq!(tried[1].problem, "is not executable");
        }
    }
}
