//! Search for the agent's program, with a list of every place that was tried.

mod contents;
mod folders;
mod shim;

use crate::api::Tried;
use crate::disk;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Maximum size of a starter of npm, in bytes.
const MOST_OF_STARTER: u64 = 16 * 1024;

/// The program that was found, and the place that named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    pub program: PathBuf,
    /// For display: “chosen by you”, “`CLAUDE_CODE_COMMAND`”, “PATH”.
    pub source: String,
}

/// No program was found; lists every place that was tried, with the problem there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the agent's program was not found")]
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
    /// The PATH of the user's login shell, if it is known.
    pub login_path: Option<OsString>,
    pub home: Option<PathBuf>,
    /// The root of the file system; without one, no folder of the system is searched.
    pub root: PathBuf,
}

impl Places {
    /// The places defined by this process's environment, and the PATH of the user's login shell.
    pub fn from_environment(chosen: Option<PathBuf>, login_path: Option<OsString>) -> Self {
        Self {
            chosen,
            command: std::env::var_os("CLAUDE_CODE_COMMAND").filter(|command| !command.is_empty()),
            path: std::env::var_os("PATH"),
            login_path,
            home: dirs::home_dir(),
            root: PathBuf::from("/"),
        }
    }

    /// Finds the agent. The user's choice is final: if it is unusable, no other program is run instead.
    pub fn locate(&self) -> Result<Located, NotFound> {
        let mut tried = Vec::new();
        if let Some(chosen) = &self.chosen {
            return check(chosen, "chosen by you", &mut tried).ok_or(NotFound { tried });
        }
        if let Some(command) = &self.command {
            let source = "CLAUDE_CODE_COMMAND";
            let found = if Path::new(command).components().count() > 1 {
                check(Path::new(command), source, &mut tried)
            } else {
                in_directories(command, source, split(self.path.as_ref()), &mut tried)
            };
            return found.ok_or(NotFound { tried });
        }
        named(PROGRAM_NAMES, self, tried)
    }

    /// Finds the program of another agent by its names. `chosen` and `command` do not count.
    pub fn locate_named(&self, names: &[&str]) -> Result<Located, NotFound> {
        if !cfg!(windows) {
            return named(names, self, Vec::new());
        }
        let names: Vec<String> =
            names.iter().flat_map(|name| [format!("{name}.exe"), format!("{name}.cmd")]).collect();
        named(&names.iter().map(String::as_str).collect::<Vec<_>>(), self, Vec::new())
    }
}

fn named(names: &[&str], places: &Places, mut tried: Vec<Tried>) -> Result<Located, NotFound> {
    for name in names {
        let of_login = places.login_path.as_ref().map(|path| split(Some(path)));
        let usual = folders::usual(places.home.as_deref(), &places.root);
        let sources = [
            ("PATH", Some(split(places.path.as_ref()))),
            ("the PATH of your login shell", of_login),
            ("a standard location", Some(usual)),
        ];
        for (source, directories) in sources {
            let Some(directories) = directories else { continue };
            if let Some(found) = in_directories(OsStr::new(name), source, directories, &mut tried) {
                return Ok(found);
            }
        }
    }
    Err(NotFound { tried })
}

// A starter of npm is never run itself: see `shim`.
const PROGRAM_NAMES: &[&str] = if cfg!(windows) { &["claude.exe", "claude.cmd"] } else { &["claude"] };

fn split(path: Option<&OsString>) -> Vec<PathBuf> {
    path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default()
}

/// Folders where installers put command line programs. The PATH of a desktop session often lacks them.
pub(crate) fn usual_directories(home: Option<&Path>) -> Vec<PathBuf> {
    folders::usual(home, Path::new("/"))
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
    if let Some(named) = started_by(program) {
        return check(&named, &format!("{source}, started by {}", program.display()), tried);
    }
    match problem(program) {
        None => Some(Located { program: program.to_owned(), source: source.to_owned() }),
        Some(problem) => {
            tried.push(Tried { place: program.display().to_string(), problem });
            None
        }
    }
}

/// The program that a starter of npm starts; `None` if the file is no such starter.
fn started_by(starter: &Path) -> Option<PathBuf> {
    is_batch(starter).then_some(())?;
    // A starter that cannot be read is reported as a batch file.
    let text = disk::read_text(starter, MOST_OF_STARTER).ok()?;
    shim::program_of(&text, starter.parent()?)
}

