//! A temporary folder that is removed with its owner.

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{env, fs, process};

use crate::Outcome;

/// A private folder under the system's temporary one: short enough for the path of a socket.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes the folder, for this user alone.
    pub fn new() -> Outcome<Self> {
        // The time as well: a killed run leaves its folder, and its pid is reused.
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let path = env::temp_dir().join(format!("deskbell-{}-{:x}", process::id(), now.as_nanos()));
        make(&path, false)?;
        Ok(Self(path))
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A folder inside it, made if it does not exist, for this user alone.
    pub fn folder(&self, name: &str) -> Outcome<PathBuf> {
        let path = self.0.join(name);
        make(&path, true)?;
        Ok(path)
    }
}

/// Makes a folder for this user alone; with `recursive` it may exist already.
fn make(path: &Path, recursive: bool) -> Outcome {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(recursive);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| format!("could not make {}: {error}", path.display()))
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The system clears leftovers in the temporary folder.
        let _ = fs::remove_dir_all(&self.0);
    }
}
