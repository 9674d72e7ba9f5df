//! The program without windows, for other machines: one file that needs no library there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::copyright::{Licences, copyright};
use super::kind::Kind;
use super::{Source, folder, sums, symbols, symbols_folder};
use crate::command::{cargo, read, run};
use crate::scratch::Scratch;
use crate::{Outcome, project, system};

/// The largest size of the program, in bytes: it goes over a connection.
const MAX_BYTES: u64 = 32 << 20;

/// Links the C library into the program.
const STATIC: &str = "-Ctarget-feature=+crt-static";

/// Builds the program for Linux and this processor, and writes it to a tarball with its licences.
pub fn build() -> Outcome {
    if !cfg!(target_os = "linux") {
        return Err("the program for other machines is built on Linux".to_owned());
    }
    system::ensure(super::NEEDS)?;
    let program = symbols::split(&compile()?, Kind::Relay, &symbols_folder())?;
    let tarball = tarball(&Source::read()?, &program, &folder().join("relay"))?;
    println!(
        "{:>5.1} MB  {}",
        fs::metadata(&tarball).map_or(0, |file| file.len()) as f64 / 1e6,
        tarball.display()
    );
    sums::write(&folder().join("relay"), &[tarball])
}

/// Compiles the program, with its symbols, and returns its path.
pub fn compile() -> Outcome<PathBuf> {
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    // A target of its own: build scripts and macros cannot be linked statically.
    run(cargo()
        .args(["build", "--release", "--package", "deskbell-cli", "--target", &target])
        .env("RUSTFLAGS", STATIC))?;
    Ok(project::target().join(&target).join("release").join(Kind::Relay.name()))
}

/// Compiles the program as fast as it can be, from the crates of the other debug builds: only it is linked statically.
pub fn compile_for_debugging() -> Outcome<PathBuf> {
    let name = Kind::Relay.name();
    run(cargo().args(["rustc", "--package", "deskbell-cli", "--bin", name, "--"]).arg(STATIC))?;
    Ok(project::debug_app().with_file_name(name))
}

/// Writes the tarball of the program without symbols. Equal sources and programs give equal bytes.
pub fn tarball(source: &Source, program: &Path, into: &Path) -> Outcome<PathBuf> {
    let scratch = Scratch::new()?;
    let name = format!("{}-{}-linux-{}", Kind::Relay.name(), source.version, std::env::consts::ARCH);
    let tree = scratch.folder(&name)?;
    check(program)?;
    let size = fs::metadata(program).map_or(0, |file| file.len());
    if size > MAX_BYTES {
        return Err(format!("{} has {size} bytes; {MAX_BYTES} are allowed", program.display()));
    }
    fs::copy(program, tree.join(Kind::Relay.name()))
        .map_err(|error| format!("could not copy {}: {error}", program.display()))?;
    fs::write(tree.join("copyright"), copyright(Kind::Relay, source, &Licences::read(false)?)?)
        .map_err(|error| format!("could not write the licences: {error}"))?;
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
pub fn check(program: &Path) -> Outcome {
    let headers =
        read(Command::new("readelf").args(["--wide", "--program-headers", "--dynamic"]).arg(program))?;
    match needed(&headers) {
        None => read(Command::new(program).arg("--version")).map(drop),
        Some(line) => Err(format!("{} is not linked statically: {line}", program.display())),
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
