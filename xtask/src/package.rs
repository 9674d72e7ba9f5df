//! `cargo xtask package`: the packages that users install.

mod appimage;
mod arch;
mod archive;
mod changelog;
mod check;
mod clean_root;
mod copyright;
mod dates;
mod deb;
mod desktop_entry;
mod flatpak;
mod installed_relay;
mod kind;
mod latest;
mod lint;
mod profile;
mod relay;
mod rpm;
mod sbom;
mod shipped;
mod sums;
mod symbols;
mod target;
mod tree;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::command::{cargo, run};
use crate::debug_build::debug_build;
use crate::node::Node;
use crate::packages::Need;
use crate::{Outcome, project, system, ui};

pub use arch::fill;
pub use check::Checked;
use check::check;
use kind::Kind;
pub use latest::latest;
use profile::Profile;
use relay::Wanted;
use target::Target;

/// The packages that Tauri builds on this system; those for Linux are assembled here.
const BUNDLES: &str = if cfg!(target_os = "macos") {
    "app,dmg"
} else if cfg!(windows) {
    "nsis,msi"
} else {
    "deb,rpm,appimage"
};

/// By these Tauri signs and notarises the app of macOS; without them it is neither.
const SIGNING: [&str; 6] = [
    "APPLE_CERTIFICATE",
    "APPLE_CERTIFICATE_PASSWORD",
    "APPLE_SIGNING_IDENTITY",
    "APPLE_ID",
    "APPLE_PASSWORD",
    "APPLE_TEAM_ID",
];

/// The project has no mail address, and Debian's format demands one: `.invalid` is reserved and never assigned.
const MAINTAINER: &str = "The Deskbell developers <developers@deskbell.invalid>";

/// What a package is made of besides the binary.
pub struct Source {
    /// The profile of the programs.
    pub profile: Profile,
    pub version: &'static str,
    /// Its date, in seconds since 1970.
    pub seconds: u64,
    /// CHANGELOG.md, and what it says.
    pub changelog: String,
    pub releases: Vec<changelog::Release>,
    /// The crates and npm packages in the app, and the crates in the program without windows.
    pub shipped: Vec<shipped::Shipped>,
    pub shipped_in_relay: Vec<shipped::Shipped>,
}

impl Source {
    /// Reads it; the packages of the page have to be installed.
    pub fn read(profile: Profile) -> Outcome<Self> {
        Self::with(profile, shipped::shipped_in_relay(&shipped::host()?)?)
    }

    /// Reads it for an optimised program without windows that is built for this target.
    pub fn read_for(target: &Target) -> Outcome<Self> {
        Self::with(Profile::Release, shipped::shipped_in_relay(&target.triple())?)
    }

