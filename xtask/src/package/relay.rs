//! The program without windows, for other machines: one file that needs no library there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::copyright::{Licences, copyright};
use super::kind::Kind;
use super::profile::Profile;
use super::target::Target;
use super::{Source, sbom, sums, symbols};
use crate::command::{cargo, read, run};
use crate::scratch::Scratch;
use crate::{Outcome, project};

/// The largest size of the program, in bytes: it goes over a connection.
const MAX_BYTES: u64 = 32 << 20;

/// Links the C library into the program.
const STATIC: &str = "-Ctarget-feature=+crt-static";

/// Its crate.
pub const CRATE: &str = "deskbell-cli";

/// What `cargo xtask package relay` was given.
#[derive(Debug, PartialEq, Eq)]
pub struct Wanted {
    pub target: Target,
    /// Check what was built last, instead of building it.
    pub is_check: bool,
}

impl Wanted {
    /// Reads `[--target TRIPLE] [--check]`.
    pub fn of(arguments: &[&str]) -> Outcome<Self> {
        let mut wanted = Self { target: Target::own(), is_check: false };
        let mut rest = arguments.iter().copied();
        while let Some(argument) = rest.next() {
            match argument.split_once('=') {
                None if argument == "--check" => wanted.is_check = true,
                None if argument == "--target" => {
                    wanted.target = Target::named(rest.next().ok_or("--target needs a target")?)?;
                }
                Some(("--target", triple)) => wanted.target = Target::named(triple)?,
                _ => {
                    return Err(format!(
                        "{argument} is no option of `package relay`; they are --target TARGET and --check"
                    ));
                }
            }
        }
        Ok(wanted)
    }
}

/// Builds the program for Linux and a processor, and writes it to a tarball with its licences.
pub fn build(target: &Target) -> Outcome {
    let built = compile(target)?;
    let program = symbols::split(&built, &name_of(target), target, &Profile::Release.symbols())?;
    let source = Source::read_for(target)?;
    let into = Profile::Release.folder().join("relay");
    let tarball = tarball(&source, &program, target, &into)?;
    let inventory = into.join(format!("{}.cdx.json", stem(target, source.version)));
    fs::write(&inventory, sbom::sbom(CRATE, &source.shipped_in_relay, source.version, source.seconds))
        .map_err(|error| format!("could not write {}: {error}", inventory.display()))?;
    println!(
        "{:>5.1} MB  {}",
        fs::metadata(&tarball).map_or(0, |file| file.len()) as f64 / 1e6,
        tarball.display()
    );
    // Those of other processors as well: each of these builds adds its files.
    let is_own = |symbols: &PathBuf| {
        symbols.file_name().is_some_and(|name| name.to_string_lossy().starts_with(Kind::Relay.name()))
    };
    let mut files = super::files_of(&into, &["gz", "json"]);
    files.extend(super::symbols(Profile::Release).into_iter().filter(is_own));
    sums::write(&into, &files)
}

/// The name of the program with its processor, unless it is that of this machine.
fn name_of(target: &Target) -> String {
    let name = Kind::Relay.name();
    if target.is_own() { name.to_owned() } else { format!("{name}-{}", target.name()) }
}

/// The name of a tarball, its inventory and its symbols, without an extension.
fn stem(target: &Target, version: &str) -> String {
    format!("{}-{version}-{}", Kind::Relay.name(), target.name())
}

/// Compiles the program, with its symbols, and returns its path.
pub fn compile(target: &Target) -> Outcome<PathBuf> {
    let triple = target.triple();
    let mut build = target.toolchain()?.cargo();
    // A target of its own: build scripts and macros cannot be linked statically.
    build.args(["build", "--release", "--package", CRATE, "--target", &triple]).env("RUSTFLAGS", STATIC);
    if !target.is_own() && std::env::var_os(target.linker_variable()).is_none() {
        build.env(target.linker_variable(), target.tool("gcc"));
    }
    run(&mut build)?;
    Ok(project::target().join(&triple).join("release").join(Kind::Relay.name()))
}

