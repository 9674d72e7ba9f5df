//! `cargo xtask package`: the packages that users install.

mod check;
mod desktop_entry;

use std::fs;
use std::path::PathBuf;

use crate::command::run;
use crate::node::Node;
use crate::packages::Need;
use crate::{Outcome, project, system, ui};

pub use check::{Checked, check};

/// The packages that can be built on this system without fetching more tools.
const BUNDLES: &str = if cfg!(target_os = "macos") {
    "app,dmg"
} else if cfg!(windows) {
    "nsis"
} else {
    "deb,rpm"
};

/// Builds the packages of this system and lists them.
pub fn package() -> Outcome {
    system::ensure(&[Need::Build])?;
    build(&Node::ensure()?)
}

/// Installs the built package, starts it, and removes it again.
pub fn check_built() -> Outcome {
    match check()? {
        Checked::Works => Ok(()),
        Checked::Skipped(reason) if project::is_ci() => Err(format!("skipped: {reason}")),
        Checked::Skipped(reason) => {
            println!("Skipped: {reason}");
            Ok(())
        }
    }
}

/// Builds the packages with a Node that is already available.
pub fn build(node: &Node) -> Outcome {
    ui::install(node)?;
    let folder = folder();
    if folder.exists() {
        // Otherwise the packages of an older version would be listed and checked with those of this one.
        fs::remove_dir_all(&folder)
            .map_err(|error| format!("could not clear {}: {error}", folder.display()))?;
    }
    run(ui::tauri(node).args(["build", "--ci", "--bundles", BUNDLES]))?;

    println!("Packages:");
    for package in built()? {
        let bytes = fs::metadata(&package).map_or(0, |metadata| metadata.len());
        println!("  {:>5.1} MB  {}", bytes as f64 / 1e6, package.display());
    }
    Ok(())
}

/// The packages in Tauri's output folder.
pub fn built() -> Outcome<Vec<PathBuf>> {
    let mut packages = Vec::new();
    for kind in BUNDLES.split(',') {
        // A missing folder contains no package; the case of no packages is reported below.
        let entries = fs::read_dir(folder().join(if kind == "app" { "macos" } else { kind }));
        let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
        let extension = if kind == "nsis" { "exe" } else { kind };
        packages.extend(paths.filter(|path| path.extension().is_some_and(|found| found == extension)));
    }
    if packages.is_empty() {
        return Err(format!("no package in {}; `cargo xtask package` builds them", folder().display()));
    }
    packages.sort();
    Ok(packages)
}

fn folder() -> PathBuf {
    project::target().join("release").join("bundle")
}
