//! The identity of a folder on its disk. A renamed folder keeps it, so Deskbell finds the folder's sessions again.

use file_id::FileId;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::UNIX_EPOCH;

/// A folder's number on its disk, with its creation time: a disk gives the number of a removed folder to a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FolderIdentity {
    id: FileId,
    /// Nanoseconds since 1970.
    created_ns: u64,
}

impl FolderIdentity {
    /// The identity of the folder at this path; `None` if there is no folder, or if its disk keeps no creation times.
    pub fn of(folder: &Path) -> Option<Self> {
        let metadata = folder.metadata().ok().filter(std::fs::Metadata::is_dir)?;
        let created_at = metadata.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let id = file_id::get_file_id(folder).ok()?;
        Some(Self { id, created_ns: created_at.as_nanos().try_into().ok()? })
    }
}
