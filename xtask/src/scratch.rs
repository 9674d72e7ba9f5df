//! A folder that is gone when its owner is.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

use crate::Outcome;

/// A private folder under the system's temporary one: short enough for the path of a socket.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes the folder, for this user alone.
    pub fn new() -> Outcome<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("deskbell-{}-{count}", process::id()));
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path).map_err(|error| format!("could not make {}: {error}", path.display()))?;
        Ok(Self(path))
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A folder inside it, made if it is not there, for this user alone.
    pub fn folder(&self, name: &str) -> Outcome<PathBuf> {
        let path = self.0.join(name);
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path).map_err(|error| format!("could not make {}: {error}", path.display()))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left in the temporary folder is the system's to clear.
        let _ = fs::remove_dir_all(&self.0);
    }
}
