//! The .rpm, assembled with rpm's own tool, which reads the needed libraries from the binary.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Source;
use super::copyright::{Licences, copyright};
use super::dates::dated;
use super::kind::Kind;
use super::tree::{Tree, Zsh};
use crate::Outcome;
use crate::command::{find, run};
use crate::scratch::Scratch;

/// Whether the tools are there.
pub fn can_build() -> bool {
    ["rpmbuild", "gzip"].iter().all(|tool| find(tool).is_some())
}

/// Assembles the package in the folder, and returns its path. Equal sources and binaries give equal bytes.
pub fn build(kind: Kind, source: &Source, program: &Path, into: &Path) -> Outcome<PathBuf> {
    let (name, scratch) = (kind.name(), Scratch::new()?);
    let tree = tree(scratch.folder("tree")?, kind, source, program)?;

    let spec = scratch.path().join(format!("{name}.spec"));
    fs::write(&spec, text(kind, source, &tree)?)
        .map_err(|error| format!("could not write {}: {error}", spec.display()))?;
    let mut build = Command::new("rpmbuild");
    build.args(["-bb", "--quiet", "--define", &format!("_topdir {}", scratch.path().display())]).arg(&spec);
    run(dated(&mut build, source.seconds))?;

    let machine = std::env::consts::ARCH;
    let file = format!("{name}-{}-1.{machine}.rpm", source.version);
    let built = scratch.path().join("RPMS").join(machine).join(&file);
    let package = into.join(file);
    fs::create_dir_all(into)
        .and_then(|()| fs::copy(&built, &package).map(drop))
        .map_err(|error| format!("could not copy {}: {error}", built.display()))?;
    Ok(package)
}

/// The files of the package, also for other systems with the folders of Fedora.
pub fn tree(root: PathBuf, kind: Kind, source: &Source, program: &Path) -> Outcome<Tree> {
    let tree = Tree::new(root, kind, source, program, Zsh::Others)?;
    let licences = format!("usr/share/licenses/{}", kind.name());
    let texts = Licences::read(false)?;
    tree.write(&format!("{licences}/copyright"), &copyright(kind, source, &texts)?)?;
    tree.write(&format!("{licences}/LICENSE-APACHE"), &texts.apache)?;
    tree.write(&format!("{licences}/LICENSE-MIT"), &texts.mit)?;
    tree.settle(source.seconds)?;
    Ok(tree)
}

fn text(kind: Kind, source: &Source, tree: &Tree) -> Outcome<String> {
    let recommends: String =
        kind.recommends().iter().map(|package| format!("Recommends: {package}\n")).collect();
    let (licence, requires) = match kind {
        Kind::App => ("Apache-2.0 OR MIT", ""),
        // The C library is linked into it. rpm would require a dynamic loader for it all the same.
        Kind::Relay => ("(Apache-2.0 OR MIT) AND LGPL-2.1-or-later", "AutoReq: no\n"),
    };
    let mut text = format!(
        "# The tree is complete: nothing is compiled, stripped or compressed here.\n\
         %global __os_install_post %{{nil}}\n%global debug_package %{{nil}}\n%global _build_id_links none\n\
         %global _buildhost reproducible\n%global use_source_date_epoch_as_buildtime 1\n\
         %global clamp_mtime_to_source_date_epoch 1\n%global _binary_payload {}\n\
         Name: {}\nVersion: {}\nRelease: 1\nSummary: {}\nLicense: {licence}\n\
         {requires}{recommends}\n%description\n{}\n\n%install\ncp -a '{}/.' %{{buildroot}}/\n\n%files\n%defattr(-,root,root,-)\n",
        source.profile.rpm_payload(),
        kind.name(),
        source.version,
        kind.summary(),
        kind.description().join("\n\n"),
        tree.path().display()
    );
    for file in tree.files()? {
        let place = file.display().to_string();
        let mark = match place.as_str() {
            _ if place.starts_with("usr/share/licenses/") => "%license ",
            _ if place.starts_with("usr/share/man/") => "%doc ",
            _ => "",
        };
        let _ = writeln!(text, "{mark}/{place}");
    }
    Ok(text)
}
