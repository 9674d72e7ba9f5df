//! The check of a folder before it is opened as a project.

use super::ProjectStore;
use crate::api::{CommandError, ErrorCode};
use crate::disk::{self, FileKind};
use std::io;
use std::path::{Path, PathBuf};

/// Why a folder cannot be opened as a project.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum FolderProblem {
    #[error("the folder {} does not exist", .0.display())]
    Missing(PathBuf),
    /// A sandbox has some folders of the computer, or another in the place of one.
    #[error("the folder {} does not exist, or Flatpak does not show it to Deskbell", .0.display())]
    NotInSandbox(PathBuf),
    #[error("{} is {kind}, not a folder", path.display())]
    NotAFolder { path: PathBuf, kind: FileKind },
    #[error("the name of the folder {} is not valid Unicode; rename it to open it", .0.display())]
    NotUnicode(PathBuf),
    #[error("the folder {} cannot be read: {problem}", path.display())]
    Unreadable { path: PathBuf, problem: String },
}

impl From<FolderProblem> for CommandError {
    fn from(problem: FolderProblem) -> Self {
        let text = problem.to_string();
        let mut characters = text.chars();
        let first = characters.next().into_iter().flat_map(char::to_uppercase);
        Self {
            code: ErrorCode::BadProject,
            message: first.chain(characters).chain(['.']).collect(),
            detail: None,
        }
    }
}

impl ProjectStore {
    /// Checks that a folder can be opened as a project, and returns its absolute path with all links resolved, so that each
    /// project has one name. Accesses the disk: call it through `disk::run`.
    pub fn check_folder(path: &Path) -> Result<PathBuf, FolderProblem> {
        let unreadable = |error: io::Error| FolderProblem::Unreadable {
            path: path.to_owned(),
            problem: error.to_string(),
        };
        let missing = || match Self::is_in_sandbox() {
            true => FolderProblem::NotInSandbox(path.to_owned()),
            false => FolderProblem::Missing(path.to_owned()),
        };
        let real = dunce::canonicalize(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => missing(),
            // A part of the path before the last one is a file.
            io::ErrorKind::NotADirectory => missing(),
            _ => unreadable(error),
        })?;
        match disk::kind(&real) {
            Ok(FileKind::Folder) => {}
            Ok(kind) => return Err(FolderProblem::NotAFolder { path: path.to_owned(), kind }),
            Err(error) if error.is_missing() => return Err(missing()),
            Err(error) => return Err(unreadable(error.into())),
        }
        // The saved files name the folder in JSON, which is Unicode.
        if real.to_str().is_none() {
            return Err(FolderProblem::NotUnicode(real));
        }
        disk::list(&real, 1).map_err(unreadable)?;
        Ok(real)
    }

    /// Whether this process is in a sandbox of Flatpak, which has a file of this name in each (1.14.10).
    pub fn is_in_sandbox() -> bool {
        Path::new("/.flatpak-info").exists()
    }

    /// Whether a folder is the user's home folder or contains it. Such a folder is never opened by accident.
    pub fn contains_home(folder: &Path, home: Option<&Path>) -> bool {
        folder.parent().is_none() || home.is_some_and(|home| home.starts_with(folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traps::{Trap, in_time};
    use std::fs;

    #[test]
    fn a_folder_is_checked_before_it_is_opened() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir(root.join("project")).unwrap();
        assert_eq!(ProjectStore::check_folder(&root.join("project/../project")), Ok(root.join("project")));

        let gone = root.join("gone");
        assert_eq!(ProjectStore::check_folder(&gone), Err(FolderProblem::Missing(gone.clone())));
        fs::write(root.join("file"), "").unwrap();
        let file = FolderProblem::NotAFolder { path: root.join("file"), kind: FileKind::Regular };
        assert_eq!(ProjectStore::check_folder(&root.join("file")), Err(file));
        assert_eq!(
            ProjectStore::check_folder(&root.join("file/inside")),
            Err(FolderProblem::Missing(root.join("file/inside")))
        );
        let error = CommandError::from(FolderProblem::Missing("/x".into()));
        assert_eq!(error.message, "The folder /x does not exist.");
        let hidden = FolderProblem::NotInSandbox("/x".into()).to_string();
        assert_eq!(hidden, "the folder /x does not exist, or Flatpak does not show it to Deskbell");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_folder_cannot_hold_the_check_up() {
        use std::os::unix::ffi::OsStrExt;
        use std::os::unix::fs::{PermissionsExt, symlink};

        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let problem = |name: &'static str| {
            let path = root.join(name);
            in_time(name, move || ProjectStore::check_folder(&path)).unwrap_err().to_string()
        };
        Trap::Pipe.put_at(&root.join("pipe"));
        assert!(problem("pipe").ends_with("pipe is a named pipe, not a folder"));
        Trap::Device.put_at(&root.join("device"));
        assert!(problem("device").ends_with("is a device, not a folder"));
        symlink("loop", root.join("loop")).unwrap();
        assert!(problem("loop").contains("symbolic links"), "{}", problem("loop"));
        symlink("nowhere", root.join("dangling")).unwrap();
        assert!(problem("dangling").ends_with("dangling does not exist"));

        let odd = root.join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
        fs::create_dir(&odd).unwrap();
        assert_eq!(ProjectStore::check_folder(&odd), Err(FolderProblem::NotUnicode(odd.clone())));

        let closed = root.join("closed");
        fs::create_dir(&closed).unwrap();
        fs::set_permissions(&closed, PermissionsExt::from_mode(0o000)).unwrap();
        // SAFETY: geteuid cannot fail.
        if unsafe { libc::geteuid() } == 0 {
            eprintln!("skipped: a folder that may not be read, because root may read every folder");
        } else {
            assert!(problem("closed").contains("cannot be read: Permission denied"));
        }
    }

    #[test]
    fn the_home_folder_and_what_contains_it_are_known() {
        let home = Some(Path::new("/home/ada"));
        for folder in ["/", "/home", "/home/ada"] {
            assert!(ProjectStore::contains_home(Path::new(folder), home), "{folder}");
        }
        for folder in ["/home/ada/ledger", "/home/adam", "/srv"] {
            assert!(!ProjectStore::contains_home(Path::new(folder), home), "{folder}");
        }
        assert!(ProjectStore::contains_home(Path::new("/"), None));
    }
}
