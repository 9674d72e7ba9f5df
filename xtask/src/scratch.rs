//! A temporary folder that is removed with its owner.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Outcome;
use tempfile::TempDir;

/// A private folder under the system's temporary one: short enough for the path of a socket.
pub struct Scratch(TempDir);

impl Scratch {
    /// Makes the folder, for this user alone.
    pub fn new() -> Outcome<Self> {
        let made = tempfile::Builder::new().prefix("deskbell-").tempdir();
        made.map(Self).map_err(|error| format!("could not make a temporary folder: {error}"))
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// A folder inside it, made if it does not exist, for this user alone, as `XDG_RUNTIME_DIR` has to be.
    pub fn folder(&self, name: &str) -> Outcome<PathBuf> {
        let path = self.path().join(name);
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path).map_err(|error| format!("could not make {}: {error}", path.display()))?;
        Ok(path)
    }
}
