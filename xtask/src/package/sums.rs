//! SHA256SUMS: the checksums of everything that a release consists of.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::Outcome;
use sha2::{Digest, Sha256};

/// The name of the file.
const NAME: &str = "SHA256SUMS";

/// Writes the checksums of these files, by their bare names, as they are downloaded.
pub fn write(folder: &Path, files: &[PathBuf]) -> Outcome {
    let mut lines: Vec<String> = Vec::new();
    // The .app of macOS is a folder; its .dmg has a checksum.
    for file in files.iter().filter(|file| file.is_file()) {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        lines.push(format!("{}  {name}", sum(file)?));
    }
    lines.sort_by(|a, b| {
        a.split_once("  ").map(|(_, name)| name).cmp(&b.split_once("  ").map(|(_, name)| name))
    });
    let sums = folder.join(NAME);
    fs::write(&sums, format!("{}\n", lines.join("\n")))
        .map_err(|error| format!("could not write {}: {error}", sums.display()))?;
    println!("  {}", sums.display());
    Ok(())
}

/// The SHA-256 of a file, in hexadecimal digits.
pub fn sum(path: &Path) -> Outcome<String> {
    let error = |error: io::Error| format!("could not read {}: {error}", path.display());
    let mut hash = Sha256::new();
    io::copy(&mut File::open(path).map_err(error)?, &mut hash).map_err(error)?;
    Ok(format!("{:x}", hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_is_named_with_its_checksum() {
        let folder = crate::scratch::Scratch::new().unwrap();
        let files = ["b", "a"].map(|name| folder.path().join(name));
        files.iter().for_each(|file| fs::write(file, "").unwrap());
        write(folder.path(), &files).unwrap();
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let text = fs::read_to_string(folder.path().join(NAME)).unwrap();
        assert_eq!(text, format!("{empty}  a\n{empty}  b\n"));
    }
}
