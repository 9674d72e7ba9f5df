//! Files of the working tree, read without following a link and without waiting for a pipe.

use super::listing::{EXECUTABLE, GitPath, LINK, SUBMODULE, Seen};
use crate::disk::{ReadError, read_regular};
use std::fs::{self, Metadata};
use std::path::{Component, Path, PathBuf};

/// A file of the working tree, without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Missing,
    File {
        size: u64,
        is_executable: bool,
        seen: Seen,
    },
    Link,
    Folder,
    /// A named pipe, a socket or a device.
    Special,
}

/// Its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Bytes(Vec<u8>),
    Large,
    Unreadable,
}

/// Finds files below one folder. A path that leads through a link is missing, as it is for git.
pub(super) struct Finder<'a> {
    root: &'a Path,
    /// The folder of the last file, and whether it is below the root without a link.
    last: Option<(PathBuf, bool)>,
}

impl<'a> Finder<'a> {
    pub fn new(root: &'a Path) -> Self {
        Self { root, last: None }
    }

    pub fn find(&mut self, path: &[u8]) -> Work {
        let Some(full) = self.full(path) else { return Work::Missing };
        match fs::symlink_metadata(&full) {
            Ok(found) => work(&found),
            Err(_) => Work::Missing,
        }
    }

    /// The whole path, if no folder of it is a link.
    pub fn full(&mut self, path: &[u8]) -> Option<PathBuf> {
        let inside = inside(path)?;
        let folder = inside.parent().unwrap_or(Path::new(""));
        let is_plain = match &self.last {
            Some((last, is_plain)) if last == folder => *is_plain,
            _ => {
                let is_plain = folder
                    .ancestors()
                    .filter(|part| !part.as_os_str().is_empty())
                    .all(|part| fs::symlink_metadata(self.root.join(part)).is_ok_and(|found| found.is_dir()));
                self.last = Some((folder.to_owned(), is_plain));
                is_plain
            }
        };
        is_plain.then(|| self.root.join(inside))
    }

    /// The folder of a repository inside the project.
    pub fn repository(&mut self, path: &[u8]) -> Option<PathBuf> {
        let folder = self.full(path)?;
        fs::symlink_metadata(folder.join(".git")).is_ok().then_some(folder)
    }

    pub fn read(&mut self, path: &[u8], work: &Work, limit: u64) -> Content {
        let Some(full) = self.full(path) else { return Content::Unreadable };
        match work {
            Work::File { .. } => match read_regular(&full, limit) {
                Ok(bytes) => Content::Bytes(bytes),
                Err(ReadError::TooLarge { .. }) => Content::Large,
                Err(_) => Content::Unreadable,
            },
            Work::Link => {
                fs::read_link(&full).map_or(Content::Unreadable, |target| Content::Bytes(to_git(&target)))
            }
            Work::Missing | Work::Folder | Work::Special => Content::Unreadable,
        }
    }
}

impl Work {
    /// The mode that git would give it.
    pub fn mode(&self) -> Option<u32> {
        match self {
            Self::File { is_executable: true, .. } => Some(EXECUTABLE),
            Self::File { .. } => Some(0o100_644),
            Self::Link => Some(LINK),
            Self::Folder => Some(SUBMODULE),
            Self::Missing | Self::Special => None,
        }
    }
}

/// A relative path of plain names, none of them git's own folder.
pub(super) fn inside(path: &[u8]) -> Option<PathBuf> {
    let path = from_git(path)?;
    let is_plain = path.components().all(|part| match part {
        Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
        _ => false,
    });
    (is_plain && !path.as_os_str().is_empty()).then_some(path)
}

/// A path as it is shown.
pub(super) fn shown(path: &[u8]) -> String {
    path.utf8_chunks()
        .flat_map(|chunk| {
            let escaped: String = chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")).collect();
            [chunk.valid().to_owned(), escaped]
        })
        .collect()
}

#[cfg(unix)]
fn from_git(path: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(path)))
}

