//! The fingerprint of exactly the files that a survey judged: the path of each, the target of its link, every byte. A
//! missing file is not included, so a file that appears changes the fingerprint.

use super::agent_files::AgentFile;
use super::files::{Content, Found};
use crate::api::{Finding, FindingKind};
use deskbell_acp::folder::FolderEffect;
use sha2::{Digest, Sha256};
use std::path::Path;

/// SHA-256 as hex; `None` if a file could not be read.
pub(super) fn of(files: &[Found], beyond: &[Finding]) -> Option<String> {
    let mut hash = Sha256::new();
    hash.update(b"deskbell trust 1");
    for file in files {
        add(&mut hash, &file.place.path, file.link.as_deref(), &file.content)?;
    }
    add_beyond(&mut hash, beyond)?;
    Some(hex(&hash.finalize()))
}

/// The fingerprint of the files of an agent other than Claude Code. The agent is a part of it.
pub(super) fn of_agent(
    id: &str,
    claude: &[Found],
    files: &[AgentFile],
    beyond: &[Finding],
) -> Option<String> {
    let mut hash = Sha256::new();
    hash.update(b"deskbell trust of an agent 1");
    field(&mut hash, id.as_bytes());
    for file in claude {
        add(&mut hash, &file.place.path, file.link.as_deref(), &file.content)?;
    }
    for file in files {
        match (&file.effect, &file.content) {
            // That they are there counts, and their contents do not.
            (FolderEffect::Instructions, Content::Bytes(_)) => {
                add(&mut hash, &file.path, file.link.as_deref(), &Content::Bytes(Vec::new()))?;
            }
            (_, content) => add(&mut hash, &file.path, file.link.as_deref(), content)?,
        }
    }
    add_beyond(&mut hash, beyond)?;
    Some(hex(&hash.finalize()))
}

/// Adds what git's configuration can run, and the outside files that instructions import. The rest of both counts for
/// nothing: git writes into its configuration with every new branch.
fn add_beyond(hash: &mut Sha256, beyond: &[Finding]) -> Option<()> {
    for finding in beyond {
        if finding.kind == FindingKind::Unreadable {
            return None;
        }
        hash.update(b"G");
        for text in [&finding.file, &finding.title, &finding.text] {
            field(hash, text.as_bytes());
        }
        for detail in &finding.details {
            field(hash, detail.value.as_bytes());
        }
    }
    Some(())
}

/// Adds one file; `None` if it could not be read.
fn add(hash: &mut Sha256, of: &Path, link: Option<&Path>, content: &Content) -> Option<()> {
    field(hash, path(of));
    field(hash, link.map_or(b"", path));
    match content {
        Content::Bytes(bytes) => {
            hash.update(b"B");
            field(hash, bytes);
        }
        Content::LeadsNowhere { target } => {
            hash.update(b"L");
            field(hash, path(target));
        }
        Content::Unreadable(_) => return None,
    }
    Some(())
}

/// SHA-256 of a text, as hex: a file name for it.
pub(super) fn of_text(text: &str) -> String {
    hex(&Sha256::digest(text))
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
