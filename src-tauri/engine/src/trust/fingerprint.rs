//! The fingerprint of exactly the files that a survey judged: the path of each, the target of its link, every byte. A
//! missing file is not included, so a file that appears changes the fingerprint.

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

/// SHA-256 of a path, as hex: a file name for any path.
pub(super) fn of_path(of: &Path) -> String {
    hex(&Sha256::digest(path(of)))
}

fn path(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// The length comes first, so that the end of a field is unambiguous.
fn field(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
