//! Which files the CLI reads for a folder, and how they are read: never waited on, never executed, links followed and
//! named.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A longer file is not read; the CLI passes over one of this length (2.1.329).
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// Git's own small files.
const MOST_GIT_BYTES: u64 = 64 * 1024;

/// What a file is to the CLI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Settings,
    Servers,
}

/// Where a file would lie.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub path: PathBuf,
    /// As people name it, from the project: `.claude/settings.json`, `../.mcp.json`.
    pub label: String,
    pub role: Role,
}

/// What lies there.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Bytes(Vec<u8>),
    /// A link without an end.
    LeadsNowhere {
        target: PathBuf,
    },
    /// Something that cannot be judged, and why.
    Unreadable(String),
}

/// A file that is there.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub place: Place,
    /// Where it really lies, if a link led there.
    pub link: Option<PathBuf>,
    pub content: Content,
}

/// Reads every file that the CLI would read for this folder, whose path has no links in it.
pub(super) fn read(project: &Path) -> Vec<Found> {
    places(project).into_iter().filter_map(look).collect()
}

/// The folder's own three files, and what else reaches into it.
fn places(project: &Path) -> Vec<Place> {
    let settings = |folder: &Path, label: &str, name: &str| Place {
        path: folder.join(".claude").join(name),
        label: format!("{label}.claude/{name}"),
        role: Role::Settings,
    };
    let servers = |folder: &Path, label: &str| Place {
        path: folder.join(".mcp.json"),
        label: format!("{label}.mcp.json"),
        role: Role::Servers,
    };
    let mut places = vec![
        settings(project, "", "settings.json"),
        settings(project, "", "settings.local.json"),
        servers(project, ""),
    ];
    // 2.1.329 starts the servers of every folder above as well, and reads the local settings of the repository's root,
    // which for a linked worktree is the main one's.
    for (n_up, folder) in project.ancestors().enumerate().skip(1) {
        places.push(servers(folder, &"../".repeat(n_up)));
    }
    let mut roots = Vec::new();
    if let Some((n_up, root)) =
        project.ancestors().enumerate().find(|(_, folder)| is_there(&folder.join(".git")))
    {
        roots.push((root.to_owned(), "../".repeat(n_up)));
        if let Some(main) = main_worktree(root) {
            let label = format!("{}/", main.display());
            roots.push((main, label));
        }
    }
    // There the CLI has no such file to read (2.1.329).
    let home = dirs::home_dir().and_then(|home| dunce::canonicalize(home).ok());
    for (root, label) in roots {
        if root != project && Some(&root) != home.as_ref() {
            places.push(settings(&root, &label, "settings.local.json"));
        }
    }
    places
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// The folder to which a linked worktree belongs.
fn main_worktree(worktree: &Path) -> Option<PathBuf> {
    let text = |path: &Path| {
        let bytes = read_file(path, MOST_GIT_BYTES).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim_end().to_owned())
    };
    let own = worktree.join(text(&worktree.join(".git"))?.strip_prefix("gitdir: ")?);
    let common = dunce::canonicalize(own.join(text(&own.join("commondir"))?)).ok()?;
    (common.file_name()? == ".git").then(|| common.parent().map(Path::to_owned))?
}

/// Looks at one place; `None` if nothing is there.
fn look(place: Place) -> Option<Found> {
    let real = dunce::canonicalize(&place.path);
    let link = real.as_ref().ok().filter(|real| **real != place.path).cloned();
    let content = match read_file(&place.path, MOST_BYTES) {
        Ok(bytes) => Content::Bytes(bytes),
        Err(Unread::Io(error)) if is_absence(&error) => {
            Content::LeadsNowhere { target: dead_link(&place.path)? }
        }
        Err(Unread::Io(error)) => Content::Unreadable(error.to_string()),
        Err(Unread::NoFile) => Content::Unreadable("it is no file".to_owned()),
        Err(Unread::TooLarge(size)) => Content::Unreadable(format!("it is too large: {size} bytes")),
    };
    Some(Found { place, link, content })
}

/// `NotADirectory`: `.claude` is a file, so nothing can be in it.
fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Where the file, or the folder it is in, points in vain.
fn dead_link(path: &Path) -> Option<PathBuf> {
    let links = [Some(path), path.parent()].into_iter().flatten().filter(|path| path.is_symlink());
    links.filter(|link| link.canonicalize().is_err()).find_map(|link| fs::read_link(link).ok())
}

/// Why a file was not read.
enum Unread {
    Io(io::Error),
    /// A folder, a pipe, a device.
    NoFile,
    TooLarge(u64),
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads a regular file up to a length. Its kind is known before it is opened, since opening a pipe or a device may wait
/// or have effects, and is looked at again after, since it may have been replaced in between.
fn read_file(path: &Path, most: u64) -> Result<Vec<u8>, Unread> {
    if !fs::metadata(path)?.is_file() {
        return Err(Unread::NoFile);
    }
    let file = open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(Unread::NoFile);
    }
    let mut bytes = Vec::new();
    if metadata.len() <= most {
        file.take(most + 1).read_to_end(&mut bytes)?;
    }
    let size = metadata.len().max(bytes.len() as u64);
    if size > most { Err(Unread::TooLarge(size)) } else { Ok(bytes) }
}

#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).open(path)
}
