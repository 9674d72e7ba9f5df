//! The Rust toolchains of this machine: the one that runs xtask, and the system's own.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;
use crate::command::{cargo, command, read, run};

/// Makes sure that `cargo fmt` and `cargo clippy` are installed.
pub fn ensure_components() -> Outcome {
    for (component, subcommand) in [("rustfmt", "fmt"), ("clippy", "clippy")] {
        if read(cargo().args([subcommand, "--version"])).is_ok() {
            continue;
        }
        run(command("rustup").args(["component", "add", component]))
            .map_err(|reason| format!("{component} is missing, and {reason}"))?;
    }
    Ok(())
}

/// Whether the faster test runner is installed.
pub fn has_nextest() -> bool {
    read(cargo().args(["nextest", "--version"])).is_ok()
}

/// A compiler with its cargo.
pub struct Toolchain {
    /// The system's compiler, at a path where rustup's does not hide it; `None`: the one that runs xtask.
    folder: Option<&'static Path>,
}

impl Toolchain {
    /// The first toolchain with this property: the one that runs xtask (`RUSTC` names another compiler for it), or else the
    /// system's.
    pub fn find(is_wanted: impl Fn(&Self) -> bool) -> Option<Self> {
        let system = Path::new("/usr/bin");
        [Self { folder: None }, Self { folder: Some(system) }].into_iter().find(is_wanted)
    }

    /// Its compiler.
    pub fn rustc(&self) -> PathBuf {
        match self.folder {
            Some(folder) => folder.join("rustc"),
            None => env::var_os("RUSTC").map_or_else(|| "rustc".into(), PathBuf::from),
        }
    }

    /// What its compiler prints with these arguments.
    pub fn ask(&self, arguments: &[&str]) -> Outcome<String> {
        read(command(self.rustc()).args(arguments))
    }

    /// Its cargo, which runs its compiler.
    pub fn cargo(&self) -> Command {
        let Some(folder) = self.folder else { return cargo() };
        let mut cargo = command(folder.join("cargo"));
        cargo.env("RUSTC", self.rustc()).env_remove("RUSTUP_TOOLCHAIN");
        cargo
    }
}
