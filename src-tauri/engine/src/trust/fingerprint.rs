//! One value for exactly the files that a survey judged: where each lies, where its link leads, every byte. A file that
//! is not there is not in it, so one that appears changes it.

use super::files::{Content, Found};
use sha2::{Digest, Sha256};
use std::path::Path;

/// SHA-256 as hex; `None` if a file could not be read.
pub(super) fn of(files: &[Found]) -> Option<String> {
    let mut hash = Sha256::new();
    hash.update(b"deskbell trust 1");
    for file in files {
        field(&mut hash, path(&file.place.path));
        field(&mut hash, file.link.as_deref().map_or(b"", path));
        match &file.content {
            Content::Bytes(bytes) => {
                hash.update(b"B");
                field(&mut hash, bytes);
            }
            Content::LeadsNowhere { target } => {
                hash.update(b"L");
                field(&mut hash, path(target));
            }
            Content::Unreadable(_) => return None,
        }
    }
    Some(hex(&hash.finalize()))
}

/// SHA-256 of a path, as hex: a file name that any path has.
pub(super) fn of_path(of: &Path) -> String {
    hex(&Sha256::digest(path(of)))
}

fn path(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// The length goes first: where a field ends cannot be mistaken.
fn field(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
