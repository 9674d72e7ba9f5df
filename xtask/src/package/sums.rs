//! SHA256SUMS: the checksums of everything that a release consists of.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;
use crate::command::{find, read};

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

/// The checksum, by the tool that the system has.
pub fn sum(file: &Path) -> Outcome<String> {
    let mut command = if cfg!(windows) {
        let mut certutil = Command::new("certutil");
        certutil.arg("-hashfile").arg(file).arg("SHA256");
        certutil
    } else if find("sha256sum").is_some() {
        let mut sum = Command::new("sha256sum");
        sum.arg(file);
        sum
    } else {
        let mut sum = Command::new("shasum");
        sum.args(["-a", "256"]).arg(file);
        sum
    };
    let output = read(&mut command)?;
    let is_sum = |word: &&str| word.len() == 64 && word.chars().all(|c| c.is_ascii_hexdigit());
    let found = output.split_whitespace().find(is_sum);
    found.map(str::to_owned).ok_or_else(|| format!("no checksum in: {output}"))
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
