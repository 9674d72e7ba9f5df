//! Git ignore rules of a project.
//!
//! The walker's own handling of ignore files is switched off: it opens whatever is at their paths, and waits forever on
//! a `.gitignore` that is a named pipe (ignore 0.4.34). The precedence is the same: `.ignore` before `.gitignore`,
//! inner folders before outer ones up to the repository's root, then `.git/info/exclude`, then the user's own file.

use crate::disk::read_text;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum size of an ignore file in bytes; a larger one is skipped, because all its patterns become one regular
/// expression.
const MOST_BYTES: u64 = 256 * 1024;

/// The ignore rules of one folder, linked to those of its parent.
#[derive(Default)]
struct Layer {
    ignore: Option<Gitignore>,
    gitignore: Option<Gitignore>,
    /// `.git/info/exclude`, in the root of a repository.
    exclude: Option<Gitignore>,
    is_root: bool,
    above: Option<Arc<Layer>>,
}

impl Layer {
    fn of(folder: &Path, above: Option<Arc<Self>>) -> Self {
        let is_root = fs::symlink_metadata(folder.join(".git")).is_ok();
        Self {
            ignore: rules(folder, &folder.join(".ignore")),
            gitignore: rules(folder, &folder.join(".gitignore")),
            exclude: is_root.then(|| rules(folder, &folder.join(".git/info/exclude"))).flatten(),
            is_root,
            above,
        }
    }

    /// This layer and its parents in the same repository.
    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |layer| if layer.is_root { None } else { layer.above.as_deref() })
    }
}

/// Decides which entries of a walk are ignored. Query each folder before its entries.
pub(super) struct Ignored {
    folders: Mutex<HashMap<PathBuf, Arc<Layer>>>,
    of_user: Option<Gitignore>,
}

impl Ignored {
    pub fn of(project: &Path) -> Self {
        let mut above = None;
        let root = project.ancestors().position(|folder| fs::symlink_metadata(folder.join(".git")).is_ok());
        let outer: Vec<&Path> = project.ancestors().take(root.unwrap_or(0) + 1).collect();
        for folder in outer.into_iter().rev() {
            above = Some(Arc::new(Layer::of(folder, above)));
        }
        let layer = above.unwrap_or_default();
        let of_user = user_file().and_then(|file| rules(project, &file));
        Self { folders: Mutex::new(HashMap::from([(project.to_owned(), layer)])), of_user }
    }

    /// Is the entry ignored? The rules of a folder that is not ignored are read.
    pub fn is_ignored(&self, path: &Path, is_folder: bool) -> bool {
        let Some(layer) = path.parent().and_then(|folder| self.layer(folder)) else { return false };
        if self.decide(&layer, path, is_folder) {
            return true;
        }
        if is_folder {
            let own = Arc::new(Layer::of(path, Some(layer)));
            self.lock().insert(path.to_owned(), own);
        }
        false
    }

    fn decide(&self, layer: &Layer, path: &Path, is_folder: bool) -> bool {
        let inner = layer.chain().filter_map(|layer| layer.ignore.as_ref());
        let outer = layer.chain().filter_map(|layer| layer.gitignore.as_ref());
        let excluded = layer.chain().filter_map(|layer| layer.exclude.as_ref());
        let mut all = inner.chain(outer).chain(excluded).chain(&self.of_user);
        let decided = all.find_map(|rules| {
            let matched = rules.matched(path, is_folder);
            (!matched.is_none()).then(|| matched.is_ignore())
        });
        decided.unwrap_or(false)
    }

    fn layer(&self, folder: &Path) -> Option<Arc<Layer>> {
        self.lock().get(folder).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, Arc<Layer>>> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The rules of one file, relative to one folder. An unreadable file ignores nothing.
fn rules(folder: &Path, file: &Path) -> Option<Gitignore> {
    let text = match read_text(file, MOST_BYTES) {
        Ok(text) => text,
        Err(error) if error.is_missing() => return None,
        Err(error) => {
            tracing::warn!(file = %file.display(), %error, "could not read an ignore file");
            return None;
        }
    };
    let mut builder = GitignoreBuilder::new(folder);
    for line in text.trim_start_matches('\u{feff}').lines() {
        // An invalid pattern is skipped; the others still apply.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok()
}

/// The path in `core.excludesFile`, or git's default.
pub(crate) fn user_file() -> Option<PathBuf> {
    let home = dirs::home_dir()?;
    let config = std::env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|folder| folder.is_absolute())
        .unwrap_or_else(|| home.join(".config"));
    let settings = [home.join(".gitconfig"), config.join("git/config")];
    let set = settings.iter().find_map(|file| excludes_file(&read_text(file, MOST_BYTES).ok()?));
    Some(match set {
        Some(path) => match path.strip_prefix("~/") {
            Some(below) => home.join(below),
            None => path.into(),
        },
        None => config.join("git/ignore"),
    })
}

fn excludes_file(config: &str) -> Option<String> {
    let value = |line: &str| {
        let (name, value) = line.split_once('=')?;
        let is_it = name.trim().eq_ignore_ascii_case("excludesfile");
        is_it.then(|| value.trim().trim_matches('"').to_owned()).filter(|value| !value.is_empty())
    };
    config.lines().find_map(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_own_ignore_file_is_found_in_gits_settings() {
        let config = "[user]\n\tname = a = b\n[core]\n\tExcludesFile = \"~/.gitignore_all\"\n";
        assert_eq!(excludes_file(config).as_deref(), Some("~/.gitignore_all"));
        assert_eq!(excludes_file("[core]\nexcludesfile =\n"), None);
    }

    #[test]
    fn the_inner_folder_decides_and_another_repository_has_its_own_rules() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for path in [".git/info", "a/b", "inner/.git"] {
            fs::create_dir_all(at(path)).unwrap();
        }
        for (path, text) in [
            (".git/info/exclude", "*.bak\n"),
            (".gitignore", "*.log\n/a/b/x\n"),
            ("a/.gitignore", "!keep.log\n"),
            ("a/.ignore", "b.txt\n"),
            ("a/b/.gitignore", "!b.txt\n"),
        ] {
            fs::write(at(path), text).unwrap();
        }
        let ignored = Ignored::of(&at("a"));
        assert!(!ignored.is_ignored(&at("a/b"), true));
        for (path, expected) in [
            ("a/x.log", true),
            ("a/keep.log", false),
            ("a/b/keep.log", false),
            ("a/b/x", true),
            ("a/b/b.txt", true),
            ("a/b/c.bak", true),
            ("a/b/c.txt", false),
        ] {
            assert_eq!(ignored.is_ignored(&at(path), false), expected, "{path}");
        }
        let ignored = Ignored::of(folder.path());
        assert!(!ignored.is_ignored(&at("inner"), true));
        assert!(!ignored.is_ignored(&at("inner/x.log"), false));
    }
}
