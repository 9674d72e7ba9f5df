//! The repositories in and above a folder, and their configuration: everything is read from files, bounded and without
//! waiting.

use super::file::{self, Setting};
use crate::disk::{FileKind, ReadError, list_kinds, read_regular};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Folders that are searched, the upper ones first.
const MOST_FOLDERS: usize = 3000;

/// Entries of one folder that are looked at.
const MOST_ENTRIES: usize = 20_000;

const MOST_REPOSITORIES: usize = 100;

/// Maximum size of a file with settings; each branch has some lines in it.
const MOST_BYTES: u64 = 1024 * 1024;

/// Files that one configuration can include, and how deep (git's own limit of the depth is 10).
const MOST_INCLUDED: usize = 50;

/// A repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repository {
    /// The folder that git takes for it: its working tree, or git's own folder.
    pub folder: PathBuf,
    /// Git's own folder, which has its settings and hooks.
    pub git: PathBuf,
    /// Its settings; the error is the reason why they cannot be read.
    pub settings: Result<Vec<Setting>, String>,
}

/// The repositories of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repositories {
    pub list: Vec<Repository>,
    /// The folder is too large to be searched completely.
    pub is_cut: bool,
}

/// Finds the repositories that git would use in a folder and below it.
pub(super) fn find(project: &Path) -> Repositories {
    let mut found = Repositories { list: Vec::new(), is_cut: false };
    let home = dirs::home_dir().and_then(|home| dunce::canonicalize(home).ok());
    // Git looks above a folder that is not a valid repository, and also above the project.
    for folder in project.ancestors().skip(1).take_while(|folder| Some(*folder) != home.as_deref()) {
        if fs::symlink_metadata(folder.join(".git")).is_ok() {
            found.add_worktree(folder);
        }
    }
    found.search(project);
    found
}

impl Repositories {
    fn search(&mut self, project: &Path) {
        let mut folders = std::collections::VecDeque::from([project.to_owned()]);
        let mut n_folders = 0;
        while let Some(folder) = folders.pop_front() {
            n_folders += 1;
            if n_folders > MOST_FOLDERS {
                self.is_cut = true;
                return;
            }
            // What this user cannot list, the agent cannot list either.
            let Ok(listing) = list_kinds(&folder, MOST_ENTRIES) else { continue };
            self.is_cut |= listing.is_cut;
            let entries = listing.entries;
            let is_in_git = folder.components().any(|part| part == Component::Normal(".git".as_ref()));
            let has = |name: &str| entries.iter().any(|(path, _)| path.file_name() == Some(name.as_ref()));
            if has(".git") {
                self.add_worktree(&folder);
            }
            // A repository without a working tree, such as that of a submodule.
            if has("HEAD") && has("objects") && has("config") && folder.file_name() != Some(".git".as_ref()) {
                self.add(folder.clone(), folder.clone());
            }
            for (path, kind) in entries {
                let name = path.file_name().unwrap_or_default();
                // Of git's own folder only the repositories of submodules and worktrees count.
                let counts = !is_in_git || name == "modules" || !folder.ends_with(".git");
                let is_object_store = name == "objects" || name == "refs" || name == "logs";
                if kind == FileKind::Folder && counts && !(is_in_git && is_object_store) {
                    folders.push_back(path);
                }
            }
        }
    }

    /// Adds the repository whose working tree is this folder.
    fn add_worktree(&mut self, folder: &Path) {
        let own = folder.join(".git");
        match read_regular(&own, MOST_BYTES) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                // Git takes a file that says something else for damaged, and does nothing.
                if let Some(path) = text.strip_prefix("gitdir:") {
                    let git = folder.join(path.trim_start().trim_end_matches(['\n', '\r']));
                    self.add(folder.to_owned(), git);
                }
            }
            Err(ReadError::NotAFile(FileKind::Folder)) => self.add(folder.to_owned(), own),
            Err(ReadError::Missing | ReadError::DanglingLink { .. }) => {}
            Err(error) => {
                let settings = Err(error.to_string());
                self.list.push(Repository { folder: folder.to_owned(), git: own, settings });
            }
        }
    }

    fn add(&mut self, folder: PathBuf, git: PathBuf) {
        if self.list.iter().any(|known| known.folder == folder) {
            return;
        }
        if self.list.len() == MOST_REPOSITORIES {
            self.is_cut = true;
            return;
        }
        let common = match read_regular(&git.join("commondir"), MOST_BYTES) {
            Ok(bytes) => git.join(String::from_utf8_lossy(&bytes).trim_end()),
            // A repository of its own.
            Err(_) => git.clone(),
        };
        let mut settings = Vec::new();
        let mut n_left = MOST_INCLUDED;
        // Of a linked worktree as well as of its main one.
        let mut files =
            vec![common.join("config"), git.join("config.worktree"), common.join("config.worktree")];
        files.dedup();
        let read = files.iter().try_for_each(|path| read(&mut settings, path, &mut n_left));
        self.list.push(Repository { folder, git: common, settings: read.map(|()| settings) });
    }
}

/// Reads a file and everything that it includes, whatever the condition is.
pub(super) fn read(settings: &mut Vec<Setting>, path: &Path, n_left: &mut usize) -> Result<(), String> {
    if *n_left == 0 {
        return Err("it includes too many files".to_owned());
    }
    *n_left -= 1;
    let bytes = match read_regular(path, MOST_BYTES) {
        Ok(bytes) => bytes,
        Err(ReadError::Missing | ReadError::DanglingLink { .. }) => return Ok(()),
        Err(error) => return Err(format!("{}: {error}", path.display())),
    };
    for setting in file::parse(&bytes).map_err(|error| format!("{}: {error}", path.display()))? {
        match setting.kind() {
            ("include" | "includeif", "path") => {
                let included = included(path, &setting.value)?;
                read(settings, &included, n_left)?;
            }
            _ => settings.push(setting),
        }
    }
    Ok(())
}

/// The file that a setting includes.
fn included(from: &Path, value: &str) -> Result<PathBuf, String> {
    if let Some(rest) = value.strip_prefix("~/") {
        return dirs::home_dir()
            .map(|home| home.join(rest))
            .ok_or_else(|| "there is no home folder".to_owned());
    }
    if value.starts_with(['~', '%']) {
        return Err(format!("it includes {value}"));
    }
    Ok(from.parent().unwrap_or(Path::new("/")).join(value))
}