/// Compiles the program as fast as it can be, from the crates of the other debug builds: only it is linked statically.
pub fn compile_for_debugging() -> Outcome<PathBuf> {
    let name = Kind::Relay.name();
    run(cargo().args(["rustc", "--package", CRATE, "--bin", name, "--"]).arg(STATIC))?;
    Ok(project::debug_app().with_file_name(name))
}

/// Writes the tarball of the program without symbols. Equal sources and programs give equal bytes.
pub fn tarball(source: &Source, program: &Path, target: &Target, into: &Path) -> Outcome<PathBuf> {
    let scratch = Scratch::new()?;
    let name = stem(target, source.version);
    let tree = scratch.folder(&name)?;
    check(program, target)?;
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

/// The program needs nothing of the machine: no library and no loader. For another processor an emulator starts it, if
/// there is one.
pub fn check(program: &Path, target: &Target) -> Outcome {
    let headers =
        read(Command::new("readelf").args(["--wide", "--program-headers", "--dynamic"]).arg(program))?;
    if let Some(line) = needed(&headers) {
        return Err(format!("{} is not linked statically: {line}", program.display()));
    }
    if target.is_own() {
        return read(Command::new(program).arg("--version")).map(drop);
    }
    match target.emulator() {
        Some(emulator) => {
            println!("{}", read(Command::new(emulator).arg(program).arg("--version"))?);
            Ok(())
        }
        None => {
            println!("{} was not run: there is no emulator of {} here", program.display(), target.name());
            Ok(())
        }
    }
}

/// Unpacks the tarball that was built last for this processor into a folder, and returns the path of the program.
pub fn unpack(target: &Target, into: &Path) -> Outcome<PathBuf> {
    let stem = stem(target, env!("CARGO_PKG_VERSION"));
    let tarball = Profile::Release.folder().join("relay").join(format!("{stem}.tar.gz"));
    run(Command::new("tar").arg("--extract").arg("--file").arg(&tarball).arg("--directory").arg(into))?;
    Ok(into.join(stem).join(Kind::Relay.name()))
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

    #[test]
    fn the_target_and_the_check_are_read_from_the_arguments() {
        let aarch64 = Target::named("aarch64-unknown-linux-gnu").unwrap();
        for (arguments, target, is_check) in [
            (&[][..], Target::own(), false),
            (&["--check"], Target::own(), true),
            (&["--target", "aarch64-unknown-linux-gnu"], aarch64.clone(), false),
            (&["--target=aarch64-unknown-linux-gnu", "--check"], aarch64, true),
        ] {
            assert_eq!(Wanted::of(arguments), Ok(Wanted { target, is_check }), "{arguments:?}");
        }
        for arguments in [&["--target"][..], &["--target="], &["aarch64"], &["--checks"], &["--check=1"]] {
            assert!(Wanted::of(arguments).is_err(), "{arguments:?}");
        }
    }

    #[test]
    fn a_release_has_the_program_for_aarch64() {
        let workflow = project::root().join(".github/workflows/release.yml");
        let workflow = fs::read_to_string(workflow).unwrap();
        let build = "cargo xtask package relay --target aarch64-unknown-linux-gnu";
        for line in [build, &format!("{build} --check"), "target/release/bundle/relay/*.tar.gz"] {
            assert!(
                workflow.lines().any(|found| found.trim().trim_start_matches("- run: ") == line),
                "{line}"
            );
        }
    }

    #[test]
    fn the_files_of_another_processor_have_its_name() {
        let target = Target::named("aarch64-unknown-linux-gnu").unwrap();
        assert_eq!(stem(&target, "1.2.3"), "deskbell-relay-1.2.3-linux-aarch64");
        assert_eq!(name_of(&Target::own()), "deskbell-relay");
        if !target.is_own() {
            assert_eq!(name_of(&target), "deskbell-relay-linux-aarch64");
        }
    }
}
