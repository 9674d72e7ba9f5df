//! The .deb, assembled with dpkg's own tools.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::changelog::{debian, wrapped};
use super::copyright::{Licences, copyright};
use super::dates::dated;
use super::kind::Kind;
use super::tree::{Tree, Zsh};
use super::{MAINTAINER, Source, archive};
use crate::command::{self, find};
use crate::project::APP;
use crate::scratch::Scratch;
use crate::{Outcome, command::run, system};

/// The revision of the package, for changes of the package alone.
const REVISION: &str = "-1";

/// What Debian's own packages must not do, with the reason why this one does.
const RELAY_OVERRIDES: &str = "\
# It is copied to machines of any distribution, and runs there without a library.
deskbell-relay: shared-library-lacks-prerequisites [usr/bin/deskbell-relay]
";

/// Whether the tools are there. The names of libraries' packages are known only where dpkg has installed them.
pub fn can_build() -> bool {
    system::has_apt() && ["dpkg-deb", "dpkg-shlibdeps", "gzip", "xz"].iter().all(|tool| find(tool).is_some())
}

/// Assembles the package in the folder, and returns its path. Equal sources and binaries give equal bytes.
pub fn build(kind: Kind, source: &Source, program: &Path, into: &Path) -> Outcome<PathBuf> {
    let (name, scratch) = (kind.name(), Scratch::new()?);
    let tree = Tree::new(scratch.folder("deb")?, kind, source, program, Zsh::Debian)?;
    let doc = format!("usr/share/doc/{name}");
    tree.write(&format!("{doc}/copyright"), &copyright(kind, source, &Licences::read(true)?)?)?;
    tree.compressed(&format!("{doc}/changelog"), &source.changelog)?;
    let changelog = debian(&source.releases, source.version, REVISION, source.seconds);
    tree.compressed(&format!("{doc}/changelog.Debian"), &changelog)?;

    if kind == Kind::Relay {
        tree.write(&format!("usr/share/lintian/overrides/{name}"), RELAY_OVERRIDES)?;
    }

    let architecture = command::read(Command::new("dpkg").arg("--print-architecture"))?;
    let (sums, kilobytes) = contents(&tree)?;
    let control = control(kind, source.version, &architecture, kilobytes, &depends(kind, program)?);
    tree.write("DEBIAN/md5sums", &format!("{}\n", sums.replace(" *", "  ")))?;
    tree.write("DEBIAN/control", &control)?;
    tree.settle(source.seconds)?;

    let package = into.join(format!("{name}_{}{REVISION}_{architecture}.deb", source.version));
    fs::create_dir_all(into).map_err(|error| format!("could not make {}: {error}", into.display()))?;
    let mut build = Command::new("dpkg-deb");
    build.args(["--root-owner-group", "-Znone", "--build"]).arg(tree.path()).arg(&package);
    run(dated(&mut build, source.seconds))?;
    archive::compress(&package, source.profile, source.seconds)?;
    Ok(package)
}

/// The checksums of the files, and their size in kilobytes, as dpkg counts both: without links.
fn contents(tree: &Tree) -> Outcome<(String, u64)> {
    let (mut files, mut kilobytes) = (Vec::new(), 0);
    for file in tree.files()? {
        let metadata = fs::symlink_metadata(tree.path().join(&file))
            .map_err(|error| format!("could not read {}: {error}", file.display()))?;
        if metadata.is_file() {
            kilobytes += metadata.len().div_ceil(1024);
            files.push(file);
        }
    }
    Ok((command::read(Command::new("md5sum").args(&files).current_dir(tree.path()))?, kilobytes))
}

/// The libraries that the program is linked with, as dpkg reads them from it.
fn depends(kind: Kind, program: &Path) -> Outcome<String> {
    // It has none, which is checked, and dpkg would refuse it.
    if kind == Kind::Relay {
        return Ok(String::new());
    }
    // The tool wants to be in the folder of a source package.
    let scratch = Scratch::new()?;
    let source = scratch.folder("debian")?.join("control");
    let text = format!("Source: {APP}\n\nPackage: {APP}\nArchitecture: any\n");
    fs::write(&source, text).map_err(|error| format!("could not write {}: {error}", source.display()))?;
    let found =
        command::read(Command::new("dpkg-shlibdeps").arg("-O").arg(program).current_dir(scratch.path()))?;
    let line = found.lines().find_map(|line| line.strip_prefix("shlibs:Depends="));
    line.map(str::to_owned).ok_or_else(|| format!("dpkg-shlibdeps found no dependencies: {found}"))
}

fn control(kind: Kind, version: &str, architecture: &str, kilobytes: u64, depends: &str) -> String {
    let paragraphs: Vec<String> = kind
        .description()
        .iter()
        .map(|text| wrapped(text, 78).iter().map(|line| format!(" {line}\n")).collect())
        .collect();
    let source = if kind == Kind::App { String::new() } else { format!("Source: {APP}\n") };
    let suggests = if kind == Kind::App { "Suggests: notification-daemon\n" } else { "" };
    let relations: String = [("Depends", depends), ("Recommends", &kind.recommends().join(", "))]
        .iter()
        .filter(|(_, packages)| !packages.is_empty())
        .map(|(field, packages)| format!("{field}: {packages}\n"))
        .collect();
    format!(
        "Package: {}\n{source}Version: {version}{REVISION}\nSection: devel\nPriority: optional\n\
         Architecture: {architecture}\nMaintainer: {MAINTAINER}\nInstalled-Size: {kilobytes}\n{relations}{suggests}\
         Description: {}\n{}",
        kind.name(),
        kind.summary(),
        paragraphs.join(" .\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_has_what_dpkg_needs() {
        let text = control(Kind::App, "1.2.3", "amd64", 17, "libc6 (>= 2.36)");
        for line in ["Version: 1.2.3-1", "Depends: libc6 (>= 2.36)", "Installed-Size: 17", " ."] {
            assert!(text.lines().any(|found| found == line), "{line} in {text}");
        }
        assert!(text.contains("\nRecommends: xdg-utils, deskbell-relay\n"), "{text}");
        let relay = control(Kind::Relay, "1.2.3", "amd64", 17, "");
        assert!(relay.starts_with("Package: deskbell-relay\nSource: deskbell\n"), "{relay}");
        assert!(!relay.contains("Depends") && !relay.contains("Recommends"), "{relay}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
