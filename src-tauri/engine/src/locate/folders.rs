//! Folders where installers put command line programs. The PATH of a desktop session often lacks them.

use crate::disk;
use std::path::{Path, PathBuf};

/// Maximum number of versions to search in the folder of a version manager.
const MOST_VERSIONS: usize = 1_000;

/// Folders below the home folder that hold programs directly: the native installer, npm with `~/.npm-global` as prefix,
/// npm in the home folder itself, bun, Volta, Yarn, pnpm on Linux and macOS, Nix, Homebrew without root rights.
const OF_HOME: &[&str] = &[
    ".local/bin",
    ".claude/local",
    "bin",
    "node_modules/.bin",
    ".npm-global/bin",
    ".bun/bin",
    ".volta/bin",
    ".yarn/bin",
    ".local/share/pnpm",
    ".local/share/pnpm/bin",
    "Library/pnpm",
    "Library/pnpm/bin",
    ".cargo/bin",
    ".nix-profile/bin",
    ".linuxbrew/bin",
];

/// Folders with one folder for each version of Node, and the folder with programs in that. The shims of asdf and mise
/// come after all of them, because a shim fails in a project that names no version.
const OF_VERSIONS: &[(&str, &str)] = &[
    (".nvm/versions/node", "bin"),
    (".config/nvm/versions/node", "bin"),
    (".local/share/fnm/node-versions", "installation/bin"),
    (".fnm/node-versions", "installation/bin"),
    ("Library/Application Support/fnm/node-versions", "installation/bin"),
    (".asdf/installs/nodejs", "bin"),
    (".local/share/mise/installs/node", "bin"),
    (".local/share/mise/installs/npm-anthropic-ai-claude-code", "bin"),
    (".local/share/mise/installs/claude", ""),
    (".local/share/mise/installs/claude", "bin"),
];

/// Shims of version managers, which look for a version that the current folder names.
const SHIMS: &[&str] = &[".asdf/shims", ".local/share/mise/shims"];

/// Folders of the system, below its root.
const OF_SYSTEM: &[&str] =
    &["usr/local/bin", "opt/homebrew/bin", "home/linuxbrew/.linuxbrew/bin", "usr/bin", "bin", "snap/bin"];

/// All of these folders, in the order of the search. `root` is the root of the file system; tests have another one.
pub fn usual(home: Option<&Path>, root: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    if let Some(home) = home {
        folders.extend(OF_HOME.iter().map(|folder| home.join(folder)));
        folders.extend(npm_prefix(home));
        for (versions, programs) in OF_VERSIONS {
            folders.extend(newest_first(&home.join(versions)).into_iter().map(|one| one.join(programs)));
        }
        folders.extend(SHIMS.iter().map(|folder| home.join(folder)));
        if cfg!(windows) {
            let roaming = std::env::var_os("APPDATA").map(PathBuf::from);
            folders.push(roaming.unwrap_or_else(|| home.join("AppData/Roaming")).join("npm"));
            folders.push(home.join("AppData/Local/pnpm"));
        }
    }
    if !cfg!(windows) && root.is_absolute() {
        folders.extend(OF_SYSTEM.iter().map(|folder| root.join(folder)));
    }
    folders
}

/// The folder of npm's global programs, if the user's `.npmrc` names another prefix.
fn npm_prefix(home: &Path) -> Option<PathBuf> {
    // Without the file npm's own prefix is used.
    let settings = disk::read_text(&home.join(".npmrc"), 64 * 1024).ok()?;
    let value =
        settings.lines().find_map(|line| line.trim().strip_prefix("prefix")?.trim().strip_prefix('='))?;
    let value = value.trim().trim_matches(['"', '\'']);
    let relative = value.strip_prefix("~/").or_else(|| value.strip_prefix("${HOME}/"));
    let prefix = relative.map_or_else(|| PathBuf::from(value), |relative| home.join(relative));
    prefix.is_absolute().then(|| if cfg!(windows) { prefix } else { prefix.join("bin") })
}

/// The folders of versions in `folder`, the highest version first.
fn newest_first(folder: &Path) -> Vec<PathBuf> {
    let Ok(versions) = disk::list(folder, MOST_VERSIONS) else { return Vec::new() };
    let mut versions = versions.paths;
    versions.sort_by_cached_key(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let numbers = name.trim_start_matches('v').split('.').map(|part| part.parse::<u64>().unwrap_or(0));
        (numbers.collect::<Vec<_>>(), name)
    });
    versions.reverse();
    versions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_version_is_searched_first() {
        let home = tempfile::tempdir().unwrap();
        for version in ["v9.11.2", "v22.4.0", "v22.12.0", "v18.0.0", "lts"] {
            std::fs::create_dir_all(home.path().join(".nvm/versions/node").join(version)).unwrap();
        }
        let versions = newest_first(&home.path().join(".nvm/versions/node"));
        let names: Vec<_> = versions.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["v22.12.0", "v22.4.0", "v18.0.0", "v9.11.2", "lts"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_prefix_of_npm_is_read() {
        let home = tempfile::tempdir().unwrap();
        let prefix = |text: &str| {
            std::fs::write(home.path().join(".npmrc"), text).unwrap();
            npm_prefix(home.path())
        };
        assert_eq!(prefix("audit=false\nprefix = ~/npm\n"), Some(home.path().join("npm/bin")));
        assert_eq!(prefix("prefix=\"/opt/npm\""), Some("/opt/npm/bin".into()));
        assert_eq!(prefix("prefix=${HOME}/n"), Some(home.path().join("n/bin")));
        for none in ["", "prefix", "prefix=", "prefix=relative", "prefixes=/x"] {
            assert_eq!(prefix(none), None, "{none}");
        }
    }
}
