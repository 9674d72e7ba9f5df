//! `latest.json`: the newest version, and its files. Its signature is checked before it is parsed.

use anyhow::{Context, bail, ensure};
use deskbell_server::version;
use minisign_verify::{PublicKey, Signature};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// The names of the list and of its signature.
pub const LIST: &str = "latest.json";
pub const SIGNATURE: &str = "latest.json.minisig";

/// Maximum size of both, in bytes.
pub const LONGEST_LIST: u64 = 64 << 10;

/// Maximum size of an AppImage, in bytes. It is held in memory until its checksum is right.
const LARGEST_FILE: u64 = 512 << 20;

/// Maximum length of a file name.
const LONGEST_NAME: usize = 200;

/// Unknown fields are for later versions.
#[derive(Debug, Deserialize)]
pub struct Latest {
    pub version: String,
    #[serde(default)]
    files: HashMap<String, LatestFile>,
}

/// A file that is next to the list.
#[derive(Clone, Debug, Deserialize)]
pub struct LatestFile {
    pub name: String,
    pub size: u64,
    sha256: String,
}

impl Latest {
    /// Checks the signature of the bytes, and parses them.
    pub fn verified(bytes: &[u8], signature: &[u8], key: &str) -> anyhow::Result<Self> {
        let key = PublicKey::from_base64(key).ok().context(
            "The key for updates in this build is no key of minisign, so no update can be checked.",
        )?;
        let is_signed = std::str::from_utf8(signature)
            .ok()
            .and_then(|text| Signature::decode(text).ok())
            // `false`: the older form of signatures, over the whole text instead of its hash, is not accepted.
            .is_some_and(|signature| key.verify(bytes, &signature, false).is_ok());
        ensure!(
            is_signed,
            "The list of the newest version is not signed with the key of this build, so nothing was installed."
        );
        let latest: Self = serde_json::from_slice(bytes)
            .context("The list of the newest version cannot be read, although its signature is right")?;
        ensure!(
            version::is_version(&latest.version),
            "The list of the newest version names no version, although its signature is right."
        );
        Ok(latest)
    }

    pub fn is_newer_than(&self, current: &str) -> bool {
        version::is_newer(&self.version, current)
    }

    /// The AppImage for this processor, if there is one.
    pub fn file(&self) -> anyhow::Result<Option<&LatestFile>> {
        let Some(file) = self.files.get(&kind()) else { return Ok(None) };
        ensure!(
            file.is_plain(),
            "The list of the newest version has a wrong entry for {}, so nothing was installed.",
            kind()
        );
        Ok(Some(file))
    }
}

/// The name of the AppImage for this processor in the list.
pub fn kind() -> String {
    format!("linux-{}.AppImage", std::env::consts::ARCH)
}

impl LatestFile {
    /// Whether the entry can be used. The signature says who wrote it, not that it has no mistake.
    fn is_plain(&self) -> bool {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        (1..=LONGEST_NAME).contains(&self.name.len())
            && self.name.bytes().all(is_plain)
            && self.name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && (1..=LARGEST_FILE).contains(&self.size)
            && self.sha256.len() == 64
            && self.sha256.bytes().all(|byte| byte.is_ascii_hexdigit())
    }

    /// Fails unless these are the bytes of the file.
    pub fn check(&self, bytes: &[u8]) -> anyhow::Result<()> {
        if bytes.len() as u64 != self.size {
            bail!(
                "{} has {} bytes instead of {}, so nothing was installed.",
                self.name,
                bytes.len(),
                self.size
            );
        }
        let sum: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        ensure!(
            sum.eq_ignore_ascii_case(&self.sha256),
            "{} has another checksum than the signed list says, so nothing was installed.",
            self.name
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_with_a_hostile_name_or_size_is_refused() {
        let good =
            LatestFile { name: "deskbell-0.2.0-x86_64.AppImage".into(), size: 1, sha256: "a".repeat(64) };
        assert!(good.is_plain());
        let long = "a".repeat(LONGEST_NAME + 1);
        for name in
            ["", ".", "..", "../x", "a/b", "/x", "a\nb", "a b", "-o", ".x", "a?b", "a%2fb", "é", &long]
        {
            assert!(!LatestFile { name: name.to_owned(), ..good.clone() }.is_plain(), "{name:?}");
        }
        for size in [0, LARGEST_FILE + 1, u64::MAX] {
            assert!(!LatestFile { size, ..good.clone() }.is_plain(), "{size}");
        }
        for sha256 in ["", "a", &"g".repeat(64), &"a".repeat(65)] {
            assert!(!LatestFile { sha256: sha256.to_owned(), ..good.clone() }.is_plain(), "{sha256}");
        }
    }
}
