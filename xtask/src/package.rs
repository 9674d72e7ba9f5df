//! `cargo xtask package`: the packages that users install.

mod changelog;
mod check;
mod clean_root;
mod copyright;
mod dates;
mod deb;
mod desktop_entry;
mod lint;
pub mod relay;
mod rpm;
mod sbom;
mod shipped;
mod sums;
mod symbols;
mod tree;

use std::fs;
use std::path::{Path, PathBuf};

use crate::command::run;
use crate::node::Node;
use crate::packages::Need;
use crate::{Outcome, project, system, ui};

pub use check::{Checked, check};

/// The packages that Tauri builds on this system; those for Linux are assembled here.
const BUNDLES: &str = if cfg!(target_os = "macos") {
    "app,dmg"
} else if cfg!(windows) {
    "nsis"
} else {
    "deb,rpm"
};

/// The project has no mail address, and Debian's format demands one: `.invalid` is reserved and never assigned.
const MAINTAINER: &str = "The Deskbell developers <developers@deskbell.invalid>";

const SUMMARY: &str = "keep command-line coding agents on call";

/// The paragraphs that package managers show.
const DESCRIPTION: [&str; 2] = [
    "Deskbell opens a window for each project. It runs a command-line coding agent as one persistent process per \
     session, shows what the agent does, asks for permission before the agent acts, and notifies the user when it is \
     their turn.",
    "A built-in demo agent works without an account and without a network.",
];

/// What a package is made of besides the binary.
pub struct Source {
    pub version: &'static str,
    /// Its date, in seconds since 1970.
    pub seconds: u64,
    /// CHANGELOG.md, and what it says.
    pub changelog: String,
    pub releases: Vec<changelog::Release>,
    pub shipped: Vec<shipped::Shipped>,
}

impl Source {
    /// Reads it; the packages of the page have to be installed.
    pub fn read() -> Outcome<Self> {
        let changelog = tree::read(&project::root().join("CHANGELOG.md"))?;
        Ok(Self {
            version: env!("CARGO_PKG_VERSION"),
            seconds: dates::source_date()?,
            releases: changelog::releases(&changelog),
            changelog,
            shipped: shipped::shipped()?,
        })
    }
}

/// What building packages needs. Elsewhere Tauri brings its own tools.
const NEEDS: &[Need] = if cfg!(target_os = "linux") { &[Need::Build, Need::Package] } else { &[Need::Build] };

/// Builds the packages of this system and lists them.
pub fn package() -> Outcome {
    system::ensure(NEEDS)?;
    build(&Node::ensure()?)
}

/// Prints the section of the changelog for this version.
pub fn notes(version: &str) -> Outcome {
    let changelog = tree::read(&project::root().join("CHANGELOG.md"))?;
    let releases = changelog::releases(&changelog);
    let release = releases.iter().find(|release| release.version.as_deref() == Some(version));
    let release = release.ok_or_else(|| format!("CHANGELOG.md has no section for {version}"))?;
    println!("{}", release.text.trim());
    Ok(())
}

/// Installs the built package, starts it, and removes it again.
pub fn check_built() -> Outcome {
    report(check()?)
}

/// Installs the built .deb in a new Debian, upgrades and purges it.
pub fn install() -> Outcome {
    system::ensure(&[Need::Package])?;
    report(clean_root::check()?)
}

fn report(checked: Checked) -> Outcome {
    match checked {
        Checked::Works => Ok(()),
        Checked::Skipped(reason) if project::is_ci() => Err(format!("skipped: {reason}")),
        Checked::Skipped(reason) => {
            println!("Skipped: {reason}");
            Ok(())
        }
    }
}

/// Assembles the packages from an app that was built before: `cargo xtask package --from FILE`.
pub fn package_from(app: &str) -> Outcome {
    if !cfg!(target_os = "linux") {
        return Err("packages are assembled from a built app on Linux only".to_owned());
    }
    system::ensure(&[Need::Package])?;
    ui::install(&Node::ensure()?)?;
    clear()?;
    finish(Some(Path::new(app)))
}

/// Builds the packages with a Node that is already available.
pub fn build(node: &Node) -> Outcome {
    ui::install(node)?;
    clear()?;
    if cfg!(target_os = "linux") {
        run(ui::tauri(node).args(["build", "--ci", "--no-bundle"]))?;
        return finish(Some(&project::target().join("release").join(project::APP)));
    }
    // Symbols would stay in the binary on macOS.
    run(ui::tauri(node)
        .args(["build", "--ci", "--bundles", BUNDLES])
        .env("CARGO_PROFILE_RELEASE_STRIP", "symbols"))?;
    finish(None)
}

/// Removes the packages of an earlier build. They would be listed and checked with those of this one.
fn clear() -> Outcome {
    let folder = folder();
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .map_err(|error| format!("could not clear {}: {error}", folder.display()))?;
    }
    Ok(())
}

/// Assembles the packages of this app, unless Tauri did; writes inventory and checksums, and lists everything.
fn finish(app: Option<&Path>) -> Outcome {
    let (source, folder) = (Source::read()?, folder());
    if let Some(app) = app {
        assemble(&source, &symbols::split(app, &symbols_folder())?, &folder)?;
    }
    let inventory = folder.join(format!("deskbell-{}.cdx.json", source.version));
    fs::write(&inventory, sbom::sbom(&source.shipped, source.version, source.seconds))
        .map_err(|error| format!("could not write {}: {error}", inventory.display()))?;

    println!("Packages:");
    let mut released = built()?;
    for package in &released {
        let bytes = fs::metadata(package).map_or(0, |metadata| metadata.len());
        println!("  {:>5.1} MB  {}", bytes as f64 / 1e6, package.display());
    }
    released.push(inventory);
    released.extend(symbols()?);
    sums::write(&folder, &released)
}

/// Assembles the packages for which the tools are there.
fn assemble(source: &Source, binary: &Path, folder: &Path) -> Outcome {
    for (name, can_build, build) in [
        ("deb", deb::can_build(), deb::build as fn(&Source, &Path, &Path) -> Outcome<PathBuf>),
        ("rpm", rpm::can_build(), rpm::build),
    ] {
        if can_build {
            build(source, binary, &folder.join(name))?;
        } else {
            println!("No .{name}: its tools are not installed");
        }
    }
    Ok(())
}

/// The packages that were built.
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

/// The debug symbols of the packaged app, if they are kept apart here.
fn symbols() -> Outcome<Vec<PathBuf>> {
    let file = symbols_folder().join(format!("{}.debug", project::APP));
    Ok(if file.exists() { vec![file] } else { Vec::new() })
}

fn symbols_folder() -> PathBuf {
    folder().join("symbols")
}

fn folder() -> PathBuf {
    project::target().join("release").join("bundle")
}
