//! The `ar` archive that a .deb is, and its compression: dpkg reads every filter of xz, and writes none for machine code.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::profile::Profile;
use crate::Outcome;
use crate::command::run;
use crate::scratch::Scratch;

/// The beginning of an archive.
const MAGIC: &[u8] = b"!<arch>\n";
/// The length of a member's header.
const HEADER: usize = 60;

/// Compresses the two archives in a .deb that has them as they are.
pub fn compress(package: &Path, profile: Profile, seconds: u64) -> Outcome {
    let error = |error: std::io::Error| format!("could not compress {}: {error}", package.display());
    let scratch = Scratch::new()?;
    let mut compressed = Vec::new();
    for (name, bytes) in members(&fs::read(package).map_err(error)?)? {
        if !name.ends_with(".tar") {
            compressed.push((name, bytes));
            continue;
        }
        let file = scratch.path().join(&name);
        fs::write(&file, bytes).map_err(error)?;
        let mut xz = Command::new("xz");
        // One thread: the number of blocks, and so the bytes, would depend on the machine.
        xz.args(["--threads=1", "--check=crc64"]);
        // Addresses of calls become equal where they lead to the same place. It is 2 % of the package.
        if cfg!(target_arch = "x86_64") {
            xz.arg("--x86");
        }
        run(xz.arg(profile.xz()).arg(&file))?;
        let name = format!("{name}.xz");
        compressed.push((name.clone(), fs::read(scratch.path().join(&name)).map_err(error)?));
    }
    fs::write(package, archive(&compressed, seconds)).map_err(error)
}

/// The members of an archive, in order.
fn members(archive: &[u8]) -> Outcome<Vec<(String, Vec<u8>)>> {
    let mut rest = archive.strip_prefix(MAGIC).ok_or("not an archive")?;
    let mut found = Vec::new();
    while rest.len() > HEADER {
        let (header, after) = rest.split_at(HEADER);
        let field = |from, to| String::from_utf8_lossy(&header[from..to]).trim_end().to_owned();
        let size: usize = field(48, 58).parse().map_err(|_| "a member of the archive has no size")?;
        let bytes = after.get(..size).ok_or("the archive is cut off")?;
        found.push((field(0, 16).trim_end_matches('/').to_owned(), bytes.to_owned()));
        // Members begin at even places.
        rest = after.get(size + size % 2..).unwrap_or_default();
    }
    Ok(found)
}

fn archive(members: &[(String, Vec<u8>)], seconds: u64) -> Vec<u8> {
    let mut archive = MAGIC.to_owned();
    for (name, bytes) in members {
        let header = format!("{name:<16}{seconds:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, "100644", bytes.len());
        archive.extend(header.bytes());
        archive.extend(bytes);
        if bytes.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_has_what_was_put_in() {
        let put =
            vec![("debian-binary".to_owned(), b"2.0\n".to_vec()), ("odd.tar".to_owned(), b"abc".to_vec())];
        let archive = archive(&put, 1_700_000_000);
        assert_eq!(members(&archive), Ok(put));
        assert_eq!(archive.len() % 2, 0);
        assert!(members(&archive[..archive.len() - 3]).is_err());
        assert!(members(b"#!/bin/sh").is_err());
    }
}