fn is_batch(program: &Path) -> bool {
    let extension = program.extension().and_then(OsStr::to_str).unwrap_or("").to_ascii_lowercase();
    matches!(extension.as_str(), "cmd" | "bat")
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
    if cfg!(windows) && is_batch(program) {
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
        assert_eq!(places.locate().unwrap(), Located { program, source: "a standard location".into() });
    }

    #[test]
    fn a_wrong_choice_is_not_replaced_by_another_program() {
        let home = tempfile::tempdir().unwrap();
        executable(&home.path().join(".local/bin/claude"));
        let chosen = home.path().join("claude-next");
        std::fs::write(&chosen, "").unwrap();
        let places =
            Places { chosen: Some(chosen.clone()), home: Some(home.path().into()), ..Places::default() };
        let tried = places.locate().unwrap_err().tried;
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
        let tried = places.locate().map(|found| assert!(!found.program.starts_with(home.path()))).err();
        if let Some(NotFound { tried }) = tried {
            assert_eq!(tried[0].place, empty.join("claude").display().to_string());
            assert_eq!(tried[1].problem, "is not executable");
        }
    }

    /// A home folder and a system in which one installer put the program.
    struct Machine(tempfile::TempDir);

    impl Machine {
        fn new() -> Self {
            let machine = Self(tempfile::tempdir().unwrap());
            std::fs::create_dir_all(machine.home()).unwrap();
            machine
        }

        fn home(&self) -> PathBuf {
            self.0.path().join("home/ines")
        }

        /// Places on a path that begins with `~` are below the home folder, others below the root.
        fn path(&self, path: &str) -> PathBuf {
            path.strip_prefix("~/").map_or_else(|| self.0.path().join(path), |path| self.home().join(path))
        }

        fn link(&self, from: &str, to: &str) {
            let from = self.path(from);
            std::fs::create_dir_all(from.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(self.path(to), from).unwrap();
        }

        /// What is found with the PATH of a desktop session.
        fn found(&self) -> Result<Located, NotFound> {
            let root = self.0.path();
            let path = std::env::join_paths([root.join("usr/bin"), root.join("bin")]).unwrap();
            let places = Places {
                path: Some(path),
                home: Some(self.home()),
                root: root.to_owned(),
                ..Places::default()
            };
            places.locate()
        }
    }

    #[test]
    fn every_installer_is_found_with_the_path_of_a_desktop_session() {
        let package = "lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe";
        // The name, the place where it is found, and the file that this place links to.
        let layouts: [(&str, &str, Option<String>); 21] = [
            ("native", "~/.local/bin/claude", Some("~/.local/share/claude/versions/2.1.329".into())),
            ("npm global", "usr/local/bin/claude", Some(format!("usr/local/{package}"))),
            ("npm global, own prefix", "~/.npm-global/bin/claude", Some(format!("~/.npm-global/{package}"))),
            ("npm local", "~/.claude/local/claude", None),
            ("npm in the home folder", "~/node_modules/.bin/claude", None),
            ("Homebrew", "opt/homebrew/bin/claude", Some("opt/homebrew/Caskroom/claude".into())),
            ("Homebrew on Linux", "home/linuxbrew/.linuxbrew/bin/claude", None),
            ("nvm", "~/.nvm/versions/node/v22.12.0/bin/claude", Some(format!("~/.nvm/{package}"))),
            ("nvm, XDG", "~/.config/nvm/versions/node/v22.12.0/bin/claude", None),
            ("fnm", "~/.local/share/fnm/node-versions/v22.12.0/installation/bin/claude", None),
            (
                "fnm, macOS",
                "~/Library/Application Support/fnm/node-versions/v22.1.0/installation/bin/claude",
                None,
            ),
            ("volta", "~/.volta/bin/claude", Some("~/.volta/bin/volta-shim".into())),
            ("asdf", "~/.asdf/installs/nodejs/22.12.0/bin/claude", None),
            ("asdf, only the shim", "~/.asdf/shims/claude", None),
            ("mise", "~/.local/share/mise/installs/npm-anthropic-ai-claude-code/2.1.329/bin/claude", None),
            ("mise, only the shim", "~/.local/share/mise/shims/claude", Some("~/.local/bin/mise".into())),
            ("bun", "~/.bun/bin/claude", Some("~/.bun/install/global/claude.exe".into())),
            ("pnpm", "~/.local/share/pnpm/claude", None),
            ("pnpm, macOS", "~/Library/pnpm/claude", None),
            ("~/.local/bin", "~/.local/bin/claude", None),
            ("~/bin", "~/bin/claude", None),
        ];
        for (name, place, target) in layouts {
            let machine = Machine::new();
            assert!(machine.found().is_err(), "{name}: nothing is installed yet");
            match &target {
                Some(target) => {
                    executable(&machine.path(target));
                    machine.link(place, target);
                }
                None => executable(&machine.path(place)),
            }
            let located = Located { program: machine.path(place), source: "a standard location".into() };
            assert_eq!(machine.found(), Ok(located), "{name}");
        }
    }

    #[test]
    fn a_version_comes_before_a_shim_that_depends_on_the_folder() {
        let machine = Machine::new();
        executable(&machine.path("~/.asdf/shims/claude"));
        let installed = machine.path("~/.asdf/installs/nodejs/22.12.0/bin/claude");
        executable(&installed);
        assert_eq!(machine.found().unwrap().program, installed);
    }

    #[test]
    fn a_starter_of_npm_on_windows_leads_to_its_program() {
        let machine = Machine::new();
        let starter = machine.path("~/AppData/Roaming/npm/claude.cmd");
        let program = "~/AppData/Roaming/npm/node_modules/@anthropic-ai/claude-code/bin/claude.exe";
        executable(&machine.path(program));
        let text = r#"@"%dp0%\node_modules\@anthropic-ai\claude-code\bin\claude.exe" %*"#;
        std::fs::write(&starter, text).unwrap();
        let located = Places { chosen: Some(starter.clone()), ..Places::default() }.locate().unwrap();
        assert_eq!(located.program, machine.path(program));
        assert_eq!(located.source, format!("chosen by you, started by {}", starter.display()));
    }

    #[test]
    fn the_login_shell_comes_after_the_path_and_before_the_usual_places() {
        let machine = Machine::new();
        let (own, usual) = (machine.path("~/tools/claude"), machine.path("~/bin/claude"));
        executable(&own);
        executable(&usual);
        let places = |path: &str| Places {
            path: Some(machine.path(path).into()),
            login_path: Some(machine.path("~/tools").into()),
            home: Some(machine.home()),
            ..Places::default()
        };
        let located = places("~/none").locate().unwrap();
        assert_eq!((located.program, &*located.source), (own, "the PATH of your login shell"));
        assert_eq!(places("~/bin").locate().unwrap().program, usual);
    }
}
