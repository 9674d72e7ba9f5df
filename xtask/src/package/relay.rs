//! The program without windows, for other machines: one file that needs no library there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::copyright::{Licences, copyright};
use super::{Source, folder, sums};
use crate::command::{cargo, read, run};
use crate::scratch::Scratch;
use crate::{Outcome, project, system};

/// Its name, also that of its crate's binary.
const PROGRAM: &str = "deskbell-relay";

/// The largest size of the program, in bytes: it goes over a connection.
const MAX_BYTES: u64 = 32 << 20;

/// The licence of the C library, which is linked into the program.
const C_LIBRARY: &str = "\
deskbell-relay contains the GNU C Library, linked statically, which is under the GNU Lesser General Public License,
version 2.1 or later. Its text is in LGPL-2.1. Deskbell's source and `cargo xtask package relay` link the program again with
another version of the library.
";

/// Builds the program for Linux and this processor, and writes it to a tarball with its licences.
pub fn build() -> Outcome {
    if !cfg!(target_os = "linux") {
        return Err("the program for other machines is built on Linux".to_owned());
    }
    system::ensure(super::NEEDS)?;
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    // A target of its own: build scripts and macros cannot be linked statically.
    run(cargo()
        .args(["build", "--release", "--package", "deskbell-cli", "--target", &target])
        .env("RUSTFLAGS", "-C target-feature=+crt-static"))?;
    let built = project::target().join(&target).join("release").join(PROGRAM);
    let source = Source::read()?;
    let tarball = assemble(&source, &built, &folder().join("relay"))?;
    println!(
        "{:>5.1} MB  {}",
        fs::metadata(&tarball).map_or(0, |file| file.len()) as f64 / 1e6,
        tarball.display()
    );
    sums::write(&folder().join("relay"), &[tarball])
}

/// Writes the tarball. Equal sources and programs give equal bytes.
fn assemble(source: &Source, built: &Path, into: &Path) -> Outcome<PathBuf> {
    let scratch = Scratch::new()?;
    let name = format!("{PROGRAM}-{}-linux-{}", source.version, std::env::consts::ARCH);
    let tree = scratch.folder(&name)?;
    let program = tree.join(PROGRAM);
    run(Command::new("objcopy").args(["--strip-all", "--remove-section=.comment"]).arg(built).arg(&program))?;
    check(&program)?;
    let copyright = copyright(&source.shipped, &Licences::read(false)?)?;
    let lesser = fs::read_to_string("/usr/share/common-licenses/LGPL-2.1")
        .map_err(|error| format!("could not read the licence of the C library: {error}"))?;
    for (file, text) in
        [("copyright", copyright.as_str()), ("C-LIBRARY", C_LIBRARY), ("LGPL-2.1", lesser.as_str())]
    {
        fs::write(tree.join(file), text).map_err(|error| format!("could not write {file}: {error}"))?;
    }
    fs::create_dir_all(into).map_err(|error| format!("could not make {}: {error}", into.display()))?;
    let tarball = into.join(format!("{name}.tar.gz"));
    run(Command::new("tar")
        .args(["--create", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX"])
        .arg(format!("--mtime=@{}", source.seconds))
        .arg("--use-compress-program=gzip --best --no-name")
        .arg("--file")
        .arg(&tarball)
        .arg("--directory")
        .arg(scratch.path())
        .arg(&name))?;
    Ok(tarball)
}

/// The program needs nothing of the machine: no library and no loader.
fn check(program: &Path) -> Outcome {
    let size = fs::metadata(program).map_or(0, |file| file.len());
    if size > MAX_BYTES {
        return Err(format!("{PROGRAM} has {size} bytes; {MAX_BYTES} are allowed"));
    }
    let headers =
        read(Command::new("readelf").args(["--wide", "--program-headers", "--dynamic"]).arg(program))?;
    match needed(&headers) {
        None => read(Command::new(program).arg("--version")).map(drop),
        Some(line) => Err(format!("{PROGRAM} is not linked statically: {line}")),
    }
}

/// The first line of these headers that names a loader or a library.
fn needed(headers: &str) -> Option<&str> {
    headers.lines().map(str::trim).find(|line| line.starts_with("INTERP") || line.contains("(NEEDED)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loader_or_a_library_is_found() {
        assert_eq!(needed("  LOAD  0x0\n  INTERP  0x1c\n"), Some("INTERP  0x1c"));
        assert_eq!(
            needed(" 0x1 (NEEDED)  Shared library: [libc.so.6]"),
            Some("0x1 (NEEDED)  Shared library: [libc.so.6]")
        );
        assert_eq!(needed("  LOAD  0x0\n 0x1e (FLAGS)\n"), None);
    }
}