    fn with(profile: Profile, shipped_in_relay: Vec<shipped::Shipped>) -> Outcome<Self> {
        let changelog = tree::read(&project::root().join("CHANGELOG.md"))?;
        Ok(Self {
            profile,
            version: env!("CARGO_PKG_VERSION"),
            seconds: dates::source_date()?,
            releases: changelog::releases(&changelog),
            changelog,
            shipped: shipped::shipped()?,
            shipped_in_relay,
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

/// Builds the program without windows for Linux and a processor, or checks the one that was built last.
pub fn relay(arguments: &[&str]) -> Outcome {
    let Wanted { target, is_check } = Wanted::of(arguments)?;
    if !cfg!(target_os = "linux") {
        return Err("the program for other machines is built on Linux".to_owned());
    }
    system::ensure(NEEDS)?;
    if is_check { installed_relay::check_tarball(&target) } else { relay::build(&target) }
}

/// Assembles packages of the debug build of the app and checks them, and that `deskbell on` finds the program without
/// windows. On other systems Tauri builds the optimised app.
pub fn test(node: &Node) -> Outcome<Checked> {
    if !cfg!(target_os = "linux") {
        build(node)?;
        return check(Profile::Release, &[Kind::App]);
    }
    ui::install(node)?;
    clear(Profile::Debug)?;
    run(&mut debug_build())?;
    finish(Profile::Debug, &programs(&project::debug_app(), None))?;
    let checked = check(Profile::Debug, &[Kind::App])?;
    installed_relay::check_debug_build()?;
    Ok(checked)
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
    report(check(Profile::Release, &Kind::ALL)?)
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

/// Assembles the packages from programs that were built before: `cargo xtask package --from APP [RELAY]`.
pub fn package_from(app: &str, relay: Option<&str>) -> Outcome {
    if !cfg!(target_os = "linux") {
        return Err("packages are assembled from a built app on Linux only".to_owned());
    }
    system::ensure(&[Need::Package])?;
    ui::install(&Node::ensure()?)?;
    clear(Profile::Release)?;
    finish(Profile::Release, &programs(Path::new(app), relay.map(Path::new)))
}

/// The programs that packages are assembled from.
fn programs<'a>(app: &'a Path, relay: Option<&'a Path>) -> Vec<(Kind, &'a Path)> {
    [Some((Kind::App, app)), relay.map(|relay| (Kind::Relay, relay))].into_iter().flatten().collect()
}

/// Builds the packages of users with a Node that is already available.
fn build(node: &Node) -> Outcome {
    ui::install(node)?;
    clear(Profile::Release)?;
    if cfg!(target_os = "linux") {
        ui::build(node)?;
        run(&mut app())?;
        let app = project::target().join("release").join(project::APP);
        let relay = relay::compile(&Target::own())?;
        return finish(Profile::Release, &programs(&app, Some(&relay)));
    }
    // Symbols would stay in the binary on macOS.
    let mut build = ui::tauri(node);
    build.args(["build", "--ci", "--bundles", BUNDLES]).env("CARGO_PROFILE_RELEASE_STRIP", "symbols");
    // A workflow without these secrets sets them to nothing, which Tauri would take for a certificate.
    for name in SIGNING.iter().filter(|name| env::var_os(name).is_some_and(|value| value.is_empty())) {
        build.env_remove(name);
    }
    run(&mut build)?;
    finish(Profile::Release, &[])
}

/// The build of the app for packages of Linux. The page has to be built; it is compiled into the app.
///
/// This program alone is optimised as one piece: it takes some minutes longer than `lto = "thin"`, and the program is a
/// seventh smaller.
pub fn app() -> Command {
    let mut build = cargo();
    build.args(["rustc", "--release", "--package", project::APP, "--bin", project::APP, "--", "-Clto=fat"]);
    // Equal functions become one. On other processors Rust has the system's linker, which may not know the option.
    if cfg!(target_arch = "x86_64") {
        build.arg("-Clink-arg=-Wl,--icf=all");
    }
    build
}

/// Removes the packages of an earlier build. They would be listed and checked with those of this one.
fn clear(profile: Profile) -> Outcome {
    let folder = profile.folder();
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .map_err(|error| format!("could not clear {}: {error}", folder.display()))?;
    }
    Ok(())
}

/// Assembles the packages of these programs, unless Tauri did; writes inventory and checksums, and lists everything.
fn finish(profile: Profile, programs: &[(Kind, &Path)]) -> Outcome {
    let (source, folder) = (Source::read(profile)?, profile.folder());
    for (kind, program) in programs {
        assemble(
            *kind,
            &source,
            &symbols::split(program, kind.name(), &Target::own(), &profile.symbols())?,
            &folder,
        )?;
    }
    let mut inventories = vec![(Kind::App, project::APP, &source.shipped)];
    if programs.iter().any(|(kind, _)| *kind == Kind::Relay) {
        inventories.push((Kind::Relay, relay::CRATE, &source.shipped_in_relay));
    }
    let mut written = Vec::new();
    for (kind, root, shipped) in inventories {
        let inventory = folder.join(format!("{}-{}.cdx.json", kind.name(), source.version));
        fs::write(&inventory, sbom::sbom(root, shipped, source.version, source.seconds))
            .map_err(|error| format!("could not write {}: {error}", inventory.display()))?;
        written.push(inventory);
    }

    println!("Packages:");
    let mut released = built(profile)?;
    for package in &released {
        let bytes = fs::metadata(package).map_or(0, |metadata| metadata.len());
        println!("  {:>5.1} MB  {}", bytes as f64 / 1e6, package.display());
    }
    released.extend(written);
    released.extend(symbols(profile));
    sums::write(&folder, &released)
}

/// Assembles the packages for which the tools are there.
fn assemble(kind: Kind, source: &Source, program: &Path, folder: &Path) -> Outcome {
    for (name, can_build, build) in [
        ("deb", deb::can_build(), deb::build as fn(Kind, &Source, &Path, &Path) -> Outcome<PathBuf>),
        ("rpm", rpm::can_build(), rpm::build),
    ] {
        if can_build {
            build(kind, source, program, &folder.join(name))?;
        } else {
            println!("No .{name}: its tools are not installed");
        }
    }
    match kind {
        Kind::App if appimage::can_build() => {
            appimage::build(kind, source, program, &folder.join("appimage")).map(drop)
        }
        Kind::App => {
            println!("No AppImage: its tools, or its runtime for this processor, are not there");
            Ok(())
        }
        Kind::Relay => relay::tarball(source, program, &Target::own(), &folder.join("relay")).map(drop),
    }
}

/// The packages that were built in this profile.
fn built(profile: Profile) -> Outcome<Vec<PathBuf>> {
    let mut packages = Vec::new();
    for kind in BUNDLES.split(',').chain(["relay"]) {
        // A missing folder contains no package; the case of no packages is reported below.
        let entries = fs::read_dir(profile.folder().join(if kind == "app" { "macos" } else { kind }));
        let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
        let extension = match kind {
            "nsis" => "exe",
            "appimage" => "AppImage",
            "relay" => "gz",
            kind => kind,
        };
        packages.extend(paths.filter(|path| path.extension().is_some_and(|found| found == extension)));
    }
    if packages.is_empty() {
        return Err(format!(
            "no package in {}; `cargo xtask package` builds them",
            profile.folder().display()
        ));
    }
    packages.sort();
    Ok(packages)
}

/// The package of a kind that was built in this profile, with this extension: `deb`, `rpm` or `AppImage`.
fn built_package(profile: Profile, kind: Kind, extension: &str) -> Outcome<PathBuf> {
    let is_wanted = |path: &&PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let version = name.strip_prefix(kind.name()).and_then(|rest| rest.strip_prefix(['_', '-']));
        let is_kind = version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()));
        is_kind && path.extension().is_some_and(|found| found == extension)
    };
    let found = built(profile)?.iter().find(is_wanted).cloned();
    found.ok_or_else(|| format!("no .{extension} of {} was built", kind.name()))
}

/// The debug symbols of the packaged programs, if they are kept apart here.
fn symbols(profile: Profile) -> Vec<PathBuf> {
    files_of(&profile.symbols(), &["debug"])
}

/// The files of a folder with one of these extensions, by name. There are none in a folder that does not exist.
fn files_of(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_wanted =
        |path: &PathBuf| path.extension().is_some_and(|end| extensions.iter().any(|one| end == *one));
    let mut files: Vec<PathBuf> = paths.filter(is_wanted).collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn the_app_of_macos_is_hardened_and_every_secret_reaches_its_build() {
        let text = |place: &str| fs::read_to_string(project::root().join(place)).unwrap();
        let configuration: Value = serde_json::from_str(&text("tauri.conf.json")).unwrap();
        let macos = &configuration["bundle"]["macOS"];
        assert_eq!(macos["hardenedRuntime"], true);
        // No right that the hardened runtime takes away is given back.
        assert!(!text(macos["entitlements"].as_str().unwrap()).contains("<key>"));
        let workflow = text(".github/workflows/release.yml");
        for name in SIGNING {
            assert!(workflow.contains(&format!("{name}: ${{{{ secrets.{name} }}}}")), "{name}");
        }
    }
}
