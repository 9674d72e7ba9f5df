//! The .deb, assembled with dpkg's own tools.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::changelog::{debian, wrapped};
use super::copyright::{Licences, copyright};
use super::dates::dated;
use super::tree::{Tree, Zsh};
use super::{DESCRIPTION, MAINTAINER, SUMMARY, Source};
use crate::command::{self, find};
use crate::project::APP;
use crate::scratch::Scratch;
use crate::{Outcome, command::run, system};

/// The revision of the package, for changes of the package alone.
const REVISION: &str = "-1";

/// Whether the tools are there. The names of libraries' packages are known only where dpkg has installed them.
pub fn can_build() -> bool {
    system::has_apt() && ["dpkg-deb", "dpkg-shlibdeps", "gzip"].iter().all(|tool| find(tool).is_some())
}

/// Assembles the package in the folder, and returns its path. Equal sources and binaries give equal bytes.
pub fn build(source: &Source, binary: &Path, into: &Path) -> Outcome<PathBuf> {
    let scratch = Scratch::new()?;
    let tree = Tree::new(scratch.folder("deb")?, source, binary, Zsh::Debian)?;
    let doc = format!("usr/share/doc/{APP}");
    let copyright = copyright(&source.shipped, &Licences::read(true)?)?;
    tree.write(&format!("{doc}/copyright"), &copyright)?;
    tree.compressed(&format!("{doc}/changelog"), &source.changelog)?;
    let changelog = debian(&source.releases, source.version, REVISION, source.seconds);
    tree.compressed(&format!("{doc}/changelog.Debian"), &changelog)?;

    let files = tree.files()?;
    let bytes =
        files.iter().filter_map(|file| fs::metadata(tree.path().join(file)).ok()).map(|data| data.len());
    let kilobytes: u64 = bytes.map(|bytes| bytes.div_ceil(1024)).sum();
    let sums = command::read(Command::new("md5sum").args(&files).current_dir(tree.path()))?;
    let architecture = command::read(Command::new("dpkg").arg("--print-architecture"))?;
    let depends = dependencies(&tree.path().join(format!("usr/bin/{APP}")))?;
    tree.write("DEBIAN/md5sums", &format!("{}\n", sums.replace(" *", "  ")))?;
    tree.write("DEBIAN/control", &control(source.version, &architecture, kilobytes, &depends))?;
    tree.settle(source.seconds)?;

    let package = into.join(format!("{APP}_{}{REVISION}_{architecture}.deb", source.version));
    fs::create_dir_all(into).map_err(|error| format!("could not make {}: {error}", into.display()))?;
    let mut build = Command::new("dpkg-deb");
    build.args(["--root-owner-group", "-Zxz", "--build"]).arg(tree.path()).arg(&package);
    run(dated(&mut build, source.seconds))?;
    Ok(package)
}

/// The libraries that the binary is linked with, as dpkg reads them from it.
fn dependencies(binary: &Path) -> Outcome<String> {
    // The tool wants to be in the folder of a source package.
    let scratch = Scratch::new()?;
    let source = scratch.folder("debian")?.join("control");
    let text = format!("Source: {APP}\n\nPackage: {APP}\nArchitecture: any\n");
    fs::write(&source, text).map_err(|error| format!("could not write {}: {error}", source.display()))?;
    let found =
        command::read(Command::new("dpkg-shlibdeps").arg("-O").arg(binary).current_dir(scratch.path()))?;
    let line = found.lines().find_map(|line| line.strip_prefix("shlibs:Depends="));
    line.map(str::to_owned).ok_or_else(|| format!("dpkg-shlibdeps found no dependencies: {found}"))
}

fn control(version: &str, architecture: &str, kilobytes: u64, depends: &str) -> String {
    let paragraphs: Vec<String> = DESCRIPTION
        .iter()
        .map(|text| wrapped(text, 78).iter().map(|line| format!(" {line}\n")).collect())
        .collect();
    format!(
        "Package: {APP}\nVersion: {version}{REVISION}\nSection: devel\nPriority: optional\nArchitecture: {architecture}\n\
         Maintainer: {MAINTAINER}\nInstalled-Size: {kilobytes}\nDepends: {depends}\nRecommends: xdg-utils\n\
         Suggests: notification-daemon\nDescription: {SUMMARY}\n{}",
        paragraphs.join(" .\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_has_what_dpkg_needs() {
        let text = control("1.2.3", "amd64", 17, "libc6 (>= 2.36)");
        for line in ["Version: 1.2.3-1", "Depends: libc6 (>= 2.36)", "Installed-Size: 17", " ."] {
            assert!(text.lines().any(|found| found == line), "{line} in {text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
