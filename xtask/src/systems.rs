//! `cargo xtask systems`: checks the code for Windows and macOS, as far as a compiler on Linux can.
//!
//! It needs no standard library for them, because the library is checked from its source with the rest. Nothing is
//! linked and nothing runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::run;
use crate::node::Node;
use crate::packages::Need;
use crate::toolchain::Toolchain;
use crate::{Outcome, project, system, ui};

/// The Windows that Debian has a linker for.
pub const WINDOWS: &str = "x86_64-pc-windows-gnu";
const MACOS: &str = "aarch64-apple-darwin";

/// Checks every package for both systems; a warning is an error.
pub fn systems() -> Outcome {
    if !cfg!(target_os = "linux") {
        return Err("the other systems are checked on Linux; for this one, `cargo xtask test` does it".into());
    }
    system::ensure(&[Need::Build, Need::OtherSystems])?;
    let toolchain = toolchain()?;
    ui::build(&Node::ensure()?)?;
    let stub = Stub::make()?;
    let outcomes =
        [run(&mut check(&toolchain, WINDOWS)), run(check(&toolchain, MACOS).envs(stub.environment(MACOS)))];
    outcomes.into_iter().collect()
}

/// A toolchain with the source of its standard library.
pub fn toolchain() -> Outcome<Toolchain> {
    let has_source = |toolchain: &Toolchain| {
        toolchain
            .ask(&["--print", "sysroot"])
            .is_ok_and(|root| Path::new(&root).join("lib/rustlib/src/rust/library/std/Cargo.toml").is_file())
    };
    Toolchain::find(has_source).ok_or_else(|| {
        "no Rust compiler has the source of its standard library; with rustup, add it by:\n\n    \
         rustup component add rust-src"
            .to_owned()
    })
}

fn check(toolchain: &Toolchain, target: &str) -> Command {
    let mut check = cargo(toolchain, "check", target);
    check.env("CARGO_BUILD_WARNINGS", "deny").args(["--workspace", "--keep-going", "-Zwarnings"]);
    check
}

/// A command of cargo for another system, with a standard library that is built with the rest.
pub fn cargo(toolchain: &Toolchain, subcommand: &str, target: &str) -> Command {
    let mut cargo = toolchain.cargo();
    cargo
        // The standard library is built by a feature that otherwise only a nightly compiler accepts.
        .env("RUSTC_BOOTSTRAP", "1")
        .args([subcommand, "-Zbuild-std=std,panic_abort,panic_unwind"])
        .args(["--target", target, "--target-dir"])
        .arg(folder());
    cargo
}

/// A C compiler for a target that has none here: two packages for macOS compile Objective-C, and because nothing is
/// linked, an empty object is enough. Its path never changes, because otherwise those packages would be compiled each
/// time.
struct Stub(PathBuf);

impl Stub {
    fn make() -> Outcome<Self> {
        let folder = folder().join("stub");
        fs::create_dir_all(&folder)
            .map_err(|error| format!("could not make {}: {error}", folder.display()))?;
        write_program(
            &folder.join("cc"),
            "#!/bin/sh\nfor word in \"$@\"; do\n  [ \"$last\" = -o ] && : >\"$word\"\n  last=$word\ndone\n",
        )?;
        write_program(&folder.join("ar"), "#!/bin/sh\n")?;
        Ok(Self(folder))
    }

    fn environment(&self, target: &str) -> [(String, PathBuf); 3] {
        let target = target.replace('-', "_");
        [
            (format!("CC_{target}"), self.0.join("cc")),
            (format!("AR_{target}"), self.0.join("ar")),
            ("SDKROOT".to_owned(), self.0.clone()),
        ]
    }
}

/// The build output for other systems.
pub fn folder() -> PathBuf {
    project::target().join("systems")
}

fn write_program(path: &Path, text: &str) -> Outcome {
    let written = fs::write(path, text);
    #[cfg(unix)]
    let written = written.and_then(|()| {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))
    });
    written.map_err(|error| format!("could not write {}: {error}", path.display()))
}
