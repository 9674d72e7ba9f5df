//! Setting aside Deskbell's own unreadable files: they are renamed, never overwritten and never removed.

use super::read::{ReadError, read_regular};
use serde::de::DeserializeOwned;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Maximum number of names tried for one file.
const NAMES: u32 = 1_000;

/// Something unreadable, found in place of one of Deskbell's own files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    pub path: PathBuf,
    /// Why it could not be read.
    pub problem: String,
    /// The new path, or the error if it could not be moved and still has its old path.
    pub moved_to: Result<PathBuf, String>,
}

/// Result of loading one of Deskbell's own files.
#[derive(Debug)]
pub enum Loaded<T> {
    Missing,
    Read(T),
    Unreadable(SetAside),
}

/// Reads one of Deskbell's own JSON files. Anything unreadable at the path is set aside, so that the next write
/// destroys nothing.
pub fn load_json<T: DeserializeOwned>(path: &Path, limit: u64) -> Loaded<T> {
    let problem = match read_regular(path, limit) {
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(value) => return Loaded::Read(value),
            Err(error) => error.to_string(),
        },
        Err(ReadError::Missing) => return Loaded::Missing,
        Err(error) => error.to_string(),
    };
    let moved_to = set_aside(path).map_err(|error| error.to_string());
    tracing::error!(path = %path.display(), problem, ?moved_to, "could not read one of Deskbell's own files");
    Loaded::Unreadable(SetAside { path: path.to_owned(), problem, moved_to })
}

/// Creates one of Deskbell's own folders, for its owner only. Anything else at the path is set aside.
pub fn own_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let made = builder.create(path);
    // A link to a folder counts as a folder; a dangling link does not, and is set aside.
    let is_in_the_way = made.is_err() && fs::symlink_metadata(path).is_ok() && !path.is_dir();
    if !is_in_the_way {
        return made;
    }
    let moved_to = set_aside(path)?;
    tracing::error!(path = %path.display(), moved_to = %moved_to.display(), "set aside a file in place of a folder");
    builder.create(path)
}

/// Renames whatever is at the path, file or not, to an unused name.
pub fn set_aside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| io::Error::other("the path has no name"))?;
    for nr in 1..=NAMES {
        let mut aside = name.to_owned();
        aside.push(if nr == 1 { ".unreadable".to_owned() } else { format!(".unreadable-{nr}") });
        let aside = path.with_file_name(aside);
        match fs::symlink_metadata(&aside) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return fs::rename(path, &aside).map(|()| aside);
            }
            Err(error) => return Err(error),
            Ok(_) => {}
        }
    }
    Err(io::Error::other("too many files were set aside here"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traps::{all, in_time};

    #[test]
    fn whatever_is_in_place_of_a_file_is_set_aside_and_nothing_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        fs::write(folder.path().join("a.json.unreadable"), "of an earlier time").unwrap();
        for (nr, trap) in (2..).zip(all()) {
            trap.put_at(&path);
            let here = path.clone();
            let loaded = in_time(&format!("{trap:?}"), move || load_json::<Vec<u8>>(&here, 1 << 20));
            let Loaded::Unreadable(aside) = loaded else { panic!("{trap:?} was read: {loaded:?}") };
            assert_eq!(aside.moved_to, Ok(folder.path().join(format!("a.json.unreadable-{nr}"))), "{trap:?}");
            assert!(fs::symlink_metadata(&path).is_err(), "{trap:?} is still there");
            assert!(trap.is_at(&aside.moved_to.unwrap()), "{trap:?} is lost");
        }
        fs::write(&path, "torn {").unwrap();
        assert!(matches!(load_json::<Vec<u8>>(&path, 1 << 20), Loaded::Unreadable(_)));
        assert!(matches!(load_json::<Vec<u8>>(&path, 1 << 20), Loaded::Missing));
        fs::write(&path, "[1]").unwrap();
        assert!(matches!(load_json::<Vec<u8>>(&path, 1 << 20), Loaded::Read(bytes) if bytes == [1]));
        assert_eq!(
            fs::read_to_string(folder.path().join("a.json.unreadable")).unwrap(),
            "of an earlier time"
        );
    }
}
