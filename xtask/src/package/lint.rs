//! Checks of the built packages that need no installation.

use std::fs;
use std::path::Path;

use super::{Source, deb, rpm, symbols_folder};
use crate::Outcome;
use crate::command::{command, read, run};
use crate::project::APP;
use crate::scratch::Scratch;

/// The most that the .deb may have, in bytes.
const DEB_LIMIT: u64 = 9_000_000;

/// Checks the .deb by Debian's own rules.
pub fn deb(package: &Path) -> Outcome {
    run(command("lintian")
        .args(["--fail-on", "error", "--allow-root", "--tag-display-limit", "0"])
        .arg(package))?;
    let control = read(command("dpkg-deb").arg("--field").arg(package).arg("Depends"))?;
    for library in ["libc6 (>= ", "libgtk-3-0 (>= ", "libwebkit2gtk-4.1-0 (>= "] {
        if !control.contains(library) {
            return Err(format!("{} does not depend on {library}…): {control}", package.display()));
        }
    }
    let bytes = fs::metadata(package).map_or(0, |metadata| metadata.len());
    if bytes > DEB_LIMIT {
        return Err(format!("{} has {bytes} bytes, more than {DEB_LIMIT}", package.display()));
    }
    Ok(())
}

/// Assembles both packages again from the same binary, and compares every byte.
pub fn reproducible(packages: [&Path; 2]) -> Outcome {
    let source = Source::read()?;
    let scratch = Scratch::new()?;
    let binary = symbols_folder().join(APP);
    let again =
        [deb::build(&source, &binary, scratch.path())?, rpm::build(&source, &binary, scratch.path())?];
    for (first, second) in packages.iter().zip(&again) {
        let bytes = |path: &Path| {
            fs::read(path).map_err(|error| format!("could not read {}: {error}", path.display()))
        };
        if bytes(first)? != bytes(second)? {
            return Err(format!("{} differs when it is assembled again", first.display()));
        }
    }
    println!("Assembled again, both packages are equal to the byte");
    Ok(())
}
