//! The cache of summaries, one file for each project. It may be deleted at any time.

use super::files::Place;
use super::summary::Summary;
use crate::disk::read_regular;
use crate::disk::write_atomically;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

/// Changes when a summary is made differently: caches of other versions are ignored.
const VERSION: u32 = 5;

/// Maximum size of a cache file: some 500 bytes a session.
const MOST_BYTES: u64 = 128 * 1024 * 1024;

/// A file's summary, valid for exactly this size and time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Known {
    pub size: u64,
    pub modified: u64,
    pub summary: Summary,
}

#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    folder: PathBuf,
    sessions: HashMap<String, Known>,
}

/// The path of a project's cache.
pub(super) fn path(caches: &Path, place: &Place) -> PathBuf {
    let hash = Sha256::digest(place.folder.as_os_str().as_encoded_bytes());
    let name: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    caches.join(format!("{name}.json"))
}

/// Reads a cache. One that cannot be read is empty.
pub(super) fn load(path: &Path, place: &Place) -> HashMap<String, Known> {
    let read = read_regular(path, MOST_BYTES).ok();
    let file = read.and_then(|bytes| serde_json::from_slice::<File>(&bytes).ok());
    let fits = |file: &File| file.version == VERSION && file.folder == place.folder;
    file.filter(fits).map(|file| file.sessions).unwrap_or_default()
}

pub(super) fn save(path: &Path, place: &Place, sessions: HashMap<String, Known>) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        crate::disk::own_folder(folder)?;
    }
    let file = File { version: VERSION, folder: place.folder.clone(), sessions };
    write_atomically(path, &serde_json::to_vec(&file)?)
}