#[cfg(not(unix))]
fn from_git(path: &[u8]) -> Option<PathBuf> {
    // A backslash in one of git's names would be a separator here.
    let text = std::str::from_utf8(path).ok().filter(|text| !text.contains('\\'))?;
    Some(PathBuf::from(text))
}

#[cfg(unix)]
fn to_git(target: &Path) -> GitPath {
    use std::os::unix::ffi::OsStrExt;
    target.as_os_str().as_bytes().to_vec()
}

#[cfg(not(unix))]
fn to_git(target: &Path) -> GitPath {
    target.to_string_lossy().replace('\\', "/").into_bytes()
}

fn work(found: &Metadata) -> Work {
    let kind = found.file_type();
    if kind.is_symlink() {
        Work::Link
    } else if kind.is_dir() {
        Work::Folder
    } else if kind.is_file() {
        Work::File { size: found.len(), is_executable: is_executable(found), seen: seen(found) }
    } else {
        Work::Special
    }
}

#[cfg(unix)]
fn is_executable(found: &Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    false
}

/// When a file was last written; zero if there is none.
pub(super) fn modified(path: &Path) -> (u64, u32) {
    fs::metadata(path).map(|found| seen(&found).modified).unwrap_or_default()
}

/// Whether a path is a program that can be started.
pub(super) fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && (cfg!(windows) || is_executable(&found)))
}

/// Git keeps 32 bits of each.
#[cfg(unix)]
fn seen(found: &Metadata) -> Seen {
    use std::os::unix::fs::MetadataExt;
    let time = |seconds: i64, nanoseconds: i64| (u64::from(seconds as u32), nanoseconds as u32);
    Seen {
        changed: time(found.ctime(), found.ctime_nsec()),
        modified: time(found.mtime(), found.mtime_nsec()),
        inode: found.ino() as u32,
        size: found.size() as u32,
    }
}

#[cfg(not(unix))]
fn seen(found: &Metadata) -> Seen {
    let modified = found.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let modified = modified.map_or((0, 0), |time| (u64::from(time.as_secs() as u32), time.subsec_nanos()));
    Seen { modified, size: found.len() as u32, ..Seen::default() }
}

/// A text, if the content is one. Bytes that are not UTF-8 are read as Latin-1 in both versions, so that no difference
/// is lost.
pub(super) fn texts(old: &[u8], new: &[u8]) -> Option<(String, String)> {
    // Git's own rule.
    let is_binary = |bytes: &[u8]| bytes[..bytes.len().min(8_000)].contains(&0);
    if is_binary(old) || is_binary(new) {
        return None;
    }
    match (std::str::from_utf8(old), std::str::from_utf8(new)) {
        (Ok(old), Ok(new)) => Some((old.to_owned(), new.to_owned())),
        _ => {
            let latin = |bytes: &[u8]| bytes.iter().map(|byte| char::from(*byte)).collect();
            Some((latin(old), latin(new)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_paths_are_inside() {
        for path in ["", "/etc/passwd", "../x", "a/../../x", ".git/config", "a/.GIT/hooks/x", "./../x"] {
            assert_eq!(inside(path.as_bytes()), None, "{path}");
        }
        assert_eq!(inside(b"a/b c\n").unwrap(), Path::new("a/b c\n"));
        assert_eq!(shown(b"a\xff\n\xc3\xbc"), "a\\xff\n\u{fc}");
    }

    #[cfg(unix)]
    #[test]
    fn a_path_through_a_link_is_missing() {
        let root = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("out")).unwrap();
        let mut finder = Finder::new(root.path());
        assert_eq!(finder.find(b"out/secret"), Work::Missing);
        assert_eq!(finder.find(b"out"), Work::Link);
    }

    #[test]
    fn bytes_that_are_no_text_keep_their_difference() {
        let (old, new) = texts(b"a\xff\n", b"a\xfe\n").unwrap();
        assert_ne!(old, new);
        assert_eq!(texts(b"a\0", b"a"), None);
    }
}
